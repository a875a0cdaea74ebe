"""One Workload with its pods: what it reserves and what they use, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from conformance.history import Moment, Track
from conformance.norm.view import ObjectRun
from conformance.suites.kueue.api import FRAMEWORKS, ON_TERMINAL, RETRIABLE
from conformance.suites.kueue.view import Snapshot, WorkloadRun
from conformance.suites.kueue.view.amounts import Usage
from conformance.suites.kueue.view.job import JobRun, starts, stops
from conformance.suites.kueue.view.standing import usage_of
from conformance.suites.quota.editions import holds_until_terminal
from conformance.suites.quota.view.pods import PodSpan, leaves_others
from vocabulary.history import Write
from vocabulary.kinds import JOB, POD, REPLICA_SET
from vocabulary.objects import (
    Object,
    annotations_of,
    controller_of,
    get_path,
    is_terminating,
)

if TYPE_CHECKING:
    from conformance.suites.quota.view.history import QuotaHistory

_REPLACE_PODS: Final = (str(JOB), str(REPLICA_SET))
"""Controllers of Kubernetes that do not wait for the end of a pod."""


class Cause(StrEnum):
    """A way to lose quota, as a history shows it."""

    EVICTION = "eviction"
    SUCCESS = "success"
    FAILURE = "failure"
    DELETION = "deletion of the owner"
    ORPHAN = "deletion of the owner that orphans"


@dataclass(frozen=True)
class Step:
    """The amounts used and reserved from one position on."""

    write: Write
    used: Usage
    reserved: Usage

    @property
    def n(self) -> int:
        return self.write.n

    @property
    def t(self) -> int:
        return self.write.t


@dataclass(frozen=True)
class Loss:
    """An admission that ended."""

    admitted: Snapshot
    began: Moment
    """The moment from which quota had to be given back, as far as its cause goes."""
    released: Moment | None
    """The moment at which it was; None: it was not."""
    cause: Cause
    pods: tuple[PodSpan, ...]
    """The pods that ran under it."""

    @property
    def why_evicted(self) -> str:
        """The reason of the eviction; empty if it was none."""
        return self.began.why_evicted if isinstance(self.began, Snapshot) else ""

    @property
    def last_pod_end(self) -> Moment | None:
        """The end of the last of its pods; None while one of them runs, or if there was none."""
        ends = [pod.ended for pod in self.pods]
        known = [end for end in ends if end is not None]
        if not known or len(known) < len(ends):
            return None
        return max(known, key=lambda end: end.n)

    def running_at(self, n: int) -> list[PodSpan]:
        """Its pods that run after a position, terminating ones included."""
        return [pod for pod in self.pods if pod.uses_at(n, terminating=True)]


class Holding(ObjectRun):
    """One Workload's reservations and its pods."""

    def __init__(self, view: QuotaHistory, workload: WorkloadRun) -> None:
        super().__init__(view, workload.track)
        self.workload = workload
        self._view = view
        framework = "" if workload.job is None else workload.job.framework
        self.is_strict = holds_until_terminal(view.edition, "")
        self.holds_until_terminal = holds_until_terminal(view.edition, framework)

    def awaits_last_pod(self, cause: Cause) -> bool:
        """True if the edition, or the configuration of the operator, has quota held until the last
        pod is terminal after such a loss."""
        if cause is Cause.EVICTION:
            return self.holds_until_terminal or self.workload.strategy == ON_TERMINAL
        return self.is_strict or bool(self.workload.config.get("quotaHeldUntilTerminal"))

    @cached_property
    def pods(self) -> tuple[PodSpan, ...]:
        """The pods at the root of whose owners is its job."""
        return tuple(pod for pod in self._view.pods if not pod.roots.isdisjoint(self.owner_uids))

    @property
    def job(self) -> JobRun | None:
        """The job that it stands for, with its pods."""
        return self.workload.job

    @cached_property
    def owner(self) -> Track | None:
        """The job that it stands for; None for a group of pods, which is no object."""
        owner = controller_of(self.track.first) or {}
        return self.history.tracks.get(str(owner.get("uid", "")))

    @cached_property
    def owner_uids(self) -> frozenset[str]:
        """Those of its job, or of the pods of its group."""
        return frozenset(() if self.job is None else (root.uid for root in self.job.roots))

    def reserved_at(self, n: int) -> Usage:
        """Its reservation after position n, less the pods that may be reclaimed."""
        state = self.workload.at(n)
        if state is None or not state.has_quota:
            return {}
        return reserved(state)

    def used_at(self, n: int, *, terminating: bool = True) -> Usage:
        """The usage of its pods after position n; where quota goes back by a signal, those that are
        terminating do not count, nor any once its job has ended."""
        total: dict[str, Fraction] = {}
        ended = self._ended
        for pod in () if ended is not None and ended.n <= n else self.pods:
            if pod.uses_at(n, terminating=terminating and self.holds_until_terminal):
                for name, value in pod.usage.items():
                    total[name] = total.get(name, Fraction(0)) + value
        return total

    def pods_wanted(self, n: int) -> list[Track]:
        """Its pods after position n, bound or not, that are not terminal and not gated."""
        pods = () if self.job is None else self.job.pods
        return [pod for pod in pods if pod.exists_at(n) and _is_wanted(pod.at(n))]

    @cached_property
    def _ended(self) -> Moment | None:
        """The end of its job from which on its quota is released at once."""
        causes = (Cause.SUCCESS, *(() if self.holds_until_terminal else (Cause.FAILURE,)))
        versions = () if self.owner is None else self.owner.versions
        ends = (each for version in versions for each in _ends(version))
        return next((moment for cause, moment in ends if cause in causes), None)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Each write at which what is used or reserved may have changed."""
        writes: dict[int, Write] = {state.n: state.write for state in self.workload.snapshots}
        if self.track.removed is not None:
            writes[self.track.removed.n] = self.track.removed
        for pod in self.pods:
            for write in (pod.bound, pod.ended, pod.deleted):
                if write is not None:
                    writes[write.n] = write
        return tuple(
            Step(writes[n], self.used_at(n), self.reserved_at(n))
            for n in sorted(writes)
            if self._is_in_charge(n)
        )

    def _is_in_charge(self, n: int) -> bool:
        """True if the job has no other Workload at a position, nor is a part of one that waits; one
        that is gone has been until the next one is created."""
        if self.job is not None and self.job.queued_owner(n) is not None:
            return False
        tracks = {track for uid in self.owner_uids for track in self._view.of_owner(uid)}
        others = tracks - {self.track}
        begun = [each.created.n for each in others if each.created.n <= n]
        later = [at for at in begun if at > self.track.created.n]
        return not later and (self.track.created.n <= n or not begun)

    def others_were_down(self, began: Moment, since: Moment) -> bool:
        """True if another process, such as the job's own controller, was down or paused, or an
        operator was hindered, from the beginning of a loss until its release was due: a release by
        its word comes as late as that."""
        timing = self.operator.timing
        due_us = timing.due_us(since.t, 2 * timing.latency_us)
        others = (each for each in self.history.operators.values() if each is not self.operator)
        until_us = self.history.end.t if due_us is None else due_us
        if any(each.timing.hindered(began.t - timing.latency_us, until_us) for each in others):
            return True
        down: set[str] = set()
        for entry in self.history.processes:
            if self.operator.is_by(entry.process):
                continue
            if due_us is not None and entry.t > due_us:
                break
            if down and entry.t >= began.t - timing.latency_us:
                return True
            if entry.change in ("killed", "stopped", "paused"):
                down.add(entry.process)
            else:
                down.discard(entry.process)
        return bool(down)

    def leaves_pods(self, n: int) -> bool:
        """True if one of its pods, of which the owner is gone, uses resources after a position."""
        using = (pod for pod in self.pods if pod.uses_at(n, terminating=True))
        return self.job is not None and any(
            not self.job.has_its_owner(pod.track, n) for pod in using
        )

    def replaces_early(self, step: Step) -> bool:
        """True if the controller of a Job or ReplicaSet has created a pod in place of one that
        stops, which that of a Job whose podReplacementPolicy is Failed does not."""
        using = [pod for pod in self.pods if pod.uses_at(step.n, terminating=True)]
        for old in using:
            made_by = self.history.tracks.get(
                str((controller_of(old.track.first) or {}).get("uid"))
            )
            if old.deleted is None or made_by is None or made_by.kind not in _REPLACE_PODS:
                continue
            if get_path(made_by.first, "spec.podReplacementPolicy") == "Failed":
                continue
            if any(
                made_by.uid in new.roots and old.deleted.n < new.track.created.n for new in using
            ):
                return True
        return False

    def is_seen_late(self, step: Step) -> bool:
        """True if a fault may have shown the controller older states than its latency explains."""
        timing = self.operator.timing
        return timing.seen_us(step.t) < step.t - timing.latency_us

    def was_started_by_others(self, step: Step) -> bool:
        """True if another client had set its job running, later than the controller can have seen
        at that step."""
        owner = self.owner
        if owner is None or FRAMEWORKS.get(owner.kind) == "pod":
            return False
        for start in starts(owner):
            if start.n <= step.n and not self.operator.is_by(start.actor):
                due_us = self.operator.timing.due_us(start.t, 0)
                if due_us is None or step.t <= due_us:
                    return True
        return False

    def was_stopped_by_others(self, step: Step) -> bool:
        """True if pods stop which another client's suspension of the job has struck, and which the
        controller may have resumed at once."""
        owner = self.owner
        if owner is None or FRAMEWORKS.get(owner.kind) == "pod":
            return False
        by_others = [each for each in stops(owner) if not self.operator.is_by(each.actor)]
        resumed = [
            start.n
            for start in starts(owner)
            if start.n <= step.n and any(stop.n < start.n for stop in by_others)
        ]
        return any(
            pod.bound.n < max(resumed, default=0) and (pod.ended is None or pod.ended.n > step.n)
            for pod in self.pods
        )

    def retried_between(self, since: Moment, until: Moment | None) -> Moment | None:
        """The binding of a pod in a span in which another one had ended before."""
        pods = [
            pod
            for pod in self.pods
            if pod.bound.n > since.n and (until is None or pod.bound.n < until.n)
        ]
        ends = [pod.ended.n for pod in pods if pod.ended is not None]
        return next((pod.bound for pod in pods if ends and pod.bound.n > min(ends)), None)

    @cached_property
    def losses(self) -> tuple[Loss, ...]:
        """Each admission that ended, or has to end."""
        return tuple(self._losses())

    def _losses(self) -> Iterator[Loss]:
        for admitted in self.workload.turns(lambda state: state.has_quota):
            released = self.workload.next(admitted, lambda state: not state.has_quota)
            until = released or self.track.removed
            began = self._began(admitted, until)
            if began is None:
                continue
            cause, moment = began
            pods = [
                pod
                for pod in self.pods
                if (until is None or pod.bound.n < until.n)
                and (pod.ended is None or pod.ended.n > admitted.n)
            ]
            yield Loss(admitted, moment, until, cause, tuple(pods))

    def _began(self, admitted: Snapshot, until: Moment | None) -> tuple[Cause, Moment] | None:
        """The first of the causes for which quota has to go, and its moment."""
        found: list[tuple[Cause, Moment]] = []
        evicted = self.workload.next(admitted, lambda state: state.is_evicted)
        if evicted is not None:
            found.append((Cause.EVICTION, evicted))
        owner = self.owner
        if owner is not None:
            for version in owner.versions:
                if version.n > admitted.n:
                    found += _ends(version)
            if owner.removed is not None and owner.removed.n > admitted.n:
                found.append((Cause.DELETION, owner.removed))
        elif self.job is not None:
            found += _ends_of_group(self.job, admitted)
        orphaned = self._orphaned(admitted)
        if orphaned is not None:
            found.append((Cause.ORPHAN, orphaned))
        deleted = self.workload.next(admitted, lambda state: state.is_terminating)
        if deleted is not None:
            found.append((Cause.DELETION, deleted))
        first = min(found, key=lambda each: each[1].n, default=None)
        if first is None or (until is not None and first[1].n > until.n):
            return None if until is None else (Cause.EVICTION, until)
        if first[0] is Cause.DELETION and orphaned is not None:
            return Cause.ORPHAN, first[1]
        return first

    def _orphaned(self, admitted: Snapshot) -> Snapshot | None:
        """The state in which its job has left it; what a pod leaves so is its Workload alone, and
        it stops like any other that is deleted."""
        if self.owner is None or self.owner.kind == str(POD):
            return None
        return self.workload.next(admitted, lambda state: controller_of(state.object) is None)


def reserved(state: Snapshot) -> Usage:
    """The quota that it holds by resource, in whichever flavor."""
    total: dict[str, Fraction] = {}
    for (_, name), value in usage_of(state).items():
        total[name] = total.get(name, Fraction(0)) + value
    return total


def _is_wanted(pod: Object) -> bool:
    is_over = get_path(pod, "status.phase") in ("Succeeded", "Failed")
    return not (is_over or get_path(pod, "spec.schedulingGates"))


def is_over(version: Write) -> bool:
    """True if a job has ended, or is deleted."""
    return next(_ends(version), None) is not None


_SUCCESS: Final = frozenset({"Complete", "Completed", "Succeeded"})
_FAILURE: Final = frozenset({"Failed"})
"""The conditions, phases and the like by which jobs say how they have ended."""


def _ends(version: Write) -> Iterator[tuple[Cause, Moment]]:
    obj = version.object or {}
    conditions = get_path(obj, "status.conditions") or ()
    told = {each.get("type") for each in conditions if each.get("status") == "True"}
    told |= {get_path(obj, "status.phase"), get_path(obj, "status.jobDeploymentStatus")}
    if told & _SUCCESS:
        yield Cause.SUCCESS, version
    elif told & _FAILURE:
        yield Cause.FAILURE, version
    if is_terminating(obj):
        yield Cause.DELETION, version


def _ends_of_group(job: JobRun, admitted: Snapshot) -> Iterator[tuple[Cause, Moment]]:
    """The ends of pods that were admitted together: their StatefulSet goes, or is scaled to 0; all
    have succeeded, have failed and are not replaced, or are deleted."""
    servers = [root for root in job.roots if root.kind != str(POD)]
    for server in servers:
        for version in server.versions:
            obj = version.object or {}
            is_deleted = is_terminating(obj) and not leaves_others(obj)
            if version.n > admitted.n and (is_deleted or not _replicas(obj)):
                yield Cause.DELETION, version
        if server.removed is not None and not leaves_others(server.last):
            yield Cause.DELETION, server.removed
    if servers:
        return
    for cause, holds in _GROUP_ENDS.items():
        moment = job.first(admitted, partial(_are_so, job, holds))
        if moment is not None:
            yield cause, moment


def _replicas(server: Object) -> int:
    return int(get_path(server, "spec.replicas", 1))


def _are_so(job: JobRun, holds: Callable[[Sequence[Object]], bool], n: int) -> bool:
    return holds([pod.at(n) for pod in job.pods if pod.exists_at(n)])


def _phase(pod: Object) -> str:
    return str(get_path(pod, "status.phase"))


def _has_failed(pods: Sequence[Object]) -> bool:
    is_final = any(annotations_of(pod).get(RETRIABLE) == "false" for pod in pods)
    phases = set(map(_phase, pods))
    return is_final and "Failed" in phases and phases <= {"Succeeded", "Failed"}


_GROUP_ENDS: Final[Mapping[Cause, Callable[[Sequence[Object]], bool]]] = {
    Cause.SUCCESS: lambda pods: bool(pods) and {"Succeeded"} == set(map(_phase, pods)),
    Cause.FAILURE: _has_failed,
    Cause.DELETION: lambda pods: all(map(is_terminating, pods)),
}
