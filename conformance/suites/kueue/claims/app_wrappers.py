"""KQ-106, 107, 109, 119: AppWrappers that retry, end and go, and queues that borrow."""

from __future__ import annotations

from typing import Final

from conformance.norm import Obligations, eventually, met, must, violated
from conformance.norm.words import when
from conformance.suites.kueue.api import APP_WRAPPER
from conformance.suites.kueue.claims.queues import amounts_in, text_of
from conformance.suites.kueue.claims.release import released_once_it_succeeded
from conformance.suites.kueue.judging import claim, claim_of_history
from conformance.suites.kueue.sources import guide
from conformance.suites.kueue.view import KueueHistory, WorkloadRun
from conformance.suites.kueue.view.job import JobRun
from vocabulary.objects import get_path

_FAILURES: Final = "Failure handling"


def _app_wrapper_of(run: WorkloadRun) -> JobRun | None:
    return run.job if run.job is not None and run.job.track.kind == str(APP_WRAPPER) else None


@claim_of_history("KQ-106", guide("Quotas", 10), armed_by="queue that borrows, at rest")
def usage_may_exceed_quota(view: KueueHistory) -> Obligations:
    """At rest the status of a ClusterQueue that borrows MUST show more than its nominal quota."""
    end = view.history.end
    if not view.history.is_stable or view.operator.timing.due_us(end.t, 0) is None:
        return
    standing = view.queues.at(end.n)
    for track, wanted in view.queues.statuses(end.n):
        spec = standing.queues.get(track.name)
        if spec is None or all(
            wanted.held[what] <= standing.nominal(track.name, what) for what in wanted.held
        ):
            continue
        held = amounts_in(get_path(track.at(end.n), "status.flavorsReservation"))
        yield must(
            held == wanted.held,
            end,
            f"{when(end)}: {track} borrows, and shows {text_of(held)} held; there are "
            f"{text_of(wanted.held)}.",
        )


@claim("KQ-107", guide(_FAILURES, 2), armed_by="reset of an AppWrapper that holds quota")
def resets_keep_their_quota(run: WorkloadRun) -> Obligations:
    """All of the quota of an AppWrapper MUST stay reserved while it is reset, unless its Workload
    is evicted."""
    job = _app_wrapper_of(run)
    if job is None:
        return
    versions = job.track.versions
    for begin, end in zip(versions, (*versions[1:], None), strict=True):
        state = run.at(begin.n)
        if get_path(begin.object, "status.phase") != "Resetting" or state is None:
            continue
        if not state.has_quota or state.is_leaving:
            continue
        given = next(
            (
                each
                for each in run.snapshots
                if each.n > begin.n
                and (end is None or each.n < end.n)
                and not each.is_leaving
                and (each.reclaimable or not each.has_quota)
            ),
            None,
        )
        if given is None:
            yield met(begin)
        else:
            yield violated(
                given,
                f"{when(given)}: quota of {job}, reset since {when(begin)}, is given back.",
                begin,
            )


@claim("KQ-109", guide(_FAILURES, 3), armed_by="success of an AppWrapper that holds quota")
def succeeded_app_wrappers_hold_none(run: WorkloadRun) -> Obligations:
    """An AppWrapper that has succeeded MUST NOT hold quota any more, though its pods are kept."""
    return () if _app_wrapper_of(run) is None else released_once_it_succeeded(run)


@claim("KQ-119", guide(_FAILURES, 4), armed_by="AppWrapper with a Workload is gone")
def workloads_go_with_app_wrappers(run: WorkloadRun) -> Obligations:
    """The Workload of an AppWrapper MUST be deleted once the AppWrapper is."""
    job = _app_wrapper_of(run)
    gone = None if job is None else job.track.removed
    if gone is not None:
        yield eventually(run, "its deletion", since=gone, happened=run.let_go(gone), steps=3)
