"""KQ-024, 045, 047, 068, 101 to 103, 105, 112: what fits is admitted, and nothing else."""

from __future__ import annotations

from fractions import Fraction

from conformance.history import Moment, earliest
from conformance.norm import Obligation, Obligations, eventually, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.kueue.decisions import FITS_THOUGH_OTHERS_WAIT
from conformance.suites.kueue.judging import claim
from conformance.suites.kueue.sources import api, guide, story
from conformance.suites.kueue.view import Snapshot, Standing, WorkloadRun, usage_of
from vocabulary.objects import get_path

_ADMITTED = "admission"
_PRIORITIES = "Priorities and Preemption"


@claim("KQ-101", guide("Quotas", 1), armed_by=_ADMITTED)
def quota_of_its_queue(run: WorkloadRun) -> Obligations:
    """A Workload MUST be admitted by the ClusterQueue of its LocalQueue."""
    for admission in run.admissions:
        queue = run.queues.queue_of(run, admission.n)
        seen_us = run.operator.timing.seen_us(admission.t)
        if queue == admission.cluster_queue or not run.queues.is_steady(seen_us, admission):
            yield met(admission)
        elif not run.queues.knows_queue_of(run, admission.n):
            yield undecided(admission, "the history does not show its LocalQueue")
        else:
            yield violated(
                admission,
                f"{when(admission)}: {run} is admitted by {admission.cluster_queue}; its "
                f"LocalQueue {admission.queue} is one of {queue or 'no ClusterQueue'}.",
            )


@claim("KQ-047", api("ClusterQueue", 20), level=Level.DERIVED, armed_by=_ADMITTED)
def limits_hold(run: WorkloadRun) -> Obligations:
    """A Workload MUST be admitted only if its queue covers each resource that it asks for, and
    neither its borrowing limit nor what its cohort lends is exceeded."""
    for admission in run.admissions:
        seen_us = run.operator.timing.seen_us(admission.t)
        queue, standing = str(admission.cluster_queue), run.queues.at(admission.n)
        if queue not in standing.queues or not run.queues.is_steady(seen_us, admission):
            continue
        used, asked = usage_of(admission), run.asks(admission.n - 1)
        covered = {resource for _, resource in used}
        missing = sorted(name for name, value in asked.items() if value and name not in covered)
        lacking = [what for what in used if standing.left(queue, what) < 0]
        if not missing and not lacking:
            yield met(admission)
        elif lacking and run.queues.rival(run, admission) is not None:
            yield undecided(admission, "another replica admitted one at the same time")
        elif missing:
            yield violated(
                admission,
                f"{when(admission)}: {run} is admitted by {queue} without quota of "
                f"{', '.join(missing)}.",
            )
        else:
            flavor, resource = lacking[0]
            held = standing.held(queue, lacking[0])
            yield violated(
                admission,
                f"{when(admission)}: {run} is admitted by {queue}, which then holds {held} "
                f"{resource} of {flavor}, {-standing.left(queue, lacking[0])} more than it may.",
            )


@claim(
    "KQ-045",
    api("ClusterQueue", 3),
    level=Level.DERIVED,
    armed_by="admission by a queue with several flavors",
)
def flavors_in_their_order(run: WorkloadRun) -> Obligations:
    """A Workload MUST get the first flavor whose taints and labels its pods match and in which it
    fits, unless the queue's flavorFungibility has the next one tried; all resources of a group MUST
    come from one."""
    for admission in run.admissions:
        yield from _first_flavor(run, admission)


@claim(
    "KQ-024",
    story(1, 6),
    armed_by="admission by a queue with several flavors, after pods were not ready in time",
)
def requeued_onto_the_free_flavor(run: WorkloadRun) -> Obligations:
    """A Workload that was evicted because its pods were not ready MUST be requeued onto the flavor
    that became free, if that is the first in which it fits."""
    for admission in run.admissions:
        before = run.at(admission.n - 1)
        if before is not None and before.is_timed_out:
            yield from _first_flavor(run, admission)


