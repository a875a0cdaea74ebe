"""Pods that wait for quota themselves: single ones, and groups of them.

A pod cannot be suspended: it waits behind a scheduling gate, and to stop it is to delete it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from reference_controller.kueue.integrations import End, PodSetInfo
from reference_controller.kueue.integrations.suspended import head_of
from reference_controller.kueue.integrations.templates import is_placed, placed
from reference_controller.kueue.names import (
    ADMISSION_GATE,
    FAST_ADMISSION,
    GROUP_NAME,
    GROUP_SERVING,
    GROUP_TOTAL,
    MANAGED,
    POD_SET,
    QUEUE,
    RETRIABLE,
)
from reference_controller.kueue.rules import Rules
from reference_controller.runtime.controller import Key, key_of
from reference_controller.shared.reading import Reading, read
from vocabulary.canonical import digest
from vocabulary.kinds import POD, STATEFUL_SET, Kind
from vocabulary.objects import (
    Object,
    annotations_of,
    condition_status,
    get_path,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    owner_references,
    uid_of,
)
from vocabulary.requests import Delete, List, ObjectList, Patch, Request

_POD_SET: Final = "main"
_FRAMEWORK: Final = "pod"
_SHAPE: Final = (
    "affinity",
    "containers",
    "initContainers",
    "nodeSelector",
    "overhead",
    "priorityClassName",
    "resources",
    "tolerations",
)
"""The fields of a pod's spec that say what it asks for, and where it may run."""
POD_GROUP: Final = Kind("", "v1", "PodGroup", "")
"""No kind of the API: the pods that carry the name of one group."""


class SinglePod:
    """Each has a Workload of its own."""

    framework: Final = _FRAMEWORK
    kind: Final = POD
    prefix: Final = "pod"
    follows_changes: Final = False
    is_joined: Final = False
    watches: Final = (POD,)

    def job_of(self, obj: Object) -> Key | None:
        return key_of(obj) if _is_managed(obj) and GROUP_NAME not in labels_of(obj) else None

    def find(self, key: Key, workload: Object | None, *, live: bool) -> Reading[Object | None]:
        del workload
        found = yield from read(POD, *key, live=live)
        return found if found is not None and self.job_of(found) else None

    def head(self, job: Object) -> Object:
        # A Workload that waits for the end of its pod must not keep the pod from going.
        return head_of(POD, self.prefix, job, is_awaited=False)

    def is_active(self, job: Object) -> bool:
        return _runs(job) and not is_terminating(job)

    def pod_sets(self, job: Object) -> tuple[Object, ...]:
        return ({"name": _POD_SET, "count": 1, "template": _template(job)},)

    def end(self, job: Object) -> End | None:
        phase = _phase(job)
        return End(phase == "Succeeded", f"The pod has {phase}") if _is_over(job) else None

    def are_pods_ready(self, job: Object) -> bool:
        return condition_status(job, "Ready") == "True"

    def done(self, job: Object) -> Mapping[str, int]:
        del job
        return {}

    def may_restart(self, job: Object) -> bool:
        del job
        return False

    def stop(self, job: Object) -> Sequence[Request]:
        return [_deletion(job)] if self.is_active(job) else ()

    def start(
        self, job: Object, pod_sets: Sequence[Object], infos: Sequence[PodSetInfo]
    ) -> Sequence[Request]:
        del pod_sets
        return [_opening(job, info) for info in infos[:1]] if _is_gated(job) else ()

    def is_placed(self, job: Object) -> bool:
        return is_placed(job)

    def restore(self, job: Object, pod_sets: Sequence[Object]) -> Sequence[Request]:
        """A pod that has run is gone."""
        del job, pod_sets
        return ()


