"""The disruption controller: how many pods of a budget are ready, and how many may be evicted."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any, Final

from clusters.simulated.controllers.base import Controller, Work
from clusters.simulated.disruption import (
    SYNC_FAILED,
    budgets_of,
    conditions_of,
    decided,
)
from clusters.simulated.store import Change
from vocabulary.clock import MINUTE, Micros, parse_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import DEPLOYMENT, POD, POD_DISRUPTION_BUDGET, REPLICA_SET
from vocabulary.objects import (
    Object,
    condition_status,
    controller_of,
    get_path,
    is_terminating,
    labels_of,
    meta,
    name_of,
    namespace_of,
    uid_of,
)
from vocabulary.requests import Get, Update
from vocabulary.selectors import matches

_DELETION_US: Final = 2 * MINUTE
"""How long an evicted pod may take until it is being deleted; then it counts as ready again."""


class _UncountableError(Exception):
    """How many pods there should be is not known."""


class DisruptionController(Controller):
    """`disruption-controller` of the real controller manager."""

    name = "disruption-controller"

    def listen(self) -> None:
        self.on(POD_DISRUPTION_BUDGET, self._budget_changed)
        self.on(POD, self._pod_changed)

    def everything(self) -> Iterable[Hashable]:
        for budget in self.informers.all_of(POD_DISRUPTION_BUDGET):
            yield namespace_of(budget), name_of(budget)

    def _budget_changed(self, change: Change) -> None:
        if change.event != "DELETED":
            self.enqueue((change.key.namespace, change.key.name))

    def _pod_changed(self, change: Change) -> None:
        for budget in budgets_of(self.informers.store, change.object):
            self.enqueue((change.key.namespace, name_of(budget)))

    def sync(self, key: Any) -> Work:
        budget = self.informers.get(POD_DISRUPTION_BUDGET, *key)
        if budget is None:
            return None
        now_us = self.loop.now_us
        pods = [
            pod
            for pod in self.informers.all_of(POD, key[0])
            if matches(get_path(budget, "spec.selector"), labels_of(pod))
        ]
        before = budget.get("status") or {}
        due_us = None
        try:
            expected, desired = self._wanted(budget["spec"], pods)
        except _UncountableError as error:
            status = {**before, "disruptionsAllowed": 0}
            failed = decided(budget, status, "False", SYNC_FAILED, str(error), now_us)
            status["conditions"] = [failed]
        else:
            disrupted = _disrupted(before.get("disruptedPods") or {}, pods, now_us)
            due_us = min((until_us for _, until_us in disrupted.values()), default=None)
            healthy = _healthy(pods, disrupted)
            status = {
                "observedGeneration": meta(budget)["generation"],
                "disruptionsAllowed": max(0, healthy - desired) if expected > 0 else 0,
                "currentHealthy": healthy,
                "desiredHealthy": desired,
                "expectedPods": expected,
            }
            if disrupted:
                status["disruptedPods"] = {name: since for name, (since, _) in disrupted.items()}
            status["conditions"] = conditions_of(budget, status, now_us)
        if status != before:
            yield Update(POD_DISRUPTION_BUDGET, {**budget, "status": status}, "status")
        return due_us

    def _wanted(self, spec: Object, pods: Collection[Object]) -> tuple[int, int]:
        """How many pods there should be, and how many of them ready."""
        if spec.get("maxUnavailable") is not None:
            expected = self._expected(pods)
            return expected, max(0, expected - _scaled(spec["maxUnavailable"], expected))
        least = spec.get("minAvailable")
        if isinstance(least, int):
            return len(pods), least
        if least is None:
            return 0, 0
        expected = self._expected(pods)
        return expected, _scaled(least, expected)

    def _expected(self, pods: Collection[Object]) -> int:
        """The sum of the replicas that the pods' controllers want; pods without one do not
        count."""
        scales: dict[str, int] = {}
        for pod in pods:
            owner = controller_of(pod)
            if owner is not None:
                uid, replicas = self._scale_of(owner, pod)
                scales[uid] = replicas
        return sum(scales.values())

    def _scale_of(self, owner: Object, pod: Object) -> tuple[str, int]:
        """The uid and the wanted replicas of a pod's controller: of the Deployment, if that is a
        ReplicaSet's."""
        namespace = namespace_of(pod)
        if owner["kind"] == REPLICA_SET.kind:
            replica_set = self.informers.get(REPLICA_SET, namespace, owner["name"])
            above = None if replica_set is None else controller_of(replica_set)
            if above is not None and above["kind"] == DEPLOYMENT.kind:
                owner = above
        group = owner["apiVersion"].rpartition("/")[0]
        named = f"{owner['kind']}.{group}" if group else owner["kind"]
        kind = self.api.kinds.get(named)
        if kind is None:
            version = owner["apiVersion"]
            raise _UncountableError(f'no matches for kind "{owner["kind"]}" in version "{version}"')
        if "scale" not in self.api.strategies[named].subresources_in(kind.version):
            resource = f"{kind.plural}.{kind.group}".rstrip(".")
            raise _UncountableError(f"{resource} does not implement the scale subresource")
        try:
            scale = self.api.scale(Get(kind, namespace, owner["name"]))
        except ApiError as error:
            if not error.is_not_found:
                raise
            scale = {}
        if uid_of(scale) != owner["uid"]:
            raise _UncountableError(f'found no controllers for pod "{name_of(pod)}"')
        return uid_of(scale), int(get_path(scale, "spec.replicas", 0))


def _scaled(amount: int | str, of: int) -> int:
    """A number of pods, or a part of all, rounded up."""
    return amount if isinstance(amount, int) else -(-int(amount.removesuffix("%")) * of // 100)


def _disrupted(
    evicted: Mapping[str, str], pods: Collection[Object], now_us: Micros
) -> dict[str, tuple[str, Micros]]:
    """The evicted pods that are to be deleted but are not yet, with the time until which that is
    believed."""
    found = {}
    for pod in pods:
        since = evicted.get(name_of(pod))
        if since is None or is_terminating(pod):
            continue
        until_us = parse_rfc3339(since) + _DELETION_US
        # At that very moment a real controller looks again until its clock has gone on.
        if until_us > now_us:
            found[name_of(pod)] = since, until_us
    return found


def _healthy(pods: Collection[Object], disrupted: Collection[str]) -> int:
    return sum(
        1
        for pod in pods
        if not is_terminating(pod)
        and name_of(pod) not in disrupted
        and condition_status(pod, "Ready") == "True"
    )
