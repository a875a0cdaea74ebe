"""The queues of a history: which Workload comes first, and what is left of their quota."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from conformance.history import History, Moment, Track
from conformance.history.tracks import Instant
from conformance.suites.kueue.api import CLUSTER_QUEUE, LOCAL_QUEUE, RELEASED, RESOURCE_FLAVOR
from conformance.suites.kueue.kind import StopPolicy
from conformance.suites.kueue.view.standing import Held, QueueSpec, Quota, Standing, usage_of
from vocabulary.clock import Micros
from vocabulary.history import Write
from vocabulary.kinds import NAMESPACE, Kind
from vocabulary.objects import Object, get_path, is_terminating, labels_of
from vocabulary.selectors import matches

if TYPE_CHECKING:
    from conformance.suites.kueue.view.workload import Snapshot, WorkloadRun


@dataclass(slots=True)
class Wanted:
    """The contents that the status of a queue has to have."""

    waiting: int = 0
    backing_off: int = 0
    """Those of the waiting that are in their back-off: they may be left out."""
    holding: int = 0
    held: Held = field(default_factory=dict)

    def may_show(self, pending: int) -> bool:
        """True if so many may be shown as pending."""
        return self.waiting - self.backing_off <= pending <= self.waiting

    def add(self, state: Snapshot) -> None:
        self.holding += 1
        for what, value in usage_of(state).items():
            self.held[what] = self.held.get(what, Fraction(0)) + value


class Queues:
    """All queues, with the Workloads that wait in them or hold quota of them."""

    def __init__(self, history: History, workloads: Sequence[WorkloadRun]) -> None:
        self._history = history
        self._workloads = workloads
        self._standings: dict[int, Standing] = {}
        self._specs: dict[tuple[str, int], QueueSpec] = {}

    def at(self, n: int) -> Standing:
        """The quota of all queues after position n."""
        found = self._standings.get(n)
        if found is None:
            specs = [self.spec(name, n) for name in self._cluster]
            flavors = {
                name: track.at(n) for name, track in self._flavors.items() if track.exists_at(n)
            }
            states = (run.at(n) for run in self._workloads)
            holders = (state for state in states if state is not None and state.has_quota)
            queues = {spec.name: spec for spec in specs if spec is not None}
            found = self._standings[n] = Standing(queues, flavors, holders)
        return found

    def spec(self, name: str, n: int) -> QueueSpec | None:
        """The spec of a ClusterQueue after position n; None if there is none."""
        track = self._cluster.get(name)
        version = None if track is None else track.version_at(n)
        if version is None:
            return None
        found = self._specs.get((name, version.n))
        if found is None:
            found = self._specs[name, version.n] = QueueSpec(version.object or {})
        return found

    def node_labels(self, admission: Snapshot) -> dict[str, str]:
        """The nodeLabels of the flavors of an admission that all of its pod sets have."""
        of_pod_sets = self.labels_of_pod_sets(admission)
        return dict(set.intersection(*of_pod_sets)) if of_pod_sets else {}

    def labels_of_pod_sets(self, admission: Snapshot) -> list[set[tuple[str, str]]]:
        """The nodeLabels of the flavors of each pod set of an admission."""
        of_name = {
            track.name: get_path(track.at(admission.n), "spec.nodeLabels") or {}
            for track in self._history.by_kind.get(str(RESOURCE_FLAVOR), ())
        }
        return [
            {label for name in each["flavors"].values() for label in of_name.get(name, {}).items()}
            for each in admission.assignments
        ]

    def first_from(self, run: WorkloadRun, since: Moment) -> Moment | None:
        """The first moment from one on at which it waits, fits into the nominal quota of its
        queue, and comes before all others of the cohort that wait; None if there is none."""
        return next((at for at in self._moments(since) if self._is_first(run, at)), None)

    def turns(self, run: WorkloadRun) -> Iterator[Moment]:
        """The moments at which that begins to hold."""
        was_first = False
        for at in self._moments(run.snapshots[0]):
            is_first = self._is_first(run, at)
            if is_first and not was_first:
                yield at
            was_first = is_first

    def passed(self, run: WorkloadRun, since: Moment) -> Moment | None:
        """The first moment after another at which it waits, and that does not hold any more."""
        later = (at for at in self._moments(since) if at.n > since.n)
        for at in later:
            state = run.at(at.n)
            if state is not None and state.has_reservation:
                return None
            if not self._is_first(run, at):
                return at
        return None

    def instant(self, t: Micros, since: Moment) -> Moment:
        """A time that is not before a moment, as a moment: after all that happened until then."""
        known = [at.n for at in self._moments(since) if at.t < t]
        return Instant(max(known, default=since.n), max(t, since.t))

    def _name_of_local(self, run: WorkloadRun, n: int) -> str:
        state = run.at(n)
        return "" if state is None else str(state.queue)

    def others(self, run: WorkloadRun) -> Iterator[WorkloadRun]:
        """The other Workloads of its cohort."""
        n = run.track.created.n
        cohort = self._cohort(self.queue_of(run, n), n)
        for other in self._workloads:
            if other is not run and self.queue_of(other, other.track.created.n) in cohort:
                yield other

    def find(self, uid: str) -> WorkloadRun | None:
        """The Workload of that uid."""
        return next((run for run in self._workloads if run.track.uid == uid), None)

    def passed_over(self, run: WorkloadRun, admission: Snapshot) -> Iterator[WorkloadRun]:
        """The other Workloads of the same queue that its controller knew to wait when it admitted
        this one, and could have admitted for all that others did."""
        since_us = run.operator.timing.seen_us(admission.t)
        if not self.is_steady(since_us, admission):
            return
        for other in self._workloads:
            if (
                other is not run
                and self.queue_of(other, admission.n) == admission.cluster_queue
                and self.waited(other, since_us, admission)
                and not other.was_refused(since_us, admission)
                and not self.yields(other, admission)
            ):
                yield other

    def was_chosen(self, other: WorkloadRun, admission: Snapshot) -> bool:
        """True if another Workload is admitted so soon after one that a released controller, which
        writes to several side by side, may have chosen it before."""
        got = other.next(admission, lambda each: each.has_reservation)
        if got is None or other.edition != RELEASED:
            return False
        return other.operator.timing.stamped_us(got.t) <= admission.t

    @cached_property
    def preempted(self) -> tuple[Snapshot, ...]:
        """All evictions in favour of others."""
        return tuple(state for run in self._workloads for state in run.preemptions)

    def victims_beside(self, evicted: Snapshot) -> list[Snapshot]:
        """Others of its queue that were evicted before it for the same one, and still hold quota
        then."""
        return [
            state
            for other in self._workloads
            for state in other.preemptions
            if state.preemptor == evicted.preemptor and state.n < evicted.n
            if state.cluster_queue == evicted.cluster_queue
            if (now := other.at(evicted.n)) is not None and now.is_evicted and now.has_quota
            if now.n != evicted.n  # its own, of an earlier time
        ]

    def peers(self, run: WorkloadRun, queue: str, n: int) -> list[Snapshot]:
        """Those of at least its priority that hold quota of a queue after position n, do not leave,
        and may not be preempted for it."""
        mine, spec = run.at(n), self.spec(queue, n)
        assert mine is not None
        found = []
        for other in self._workloads:
            state = other.at(n)
            if state is None or not state.has_quota or state.cluster_queue != queue:
                continue
            if state.is_leaving:
                continue
            is_newer = other.precedence(state) < run.precedence(mine)
            may_go = is_newer and spec is not None and spec.within == "LowerOrNewerEqualPriority"
            is_equal = state.priority == mine.priority and not may_go
            if other is not run and (state.priority > mine.priority or is_equal):
                found.append(state)
        return found

    def could_spare(self, run: WorkloadRun, evicted: Snapshot, preemptor: WorkloadRun) -> bool:
        """True if a preemptor would have fitted without the eviction of one victim, once all
        others that are evicted for it, or leave anyway, have given their quota back."""
        queue = self.queue_of(preemptor, evicted.n)
        until_us = evicted.t + run.operator.timing.latency_us
        admitted = preemptor.next(evicted, lambda each: each.has_reservation)
        until = self._history.end.n if admitted is None else admitted.n
        leaving = []
        for other in self._workloads:
            state = other.at(evicted.n)
            if other is run or state is None or not state.has_quota:
                continue
            is_victim = any(
                each.preemptor == preemptor.track.uid
                and evicted.n < each.n < until
                and each.t <= until_us
                for each in other.preemptions
            )
            if is_victim or (state.is_leaving and not self._is_kept(state, preemptor, evicted)):
                leaving.append(state)
        for standing in self.standings_before(run, evicted):
            spec = standing.queues.get(queue)
            if spec is None:
                return False
            rest = standing.without(leaving)
            placements = rest.placements(queue, preemptor.parts(evicted.n))
            if not any(
                rest.fits(queue, placed)
                and (spec.borrows or rest.is_within_nominal(queue, placed))
                # What comes back of a later flavor is too late. A policy may prefer to preempt in a
                # flavor to what is left of the next one.
                and (
                    rest.come_first(queue, placed, evicted)
                    or (standing.fits(queue, placed) and not spec.preempts_first)
                )
                for placed in placements
            ):
                return False
        return True

    def _is_kept(self, leaving: Snapshot, preemptor: WorkloadRun, at: Moment) -> bool:
        """True if the quota of one that leaves is kept for another preemptor, which waits."""
        other = self.find(leaving.preemptor)
        waiting = None if other is None or other is preemptor else other.at(at.n)
        return waiting is not None and waiting.is_active and not waiting.has_reservation

    def leaving(self, n: int) -> list[Snapshot]:
        """Those that hold quota after position n, and are evicted or deleted."""
        states = (run.at(n) for run in self._workloads)
        return [each for each in states if each is not None and each.has_quota and each.is_leaving]

    def kept_flavors(self, run: WorkloadRun, admission: Snapshot) -> set[str]:
        """The flavors that may be kept for others which go before a Workload: those of which quota
        is about to come back, and all that one of the others needs beside them."""
        return {
            flavor
            for n in self._looked_at(run, admission)
            for other in self._workloads
            if self._may_go_before(other, run, Instant(n, admission.t))
            for flavor in self._awaited_flavors(other, n)
        }

    def _may_go_before(self, other: WorkloadRun, run: WorkloadRun, at: Moment) -> bool:
        """True if another Workload of the cohort may be looked at first. Of each other queue one
        is, whatever its priority."""
        mine, theirs = run.at(at.n), other.at(at.n)
        if other is run or mine is None or theirs is None or not self.is_candidate(other, at):
            return False
        queue, its = self.queue_of(run, at.n), self.queue_of(other, at.n)
        if its != queue:
            return its in self._cohort(queue, at.n)
        return other.precedence(theirs) >= run.precedence(mine) or self.is_preemptor(other)

    def _awaited_flavors(self, run: WorkloadRun, n: int) -> Iterator[str]:
        """The flavors that a Workload may get with quota which is about to come back. One that
        would not fit if none were held gets nothing."""
        queue, empty = self.queue_of(run, n), self.at(n).emptied()
        cohort = self._cohort(queue, n)
        leaving = (each for each in self.leaving(n) if each.cluster_queue in cohort)
        awaited = {what for each in leaving for what in usage_of(each)}
        for placed in empty.placements(queue, run.parts(n)) if awaited else ():
            if not awaited.isdisjoint(placed) and empty.fits(queue, placed):
                yield from (flavor for flavor, _ in placed)

    def rival(self, run: WorkloadRun, admission: Snapshot) -> Snapshot | None:
        """An admission in the cohort by another replica, of which the one that admitted this
        Workload may not have known."""
        actor = admission.write.actor
        since_us = run.operator.seen_us(actor, admission.t)
        cohort = self._cohort(str(admission.cluster_queue), admission.n)
        for other in self._workloads:
            for state in other.admissions:
                is_then = since_us <= state.t and state.n < admission.n
                if is_then and state.cluster_queue in cohort and state.write.actor != actor:
                    return state
        return None

    def was_touched(self, run: WorkloadRun, since_us: Micros, until: Moment) -> bool:
        """True if another Workload got quota, or gave it back or was going to, from a time up to a
        moment."""
        return any(
            since_us <= at.t and at.n < until.n
            for other in self._workloads
            if other is not run
            for at in _turns(other)
        )

    def was_overtaken(self, run: WorkloadRun, evicted: Snapshot, preemptor: WorkloadRun) -> bool:
        """True if a Workload came, about when one was evicted, that may go before the preemptor and
        take what the victims give back; times of whole seconds do not tell which is first."""
        latency_us = run.operator.timing.latency_us
        mine = preemptor.at(evicted.n)
        for other in self.others(preemptor):
            came = other.snapshots[0]
            theirs = other.at(evicted.n) or came
            if mine is None or abs(came.t - evicted.t) > latency_us or theirs.has_quota:
                continue
            if other.precedence(theirs) >= preemptor.precedence(mine):
                return True
        return False

    def better_victim(self, run: WorkloadRun, evicted: Snapshot) -> WorkloadRun | None:
        """Another Workload of the same queue that was not evicted, would have given back as much,
        and comes before this one among the candidates: its priority is lower, or the same and its
        quota was reserved later."""
        since_us = run.operator.timing.seen_us(evicted.t)
        mine = run.at(evicted.n - 1)
        for other in self._workloads:
            theirs = other.at(evicted.n)
            if mine is None or theirs is None or other is run:
                continue
            held = [each for each in other.admissions if each.t <= since_us]
            is_there = held and theirs.has_quota and not theirs.is_leaving
            if not is_there or theirs.cluster_queue != evicted.cluster_queue:
                continue
            if any(each.preemptor == evicted.preemptor for each in other.preemptions):
                continue
            used, theirs_used = usage_of(evicted), usage_of(theirs)
            order = -theirs.priority, theirs.since_us("QuotaReserved") or 0
            if order > (-mine.priority, mine.since_us("QuotaReserved") or 0) and all(
                theirs_used.get(what, Fraction(0)) >= value for what, value in used.items()
            ):
                return other
        return None

    def victims_for(self, run: WorkloadRun, admission: Snapshot) -> list[Snapshot]:
        """Those that were preempted for one admission of a Workload: since the one before it."""
        before = max((each.n for each in run.admissions if each.n < admission.n), default=-1)
        return [
            each
            for each in self.preempted
            if each.preemptor == run.track.uid and before < each.n < admission.n
        ]

    def victims_of(self, run: WorkloadRun, queue: str) -> list[Snapshot]:
        """Those of a queue that were preempted for a Workload."""
        return [
            each
            for each in self.preempted
            if each.preemptor == run.track.uid and each.cluster_queue == queue
        ]

    def preempts_instead(self, run: WorkloadRun, since: Moment) -> Moment | None:
        """The first preemption for a Workload from a moment on, where its queue prefers that to the
        next flavor."""
        spec = self.spec(self.queue_of(run, since.n), since.n)
        if spec is None or not spec.preempts_first:
            return None
        its = (each for each in self.preempted if each.preemptor == run.track.uid)
        return next((each for each in its if each.n >= since.n), None)

    def freed(self, evicted: Snapshot, until: Moment, queue: str) -> bool:
        """True if others of a queue were admitted since one was preempted, or others than the
        victims gave quota back, so that what the preemptor was admitted with may not be what was
        taken back for it."""
        return any(
            evicted.n < at.n < until.n
            for run in self._workloads
            for at in (
                *(state for state in run.admissions if state.cluster_queue == queue),
                *(() if evicted.preemptor in _preemptors(run) else _turns(run)),
            )
        )

    def was_stopped(self, run: WorkloadRun, since_us: Micros, until: Moment) -> bool:
        """True if one of its queues was stopped all the time from a time up to a moment."""
        cluster, local = self._tracks_of(run, until.n)
        return any(
            all(_is_stopped(version.object) for version in _between(track, since_us, until))
            for track in (cluster, local)
            if track is not None and track.created.t <= since_us
        )

    def was_drained(self, run: WorkloadRun, since_us: Micros, until: Moment) -> bool:
        """True if one of its queues was drained at any time from a time up to a moment."""
        return any(
            _is_drained(version.object)
            for track in self._tracks_of(run, until.n)
            if track is not None
            for version in _between(track, since_us, until)
        )

    def drains(self, run: WorkloadRun) -> Iterator[tuple[Track, Moment, Moment | None]]:
        """Each time that a queue began to be drained while it held quota of it, or that it was
        admitted after that: the queue, when, and when that was over."""
        for admission in run.admissions:
            end = run.next(admission, lambda each: not each.has_quota or each.is_evicted)
            until = end or self._history.end
            for track in filter(None, self._tracks_of(run, admission.n)):
                versions = _between(track, admission.t, until)
                drained = next((each for each in versions if _is_drained(each.object)), None)
                if drained is not None:
                    since = drained if drained.n > admission.n else admission
                    yield track, since, _resumed(track, drained)

    def held_back(self, run: WorkloadRun) -> Iterator[Moment]:
        """The states in which it waits in a queue that is stopped."""
        for state in run.snapshots:
            if state.is_active and not state.has_reservation:
                tracks = self._tracks_of(run, state.n)
                if any(track is not None and _is_stopped(track.at(state.n)) for track in tracks):
                    yield state

    def not_served_from(self, run: WorkloadRun) -> Moment | None:
        """The first moment at which it waits, and its queue does not admit from its namespace."""
        for state in run.snapshots:
            spec = self.spec(self.queue_of(run, state.n), state.n)
            waits = state.is_active and not (state.has_reservation or state.is_terminating)
            if spec is None or not waits:
                continue
            if self.serves(spec, run.track.namespace, state.n) is False:
                return state
        return None

    def statuses(self, n: int) -> Iterator[tuple[Track, Wanted]]:
        """Each queue that is stored after position n, with what its status has to show then."""
        states = [(run, state) for run in self._workloads if (state := run.at(n)) is not None]
        for track in (*self._cluster.values(), *self._local.values()):
            if not track.exists_at(n):
                continue
            is_local = track.kind == str(LOCAL_QUEUE)
            found = Wanted()
            for run, state in states:
                if is_local:
                    mine = (track.namespace, track.name) == (run.track.namespace, state.queue)
                    holds = mine
                else:
                    mine = self.queue_of(run, n) == track.name
                    holds = state.cluster_queue == track.name
                if state.has_quota and holds:
                    found.add(state)
                elif mine and state.is_active and not (state.is_finished or state.is_terminating):
                    found.waiting += not state.has_reservation
                    found.backing_off += state.requeue_at_us is not None and state.is_evicted
            yield track, found

    def _tracks_of(self, run: WorkloadRun, n: int) -> tuple[Track | None, Track | None]:
        """The ClusterQueue and the LocalQueue of a Workload."""
        state = run.at(n)
        local = self._local.get((run.track.namespace, "" if state is None else state.queue))
        return self._cluster.get(self.queue_of(run, n)), local

    def heads_beside(self, run: WorkloadRun, admission: Snapshot) -> Iterator[WorkloadRun]:
        """The first Workloads of the other queues of the cohort that its controller knew to wait
        when it admitted this one."""
        since_us = run.operator.timing.seen_us(admission.t)
        cohort = self._cohort(str(admission.cluster_queue), admission.n)
        if not self.is_steady(since_us, admission):
            return
        waiting: dict[str, list[WorkloadRun]] = {}
        for other in self._workloads:
            queue = self.queue_of(other, admission.n)
            is_beside = queue in cohort and queue != admission.cluster_queue
            if is_beside and self.is_candidate(other, admission):
                waiting.setdefault(queue, []).append(other)
        for other, *more in waiting.values():
            is_known = not more and self.waited(other, since_us, admission)
            if is_known and not other.was_refused(since_us, admission):
                yield other

    def needs_none(self, run: WorkloadRun, n: int) -> bool:
        """True if it fits into the nominal quota of its queue, without borrowing."""
        queue, standing = self.queue_of(run, n), self.at(n)
        return queue in standing.queues and any(
            standing.is_within_nominal(queue, placed) and standing.fits(queue, placed)
            for placed in standing.placements(queue, run.parts(n))
        )

    def standings_before(self, run: WorkloadRun, admission: Snapshot) -> Iterator[Standing]:
        """The quota at each position since it holds none that its controller may have looked at
        when it admitted it: what others gave back or took in between."""
        yield from map(self.at, self._looked_at(run, admission))

    def _looked_at(self, run: WorkloadRun, admission: Snapshot) -> Iterator[int]:
        since_us = run.operator.timing.seen_us(admission.t)
        given = run.turns(lambda state: not state.has_quota)
        own = max((each.n for each in given if each.n < admission.n), default=-1)
        yield admission.n - 1
        for other in self._workloads:
            for at in _turns(other):
                if since_us <= at.t and own < at.n < admission.n:
                    yield at.n - 1

    def moments_alone(self, run: WorkloadRun) -> Iterator[Moment]:
        """The first moment of each wait at which it fits, borrowed or not, and no other one of
        the cohort waits."""
        for begun in run.turns(lambda state: not state.has_reservation and state.is_active):
            end = run.next(begun, lambda state: state.has_reservation)
            for at in self._moments(begun):
                if end is not None and at.n >= end.n:
                    break
                if not (self.is_candidate(run, at) and self._is_alone(run, at)):
                    continue
                if self._fits(run, self.queue_of(run, at.n), at.n, self.at(at.n), surely=True):
                    yield at
                    break

    def _is_alone(self, run: WorkloadRun, at: Moment) -> bool:
        cohort = self._cohort(self.queue_of(run, at.n), at.n)
        return not any(
            self.queue_of(other, at.n) in cohort and self.is_candidate(other, at)
            for other in self._workloads
            if other is not run
        )

    def _leads(self, run: WorkloadRun, at: Moment) -> bool:
        """True if it comes before all others of the cohort that wait, as far as times of whole
        seconds tell, and is not to wait for one that it was preempted for. Released controllers put
        one for which others were preempted before all."""
        state = run.at(at.n)
        if state is None or self.yields(run, at):
            return False
        cohort, mine = self._cohort(self.queue_of(run, at.n), at.n), run.precedence(state)
        for other in self._workloads:
            theirs = other.at(at.n)
            if other is run or theirs is None or self.queue_of(other, at.n) not in cohort:
                continue
            is_first = other.precedence(theirs) >= mine
            if (is_first or self.is_preemptor(other)) and self.is_candidate(other, at):
                return False
        return True

    def is_preemptor(self, run: WorkloadRun) -> bool:
        """True if others were preempted for it, so that a released controller puts it first."""
        return run.edition == RELEASED and any(
            each.preemptor == run.track.uid for each in self.preempted
        )

    def _lacking(self, run: WorkloadRun) -> Iterator[tuple[Moment, QueueSpec, Standing]]:
        """The moments at which it is the first that waits, and does not fit while none of its
        cohort is about to give quota back, which may do."""
        for at in self._moments(run.snapshots[0]):
            if not self.is_candidate(run, at) or not self._leads(run, at):
                continue
            queue, standing = self.queue_of(run, at.n), self.at(at.n)
            cohort = {each.name for each in standing.cohort(queue)}
            leave = any(each.cluster_queue in cohort for each in self.leaving(at.n))
            if not leave and not self._fits(run, queue, at.n, standing):
                yield at, standing.queues[queue], standing

    def reclaims_from(self, run: WorkloadRun) -> Moment | None:
        """The first moment at which it is the first that waits, is within the nominal quota of its
        queue, does not fit since others borrow, and its queue may reclaim from any of them."""
        for at, queue, standing in self._lacking(run):
            if queue.reclaims != "Any" or any(
                quota.lending is not None for quota in self._quotas(standing, queue.name)
            ):
                continue
            if self._places(run, queue.name, at.n, standing, standing.is_within_nominal):
                return at
        return None

    def preempts_from(self, run: WorkloadRun) -> Moment | None:
        """The first moment at which it is the first that waits, does not fit, and would fit into
        the nominal quota of its queue without those that its queue lets it preempt in the queue."""
        for at, queue, standing in self._lacking(run):
            if queue.within == "Never" or any(
                standing.held(each.name, what) > standing.nominal(each.name, what)
                for each in standing.cohort(queue.name)
                if each is not queue
                for what in each.quotas
            ):
                continue
            rest = standing.without(self._lower(run, queue.name, at.n))
            if self._places(run, queue.name, at.n, rest, rest.is_within_nominal):
                return at
        return None

    def preempts_beside(self, run: WorkloadRun) -> Moment | None:
        """The first moment at which it waits beside one other of its queue, whose victims have not
        given their quota back, and one that it may preempt holds as much as it needs."""
        for at in self._moments(run.snapshots[0]):
            if run.pod_sets != 1 or not self.is_candidate(run, at):
                continue
            queue, standing = self.queue_of(run, at.n), self.at(at.n)
            waiting = [other for other in self.others(run) if self.is_candidate(other, at)]
            if len(waiting) != 1 or standing.queues[queue].is_strict or self.fits(run, at.n):
                continue
            states = (other.at(at.n) for other in self._workloads)
            held = [state for state in states if state is not None and state.has_quota]
            awaited = waiting[0].track.uid
            if not any(state.is_evicted and state.preemptor == awaited for state in held):
                continue
            if not self._goes_first(waiting[0], run, at.n):
                continue
            for placed in standing.placements(queue, run.parts(at.n)):
                nothing = dict.fromkeys(placed, Fraction(0))
                if standing.is_within_nominal(queue, nothing) and any(
                    not victim.is_leaving and _covers(usage_of(victim), placed)
                    for victim in self._lower(run, queue, at.n)
                ):
                    return at
        return None

    def _goes_first(self, other: WorkloadRun, run: WorkloadRun, n: int) -> bool:
        """True if another Workload goes before one, as far as times of whole seconds tell."""
        theirs, mine = other.at(n), run.at(n)
        if theirs is None or mine is None:
            return False
        return other.precedence(theirs) > run.precedence(mine)

    def _lower(self, run: WorkloadRun, queue: str, n: int) -> Iterator[Snapshot]:
        """Those that a Workload may preempt in its queue after position n."""
        spec, mine = self.spec(queue, n), run.at(n)
        for other in self._workloads:
            state = other.at(n)
            if spec is None or mine is None or state is None or not state.has_quota:
                continue
            if state.cluster_queue != queue:
                continue
            is_newer = other.precedence(state) < run.precedence(mine)
            is_equal = state.priority == mine.priority
            if state.priority < mine.priority or (
                is_equal and is_newer and spec.within == "LowerOrNewerEqualPriority"
            ):
                yield state

    def released_for(self, run: WorkloadRun, since: Moment) -> Moment | None:
        """When the last of those gave its quota back that were preempted for a Workload; None if
        one has not, or there was none."""
        found: list[Moment] = []
        for other in self._workloads:
            for state in other.preemptions:
                if state.preemptor == run.track.uid and state.n > since.n:
                    back = other.next(state, lambda each: not each.has_quota) or other.track.removed
                    if back is None:
                        return None
                    found.append(back)
        return max(found, key=lambda at: at.n, default=None)

    def _quotas(self, standing: Standing, queue: str) -> Iterator[Quota]:
        for each in standing.cohort(queue):
            yield from each.quotas.values()

    def passes_from(self, run: WorkloadRun) -> Moment | None:
        """The first moment at which it waits in a BestEffortFIFO queue, fits into its nominal
        quota, and others of the cohort wait, none of which fits or may preempt."""
        for at in self._moments(run.snapshots[0]):
            if not self.is_candidate(run, at):
                continue
            queue, standing = self.queue_of(run, at.n), self.at(at.n)
            cohort = {each.name for each in standing.cohort(queue)}
            if standing.queues[queue].is_strict or not self.fits_nominal(run, queue, at.n):
                continue
            if any(standing.queues[name].preempts for name in cohort):
                continue
            waiting = [
                other
                for other in self._workloads
                if other is not run
                and self.queue_of(other, at.n) in cohort
                and self.is_candidate(other, at)
            ]
            if waiting and not any(self.fits(other, at.n) for other in waiting):
                return at
        return None

    def yields(self, run: WorkloadRun, at: Moment) -> bool:
        """True if it was preempted for one that has waited since."""
        evicted = next((each for each in reversed(run.preemptions) if each.n <= at.n), None)
        preemptor = None if evicted is None else self.find(evicted.preemptor)
        if evicted is None or preemptor is None:
            return False
        got = preemptor.next(evicted, lambda each: each.has_reservation)
        return (got is None or got.n > at.n) and self._is_kept(evicted, run, at)

    def unready(self, since_us: Micros, until: Snapshot, but: WorkloadRun) -> WorkloadRun | None:
        """One that was admitted all the time from a time up to an admission, and not ready; or from
        an admission on that the same process has made, since it knows its own."""
        began_n = max((each.n for each in but.operator.processes if each.n < until.n), default=0)
        for run in self._workloads:
            standing = [each for each in run.snapshots if each.n < until.n]
            own = {
                each.n
                for each in run.admissions
                if each.n > began_n and each.write.actor == until.write.actor
            }
            known = (each.n for each in standing if each.t <= since_us or each.n in own)
            last = max(known, default=None)
            if run is but or last is None:
                continue
            if all(each.blocks_others for each in standing if each.n >= last):
                return run
        return None

    def taken(self, run: WorkloadRun, since: Moment) -> Moment | None:
        """The next reservation of another Workload in the cohort of its queue."""
        cohort = self._cohort(self.queue_of(run, since.n), since.n)
        found = (
            state
            for other in self._workloads
            if other is not run
            for state in other.admissions
            if state.n > since.n and state.cluster_queue in cohort
        )
        return min(found, key=lambda state: state.n, default=None)

    def freed_at(self, run: WorkloadRun, at: Moment) -> Snapshot | None:
        """The last release of quota of the cohort before a moment, by another Workload."""
        cohort = self._cohort(self.queue_of(run, at.n), at.n)
        found = (
            after
            for other in self._workloads
            if other is not run
            for before, after in other.changes
            if before.has_quota and not after.has_quota and before.cluster_queue in cohort
            if run.track.created.n < after.n <= at.n
        )
        return max(found, key=lambda state: state.n, default=None)

    def queue_of(self, run: WorkloadRun, n: int) -> str:
        """The ClusterQueue that a Workload waits in after position n; empty if there is none."""
        local = self._local.get((run.track.namespace, self._name_of_local(run, n)))
        return "" if local is None else str(get_path(local.at(n), "spec.clusterQueue", ""))

    def knows_queue_of(self, run: WorkloadRun, n: int) -> bool:
        """True if its LocalQueue is in the history, which may have begun later than that."""
        return (run.track.namespace, self._name_of_local(run, n)) in self._local

    def _moments(self, since: Moment) -> Iterator[Moment]:
        """The moment itself, and all later ones at which a Workload or a queue changed."""
        yield since
        start = bisect_right(self._all_moments, since.n, key=lambda at: at.n)
        yield from (at for at in self._all_moments[start:] if at.t >= since.t)

    @cached_property
    def _all_moments(self) -> list[Moment]:
        found: list[Moment] = [*self._changes]
        for run in self._workloads:
            found += run.snapshots
            found += filter(None, [run.track.removed])
        return sorted((Instant(at.n, at.t) for at in found), key=lambda at: at.n)

    def _is_first(self, run: WorkloadRun, at: Moment) -> bool:
        if not self.is_candidate(run, at):
            return False
        is_there = self.fits_nominal(run, self.queue_of(run, at.n), at.n)
        return is_there and self._leads(run, at)

    def is_candidate(self, run: WorkloadRun, at: Moment) -> bool:
        """True if it waits in a queue that admits, and is not in its back-off."""
        state = run.at(at.n)
        if state is None or not state.is_active or state.is_terminating or not run.is_measured:
            return False
        if state.has_reservation or state.is_finished or not self.is_open(run, at.n):
            return False
        if run.blocks_admission and self._any_unready(at.n):
            return False
        requeue_at_us = state.requeue_at_us
        return requeue_at_us is None or requeue_at_us - self._history.header.began_us <= at.t

    def _any_unready(self, n: int) -> bool:
        states = (run.at(n) for run in self._workloads)
        return any(state is not None and state.blocks_others for state in states)

    def is_open(self, run: WorkloadRun, n: int) -> bool:
        """True if the queues of a Workload admit after position n, as far as is known."""
        queue = self.spec(self.queue_of(run, n), n)
        if queue is None or queue.is_terminating or queue.stop_policy != StopPolicy.NONE:
            return False
        local = self.local_of(run, n)
        if local is None or self.stop_policy_of(local, n) != StopPolicy.NONE:
            return False
        names = [name for group in queue.groups for name in group.flavors]
        if not all(name in self._flavors and self._flavors[name].exists_at(n) for name in names):
            return False
        return self.serves(queue, run.track.namespace, n) is True

    def local_of(self, run: WorkloadRun, n: int) -> Track | None:
        """The LocalQueue of a Workload, unless it is being deleted."""
        state = run.at(n)
        local = self._local.get((run.track.namespace, "" if state is None else state.queue))
        if local is None or not local.exists_at(n) or is_terminating(local.at(n)):
            return None
        return local

    def stop_policy_of(self, queue: Track, n: int) -> str:
        return str(get_path(queue.at(n), "spec.stopPolicy") or StopPolicy.NONE)

    def serves(self, queue: QueueSpec, namespace: str, n: int) -> bool | None:
        """True if a namespace matches the selector of a queue, None if its labels are unknown."""
        if queue.namespaces in (None, {}):
            return queue.namespaces is not None
        track = self._namespaces.get(namespace)
        if track is None or not track.exists_at(n):
            return None
        return matches(queue.namespaces, labels_of(track.at(n)))

    def fits_nominal(self, run: WorkloadRun, queue: str, n: int) -> bool:
        """True if it fits into what is left of the nominal quota of its queue, all of which is
        there since no other queue of the cohort borrows."""
        standing = self.at(n)

        def is_there(queue: str, placed: Held) -> bool:
            return standing.is_within_nominal(queue, placed) and all(
                standing.held(each.name, what) <= standing.nominal(each.name, what)
                for each in standing.cohort(queue)
                if each.name != queue
                for what in placed
            )

        return self._places(run, queue, n, standing, is_there)

    def fits(self, run: WorkloadRun, n: int) -> bool:
        """True if it may fit into what is left for its queue, borrowed or not, in some flavor."""
        return self._fits(run, self.queue_of(run, n), n, self.at(n))

    def had_room(self, other: WorkloadRun, run: WorkloadRun, admission: Snapshot) -> bool:
        """True if another Workload fitted whenever this one did, as far back as the controller may
        have looked when it admitted this one; False if it is not known when this one did."""
        theirs, queue, n = (
            self.queue_of(other, admission.n),
            str(admission.cluster_queue),
            admission.n,
        )
        looked_at = [
            standing
            for standing in self.standings_before(run, admission)
            if self._fits(run, queue, n, standing)
        ]
        return bool(looked_at) and all(
            self._fits(other, theirs, n, standing, surely=True) for standing in looked_at
        )

    def _fits(
        self, run: WorkloadRun, queue: str, n: int, standing: Standing, *, surely: bool = False
    ) -> bool:
        if queue not in standing.queues:
            return False
        if surely:
            return self._places(run, queue, n, standing, standing.fits)
        return any(
            standing.fits(queue, placed) for placed in standing.placements(queue, run.parts(n))
        )

    def _places(
        self,
        run: WorkloadRun,
        queue: str,
        n: int,
        standing: Standing,
        suits: Callable[[str, Held], bool],
    ) -> bool:
        """True if a Workload finds flavors that suit it. One pod set after the other takes the
        first flavor in which it fits, so those of several suit for certain only if any would."""
        placements = list(standing.placements(queue, run.parts(n)))
        found = [suits(queue, placed) for placed in placements]
        return any(found) if run.pod_sets == 1 else bool(found) and all(found)

    def closed(self, run: WorkloadRun, since: Moment) -> Moment | None:
        """The first moment after another at which the queues of a Workload do not admit."""
        later = sorted((each for each in self._changes if each.n > since.n), key=lambda at: at.n)
        return next((each for each in later if not self.is_open(run, each.n)), None)

    def is_steady(self, since_us: Micros, until: Moment) -> bool:
        """True if no queue, flavor or namespace changed from a time to a moment."""
        return not any(since_us <= each.t and each.n <= until.n for each in self._changes)

    @cached_property
    def _changes(self) -> list[Moment]:
        """The writes that changed what queues, flavors or namespaces ask for."""
        found: list[Moment] = []
        tracks = (*self._cluster.values(), *self._local.values(), *self._flavors.values())
        for track in (*tracks, *self._namespaces.values()):
            asked = None
            for version in track.versions:
                obj = version.object or {}
                now = (obj.get("spec"), labels_of(obj), is_terminating(obj))
                if now != asked:
                    found.append(version)
                asked = now
            if track.removed is not None:
                found.append(track.removed)
        return found

    def waited(self, run: WorkloadRun, since_us: Micros, until: Moment) -> bool:
        """True if it was a candidate all the time from one time up to a moment, or was created no
        later than that and has been one since."""
        standing = [each for each in run.snapshots if each.n < until.n]
        last = max((each.n for each in standing if each.t <= since_us), default=None)
        if last is None:
            return False
        spans = [Instant(each.n, max(each.t, since_us)) for each in standing if each.n >= last]
        return all(self.is_candidate(run, each) for each in spans)

    def _cohort(self, queue: str, n: int) -> frozenset[str]:
        """The ClusterQueues that share quota with one, itself included."""
        name = self._cohort_of(queue, n)
        if not name:
            return frozenset((queue,))
        return frozenset(each for each in self._cluster if self._cohort_of(each, n) == name)

    def _cohort_of(self, queue: str, n: int) -> str:
        spec = self.spec(queue, n)
        return "" if spec is None else spec.cohort

    @cached_property
    def _cluster(self) -> dict[str, Track]:
        return self._by_name(CLUSTER_QUEUE)

    @cached_property
    def _flavors(self) -> dict[str, Track]:
        return self._by_name(RESOURCE_FLAVOR)

    @cached_property
    def _namespaces(self) -> dict[str, Track]:
        return self._by_name(NAMESPACE)

    def _by_name(self, kind: Kind) -> dict[str, Track]:
        return {track.name: track for track in self._history.by_kind.get(str(kind), ())}

    @cached_property
    def _local(self) -> dict[tuple[str, str], Track]:
        tracks = self._history.by_kind.get(str(LOCAL_QUEUE), ())
        return {(track.namespace, track.name): track for track in tracks}


def _covers(freed: Held, placed: Held) -> bool:
    return all(freed.get(what, Fraction(0)) >= value for what, value in placed.items())


def _is_stopped(queue: Object | None) -> bool:
    return (get_path(queue or {}, "spec.stopPolicy") or StopPolicy.NONE) != StopPolicy.NONE


def _is_drained(queue: Object | None) -> bool:
    return bool(get_path(queue or {}, "spec.stopPolicy") == StopPolicy.HOLD_AND_DRAIN)


def _between(track: Track, since_us: Micros, until: Moment) -> list[Write]:
    """The versions of an object that were stored at some time from a time up to a moment."""
    last = max((each.n for each in track.versions if each.t <= since_us), default=-1)
    return [each for each in track.versions if last <= each.n < until.n]


def _resumed(track: Track, since: Moment) -> Moment | None:
    """When a queue is not drained any more."""
    later = (each for each in track.versions if each.n > since.n)
    return next((each for each in later if not _is_drained(each.object)), track.removed)


def _turns(run: WorkloadRun) -> Iterator[Moment]:
    """The moments at which a Workload holds other quota than before, or begins to go, other than
    by a preemption."""
    for before, after in run.changes:
        begins_to_go = before.is_leaving != after.is_leaving and not after.preemptor
        if begins_to_go or _held(before) != _held(after):
            yield after
    if run.track.removed is not None and run.snapshots[-1].has_quota:
        yield run.track.removed


def _preemptors(run: WorkloadRun) -> set[str]:
    return {each.preemptor for each in run.preemptions}


def _held(state: Snapshot) -> Held:
    return usage_of(state) if state.has_quota else {}
