"""Priority classes of pods: priority and preemption policy."""

from __future__ import annotations

from typing import Any, Final

from clusters.simulated.namespaces import refused
from clusters.simulated.store import Key, Store
from vocabulary.kinds import POD, PRIORITY_CLASS
from vocabulary.objects import Object, name_of

_SYSTEM_CLASSES: Final = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}


def resolve_priority(store: Store, pod: dict[str, Any]) -> None:
    """Write the priority of the pod's class into its spec; a 403 if there is no such class."""
    spec: Object = pod["spec"]
    name = spec.get("priorityClassName", "")
    class_: Object | None = None
    if name:
        class_ = store.get(Key(str(PRIORITY_CLASS), "", name))
        if class_ is None and name not in _SYSTEM_CLASSES:
            raise refused(POD, name_of(pod), f"no PriorityClass with name {name} was found")
    else:
        class_ = _global_default(store)
        if class_ is not None:
            name = name_of(class_)
    priority = class_["value"] if class_ is not None else _SYSTEM_CLASSES.get(name, 0)
    if spec.get("priority") not in (None, priority):
        raise refused(
            POD,
            name_of(pod),
            f"the integer value of priority ({spec['priority']}) must not be provided in pod spec; "
            f"priority admission controller computed {priority} from the given PriorityClass name",
        )
    policy = "PreemptLowerPriority" if class_ is None else class_["preemptionPolicy"]
    if spec.get("preemptionPolicy") not in (None, policy):
        raise refused(
            POD,
            name_of(pod),
            f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be "
            f"provided in pod spec; priority admission controller computed {policy} from the "
            "given PriorityClass name",
        )
    resolved = {"priority": priority, "preemptionPolicy": policy}
    if name:
        resolved["priorityClassName"] = name
    pod["spec"] = {**spec, **resolved}


def _global_default(store: Store) -> Object | None:
    """Of several classes that are the default for all, the one of the lowest value counts."""
    defaults = [
        class_ for class_ in store.of_kind(str(PRIORITY_CLASS)) if class_.get("globalDefault")
    ]
    return min(defaults, key=lambda class_: int(class_["value"]), default=None)
