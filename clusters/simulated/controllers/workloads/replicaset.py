"""The ReplicaSet controller: so many pods of one template, no matter which."""

from __future__ import annotations

from typing import Any, Final

from clusters.simulated.controllers.base import Work
from clusters.simulated.controllers.workloads.pods import (
    is_active,
    is_ready,
    is_stopping,
    pod_from_template,
    removal_rank,
)
from clusters.simulated.controllers.workloads.volume_claims import claim
from clusters.simulated.controllers.workloads.workload import (
    WorkloadController,
    available_at_us,
    without_empty,
)
from vocabulary.kinds import POD, REPLICA_SET
from vocabulary.objects import Object, is_terminating, labels_of, meta
from vocabulary.requests import Create, Update

_MAX_PER_SYNC: Final = 500


class ReplicaSetController(WorkloadController):
    """Replaces pods as soon as they end or are being deleted."""

    name = "replicaset-controller"
    kind = REPLICA_SET
    owns = (POD,)

    def sync(self, key: Any) -> Work:
        replica_set = self.informers.get(REPLICA_SET, *key)
        if replica_set is None:
            return None
        spec = replica_set["spec"]
        uid = meta(replica_set)["uid"]
        if not is_terminating(replica_set):
            pods = yield from claim(self.informers, replica_set, REPLICA_SET, may_adopt=is_active)
            active = [pod for pod in pods if is_active(pod)]
            missing = spec["replicas"] - len(active)
            for _ in range(min(missing, _MAX_PER_SYNC)):
                pod = pod_from_template(replica_set, REPLICA_SET, spec["template"])
                yield Create(POD, pod, key[0])
            if missing < 0:
                youngest_first = active[::-1]
                ranked = sorted(youngest_first, key=removal_rank)
                for surplus in ranked[: min(-missing, _MAX_PER_SYNC)]:
                    yield from self.delete(POD, surplus)
        latest = self.informers.get(REPLICA_SET, *key)
        if latest is None or meta(latest)["uid"] != uid:
            return None
        active = [pod for pod in self.informers.controlled_by(uid) if is_active(pod)]
        min_ready = spec.get("minReadySeconds", 0)
        times = [available_at_us(pod, min_ready) for pod in active]
        now_us = self.loop.now_us
        stopping = sum(map(is_stopping, self.informers.controlled_by(uid)))
        available = sum(at is not None and at <= now_us for at in times)
        status = {**_status(latest, active, available), "terminatingReplicas": stopping}
        if status != latest.get("status"):
            yield Update(REPLICA_SET, {**latest, "status": status}, subresource="status")
        return min((at for at in times if at is not None and at > now_us), default=None)


def _status(replica_set: Object, active: list[Object], available: int) -> dict[str, Any]:
    wanted = labels_of(replica_set["spec"]["template"]).items()
    return {
        "replicas": len(active),
        **without_empty(
            {
                "fullyLabeledReplicas": sum(wanted <= labels_of(pod).items() for pod in active),
                "readyReplicas": sum(is_ready(pod) for pod in active),
                "availableReplicas": available,
                "observedGeneration": meta(replica_set)["generation"],
            }
        ),
    }
