"""LimitRange: defaults for containers, and limits for containers, pods and volume claims (403)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from clusters.simulated.builtin.quantities import Quantity, quantities_of
from clusters.simulated.namespaces import refused
from clusters.simulated.pod_resources import quantities_of_containers
from clusters.simulated.store import Store
from vocabulary.kinds import LIMIT_RANGE, PERSISTENT_VOLUME_CLAIM, POD, Kind
from vocabulary.objects import Object, annotations_of, get_path, name_of, namespace_of

_ANNOTATION: Final = "kubernetes.io/limit-ranger"
_FILLED: Final = (("requests", "request"), ("limits", "limit"))
Amounts = Mapping[str, Quantity]


class _Subject(NamedTuple):
    """One container, pod or volume claim, as an item of a LimitRange measures it."""

    type: str
    requests: Amounts
    limits: Amounts

    def of(self, resource: str) -> list[tuple[str, Quantity]]:
        """Its request and its limit, as far as it has them."""
        both = (("request", self.requests), ("limit", self.limits))
        return [(word, amounts[resource]) for word, amounts in both if resource in amounts]


def default_resources(store: Store, pod: dict[str, Any]) -> None:
    """Give a new pod's containers the requests and limits that they lack, and say so on it."""
    for limit_range in store.of_kind(LIMIT_RANGE.group_kind, namespace_of(pod)):
        defaults: dict[str, dict[str, Any]] = {"requests": {}, "limits": {}}
        for item in get_path(limit_range, "spec.limits") or ():
            if item["type"] == "Container":
                defaults["requests"].update(item.get("defaultRequest") or {})
                defaults["limits"].update(item.get("default") or {})
        said: list[str] = []
        spec = dict(pod["spec"])
        for field, called in (("containers", "container"), ("initContainers", "init container")):
            if spec.get(field):
                spec[field] = [_filled(each, defaults, called, said) for each in spec[field]]
        if said:
            pod["spec"] = spec
            text = f"LimitRanger plugin set: {'; '.join(said)}"
            annotations = {**annotations_of(pod), _ANNOTATION: text}
            pod["metadata"] = {**pod["metadata"], "annotations": annotations}


def _filled(
    container: Object, defaults: Mapping[str, Mapping[str, Any]], called: str, said: list[str]
) -> Object:
    resources: dict[str, Any] = dict(container.get("resources") or {})
    for field, word in _FILLED:
        standing = resources.get(field) or {}
        missing = {name: v for name, v in defaults[field].items() if name not in standing}
        if missing:
            resources[field] = {**standing, **missing}
            said.append(f"{', '.join(sorted(missing))} {word} for {called} {container['name']}")
    return {**container, "resources": resources}


def require_limits(store: Store, kind: Kind, obj: Object) -> None:
    """Refuse a new pod or volume claim beyond a limit of its namespace."""
    if kind not in (POD, PERSISTENT_VOLUME_CLAIM):
        return
    for limit_range in store.of_kind(LIMIT_RANGE.group_kind, namespace_of(obj)):
        complaints = [
            complaint
            for item in get_path(limit_range, "spec.limits") or ()
            for subject in _subjects(kind, obj, item["type"])
            for complaint in _complaints(item, subject)
        ]
        # Go's aggregate of errors says each thing once.
        complaints = list(dict.fromkeys(complaints))
        if complaints:
            text = complaints[0] if len(complaints) == 1 else f"[{', '.join(complaints)}]"
            raise refused(kind, name_of(obj), text)


def _subjects(kind: Kind, obj: Object, type_: str) -> Sequence[_Subject]:
    spec: Object = obj["spec"]
    if kind != POD:
        requests = get_path(spec, "resources.requests") or {}
        return [_Subject(type_, quantities_of(requests), {})] if type_ == kind.kind else []
    if type_ == "Container":
        return [
            _Subject(
                type_,
                quantities_of(get_path(container, "resources.requests") or {}),
                quantities_of(get_path(container, "resources.limits") or {}),
            )
            for container in (*spec["containers"], *(spec.get("initContainers") or ()))
        ]
    if type_ == "Pod":
        requests, limits = (quantities_of_containers(spec, f) for f in ("requests", "limits"))
        return [_Subject(type_, requests, limits)]
    return []


def _complaints(item: Object, subject: _Subject) -> Iterator[str]:
    for resource, least in sorted(quantities_of(item.get("min") or {}).items()):
        yield from _below(resource, least, subject)
    for resource, most in sorted(quantities_of(item.get("max") or {}).items()):
        yield from _beyond(resource, most, subject)
    if subject.type == PERSISTENT_VOLUME_CLAIM.kind:
        return
    for resource, most in sorted(quantities_of(item.get("maxLimitRequestRatio") or {}).items()):
        yield from _too_far_apart(resource, most, subject)


def _below(resource: str, least: Quantity, subject: _Subject) -> Iterator[str]:
    bound = f"minimum {resource} usage per {subject.type} is {least}"
    if resource not in subject.requests:
        yield f"{bound}.  No request is specified"
        return
    for word, quantity in subject.of(resource):
        if quantity < least:
            yield f"{bound}, but {word} is {quantity}"
            return


def _beyond(resource: str, most: Quantity, subject: _Subject) -> Iterator[str]:
    """A claim has no limits: its request is measured."""
    bound = f"maximum {resource} usage per {subject.type} is {most}"
    is_claim = subject.type == PERSISTENT_VOLUME_CLAIM.kind
    word = "request" if is_claim else "limit"
    if resource not in (subject.requests if is_claim else subject.limits):
        yield f"{bound}.  No {word} is specified"
        return
    for word, quantity in reversed(subject.of(resource)):
        if most < quantity:
            yield f"{bound}, but {word} is {quantity}"
            return


def _too_far_apart(resource: str, most: Quantity, subject: _Subject) -> Iterator[str]:
    bound = f"{resource} max limit to request ratio per {subject.type} is {most}"
    for word, amounts in (("request", subject.requests), ("limit", subject.limits)):
        if resource not in amounts or not amounts[resource].value:
            yield f"{bound}, but no {word} is specified or {word} is 0"
            return
    ratio = subject.limits[resource].value / subject.requests[resource].value
    if ratio > most.value:
        yield f"{bound}, but provided ratio is {float(ratio):f}"
