"""ResourceQuota: refuse what would exceed one (403).

Usage is counted when it matters, from what is stored, so it is never out of date; a real
server goes by the quota's status, and here a controller only shows it there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from clusters.simulated.builtin.pods import qos_class
from clusters.simulated.builtin.quantities import (
    Quantity,
    canonical_quantity,
    quantities_of,
    quantity_of,
)
from clusters.simulated.namespaces import refused
from clusters.simulated.pod_resources import add, quantities_of_containers
from clusters.simulated.store import Store
from vocabulary.kinds import POD, RESOURCE_QUOTA, Kind
from vocabulary.objects import Object, containers, get_path, name_of

_NONE: Final = Quantity()
_ONE: Final = quantity_of("1")
_PLAIN_COUNTS: Final = frozenset(
    {"pods", "services", "secrets", "configmaps", "persistentvolumeclaims", "resourcequotas"}
)


def require_quota(store: Store, kind: Kind, obj: Object) -> None:
    """Refuse a creation that would take a quota of its namespace over its limit."""
    namespace = obj["metadata"].get("namespace", "")
    for quota in store.of_kind(RESOURCE_QUOTA.group_kind, namespace):
        if not _is_in_scope(quota, kind, obj):
            continue
        hard: Mapping[str, Any] = get_path(quota, "spec.hard", {})
        missing = _unsaid(obj, hard) if kind == POD else ""
        if missing:
            because = f"failed quota: {name_of(quota)}: must specify {missing}"
            raise refused(kind, name_of(obj), because)
        wanted = {
            name: amount
            for name, amount in _usage(kind, obj).items()
            if name in hard and amount.value
        }
        if not wanted:
            continue
        used = _total(kind, _counted(store, quota, kind))
        exceeded = sorted(
            name
            for name, amount in wanted.items()
            if quantity_of(hard[name]) < used.get(name, _NONE) + amount
        )
        if exceeded:
            raise refused(
                kind,
                name_of(obj),
                f"exceeded quota: {name_of(quota)}, requested: {_shown(wanted, exceeded)}, "
                f"used: {_shown(used, exceeded)}, limited: "
                + ",".join(f"{name}={canonical_quantity(hard[name])}" for name in exceeded),
            )


def _counted(store: Store, quota: Object, kind: Kind) -> Iterator[Object]:
    """The objects of a kind that a quota counts."""
    for obj in store.of_kind(kind.group_kind, quota["metadata"]["namespace"]):
        if _is_in_scope(quota, kind, obj):
            yield obj


def _is_in_scope(quota: Object, kind: Kind, obj: Object) -> bool:
    """True if a quota counts an object: one with scopes counts pods that are in all of them."""
    scopes = get_path(quota, "spec.scopes") or ()
    return not scopes or (
        kind == POD and all(scope in _SCOPES and _SCOPES[scope](obj) for scope in scopes)
    )


def _is_best_effort(pod: Object) -> bool:
    return qos_class(pod["spec"]) == "BestEffort"


def _is_to_end(pod: Object) -> bool:
    return pod["spec"].get("activeDeadlineSeconds") is not None


# No pod of the simulation is in one of the others, of affinity across namespaces and of volumes.
_SCOPES: Final[Mapping[str, Callable[[Object], bool]]] = {
    "BestEffort": _is_best_effort,
    "NotBestEffort": lambda pod: not _is_best_effort(pod),
    "NotTerminating": lambda pod: not _is_to_end(pod),
    "PriorityClass": lambda pod: bool(pod["spec"].get("priorityClassName")),
    "Terminating": _is_to_end,
}
_COMPUTE: Final = (
    "cpu",
    "limits.cpu",
    "limits.memory",
    "memory",
    "requests.cpu",
    "requests.memory",
)


def _unsaid(pod: Object, hard: Mapping[str, Any]) -> str:
    """Containers without requests for a limited resource, as a message; "" if there are none."""
    unsaid = []
    for limited in _COMPUTE:
        if limited not in hard:
            continue
        kind, _, resource = limited.rpartition(".")
        silent = sorted(
            container["name"]
            for container in containers(pod["spec"])
            if resource not in (get_path(container, f"resources.{kind or 'requests'}") or {})
        )
        if silent:
            unsaid.append(f"{limited} for: {','.join(silent)}")
    return "; ".join(unsaid)


def used_of(store: Store, quota: Object, kinds: Iterable[Kind]) -> dict[str, str]:
    """The usage of everything that a quota limits, as in its status."""
    hard: Mapping[str, Any] = get_path(quota, "spec.hard", {})
    total: dict[str, Quantity] = {}
    for kind in kinds:
        if kind.namespaced and _may_count(kind, hard):
            add(total, _total(kind, _counted(store, quota, kind)))
    return {name: str(total.get(name, _NONE)) for name in sorted(hard)}


def _may_count(kind: Kind, hard: Mapping[str, Any]) -> bool:
    return kind == POD or kind.plural in hard or _count_name(kind) in hard


def _count_name(kind: Kind) -> str:
    return f"count/{kind.plural}{'.' if kind.group else ''}{kind.group}"


def _usage(kind: Kind, obj: Object) -> dict[str, Quantity]:
    """The usage of one object, by the names that quotas have for it."""
    usage = {_count_name(kind): _ONE}
    if kind != POD:
        if not kind.group and kind.plural in _PLAIN_COUNTS:
            usage[kind.plural] = _ONE
        return usage
    if get_path(obj, "status.phase") in ("Succeeded", "Failed"):
        return usage
    usage["pods"] = _ONE
    spec: Object = obj["spec"]
    overhead = quantities_of(spec.get("overhead") or {})
    requests = quantities_of_containers(spec, "requests")
    add(requests, overhead)
    for name, amount in requests.items():
        usage[f"requests.{name}"] = amount
        if name in ("cpu", "memory"):
            usage[name] = amount
    limits = quantities_of_containers(spec, "limits")
    # A pod without a limit has none for its overhead either.
    add(limits, {name: more for name, more in overhead.items() if limits.get(name, _NONE).value})
    usage.update({f"limits.{name}": amount for name, amount in limits.items()})
    return usage


def _total(kind: Kind, objects: Iterable[Object]) -> dict[str, Quantity]:
    total: dict[str, Quantity] = {}
    for obj in objects:
        add(total, _usage(kind, obj))
    return total


def _shown(amounts: Mapping[str, Quantity], names: Iterable[str]) -> str:
    return ",".join(f"{name}={amounts.get(name, _NONE)}" for name in names)