@claim(
    "KQ-068",
    api("ResourceFlavor", 1),
    level=Level.DERIVED,
    armed_by="pod of a Workload that has quota of a flavor with nodeLabels",
)
def pods_go_to_their_flavor(run: WorkloadRun) -> Obligations:
    """The pods of an admitted Workload MUST be restricted to nodes with the nodeLabels of its
    flavors."""
    for admission in run.admissions:
        until = run.next(admission, lambda each: not each.has_reservation)
        labels = run.queues.node_labels(admission)
        if not labels or run.job is None:
            continue
        for pod in run.job.pods:
            created = pod.created
            if created.n < admission.n or (until is not None and created.n > until.n):
                continue
            selector = get_path(pod.first, "spec.nodeSelector") or {}
            missing = sorted(key for key in labels if selector.get(key) != labels[key])
            if not missing:
                yield met(created)
            elif pod is not run.job.track:
                yield violated(
                    created,
                    f"{when(created)}: {pod} of {run} may run on any node; its flavor is of nodes "
                    f"with {missing[0]}={labels[missing[0]]}.",
                    admission,
                )


def _first_flavor(run: WorkloadRun, admission: Snapshot) -> Obligations:
    timing, queue = run.operator.timing, str(admission.cluster_queue)
    since_us = timing.seen_us(admission.t)
    spec = run.queues.spec(queue, admission.n)
    if spec is None or not run.queues.is_steady(since_us, admission):
        return
    if all(len(group.flavors) < 2 for group in spec.groups):
        return
    before = run.queues.at(admission.n - 1)
    parts = zip(run.parts(admission.n - 1), admission.assignments, strict=False)
    for part, assignment, group in ((*each, group) for each in parts for group in spec.groups):
        flavors = assignment.get("flavors") or {}
        got = sorted({flavors[name] for name in group.resources if name in flavors})
        if not got:
            continue
        suiting = before.suiting(group, part.pod)
        if len(got) > 1 or got[0] not in suiting:
            yield violated(
                admission,
                f"{when(admission)}: {run} is admitted with {', '.join(got)} for "
                f"{', '.join(group.resources)}; its pods match {', '.join(suiting) or 'none'}.",
            )
            continue
        if run.pod_sets > 1:  # what is left for one depends on the others
            yield met(admission)
            continue
        asked = {name: value for name, value in part.asked.items() if name in group.resources}
        place = suiting.index(got[0])
        better = [
            each
            for each in suiting[:place]
            if _was_free(run, queue, (each, got[0]), asked, admission)
        ]
        # Where a policy prefers to preempt, it may have stopped at a flavor in between.
        stops_early = spec.preempts_first and spec.preempts
        if not spec.borrows_first and not stops_early:
            better += [
                each
                for each in suiting[place + 1 :]
                if _is_better(run, (each, got[0]), asked, admission)
            ]
        kept = run.queues.kept_flavors(run, admission) if better else set()
        free = [each for each in better if each not in kept]
        if free:
            yield violated(
                admission,
                f"{when(admission)}: {run} is admitted with {got[0]}, and {free[0]}, which had "
                "room, is to be taken first.",
            )
        elif better:
            yield undecided(admission, f"the rest of {better[0]} may be kept for another one")
        else:
            yield met(admission)


def _was_free(
    run: WorkloadRun,
    queue: str,
    flavors: tuple[str, str],
    asked: dict[str, Fraction],
    admission: Snapshot,
) -> bool:
    """True if it fitted in a flavor whenever it did in the one that it got."""
    free, got = ({(flavor, name): value for name, value in asked.items()} for flavor in flavors)
    looked_at = [
        standing
        for standing in run.queues.standings_before(run, admission)
        if queue in standing.queues and standing.fits(queue, got)
    ]
    spec = run.queues.spec(queue, admission.n)
    has_preempted = bool(run.queues.victims_for(run, admission))
    # By K8 one that has others preempted does not borrow.
    stays = has_preempted and spec is not None and not spec.borrows
    return bool(looked_at) and all(
        _takes(each, queue, free) and (not stays or each.is_within_nominal(queue, free))
        for each in looked_at
    )


def _is_better(
    run: WorkloadRun,
    flavors: tuple[str, str],
    asked: dict[str, Fraction],
    admission: Snapshot,
) -> bool:
    """True if it had to borrow in the flavor that it got, and not in another one."""
    queue = str(admission.cluster_queue)
    better, got = ({(flavor, name): value for name, value in asked.items()} for flavor in flavors)
    looked_at = [
        standing
        for standing in run.queues.standings_before(run, admission)
        if queue in standing.queues
    ]
    return bool(looked_at) and all(
        standing.fits(queue, better)
        and standing.is_within_nominal(queue, better)
        and not standing.is_within_nominal(queue, got)
        for standing in looked_at
    )


