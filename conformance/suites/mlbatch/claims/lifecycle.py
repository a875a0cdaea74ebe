"""MLB-041…045: the phases, what they mean, and who drives them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from conformance.history import Track
from conformance.norm import WRITERS, Obligation, Obligations, eventually, met, violated
from conformance.norm.words import listed, states_of, when
from conformance.suites.appwrapper.claims.invariants import steps_along_the_graph
from conformance.suites.appwrapper.decisions import A11, A20
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.sources import guide
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.snapshots import (
    FAILED,
    RESETTING,
    RESUMING,
    RUNNING,
    SUCCEEDED,
    SUSPENDED,
    SUSPENDING,
    TERMINATING,
    Snapshot,
)
from vocabulary.objects import Object, condition_status, is_terminating

_SECTION: Final = "AppWrapper Lifecycle"
PHASES: Final = (SUSPENDED, RESUMING, RUNNING, SUCCEEDED, FAILED, RESETTING, SUSPENDING)


@claim(
    "MLB-041",
    guide(_SECTION, 5),
    decision=A11,
    armed_by="AppWrapper showed a status",
    from_any_versions=True,
)
def status_is_one_of_seven(aw: AppWrapperRun) -> Obligations:
    """The status of an AppWrapper MUST be Suspended, Resuming, Running, Succeeded, Failed,
    Resetting or Suspending; before it is first set, and while it is being deleted, it may be
    empty or Terminating. Succeeded MUST mean that the execution completed successfully."""
    for index, span in enumerate(aw.spans):
        allowed = (
            span.phase in PHASES
            or (span.phase == "" and index == 0)
            or (span.phase == TERMINATING and span.begin.deleting)
        )
        if not allowed:
            yield violated(
                span.begin, f"{when(span.begin)}: the status of {aw} is {span.phase or 'empty'}."
            )
        elif span.phase == SUCCEEDED and aw.history.shows_every_version:
            yield _completed(aw, span.begin)
        elif span.phase:
            yield met(span.begin)


def _completed(aw: AppWrapperRun, succeeded: Snapshot) -> Obligation:
    """True if the execution was over when Succeeded was entered, as far as it could be seen."""
    seen_us = aw.history.operator.timing.seen_us(succeeded.t)
    still = [pod for pod in aw.pods if pod.created.t < seen_us and _may_run(pod.at(succeeded.n))]
    if still:
        return violated(
            succeeded,
            f"{when(succeeded)}: {aw} is Succeeded, but {states_of(still, succeeded.n)} has not "
            "ended.",
            still[0].created,
        )
    jobs = [track for track in aw.component_tracks if track.kind == "Job.batch"]
    unfinished = [
        job
        for job in jobs
        if job.exists_at(succeeded.n)
        and _needs_more_than_its_pods(job)
        and not any(
            condition_status(job.at(succeeded.n), type_) == "True"
            for type_ in ("Complete", "SuccessCriteriaMet")
        )
    ]
    if unfinished:
        return violated(
            succeeded,
            f"{when(succeeded)}: {aw} is Succeeded, but {listed(unfinished)} wants more "
            "completions and does not say that it is complete.",
            unfinished[0].created,
        )
    if not aw.expected_pods:
        return violated(
            succeeded,
            f"{when(succeeded)}: {aw} is Succeeded, although it expects no pods at all.",
        )
    return met(succeeded)


def _may_run(pod: Object) -> bool:
    phase = (pod.get("status") or {}).get("phase", "Pending")
    return bool(pod) and phase not in ("Succeeded", "Failed") and not is_terminating(pod)


def _needs_more_than_its_pods(job: Track) -> bool:
    """True if a Job has more completions than pods at a time: then their success says little."""
    spec = job.first.get("spec") or {}
    completions = spec.get("completions")
    return completions is not None and int(completions) > int(spec.get("parallelism") or 1)


@claim(
    "MLB-042",
    guide(_SECTION, 6),
    decision=A20,
    armed_by="AppWrapper failed",
    from_any_versions=True,
)
def failed_is_final(aw: AppWrapperRun) -> Obligations:
    """A Failed workload MUST NOT be retried: it stays Failed, and nothing is created for it."""
    for span in aw.in_phase(FAILED):
        # Where versions may be missing, what is first seen now may have been there before.
        later = aw.component_tracks if aw.history.shows_every_version else ()
        created = next((track for track in later if track.created.n > span.begin.n), None)
        if span.end is not None and span.end.phase != TERMINATING:
            yield violated(
                span.end,
                f"{when(span.end)}: {aw} left Failed for {span.end.phase or 'no phase'}.",
                span.begin,
            )
        elif created is not None:
            yield violated(
                created.created,
                f"{when(created.created)}: {created} was created for {aw}, which had failed at "
                f"{when(span.begin)}.",
                span.begin,
            )
        else:
            yield met(span.begin)


@claim(
    "MLB-043",
    guide(_SECTION, 8),
    armed_by="AppWrapper left Suspending",
)
def suspending_leads_to_suspended(aw: AppWrapperRun) -> Obligations:
    """A Suspending AppWrapper MUST go back to Suspended."""
    for span in aw.in_phase(SUSPENDING):
        if span.end is None or span.end.phase == TERMINATING:
            continue
        if span.end.phase == SUSPENDED:
            yield met(span.begin, span.end)
        else:
            yield violated(
                span.end,
                f"{when(span.end)}: {aw} went from Suspending to {span.end.phase}.",
                span.begin,
            )


@claim(
    "MLB-044",
    guide(_SECTION, 10),
    armed_by="AppWrapper changed its phase",
    from_any_versions=True,
)
def life_cycle(aw: AppWrapperRun) -> Obligations:
    """An AppWrapper MUST move between its phases along the edges of the life cycle only."""
    yield from steps_along_the_graph(aw)


@claim(
    "MLB-045",
    guide(_SECTION, 10),
    armed_by="AppWrapper was admitted or evicted",
    needs=(WRITERS,),
)
def admission_is_not_the_controllers(aw: AppWrapperRun) -> Obligations:
    """The admission of an AppWrapper MUST be left to Kueue: its controller MUST NOT change
    spec.suspend, MUST leave Suspended when it is unset and not before, and MUST NOT enter
    Suspending unless it is set."""
    is_operator = aw.history.operator.is_by
    for before, after in pairwise(aw.snapshots):
        if before.suspended != after.suspended and is_operator(after.write.actor):
            yield violated(
                after,
                f"{when(after)}: {after.write.actor} set spec.suspend of {aw} to "
                f"{after.suspended}.".replace("True", "true").replace("False", "false"),
                before,
            )
    for earlier, later in pairwise(aw.spans):
        if earlier.phase == SUSPENDED and later.phase == RESUMING:
            yield _asked_for(aw, later.begin, suspended=False)
        elif later.phase == SUSPENDING:
            yield _asked_for(aw, later.begin, suspended=True)
    yield from _admitted(aw)


def _admitted(aw: AppWrapperRun) -> Iterator[Obligation]:
    """An obligation for each admission: Suspended is left."""
    for span in aw.in_phase(SUSPENDED):
        waiting = (snapshot for snapshot in span.snapshots if not snapshot.suspended)
        admitted = next(waiting, None)
        if admitted is None:
            continue
        taken_back = (
            snapshot
            for snapshot in span.snapshots
            if snapshot.n > admitted.n and (snapshot.suspended or snapshot.deleting)
        )
        yield eventually(
            aw,
            "Resuming after admission",
            since=admitted,
            happened=span.end,
            unless=next(taken_back, None) or aw.removed,
        )


def _asked_for(aw: AppWrapperRun, entered: Snapshot, *, suspended: bool) -> Obligation:
    """True if spec.suspend was so, at some time that the controller may have looked at."""
    seen_us = aw.history.operator.timing.seen_us(entered.t)
    for index, snapshot in enumerate(aw.snapshots):
        if snapshot.n > entered.n:
            break
        following = aw.snapshots[index + 1] if index + 1 < len(aw.snapshots) else None
        is_recent = following is None or following.n > entered.n or following.t >= seen_us
        if is_recent and snapshot.suspended == suspended:
            return met(entered)
    return violated(
        entered,
        f"{when(entered)}: {aw} entered {entered.phase}, although spec.suspend was "
        f"{'false' if suspended else 'true'}.",
    )
