"""The StatefulSet controller: pods with an ordinal and a stable name, one after the other."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

from clusters.simulated.controllers.base import Work
from clusters.simulated.controllers.workloads.pods import (
    FINAL_PHASES,
    controller_reference,
    is_ready,
    phase_of,
    pod_from_template,
)
from clusters.simulated.controllers.workloads.workload import (
    WorkloadController,
    available_at_us,
    template_hash,
    without_empty,
)
from vocabulary.errors import ApiError
from vocabulary.kinds import CONTROLLER_REVISION, PERSISTENT_VOLUME_CLAIM, POD, STATEFUL_SET
from vocabulary.objects import Object, get_path, is_terminating, labels_of, meta, name_of, uid_of
from vocabulary.requests import Create, Request, Update

REVISION_LABEL: Final = "controller-revision-hash"
HASH_LABEL: Final = "controller.kubernetes.io/hash"
NAME_LABEL: Final = "statefulset.kubernetes.io/pod-name"
INDEX_LABEL: Final = "apps.kubernetes.io/pod-index"


class StatefulSetController(WorkloadController):
    """In order (`OrderedReady`), or all at once (`Parallel`)."""

    name = "statefulset-controller"
    kind = STATEFUL_SET
    owns = (POD,)

    def sync(self, key: Any) -> Work:
        owner = self.informers.get(STATEFUL_SET, *key)
        if owner is None:
            return None
        update = template_hash(owner["spec"]["template"])
        update = f"{name_of(owner)}-{update}"
        if not is_terminating(owner):
            yield from self._keep_revision(owner, update)
            yield from self._move(owner, update)
        latest = self.informers.get(STATEFUL_SET, *key)
        if latest is None or uid_of(latest) != uid_of(owner):
            return None
        status, wake_at_us = self._status(latest, update)
        if status != latest.get("status"):
            yield Update(STATEFUL_SET, {**latest, "status": status}, subresource="status")
        return wake_at_us

    def _keep_revision(self, owner: Object, update: str) -> Generator[Request, Any, None]:
        """The template as it is now, on record under its own name."""
        revisions = self.informers.controlled_by(uid_of(owner), CONTROLLER_REVISION)
        if any(name_of(entry) == update for entry in revisions):
            return
        revision = {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {
                "name": update,
                "namespace": meta(owner)["namespace"],
                "labels": {
                    **labels_of(owner["spec"]["template"]),
                    HASH_LABEL: update.rpartition("-")[2],
                },
                "ownerReferences": [controller_reference(owner, STATEFUL_SET)],
            },
            "data": {"spec": {"template": owner["spec"]["template"]}},
            "revision": len(revisions) + 1,
        }
        yield Create(CONTROLLER_REVISION, revision, meta(owner)["namespace"])

    def _pods(self, owner: Object) -> dict[int, Object]:
        """Its pods by ordinal."""
        found = {}
        for pod in self.informers.controlled_by(uid_of(owner)):
            prefix, _, ordinal = name_of(pod).rpartition("-")
            if prefix == name_of(owner) and ordinal.isdecimal():
                found[int(ordinal)] = pod
        return found

    def _move(self, owner: Object, update: str) -> Generator[Request, Any, None]:
        """Create, replace and delete pods as far as the order allows it now."""
        spec = owner["spec"]
        ordered = spec["podManagementPolicy"] == "OrderedReady"
        start = (spec.get("ordinals") or {}).get("start", 0)
        wanted = range(start, start + spec["replicas"])
        pods = self._pods(owner)
        current = get_path(owner, "status.currentRevision") or update
        for ordinal in wanted:
            pod = pods.get(ordinal)
            if pod is not None and phase_of(pod) in FINAL_PHASES and not is_terminating(pod):
                yield from self.delete(POD, pod)
                if ordered:
                    return
                continue
            if pod is None:
                revision = update if ordinal >= _partition(spec) else current
                yield from self._create(owner, ordinal, revision)
                if ordered:
                    return
            elif ordered and (is_terminating(pod) or not is_ready(pod)):
                return
        for ordinal in sorted((number for number in pods if number not in wanted), reverse=True):
            pod = pods[ordinal]
            if not is_terminating(pod):
                yield from self.delete(POD, pod)
            if ordered:
                return
        if (spec.get("updateStrategy") or {}).get("type") == "OnDelete":
            return
        for ordinal in reversed(wanted):
            pod = pods.get(ordinal)
            if pod is None or ordinal < _partition(spec):
                return
            if labels_of(pod).get(REVISION_LABEL) != update and not is_terminating(pod):
                yield from self.delete(POD, pod)
                return
            if is_terminating(pod) or not is_ready(pod):
                return

    def _create(self, owner: Object, ordinal: int, revision: str) -> Generator[Request, Any, None]:
        namespace, name = meta(owner)["namespace"], f"{name_of(owner)}-{ordinal}"
        template = self._template(owner, revision)
        pod = pod_from_template(owner, STATEFUL_SET, template)
        pod["metadata"]["name"] = name
        pod["metadata"]["labels"] |= {
            REVISION_LABEL: revision,
            NAME_LABEL: name,
            INDEX_LABEL: str(ordinal),
        }
        spec = {**pod["spec"], "hostname": name}
        if owner["spec"].get("serviceName"):
            spec["subdomain"] = owner["spec"]["serviceName"]
        volumes = list(spec.get("volumes") or ())
        for claim in owner["spec"].get("volumeClaimTemplates") or ():
            claim_name = f"{name_of(claim)}-{name}"
            yield from self._create_claim(owner, claim_name, claim)
            source = {"persistentVolumeClaim": {"claimName": claim_name}}
            volumes.append({"name": name_of(claim), **source})
        if volumes:
            spec["volumes"] = volumes
        pod["spec"] = spec
        yield Create(POD, pod, namespace)

    def _template(self, owner: Object, revision: str) -> Object:
        """The template of a revision; today's where that is not on record any more."""
        for entry in self.informers.controlled_by(uid_of(owner), CONTROLLER_REVISION):
            if name_of(entry) == revision:
                found: Object = entry["data"]["spec"]["template"]
                return found
        today: Object = owner["spec"]["template"]
        return today

    def _create_claim(
        self, owner: Object, name: str, template: Object
    ) -> Generator[Request, Any, None]:
        namespace = meta(owner)["namespace"]
        selected: Object = get_path(owner, "spec.selector.matchLabels") or {}
        labels = {**labels_of(template), **selected}
        if self.informers.get(PERSISTENT_VOLUME_CLAIM, namespace, name) is not None:
            return
        claim = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "spec": template["spec"],
        }
        try:
            yield Create(PERSISTENT_VOLUME_CLAIM, claim, namespace)
        except ApiError as refused:
            if not refused.is_already_exists:
                raise

    def _status(self, owner: Object, update: str) -> tuple[dict[str, Any], int | None]:
        spec = owner["spec"]
        alive = [
            pod
            for pod in self.informers.controlled_by(uid_of(owner))
            if phase_of(pod) not in FINAL_PHASES
        ]
        standing = [pod for pod in alive if not is_terminating(pod)]
        times = [available_at_us(pod, spec.get("minReadySeconds", 0)) for pod in standing]
        now_us = self.loop.now_us
        before = get_path(owner, "status.currentRevision") or update
        updated = sum(labels_of(pod).get(REVISION_LABEL) == update for pod in standing)
        settled = updated == spec["replicas"] == len(alive) and all(
            is_ready(pod) for pod in standing
        )
        current = update if settled else before
        of_current = sum(labels_of(pod).get(REVISION_LABEL) == current for pod in standing)
        status = {
            "replicas": len(alive),
            "availableReplicas": sum(at is not None and at <= now_us for at in times),
            "collisionCount": 0,
            **without_empty(
                {
                    "observedGeneration": meta(owner)["generation"],
                    "readyReplicas": sum(is_ready(pod) for pod in alive),
                    "currentReplicas": of_current,
                    "updatedReplicas": updated,
                    "currentRevision": current,
                    "updateRevision": update,
                }
            ),
        }
        return status, min((at for at in times if at is not None and at > now_us), default=None)


def _partition(spec: Object) -> int:
    """Pods with a lower ordinal keep the revision that they have."""
    rolling = (spec.get("updateStrategy") or {}).get("rollingUpdate") or {}
    partition: int = rolling.get("partition", 0)
    return partition