def _takes(standing: Standing, queue: str, placed: dict[tuple[str, str], Fraction]) -> bool:
    if queue not in standing.queues or not standing.fits(queue, placed):
        return False
    borrows = not standing.is_within_nominal(queue, placed)
    return standing.queues[queue].borrows_first or not borrows


@claim(
    "KQ-105",
    guide("Quotas", 2),
    armed_by="Workload that fits and is the first of its cohort",
)
def what_fits_is_admitted(run: WorkloadRun) -> Obligations:
    """A Workload that fits into the quota of its queue MUST be admitted if it is the first of its
    cohort, be it that it becomes that later, whatever room nodes have."""
    created = run.track.created.n
    for candidate in run.queues.turns(run):
        state, freed = run.at(candidate.n), run.queues.freed_at(run, candidate)
        is_back = state is not None and created < state.n == candidate.n
        is_freed = freed is not None and freed.n == candidate.n
        yield eventually(
            run,
            "its admission",
            since=candidate,
            happened=run.next(candidate, lambda each: each.has_reservation),
            unless=earliest(
                run.queues.passed(run, candidate), run.queues.preempts_instead(run, candidate)
            ),
            steps=3 if is_back or is_freed else 2,
        )


def _admitted(run: WorkloadRun, what: str, since: Moment) -> Obligation:
    return eventually(
        run,
        what,
        since=since,
        happened=run.next(since, lambda each: each.has_reservation),
        unless=run.overtaken(since),
        steps=3,
    )


@claim(
    "KQ-102",
    guide("Quotas", 3),
    armed_by="Workload that fits into what its cohort lends, and is the only one that waits",
)
def unused_quota_is_borrowed(run: WorkloadRun) -> Obligations:
    """A Workload that fits into the unused quota of its cohort MUST be admitted, within the limits
    of borrowing and lending, if no other one of the cohort waits."""
    for since in run.queues.moments_alone(run):
        if run.queues.fits_nominal(run, run.queues.queue_of(run, since.n), since.n):
            continue
        yield _admitted(run, "its admission with borrowed quota", since)


@claim(
    "KQ-103",
    guide("Quotas", 4),
    armed_by="Workload that fits into the nominal quota of its queue, which others have borrowed",
)
def nominal_quota_comes_back(run: WorkloadRun) -> Obligations:
    """A Workload that fits into the nominal quota of its queue MUST be admitted though others have
    borrowed that, if the queue may reclaim from any of them and it is the first that waits."""
    return _gets_back(run, run.queues.reclaims_from(run))


@claim(
    "KQ-054",
    api("ClusterQueuePreemption", 9),
    level=Level.DERIVED,
    armed_by="Workload that fits once others of its queue are preempted, which its policy lets it",
)
def lower_ones_make_room(run: WorkloadRun) -> Obligations:
    """A Workload MUST be admitted that fits into the nominal quota of its queue once those are
    preempted which its withinClusterQueue lets it preempt, if it is the first that waits."""
    return _gets_back(run, run.queues.preempts_from(run))


def _gets_back(run: WorkloadRun, since: Moment | None) -> Obligations:
    """Others are evicted for it at once, and it is admitted once their quota is back."""
    if since is None:
        return
    admitted = run.next(since, lambda each: each.has_reservation)
    uid = run.track.uid
    victims = [
        each
        for each in run.queues.preempted
        # Kueue v0.6.2 does not say for whom.
        if each.preemptor == uid or (not each.preemptor and each.n > since.n)
    ]
    yield eventually(
        run,
        "the eviction of others that hold its quota",
        since=since,
        happened=earliest(*victims, admitted),
        unless=run.overtaken(since),
        steps=2,
    )
    released = run.queues.released_for(run, since)
    if released is not None:
        yield eventually(
            run,
            "its admission once the quota of others is back",
            since=released,
            happened=admitted,
            unless=run.overtaken(since),
            steps=2,
        )


@claim(
    "KQ-112",
    guide(_PRIORITIES, 3),
    decision=FITS_THOUGH_OTHERS_WAIT,
    armed_by="Workload that fits while one before it does not",
)
def no_head_blocks(run: WorkloadRun) -> Obligations:
    """In a BestEffortFIFO queue a Workload that fits into the nominal quota MUST be admitted though
    others of its queue wait that do not fit."""
    since = run.queues.passes_from(run)
    if since is not None:
        yield _admitted(run, "its admission beside one that does not fit", since)
