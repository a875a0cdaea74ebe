"""One Workload's way through a history."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from conformance.history import Moment, Track, earliest
from conformance.norm.view import ObjectRun
from conformance.suites.kueue.api import CREATION, EVICTION, IN_USE, PODS_READY_TIMEOUT
from conformance.suites.kueue.back_off import BackOff
from conformance.suites.kueue.kind import WorkloadState
from conformance.suites.kueue.settings import BLOCKS, SETTINGS, TIMESTAMP, durations
from conformance.suites.kueue.view.amounts import Usage, asked_by, sum_of
from conformance.suites.kueue.view.job import JobRun
from conformance.suites.kueue.view.standing import Part
from vocabulary.clock import Micros, parse_rfc3339
from vocabulary.history import Write
from vocabulary.kinds import EVENT, LIMIT_RANGE, RUNTIME_CLASS, Kind
from vocabulary.objects import Object, finalizers_of, get_path, meta, owner_references

if TYPE_CHECKING:
    from conformance.suites.kueue.view.history import KueueHistory
    from conformance.suites.kueue.view.queues import Queues


class Snapshot(WorkloadState):
    """A version of a Workload; it is a moment of the history."""

    def __init__(self, write: Write) -> None:
        super().__init__(write.object or {})
        self.write = write

    @property
    def n(self) -> int:
        return self.write.n

    @property
    def t(self) -> Micros:
        return self.write.t

    @property
    def waits_for_pods_since_us(self) -> Micros | None:
        """Since when it is admitted and its pods are not ready, on the API's clock; None if they
        are, or it is evicted or over."""
        if not self.is_admitted or self.are_pods_ready or self.is_evicted or self.is_finished:
            return None
        known = self.since_us("Admitted"), self.since_us("PodsReady")
        return max((each for each in known if each is not None), default=None)

    @property
    def blocks_others(self) -> bool:
        """True if nothing is admitted beside it where `blockAdmission` is set."""
        return self.has_quota and not (self.are_pods_ready or self.is_evicted)

    @property
    def is_timed_out(self) -> bool:
        """True if it is evicted since its pods were not ready in time."""
        return self.is_evicted and self.why_evicted == PODS_READY_TIMEOUT


@dataclass(frozen=True, slots=True)
class Overdue:
    """The moment at which the pods of an admitted Workload had not been ready in time."""

    n: int
    t: Micros
    state: Snapshot
    """The state that it was in."""


class WorkloadRun(ObjectRun):
    """One Workload's way through a history."""

    def __init__(self, view: KueueHistory, track: Track) -> None:
        super().__init__(view, track)
        self._view = view

    @property
    def queues(self) -> Queues:
        """The queues of the history."""
        return self._view.queues

    @cached_property
    def snapshots(self) -> tuple[Snapshot, ...]:
        return tuple(map(Snapshot, self.track.versions))

    @cached_property
    def changes(self) -> tuple[tuple[Snapshot, Snapshot], ...]:
        """Each state with the one before it."""
        return tuple(zip(self.snapshots, self.snapshots[1:], strict=False))

    def at(self, n: int) -> Snapshot | None:
        """The state that is stored after position n."""
        version = self.track.version_at(n)
        return None if version is None else self._by_version[version.n]

    @cached_property
    def _by_version(self) -> Mapping[int, Snapshot]:
        return {snapshot.n: snapshot for snapshot in self.snapshots}

    def turns(self, holds: Callable[[Snapshot], object]) -> tuple[Snapshot, ...]:
        """The states in which something began to hold."""
        first = [each for each in self.snapshots[:1] if holds(each)]
        later = [after for before, after in self.changes if holds(after) and not holds(before)]
        return (*first, *later)

    def next(self, since: Moment, holds: Callable[[Snapshot], object]) -> Snapshot | None:
        """The first state after a moment in which something holds."""
        return next((each for each in self.snapshots if each.n > since.n and holds(each)), None)

    def next_reclaimable(self, since: Moment, count: int) -> Snapshot | None:
        """The first state after a moment in which so many pods are reclaimable."""
        return self.next(since, lambda each: each.reclaimable >= count)

    def next_needed(self, since: Moment, count: int) -> Snapshot | None:
        """The first state after a moment in which so many pods are reclaimable at most, or it has
        no quota."""
        return self.next(since, lambda each: not each.has_quota or each.reclaimable <= count)

    @cached_property
    def timeouts(self) -> tuple[Snapshot, ...]:
        """The evictions since its pods were not ready in time."""
        return self.turns(lambda state: state.is_timed_out)

    @cached_property
    def admissions(self) -> tuple[Snapshot, ...]:
        return self.turns(lambda state: state.has_reservation)

    @cached_property
    def job(self) -> JobRun | None:
        """The job that it stands for, as far as the history shows it."""
        states = (version.object or {} for version in self.track.versions)
        uids = dict.fromkeys(each["uid"] for state in states for each in owner_references(state))
        roots = tuple(self.history.tracks[uid] for uid in uids if uid in self.history.tracks)
        return JobRun(self.history, roots) if roots else None

    @cached_property
    def strategy(self) -> str:
        """The configured `quotaReleaseStrategy` of its kind; empty if there is none."""
        strategies = get_path(self.config, "integrations.quotaReleaseStrategy") or {}
        return "" if self.job is None else str(strategies.get(self.job.framework, ""))

    @cached_property
    def releases(self) -> tuple[tuple[Snapshot, Snapshot], ...]:
        """Each state in which it was evicted and held quota, with the next, which has none."""
        return tuple(
            (before, after)
            for before, after in self.changes
            if before.has_quota and before.is_evicted and not after.has_reservation
        )

    @property
    def config(self) -> Mapping[str, Any]:
        """The configuration in force when it was created."""
        return SETTINGS.overlay(SETTINGS.defaults, self.written)

    @cached_property
    def written(self) -> Mapping[str, Any]:
        """The same without defaults, as an administrator wrote it."""
        found: Mapping[str, Any] = {}
        for n, parameters in self.operator.configurations:
            if n < self.track.created.n:
                found = parameters
        return found

    @cached_property
    def back_off(self) -> BackOff:
        return BackOff.of(self.edition, self.config)

    def on_its_clock(self, api_us: Micros) -> Micros:
        """A time of the API on the history's clock."""
        return api_us - self.history.header.began_us

    @cached_property
    def timeout_us(self) -> Micros:
        return durations(self.config).timeout_us

    def ready_within_us(self, state: Snapshot) -> Micros | None:
        """How long the pods of an admitted Workload may be unready from now on: one that was ready
        has its `recoveryTimeout`; None if it is not evicted for that."""
        recovery_us = durations(self.config).recovery_us
        if recovery_us is None or not self.was_ready(state):
            return self.timeout_us
        return recovery_us or None

    def was_ready(self, state: Snapshot) -> bool:
        """True if its pods were ready already since its last admission before a state."""
        admitted = max((each.n for each in self.admissions if each.n <= state.n), default=0)
        return any(each.are_pods_ready for each in self.snapshots if admitted <= each.n <= state.n)

    @cached_property
    def recovery_timeout_us(self) -> Micros:
        """How long its pods may be unready once they were ready."""
        found = durations(self.config).recovery_us
        return self.timeout_us if found is None else found

    @cached_property
    def limit(self) -> int | None:
        return durations(self.config).limit

    def parts(self, n: int) -> tuple[Part, ...]:
        """Its pod sets after position n, without the pods that are done."""
        state = self.at(n) or self.snapshots[0]
        done = get_path(state.object, "status.reclaimablePods") or ()
        needless = tuple((each["name"], int(each["count"])) for each in done)
        version = int(meta(state.object).get("generation", 0)), needless
        found = self._parts.get(version)
        if found is None:
            ranges = self._standing(LIMIT_RANGE, self.track.namespace)
            limits = [item for each in ranges for item in get_path(each.first, "spec.limits") or ()]
            found = self._parts[version] = tuple(
                Part(asked_by(pod, count, limits, self._runtime_classes), pod)
                for each in state.pod_sets
                for pod in [each["template"].get("spec") or {}]
                for count in [int(each.get("count", 1)) - dict(needless).get(each["name"], 0)]
            )
        return found

    @cached_property
    def _parts(self) -> dict[tuple[int, tuple[tuple[str, int], ...]], tuple[Part, ...]]:
        return {}

    def asks(self, n: int) -> Usage:
        """Its requests by resource after position n, in whichever flavor."""
        return sum_of(part.asked for part in self.parts(n))

    @cached_property
    def is_measured(self) -> bool:
        """True if the history has the RuntimeClasses of its pods."""
        pods = (each["template"].get("spec") or {} for each in self.snapshots[0].pod_sets)
        names = {pod.get("runtimeClassName") for pod in pods}
        return names <= {None, *self._runtime_classes}

    @cached_property
    def _runtime_classes(self) -> Mapping[str, Object]:
        return {each.name: each.first for each in self._standing(RUNTIME_CLASS, "")}

    def _standing(self, kind: Kind, namespace: str) -> list[Track]:
        """The objects of a kind at its creation, by name."""
        found = [
            each
            for each in self.history.by_kind.get(str(kind), ())
            if each.namespace == namespace and each.exists_at(self.track.created.n)
        ]
        return sorted(found, key=lambda track: track.name)

    @cached_property
    def pod(self) -> Object:
        """The spec of the pods of its first pod set."""
        return next((part.pod for part in self.parts(self.track.created.n)), {})

    @property
    def pod_sets(self) -> int:
        return len(self.snapshots[0].pod_sets)

    def precedence(self, state: Snapshot) -> tuple[int, Micros]:
        """Its place in its queue, as far as times of whole seconds tell: the highest first, that is
        its priority, and how early the time is that it is ordered by."""
        since_us = state.since_us("Evicted") if state.is_timed_out else None
        if since_us is None or self.timestamp == CREATION:
            since_us = parse_rfc3339(meta(state.object)["creationTimestamp"])
        return state.priority, -since_us

    @cached_property
    def blocks_admission(self) -> bool:
        return bool(get_path(self.config, BLOCKS))

    @cached_property
    def timestamp(self) -> str:
        """The configured `requeuingStrategy.timestamp`."""
        return str(get_path(self.config, TIMESTAMP) or EVICTION)

    @cached_property
    def preemptions(self) -> tuple[Snapshot, ...]:
        """Its evictions in favour of others."""
        return self.turns(lambda state: state.is_evicted and state.why_evicted == "Preempted")

    def events(self, evicted: Snapshot) -> Iterator[Moment]:
        """The Events of the controller about it since its last admission that name the reason of an
        eviction. One that says the same as an earlier one is counted there."""
        since_n = max((each.n for each in self.admissions if each.n < evicted.n), default=0)
        for track in self.history.by_kind.get(str(EVENT), ()):
            of_it = get_path(track.first, "involvedObject.uid") == self.track.uid
            if of_it and str(evicted.why_evicted) in str(track.first.get("reason", "")):
                yield from (version for version in track.versions if version.n > since_n)

    def was_refused(self, since_us: Micros, until: Moment) -> bool:
        """True if a write of the controller to it failed between a time and a moment, or a fault
        may have made it fail."""
        return bool(self.operator.timing.hindered(since_us, until.t)) or any(
            write.name == self.track.name
            and write.namespace == self.track.namespace
            and since_us <= write.t
            and write.n <= until.n
            and not 200 <= write.code < 300
            for write in self.operator.writes
        )

    def overtaken(self, since: Moment) -> Moment | None:
        """The first moment after another from which it need not be admitted any more: another
        Workload has taken the quota, its queue is stopped, it is deactivated, finished or
        deleted."""
        inactive = self.next(since, lambda each: not each.is_active)
        taken, closed = self.queues.taken(self, since), self.queues.closed(self, since)
        return earliest(inactive, self.gone(since), taken, closed)

    def counts_less(self, state: Snapshot) -> Snapshot | None:
        """The first state after one whose count is lower."""
        return self.next(state, lambda each: each.count < state.count)

    def let_go(self, since: Moment) -> Moment | None:
        """The first moment, that one included, from which on nothing of the controller keeps it,
        though it is deleted."""
        now = self.at(since.n)
        if now is not None and _is_let_go(now):
            return since
        return earliest(self.next(since, _is_let_go), self.track.removed)

    def gone(self, since: Moment) -> Moment | None:
        """The first moment after another at which it is finished or deleted."""
        ended = self.next(since, lambda each: each.is_finished or each.is_terminating)
        return earliest(ended, self.track.removed)

    def ready_or_gone(self, since: Moment) -> Moment | None:
        """The first moment after another at which its pods are ready, or it is evicted for another
        reason, finished or deleted."""
        ready = self.next(
            since, lambda each: each.are_pods_ready or (each.is_evicted and not each.is_timed_out)
        )
        return earliest(ready, self.gone(since))

    @cached_property
    def overdue(self) -> tuple[Overdue, ...]:
        """The moments at which its pods had not been ready in time."""
        found: list[Overdue] = []
        for before, after in zip(self.snapshots, (*self.snapshots[1:], None), strict=True):
            begun_us = before.waits_for_pods_since_us
            if begun_us is None:
                continue
            span_us = self.ready_within_us(before)
            if span_us is None:
                continue
            due_us = begun_us + span_us - self.history.header.began_us
            end_us = self.history.end.t if after is None else after.t
            is_new = not found or found[-1].t != due_us
            if before.t <= due_us <= end_us and is_new:
                found.append(Overdue(before.n, due_us, before))
        return tuple(found)

    @cached_property
    def reactivations(self) -> tuple[tuple[Snapshot, Snapshot], ...]:
        """Each state in which it was deactivated, with the one in which it was active again."""
        found = []
        for state in self.turns(lambda each: not each.is_active):
            again = self.next(state, lambda each: each.is_active)
            if again is not None:
                found.append((state, again))
        return tuple(found)

    def is_by_controller(self, state: Snapshot) -> bool:
        """True if the controller under test wrote that state."""
        return self.operator.is_by(state.write.actor)

    def is_by_controllers(self, actor: str) -> bool:
        """True for all clients but users."""
        return actor not in ("user", "chaos")

    def was_deactivated_by_controller(self, since: Moment, until: Moment) -> bool:
        """True if the controller deactivated it after one moment and before another."""
        return any(
            since.n < state.n < until.n and self.is_by_controller(state)
            for state in self.turns(lambda each: not each.is_active)
        )

    def was_active_since(self, since_us: Micros, until: Moment) -> bool:
        """True if it was active at any time from one time to a moment."""
        standing = [each for each in self.snapshots if each.n < until.n]
        last = max((each.n for each in standing if each.t <= since_us), default=-1)
        return any(each.is_active for each in standing if each.n >= last)


def _is_let_go(state: Snapshot) -> bool:
    return state.is_terminating and IN_USE not in finalizers_of(state.object)
