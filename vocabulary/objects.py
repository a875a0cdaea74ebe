"""API objects: plain nested dicts, shared by all and never mutated.

A stored object is a snapshot. The store, every cache, the history and the report hold the
same dict, since copying a pod costs more than everything else in a step. Reading is free;
to change an object, derive a new one: `with_path` copies the dicts along one path and
shares the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Object: TypeAlias = Mapping[str, Any]
"""An API object or a part of one. Typed as a Mapping so that mypy refuses to mutate it."""

_EMPTY: Mapping[str, Any] = {}


def meta(obj: Object) -> Object:
    """The object's `metadata`; empty if it has none."""
    metadata: Object = obj.get("metadata") or _EMPTY
    return metadata


def name_of(obj: Object) -> str:
    return str((obj.get("metadata") or _EMPTY).get("name", ""))


def namespace_of(obj: Object) -> str:
    return str((obj.get("metadata") or _EMPTY).get("namespace", ""))


def uid_of(obj: Object) -> str:
    return str((obj.get("metadata") or _EMPTY).get("uid", ""))


def labels_of(obj: Object) -> Mapping[str, str]:
    return (obj.get("metadata") or _EMPTY).get("labels") or _EMPTY


def annotations_of(obj: Object) -> Mapping[str, str]:
    return (obj.get("metadata") or _EMPTY).get("annotations") or _EMPTY


def finalizers_of(obj: Object) -> tuple[str, ...]:
    return tuple((obj.get("metadata") or _EMPTY).get("finalizers") or ())


def owner_references(obj: Object) -> tuple[Object, ...]:
    return tuple(meta(obj).get("ownerReferences") or ())


def controller_of(obj: Object) -> Object | None:
    """The owner reference that is marked as the controller, if any."""
    for reference in (obj.get("metadata") or _EMPTY).get("ownerReferences") or ():
        if reference.get("controller"):
            found: Object = reference
            return found
    return None


def is_terminating(obj: Object) -> bool:
    """True if the object has a deletionTimestamp."""
    return "deletionTimestamp" in (obj.get("metadata") or _EMPTY)


def get_path(obj: Any, path: str, default: Any = None) -> Any:
    """The value at a dotted path such as `status.phase`; `default` where the path ends early.

    A path step that is a whole number indexes a list. Keys which contain dots cannot be
    reached this way: use the accessors above.
    """
    value = obj
    for step in path.split("."):
        # Nearly every value on a path is a dict, and asking for Mapping takes ten times as long.
        if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101
            if step not in value:
                return default
            value = value[step]
        elif isinstance(value, list | tuple) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return default
    return value


def with_path(obj: Object, path: str, value: Any) -> dict[str, Any]:
    """A copy of the object with `value` at a dotted path; only the dicts on the path are copied."""
    head, _, rest = path.partition(".")
    copy = dict(obj)
    copy[head] = with_path(copy.get(head) or _EMPTY, rest, value) if rest else value
    return copy


def without_path(obj: Object, path: str) -> dict[str, Any]:
    """A copy of the object without the value at a dotted path; equal if there is none."""
    head, _, rest = path.partition(".")
    copy = dict(obj)
    if not rest:
        copy.pop(head, None)
    elif isinstance(copy.get(head), Mapping):
        copy[head] = without_path(copy[head], rest)
    return copy


def condition(obj: Object, type_: str) -> Object | None:
    """The entry of `status.conditions` of that type, if any."""
    for entry in (obj.get("status") or _EMPTY).get("conditions") or ():
        if entry.get("type") == type_:
            found: Object = entry
            return found
    return None


def condition_status(obj: Object, type_: str) -> str:
    """`True`, `False` or `Unknown`; empty where the object has no such condition."""
    entry = condition(obj, type_)
    return "" if entry is None else str(entry.get("status", ""))


def is_unschedulable(pod: Object) -> bool:
    """True if the scheduler has found no node for it."""
    return condition_status(pod, "PodScheduled") == "False"


def containers(pod_spec: Object, *, init: bool = True) -> Iterator[Object]:
    """The containers of a pod's spec, init containers first unless `init` is False."""
    if init:
        yield from pod_spec.get("initContainers") or ()
    yield from pod_spec.get("containers") or ()
