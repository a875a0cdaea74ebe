"""RuntimeClass: what a class adds to a pod, and refusals of pods that contradict theirs (403)."""

from __future__ import annotations

from typing import Any

from clusters.simulated.namespaces import refused
from clusters.simulated.store import Key, Store
from vocabulary.kinds import POD, RUNTIME_CLASS
from vocabulary.objects import Object, get_path, name_of


def apply_runtime_class(store: Store, pod: dict[str, Any]) -> None:
    """Add the overhead, node selector and tolerations of a new pod's class to its spec."""
    class_ = _class_of(store, pod)
    if class_ is None:
        return
    spec = pod["spec"] = dict(pod["spec"])
    overhead = get_path(class_, "overhead.podFixed")
    if overhead:
        if spec.get("overhead") not in (None, {}, overhead):
            raise _other_overhead(pod)
        spec["overhead"] = overhead
    scheduling: Object = class_.get("scheduling") or {}
    if scheduling.get("nodeSelector"):
        spec["nodeSelector"] = _selecting(pod, scheduling["nodeSelector"])
    if scheduling.get("tolerations"):
        spec["tolerations"] = _merged([*spec.get("tolerations", ()), *scheduling["tolerations"]])


def require_overhead(store: Store, pod: Object) -> None:
    """Refuse a pod whose overhead is not that of its class."""
    class_ = _class_of(store, pod)
    overhead = pod["spec"].get("overhead")
    fixed = None if class_ is None else get_path(class_, "overhead.podFixed")
    if overhead is not None and (class_ is None or class_.get("overhead") is None):
        because = "Pod Overhead set without corresponding RuntimeClass defined Overhead"
        raise refused(POD, name_of(pod), f"pod rejected: {because}")
    if (fixed or {}) != (overhead or {}):
        raise _other_overhead(pod)


def _class_of(store: Store, pod: Object) -> Object | None:
    name = pod["spec"].get("runtimeClassName")
    if name is None:
        return None
    class_ = store.get(Key(str(RUNTIME_CLASS), "", name))
    if class_ is None:
        raise refused(POD, name_of(pod), f'pod rejected: RuntimeClass "{name}" not found')
    return class_


def _other_overhead(pod: Object) -> Exception:
    because = "Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    return refused(POD, name_of(pod), f"pod rejected: {because}")


def _selecting(pod: Object, required: Object) -> dict[str, str]:
    standing = pod["spec"].get("nodeSelector") or {}
    for key, value in required.items():
        if standing.get(key, value) != value:
            because = (
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {standing[key]}"
            )
            raise refused(POD, name_of(pod), because)
    return {**standing, **required}


def _merged(tolerations: list[Object]) -> list[Object]:
    """The tolerations without those that another one covers; of equal ones the first is kept."""
    merged: list[Object] = []
    for position, one in enumerate(tolerations):
        later = [other for other in tolerations[position + 1 :] if other != one]
        if not any(_covers(other, one) for other in (*merged, *later)):
            merged.append(one)
    return merged


def _covers(wide: Object, narrow: Object) -> bool:
    """True if a toleration tolerates all that another one does."""
    if wide == narrow:
        return True
    exists = wide.get("operator") == "Exists"
    if wide.get("key") != narrow.get("key") and not (exists and not wide.get("key")):
        return False
    if wide.get("effect") not in (None, narrow.get("effect")):
        return False
    longest = wide.get("tolerationSeconds") if wide.get("effect") == "NoExecute" else None
    if longest is not None and narrow.get("tolerationSeconds", longest + 1) > longest:
        return False
    return exists or (
        narrow.get("operator") == "Equal" and narrow.get("value") == wide.get("value")
    )
