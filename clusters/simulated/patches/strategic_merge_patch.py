"""Strategic merge patch: a merge patch for kinds whose lists have merge keys.

A real server reads the merge keys off the Go types' field tags. There are few distinct
ones, so here they hang on the name of the field, with the path's tail or the kind where a name
means different lists in different places.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from clusters.simulated.patches.go_text import go_text

_MERGE_KEYS: Final[Mapping[str, str]] = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "env": "name",
    "imagePullSecrets": "name",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
    "schedulingGates": "name",
    "resourceClaims": "name",
    "resourceClaimStatuses": "name",
    "ownerReferences": "uid",
    "secrets": "name",
    "conditions": "type",
    "addresses": "type",
    "podIPs": "ip",
    "hostIPs": "ip",
    "webhooks": "name",
    "matchConditions": "name",
}
"""Field name to merge key; `ports` is looked up with its parent."""

_KEYS_OF_KINDS: Final[Mapping[tuple[str, str], str]] = {
    ("CSINode", "drivers"): "name",
    ("ResourceClaim", "reservedFor"): "uid",
    ("ValidatingAdmissionPolicy", "variables"): "name",
}
_REPLACED: Final = frozenset(
    {
        ("CertificateSigningRequest", "conditions"),
        ("PodDisruptionBudget", "selector"),
        ("ResourceClaim", "conditions"),
        ("ValidatingAdmissionPolicy", "conditions"),
    }
)
"""Fields that a patch replaces in one kind, by the names of both. Server-side apply merges them."""
_MERGED_PRIMITIVES: Final = frozenset({"finalizers", "podCIDRs"})


class StrategicPatchError(ValueError):
    """A patch whose lists lack the merge key, or whose directive is not known."""


class RetainKeysError(ValueError):
    """A list of fields to retain that is none."""


def apply_strategic_merge_patch(target: Any, patch: Any) -> Any:
    """The target with the patch laid over it; StrategicPatchError where it makes no sense."""
    if not isinstance(target, Mapping):
        target = {}
    return _merge(target, patch, "", target.get("kind", ""))


def _merge(
    target: Mapping[str, Any], patch: Mapping[str, Any], parent: str, kind: str
) -> dict[str, Any]:
    directive = patch.get("$patch")
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != "$patch"}
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise StrategicPatchError(f"unknown $patch directive {directive!r}")
    merged = dict(target)
    retained = patch.get("$retainKeys")
    if retained is not None and not isinstance(retained, list | tuple):
        raise RetainKeysError
    for key, value in patch.items():
        directive, slash, field = key.partition("/")
        if directive == "$deleteFromPrimitiveList" and field not in merged:
            continue
        if key.startswith("$") and slash and not isinstance(value, list | tuple):
            raise StrategicPatchError(f"expected a list at {key}, but received {value!r}")
    if retained is not None:
        merged = {key: value for key, value in merged.items() if key in retained}
    for key, value in patch.items():
        if key in ("$patch", "$retainKeys") or key.startswith("$setElementOrder/"):
            continue
        if key.startswith("$deleteFromPrimitiveList/"):
            field = key.partition("/")[2]
            if isinstance(merged.get(field), list | tuple):
                merged[field] = [item for item in merged[field] if item not in value]
        elif value is None:
            merged.pop(key, None)
        elif (kind, key) in _REPLACED:
            merged[key] = value
        elif isinstance(value, Mapping):
            before = merged.get(key)
            merged[key] = _merge(before if isinstance(before, Mapping) else {}, value, key, kind)
        elif isinstance(value, list | tuple):
            order = patch.get(f"$setElementOrder/{key}")
            before = merged.get(key)
            merged[key] = _merge_list(
                before if isinstance(before, list) else [],
                list(value),
                order,
                _list_kind(key, parent, kind),
                key,
                kind,
            )
        else:
            merged[key] = value
    for key, order in patch.items():
        field = key.partition("/")[2]
        if key.startswith("$setElementOrder/") and field in merged and field not in patch:
            list_kind = _list_kind(field, parent, kind)
            merged[field] = _in_order(merged[field], order, merged[field], list_kind.key)
    return merged


class _ListKind(NamedTuple):
    """How a list merges: by a key, as a set of primitives, or (neither) not at all."""

    key: str | None
    is_set: bool


def merge_key(field: str, parent: str, kind: str) -> str | None:
    """The key that identifies the entries of a list; None for a list that is replaced."""
    if field == "ports":
        # Those of EndpointSlices, which are part of no other field, are replaced.
        return {"": None, "spec": "port"}.get(parent, "containerPort")
    return _MERGE_KEYS.get(field) or _KEYS_OF_KINDS.get((kind, field))


def _list_kind(field: str, parent: str, kind: str) -> _ListKind:
    return _ListKind(merge_key(field, parent, kind), field in _MERGED_PRIMITIVES)


def _merge_list(
    target: list[Any], patch: list[Any], order: Any, list_kind: _ListKind, field: str, kind: str
) -> list[Any]:
    if list_kind.is_set:
        _require_order(patch, order, None)
        merged = target + [item for item in patch if item not in target]
        return _in_order(merged, patch if order is None else order, target, None)
    if list_kind.key is None:
        return patch
    if not all(isinstance(item, Mapping) for item in patch):
        if target:
            raise StrategicPatchError(
                f"list element types are not identical: {go_text([target, patch])}"
            )
        return patch
    if target:
        _require_order(patch, order, list_kind.key)
    if any(item.get("$patch") == "replace" for item in patch):
        return [item for item in patch if "$patch" not in item]
    if any(item.get("$patch") == "merge" for item in patch):
        raise StrategicPatchError("merging lists cannot yet be specified in the patch")
    deleted = [item.get(list_kind.key) for item in patch if item.get("$patch") == "delete"]
    standing = [item for item in target if item.get(list_kind.key) not in deleted]
    merged = list(standing)
    for item in patch:
        if list_kind.key not in item and not target:
            # A list that was not there is taken as it is.
            merged.append(_merge({}, item, field, kind))
            continue
        if list_kind.key not in item:
            raise StrategicPatchError(
                f"map: {go_text(item)} does not contain declared merge key: {list_kind.key}"
            )
        if item.get("$patch") == "delete":
            continue
        position = _position(merged, list_kind.key, item[list_kind.key])
        if position is None:
            merged.append(_merge({}, item, field, kind))
        else:
            merged[position] = _merge(merged[position], item, field, kind)
    if order is None:
        return _in_order(merged, patch, standing, list_kind.key)
    # In a real server, what is brought in takes the place in memory of what is deleted.
    before = merged[: len(target)] if deleted else target
    return _in_order(merged, order, before, list_kind.key)


def _require_order(patch: list[Any], order: Any, key: str | None) -> None:
    """Refuse entries that are not in the order which the patch names.

    As in a real server, what has no name is passed over as long as there are names left.
    """
    if order is None:
        return
    brought = [item for item in patch if not (key and item.get("$patch") == "delete")]
    names = [_name(entry, key) for entry in order]
    for item in brought:
        name = _name(item, key)
        if name in names:
            del names[: names.index(name) + 1]
        elif name is not None or not names:
            raise StrategicPatchError(
                f"The order in patch list:\n{go_text(patch)}\n doesn't match $setElementOrder "
                f"list:\n{go_text(order)}\n"
            )


def _position(items: list[Any], key: str, value: Any) -> int | None:
    for position, item in enumerate(items):
        if item.get(key) == value:
            return position
    return None


def _in_order(items: list[Any], order: list[Any], before: list[Any], key: str | None) -> list[Any]:
    """The items in the order that the patch asks for.

    What the patch does not name keeps its order, and comes as early as that allows: before
    an item that it preceded, but after items which the patch has brought in.
    """
    wanted = [_name(entry, key) for entry in order]
    stood = [_name(item, key) for item in before]
    named = sorted(
        (item for item in items if _name(item, key) in wanted),
        key=lambda item: wanted.index(_name(item, key)),
    )
    others = [item for item in items if _name(item, key) not in wanted]
    merged: list[Any] = []
    while named and others:
        one, other = _name(others[0], key), _name(named[0], key)
        preceded = one in stood and other in stood and stood.index(one) < stood.index(other)
        merged.append((others if preceded else named).pop(0))
    return merged + named + others


def _name(item: Any, key: str | None) -> Any:
    return item.get(key) if isinstance(item, Mapping) and key else item
