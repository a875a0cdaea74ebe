"""The Deployment controller: one ReplicaSet per template, and the way from one to the next."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

from clusters.simulated.controllers.base import Work
from clusters.simulated.controllers.workloads.deployment_status import (
    available,
    bounds,
    deadline_us,
    deployment_status,
)
from clusters.simulated.controllers.workloads.pods import (
    FINAL_PHASES,
    controller_reference,
    phase_of,
)
from clusters.simulated.controllers.workloads.workload import (
    WorkloadController,
    template_hash,
    without_empty,
)
from clusters.simulated.store import Change
from vocabulary.clock import to_rfc3339
from vocabulary.kinds import DEPLOYMENT, POD, REPLICA_SET
from vocabulary.objects import (
    Object,
    annotations_of,
    controller_of,
    get_path,
    is_terminating,
    labels_of,
    meta,
    name_of,
    uid_of,
    with_path,
)
from vocabulary.requests import Create, Patch, Request, Update

HASH_LABEL: Final = "pod-template-hash"
REVISION: Final = "deployment.kubernetes.io/revision"
_HISTORY: Final = "deployment.kubernetes.io/revision-history"


class DeploymentController(WorkloadController):
    """Rolls from the old ReplicaSets to the new one, or recreates."""

    name = "deployment-controller"
    kind = DEPLOYMENT
    owns = (REPLICA_SET,)

    def listen(self) -> None:
        super().listen()
        self.on(POD, self._pod_changed, owner=REPLICA_SET)

    def _pod_changed(self, change: Change) -> None:
        """A pod that is gone may have been what a Recreate waited for."""
        owner = controller_of(change.object)
        if change.event == "DELETED" and owner is not None:
            replica_set = self.informers.get(REPLICA_SET, change.key.namespace, owner["name"])
            deployment = None if replica_set is None else controller_of(replica_set)
            if deployment is not None:
                self.enqueue((change.key.namespace, deployment["name"]))

    def sync(self, key: Any) -> Work:
        deployment = self.informers.get(DEPLOYMENT, *key)
        if deployment is None:
            return None
        if not is_terminating(deployment):
            yield from self._step(deployment)
        return (yield from self._write_status(key, uid_of(deployment)))

    def _step(self, deployment: Object) -> Generator[Request, Any, None]:
        """Bring the ReplicaSets one step nearer to what the deployment wants."""
        spec = deployment["spec"]
        new = self._new_set(deployment)
        if spec.get("paused"):
            current = self._active_or_latest(deployment, new)
            if current is not None:
                yield from self._scale(current, spec["replicas"])
        elif spec["strategy"].get("type") == "Recreate":
            yield from self._recreate(deployment, new)
        elif new is None:
            yield from self._create_set(deployment)
        else:
            yield from self._number(deployment, new)
            yield from self._roll(deployment, new)
            yield from self._forget_old(deployment, new)

    def _sets(self, deployment: Object) -> list[Object]:
        return self.informers.controlled_by(uid_of(deployment), REPLICA_SET)

    def _new_set(self, deployment: Object) -> Object | None:
        """The ReplicaSet of the current template, if there is one."""
        wanted = deployment["spec"]["template"]
        for replica_set in self._sets(deployment):
            template = replica_set["spec"]["template"]
            labels = {k: v for k, v in labels_of(template).items() if k != HASH_LABEL}
            if with_path(template, "metadata.labels", labels) == with_path(
                wanted, "metadata.labels", dict(labels_of(wanted))
            ):
                return replica_set
        return None

    def _create_set(self, deployment: Object) -> Generator[Request, Any, None]:
        spec = deployment["spec"]
        hash_ = template_hash(spec["template"])
        labels = {**labels_of(spec["template"]), HASH_LABEL: hash_}
        selector = spec["selector"]
        match = {**(selector.get("matchLabels") or {}), HASH_LABEL: hash_}
        surge, _ = bounds(spec)
        others = sum(old["spec"]["replicas"] for old in self._sets(deployment))
        wanted = spec["replicas"]
        replicas = min(wanted, max(0, wanted + surge - others))
        annotations = {
            REVISION: str(self._last_revision(deployment) + 1),
            "deployment.kubernetes.io/desired-replicas": str(wanted),
            "deployment.kubernetes.io/max-replicas": str(wanted + surge),
        }
        replica_set = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": f"{name_of(deployment)}-{hash_}",
                "namespace": meta(deployment)["namespace"],
                "labels": labels,
                "annotations": annotations,
                "ownerReferences": [controller_reference(deployment, DEPLOYMENT)],
            },
            "spec": {
                "replicas": replicas,
                "selector": {**selector, "matchLabels": match},
                "template": with_path(spec["template"], "metadata.labels", labels),
                **without_empty({"minReadySeconds": spec.get("minReadySeconds", 0)}),
            },
        }
        yield Create(REPLICA_SET, replica_set, meta(deployment)["namespace"])
        yield from self._show_revision(deployment, annotations[REVISION])

    def _last_revision(self, deployment: Object) -> int:
        return max((_revision(entry) for entry in self._sets(deployment)), default=0)

    def _number(self, deployment: Object, new: Object) -> Generator[Request, Any, None]:
        """Give the new set the highest revision, also where an old template came back."""
        highest = max(
            (_revision(entry) for entry in self._sets(deployment) if entry is not new), default=0
        )
        number = _revision(new)
        if number <= highest:
            before, number = annotations_of(new).get(REVISION), highest + 1
            annotations = {REVISION: str(number)}
            if before:
                history = annotations_of(new).get(_HISTORY)
                annotations[_HISTORY] = f"{history},{before}" if history else before
            body = {"metadata": {"annotations": annotations}}
            yield Patch(REPLICA_SET, meta(new)["namespace"], name_of(new), body)
        yield from self._show_revision(deployment, str(number))

    def _show_revision(self, deployment: Object, revision: str) -> Generator[Request, Any, None]:
        if annotations_of(deployment).get(REVISION) != revision:
            annotations = {**annotations_of(deployment), REVISION: revision}
            shown = with_path(deployment, "metadata.annotations", annotations)
            # Through the status, where it is no change of what is desired.
            yield Update(DEPLOYMENT, shown, subresource="status")

    def _scale(self, replica_set: Object, replicas: int) -> Generator[Request, Any, None]:
        if replica_set["spec"]["replicas"] != replicas:
            yield Update(REPLICA_SET, with_path(replica_set, "spec.replicas", replicas))

    def _active_or_latest(self, deployment: Object, new: Object | None) -> Object | None:
        """The one set that has replicas; if none has, the new or else the latest one."""
        sets = self._sets(deployment)
        active = [entry for entry in sets if entry["spec"]["replicas"]]
        if len(active) > 1:
            return None
        if active:
            return active[0]
        return new if new is not None else max(sets, key=_revision, default=None)

    def _old_sets(self, deployment: Object, new: Object | None) -> list[Object]:
        own = "" if new is None else uid_of(new)
        return [entry for entry in self._sets(deployment) if uid_of(entry) != own]

    def _recreate(self, deployment: Object, new: Object | None) -> Generator[Request, Any, None]:
        """Everything old ends before anything new begins."""
        old = self._old_sets(deployment, new)
        for replica_set in old:
            yield from self._scale(replica_set, 0)
        if any(
            phase_of(pod) not in FINAL_PHASES
            for entry in old
            for pod in self.informers.controlled_by(uid_of(entry))
        ):
            return
        if new is None:
            yield from self._create_set(deployment)
        else:
            yield from self._number(deployment, new)
            yield from self._scale(new, deployment["spec"]["replicas"])
            yield from self._forget_old(deployment, new)

    def _roll(self, deployment: Object, new: Object) -> Generator[Request, Any, None]:
        """One step up, or one down, within what surge and unavailability allow."""
        spec = deployment["spec"]
        wanted = spec["replicas"]
        surge, unavailable = bounds(spec)
        old = self._old_sets(deployment, new)
        old_replicas = sum(entry["spec"]["replicas"] for entry in old)
        new_replicas = new["spec"]["replicas"]
        if new_replicas > wanted:
            yield from self._scale(new, wanted)
            return
        room = wanted + surge - old_replicas - new_replicas
        if new_replicas < wanted and room > 0:
            yield from self._scale(new, min(wanted, new_replicas + room))
            return
        if not old_replicas:
            return
        new_unavailable = new_replicas - available(new)
        may_go = old_replicas + new_replicas - (wanted - unavailable) - new_unavailable
        for replica_set in old:
            replicas = replica_set["spec"]["replicas"]
            broken = min(replicas - available(replica_set), may_go)
            if broken > 0:
                yield from self._scale(replica_set, replicas - broken)
                return
        # All old ones are available, or none may go.
        for replica_set in old:
            replicas = replica_set["spec"]["replicas"]
            if may_go > 0 and replicas:
                yield from self._scale(replica_set, replicas - min(replicas, may_go))
                return

    def _forget_old(self, deployment: Object, new: Object) -> Generator[Request, Any, None]:
        """Delete the oldest empty ReplicaSets beyond what the history keeps."""
        limit = deployment["spec"]["revisionHistoryLimit"]
        empty = [
            entry
            for entry in self._old_sets(deployment, new)
            if not entry["spec"]["replicas"]
            and not get_path(entry, "status.replicas")
            and not is_terminating(entry)
        ]
        for replica_set in sorted(empty, key=_revision)[: max(0, len(empty) - limit)]:
            yield from self.delete(REPLICA_SET, replica_set)

    def _write_status(self, key: Any, uid: str) -> Work:
        deployment = self.informers.get(DEPLOYMENT, *key)
        if deployment is None or uid_of(deployment) != uid:
            return None
        sets = self._sets(deployment)
        new = self._new_set(deployment)
        status = deployment_status(deployment, sets, new, to_rfc3339(self.loop.now_us))
        if status != deployment.get("status"):
            yield Update(DEPLOYMENT, {**deployment, "status": status}, subresource="status")
        return deadline_us(deployment["spec"], status)


def _revision(replica_set: Object) -> int:
    return int(annotations_of(replica_set).get(REVISION, "0"))
