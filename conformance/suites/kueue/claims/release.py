"""KQ-108, 201 to 204, 206, 207: when quota goes back."""

from __future__ import annotations

from conformance.history import Moment, Track, earliest
from conformance.norm import Obligations, eventually, met, must, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.kueue.api import APP_WRAPPER, ON_TERMINAL
from conformance.suites.kueue.decisions import GARBAGE_IS_COLLECTED, PODS_THEMSELVES
from conformance.suites.kueue.judging import claim
from conformance.suites.kueue.sources import guide, release
from conformance.suites.kueue.view import WorkloadRun
from vocabulary.objects import condition_status, is_terminating


@claim("KQ-108", guide("Failure handling", 1), armed_by="release of an evicted AppWrapper's quota")
def app_wrapper_is_waited_for(run: WorkloadRun) -> Obligations:
    """The quota of an AppWrapper MUST be held until the AppWrapper itself says that it is
    released, which it does once its resources are gone."""
    if run.job is None or run.job.track.kind != str(APP_WRAPPER):
        return
    for before, after in run.releases:
        yield must(
            not _has_said_reserved(run, run.job.track, after),
            after,
            f"{when(after)}: the quota of {run.job} is given back, and that says that it is "
            "reserved.",
            before,
        )


def _has_said_reserved(run: WorkloadRun, app_wrapper: Track, until: Moment) -> bool:
    """True if an AppWrapper has said that it holds quota in each state that the controller may have
    seen last at a moment."""
    seen_us = run.operator.timing.seen_us(until.t)
    known = [each for each in app_wrapper.versions if each.n <= until.n]
    oldest = max((each.n for each in known if each.t <= seen_us), default=-1)
    return all(
        condition_status(each.object or {}, "QuotaReserved") == "True"
        for each in known
        if each.n >= oldest
    )


@claim(
    "KQ-201",
    release(1),
    level=Level.DERIVED,
    decision=PODS_THEMSELVES,
    armed_by="release of an evicted Workload's quota under OnTerminal",
)
def quota_is_held_until_terminal(run: WorkloadRun) -> Obligations:
    """Under OnTerminal, the quota of an evicted Workload MUST NOT be released while a pod of it is
    neither Succeeded, Failed nor gone."""
    if run.job is None or run.strategy != ON_TERMINAL:
        return
    for before, after in run.releases:
        seen_us = run.operator.timing.seen_us(after.t)
        left = [pod for pod in run.job.pods_left(after.n) if pod.created.t <= seen_us]
        if left:
            yield violated(
                after,
                f"{when(after)}: the quota of {run.job} is given back, and {left[0]} runs.",
                before,
            )
        else:
            yield met(after)


@claim(
    "KQ-202",
    release(2),
    level=Level.DERIVED,
    armed_by="evicted Workload whose job says that nothing of it runs, under OnQuotaReleased",
)
def quota_is_released_on_the_signal(run: WorkloadRun) -> Obligations:
    """Under OnQuotaReleased, the quota of an evicted Workload MUST be released once its job
    reports that it is not active, even while pods are terminating."""
    if run.job is None or run.strategy == ON_TERMINAL:
        return
    for evicted in run.turns(lambda state: state.is_evicted and state.has_quota):
        signal = run.job.says_inactive(evicted)
        if signal is not None:
            yield eventually(
                run,
                "the release of its quota",
                since=signal,
                happened=run.next(evicted, lambda each: not each.has_reservation),
                unless=run.gone(evicted),
                steps=2,
                evidence=(evicted,),
            )


@claim(
    "KQ-203",
    release(4),
    level=Level.DERIVED,
    armed_by="success of a job that holds quota",
)
def success_releases_at_once(run: WorkloadRun) -> Obligations:
    """Under either strategy, the quota of a job that has succeeded MUST be released at once, even
    while pods are terminating."""
    return released_once_it_succeeded(run)


def released_once_it_succeeded(run: WorkloadRun) -> Obligations:
    """The quota of a Workload goes back once its job has succeeded."""
    succeeded = None if run.job is None else run.job.succeeded
    state = None if succeeded is None else run.at(succeeded.n)
    if succeeded is None or state is None or not state.has_quota or state.is_leaving:
        return
    yield eventually(
        run,
        "the release of its quota after its success",
        since=succeeded,
        happened=run.next(succeeded, lambda each: not each.has_quota) or run.track.removed,
        steps=2,
    )


@claim(
    "KQ-204",
    release(5),
    level=Level.DERIVED,
    decision=(PODS_THEMSELVES, GARBAGE_IS_COLLECTED),
    armed_by="release of an evicted Workload's quota",
)
def released_ones_do_not_run(run: WorkloadRun) -> Obligations:
    """When the quota of an evicted Workload is released, since its job is not active, none of its
    pods MUST run that is not terminating."""
    for before, after in run.releases:
        if run.job is None:
            continue
        seen_us = run.operator.timing.seen_us(after.t)
        left = [pod for pod in run.job.pods_to_stop(after.n) if pod.created.t <= seen_us]
        running = [pod for pod in left if not is_terminating(pod.at(after.n))]
        if running:
            yield violated(
                after,
                f"{when(after)}: the quota of {run.job} is given back, and {running[0]} runs and "
                "is not terminating.",
                before,
            )
        else:
            yield met(after)


@claim(
    "KQ-207",
    release(6),
    level=Level.DERIVED,
    armed_by="Workload that others could make room for, while another one awaits its victims",
)
def preemptions_go_side_by_side(run: WorkloadRun) -> Obligations:
    """Under OnTerminal, a Workload MUST have another one preempted, or be admitted, while the first
    in its queue waits for the pods of its victims, if there is one that may be preempted for it
    and is enough."""
    since = run.queues.preempts_beside(run)
    if since is None or run.strategy != ON_TERMINAL:
        return
    victims = [each for each in run.queues.preempted if each.preemptor == run.track.uid]
    yield eventually(
        run,
        "the eviction of one that is enough",
        since=since,
        happened=earliest(*victims, run.next(since, lambda each: each.has_reservation)),
        unless=run.overtaken(since),
        steps=2,
    )


@claim(
    "KQ-206",
    release(3),
    level=Level.DERIVED,
    decision=PODS_THEMSELVES,
    armed_by="end of the last pod of an evicted Workload under OnTerminal",
)
def quota_is_released_after_the_last_pod(run: WorkloadRun) -> Obligations:
    """Under OnTerminal, the quota of an evicted Workload MUST be released once its last pod is
    terminal, even if nothing else happens."""
    if run.job is None or run.strategy != ON_TERMINAL:
        return
    for evicted in run.turns(lambda state: state.is_evicted and state.has_quota):
        signal = run.job.says_inactive(evicted)
        latency_us = run.operator.timing.latency_us
        ended = None if signal is None else run.job.last_pod_ended(signal, latency_us)
        if ended is not None:
            yield eventually(
                run,
                "the release of its quota after its last pod",
                since=ended,
                happened=run.next(evicted, lambda each: not each.has_reservation),
                unless=run.gone(evicted),
                steps=3,
                evidence=(evicted,),
            )
