"""AW-097: the finalizer that protects deployed resources is restored if another client removes
it."""

from __future__ import annotations

from itertools import pairwise

from conformance.history import earliest
from conformance.norm import WRITERS, Obligations, eventually
from conformance.norm.claim import Level
from conformance.suites.appwrapper.decisions import A23
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.sources import progress_guarantees
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.snapshots import RESOURCES_DEPLOYED


@claim(
    "AW-097",
    progress_guarantees(5),
    level=Level.DERIVED,
    decision=A23,
    armed_by="finalizer was stripped while resources were deployed",
    needs=(WRITERS,),
)
def stripped_finalizer_is_put_back(aw: AppWrapperRun) -> Obligations:
    """When its controller's finalizer is stripped from an AppWrapper whose resources are deployed,
    the controller MUST put it back within one reaction."""
    for before, after in pairwise(aw.snapshots):
        is_stripped = before.has_finalizer and not after.has_finalizer
        if not is_stripped or aw.history.operator.is_by(after.write.actor):
            continue
        # The API server refuses new finalizers on an object that is being deleted.
        if after.deleting or not after.shows(RESOURCES_DEPLOYED):
            continue
        later = [snapshot for snapshot in aw.snapshots if snapshot.n > after.n]
        restored = next((snapshot for snapshot in later if snapshot.has_finalizer), None)
        undeployed = next((snap for snap in later if not snap.shows(RESOURCES_DEPLOYED)), None)
        yield eventually(
            aw,
            f"the finalizer {aw.history.profile.finalizer}",
            since=after,
            within_us=0,
            happened=restored,
            unless=earliest(undeployed, aw.leaving),
        )
