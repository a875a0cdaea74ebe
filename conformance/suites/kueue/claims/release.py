"""KQ-108, 201, 202, 206: when quota goes back."""

from __future__ import annotations

from conformance.norm import Obligations, eventually, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.kueue.api import APP_WRAPPER, ON_TERMINAL
from conformance.suites.kueue.decisions import PODS_THEMSELVES
from conformance.suites.kueue.judging import claim
from conformance.suites.kueue.sources import guide, release
from conformance.suites.kueue.view import WorkloadRun
from vocabulary.objects import condition_status


@claim("KQ-108", guide("Failure handling", 1), armed_by="release of an evicted AppWrapper's quota")
def app_wrapper_is_waited_for(run: WorkloadRun) -> Obligations:
    """The quota of an AppWrapper MUST be held until the AppWrapper itself says that it is
    released, which it does once its resources are gone."""
    if run.job is None or run.job.track.kind != str(APP_WRAPPER):
        return
    for before, after in run.releases:
        job = run.job.track.at(after.n)
        if condition_status(job, "QuotaReserved") == "True":
            yield violated(
                after,
                f"{when(after)}: the quota of {run.job} is given back, and that says that it is "
                "reserved.",
                before,
            )
        else:
            yield met(after)


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
                within_us=0,
                happened=run.next(evicted, lambda each: not each.has_reservation),
                unless=run.gone(evicted),
                steps=2,
                evidence=(evicted,),
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
        ended = None if signal is None else run.job.last_pod_ended(signal)
        if ended is not None:
            yield eventually(
                run,
                "the release of its quota after its last pod",
                since=ended,
                within_us=0,
                happened=run.next(evicted, lambda each: not each.has_reservation),
                unless=run.gone(evicted),
                steps=3,
                evidence=(evicted,),
            )
