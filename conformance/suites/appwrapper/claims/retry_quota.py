"""AW-050: a workload keeps its quota from one attempt to the next."""

from __future__ import annotations

from conformance.norm import Obligations
from conformance.suites.appwrapper.claims.quota_release import quota_is_held
from conformance.suites.appwrapper.decisions import A4
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.sources import detailed_description
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.appwrapper import NEVER
from conformance.suites.appwrapper.view.snapshots import RESETTING, RESUMING, Snapshot


@claim(
    "AW-050",
    detailed_description(15),
    name="quota-kept-during-reset-and-pause",
    decision=A4,
    armed_by="AppWrapper was reset",
    from_any_versions=True,
)
def quota_is_kept_between_attempts(aw: AppWrapperRun) -> Obligations:
    """While a workload is being reset, during its retry pause and until it runs again, its quota
    MUST NOT be released."""
    for begin, end_n in retry_stretches(aw):
        yield from quota_is_held(aw, begin, end_n)


def retry_stretches(aw: AppWrapperRun) -> list[tuple[Snapshot, int]]:
    """(from, until position) of each reset and the Resuming that follows it.

    A deletion of the AppWrapper ends the stretch, since deleting releases the quota. Where
    versions may be missing, the Resuming that is seen next may follow a suspension.
    """
    cut = aw.end_n if aw.deleting is None else aw.deleting.n
    stretches: list[tuple[Snapshot, int]] = []
    for index, span in enumerate(aw.spans):
        if span.phase != RESETTING or span.begin.n >= cut:
            continue
        last = span
        is_followed = index + 1 < len(aw.spans) and aw.spans[index + 1].phase == RESUMING
        if is_followed and aw.history.shows_every_version:
            last = aw.spans[index + 1]
        stretches.append((span.begin, min(cut, NEVER if last.end is None else last.end.n)))
    return stretches