class PodGroup:
    """The pods of one name of a group. A serving group, such as that of a StatefulSet, never ends:
    its pods are replaced."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    framework: Final = _FRAMEWORK
    kind: Final = POD_GROUP
    prefix: Final = "podgroup"
    follows_changes: Final = False
    is_joined: Final = True
    watches: Final = (POD, STATEFUL_SET)

    def job_of(self, obj: Object) -> Key | None:
        labels = labels_of(get_path(obj, "spec.template") or {}) or labels_of(obj)
        name = labels.get(GROUP_NAME, "")
        return Key(namespace_of(obj), name) if name else None

    def find(self, key: Key, workload: Object | None, *, live: bool) -> Reading[Object | None]:
        selector = f"{GROUP_NAME}={key.name}"
        listed: ObjectList = yield List(POD, key.namespace, label_selector=selector, live=live)
        pods = [pod for pod in listed.items if _is_managed(pod)]
        server = next(_servers(pods if workload is None else [workload]), None)
        if server is not None:
            place = key.namespace, server["name"]
            found = yield from read(STATEFUL_SET, *place, live=False)
            if found is None:  # its pods may be known before it is
                found = yield from read(STATEFUL_SET, *place, live=True)
            if found is None or uid_of(found) != server["uid"] or not _replicas(found):
                server = None
        stays = server is not None and workload is not None
        is_left = server is None and _are_left(pods)
        if (is_left or not pods) and not self._rules.outlives_pods(stays):
            return None
        return _group(key, pods, server, workload)

    def head(self, job: Object) -> Object:
        return {
            "name": name_of(job),
            "namespace": namespace_of(job),
            "labels": {GROUP_NAME: name_of(job)},
            "ownerReferences": job["owners"],
        }

    def is_active(self, job: Object) -> bool:
        return any(_runs(pod) and not is_terminating(pod) for pod in job["pods"])

    def pod_sets(self, job: Object) -> tuple[Object, ...]:
        """Not known before all pods are there, unless they are all alike."""
        pods, total = job["pods"], job["total"]
        if not pods or (len(pods) < total and not job["is_fast"]):
            return ()
        counts = Counter(map(_set_of, pods))
        templates = {_set_of(pod): _template(pod) for pod in pods}
        if len(templates) == 1:
            counts = Counter(dict.fromkeys(templates, total))
        return tuple(
            {"name": name, "count": counts[name], "template": template}
            for name, template in templates.items()
        )

    def end(self, job: Object) -> End | None:
        if self._rules.never_ends(job["is_serving"]):
            return None
        phases = Counter(map(_phase, job["pods"]))
        if phases["Succeeded"] >= job["total"]:
            return End(True, "All pods have succeeded")
        lost = any(_is_lost(pod) for pod in job["pods"])
        if lost and not any(_runs(pod) for pod in job["pods"]):
            return End(False, "A pod that is not retriable has failed")
        return None

    def are_pods_ready(self, job: Object) -> bool:
        fine = sum(
            _phase(pod) == "Succeeded" or condition_status(pod, "Ready") == "True"
            for pod in job["pods"]
        )
        return bool(fine >= job["total"])

    def done(self, job: Object) -> Mapping[str, int]:
        if self._rules.never_ends(job["is_serving"]):
            return {}
        return Counter(_set_of(pod) for pod in job["pods"] if _phase(pod) == "Succeeded")

    def may_restart(self, job: Object) -> bool:
        del job
        return False

    def stop(self, job: Object) -> Sequence[Request]:
        return [_deletion(pod) for pod in job["pods"] if _runs(pod) and not is_terminating(pod)]

    def start(
        self, job: Object, pod_sets: Sequence[Object], infos: Sequence[PodSetInfo]
    ) -> Sequence[Request]:
        """Open the gates of as many as quota is for: a replacement waits for the pod before it."""
        opened: list[Request] = []
        done = self.done(job)
        for pod_set, info in zip(pod_sets, infos, strict=True):
            name = pod_set["name"]
            pods = [pod for pod in job["pods"] if _set_of(pod) == name]
            left = int(pod_set["count"]) - done.get(name, 0)
            room = self._rules.may_open(left, sum(map(_runs, pods)))
            gated = [pod for pod in pods if _is_gated(pod) and not is_terminating(pod)]
            opened += [_opening(pod, info) for pod in gated[:room]]
        return opened

    def is_placed(self, job: Object) -> bool:
        return any(map(is_placed, job["pods"]))

    def restore(self, job: Object, pod_sets: Sequence[Object]) -> Sequence[Request]:
        """Pods that have run are gone."""
        del job, pod_sets
        return ()


def _group(
    key: Key, pods: Sequence[Object], server: Object | None, workload: Object | None
) -> Object:
    """The pods of a group as one object."""
    first = pods[0] if pods else {}
    annotations = annotations_of(first)
    labels = labels_of(first) or {QUEUE: get_path(workload, "spec.queueName", "")}
    sets = get_path(workload, "spec.podSets") or ()
    total = annotations.get(GROUP_TOTAL, "")
    return {
        "apiVersion": POD_GROUP.api_version,
        "kind": POD_GROUP.kind,
        "metadata": {
            "name": key.name,
            "namespace": key.namespace,
            "uid": "",
            "labels": labels,
            "ownerReferences": [],
        },
        "pods": pods,
        "total": int(total) if total.isdecimal() else sum(int(each["count"]) for each in sets),
        "is_fast": annotations.get(FAST_ADMISSION) == "true",
        "is_serving": server is not None or annotations.get(GROUP_SERVING) == "true",
        "owners": [_owner(POD, pod) for pod in pods] if server is None else [server],
    }


def _are_left(pods: Sequence[Object]) -> bool:
    """True for the pods of a StatefulSet of which none runs any more; they are not replaced once
    it is gone."""
    return all(_is_over(pod) and annotations_of(pod).get(GROUP_SERVING) == "true" for pod in pods)


def _servers(objects: Iterable[Object]) -> Iterator[Object]:
    """References to the StatefulSets that own them, none as a controller."""
    for obj in objects:
        for each in owner_references(obj):
            if (each["apiVersion"], each["kind"]) == (STATEFUL_SET.api_version, STATEFUL_SET.kind):
                yield {key: each[key] for key in ("apiVersion", "kind", "name", "uid")}


def _owner(kind: Kind, obj: Object) -> Object:
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": name_of(obj),
        "uid": uid_of(obj),
    }


def _replicas(server: Object) -> int:
    return int(get_path(server, "spec.replicas", 1))


def _is_managed(pod: Object) -> bool:
    return labels_of(pod).get(MANAGED) == "true" and QUEUE in labels_of(pod)


def _is_gated(pod: Object) -> bool:
    gates = get_path(pod, "spec.schedulingGates") or ()
    return any(gate["name"] == ADMISSION_GATE for gate in gates)


def _phase(pod: Object) -> str:
    return str(get_path(pod, "status.phase", ""))


def _is_over(pod: Object) -> bool:
    return _phase(pod) in ("Succeeded", "Failed")


def _runs(pod: Object) -> bool:
    """True if it may be bound, and has not ended."""
    return not (_is_gated(pod) or _is_over(pod))


def _is_lost(pod: Object) -> bool:
    return _phase(pod) == "Failed" and annotations_of(pod).get(RETRIABLE) == "false"


def _template(pod: Object) -> Object:
    """A pod template of that shape."""
    return {"spec": {key: each for key, each in pod["spec"].items() if key in _SHAPE}}


def _set_of(pod: Object) -> str:
    """The name of its pod set: pods of one shape are of one."""
    return labels_of(pod).get(POD_SET) or digest([_template(pod)])[:8]


def _deletion(pod: Object) -> Request:
    return Delete(POD, namespace_of(pod), name_of(pod), uid=uid_of(pod))


def _opening(pod: Object, info: PodSetInfo) -> Request:
    """Take the gate away, and say where it may run."""
    spec: dict[str, Any] = placed({"spec": pod["spec"]}, info)["spec"]
    gates = [gate for gate in spec["schedulingGates"] if gate["name"] != ADMISSION_GATE]
    changed: dict[str, Any] = {"schedulingGates": gates or None}
    for field in ("nodeSelector", "tolerations"):
        if field in spec:
            changed[field] = spec[field]
    body = {"metadata": {"labels": dict(info.labels)}, "spec": changed}
    return Patch(POD, namespace_of(pod), name_of(pod), body)
