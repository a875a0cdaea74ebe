"""JS-108: JobSets that another controller manages."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.history import Track
from conformance.norm import WRITERS, Obligations, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.jobset.api import JOB_SET
from conformance.suites.jobset.judging import claim_of_history
from conformance.suites.jobset.kind import JobSetState
from conformance.suites.jobset.sources import field
from conformance.suites.jobset.view import JobSetHistory
from vocabulary.history import Write
from vocabulary.objects import meta


@claim_of_history(
    "JS-108",
    field("JobSetSpec.managedBy", 2),
    level=Level.DERIVED,
    armed_by="JobSet that another controller manages",
    needs=(WRITERS,),
)
def jobsets_of_others_are_left_alone(view: JobSetHistory) -> Obligations:
    """The controller MUST NOT write to a JobSet that managedBy gives to another controller, nor
    to anything that such a JobSet owns, and MUST NOT create anything for it."""
    for track in view.history.by_kind.get(str(JOB_SET), ()):
        if JobSetState(track.first).is_managed:
            continue
        about = next(_writes_about(view, track), None)
        if about is None:
            yield met(track.created)
        else:
            yield violated(
                about,
                f"{when(about)}: the controller sent a {about.verb} of {about.kind} {about.name} "
                f"for {track}, whose managedBy names another one.",
                track.created,
            )


def _writes_about(view: JobSetHistory, track: Track) -> Iterator[Write]:
    own = (track.kind, track.namespace, track.name)
    for write in view.operator.writes:
        owners = meta(write.object or write.submitted or {}).get("ownerReferences") or ()
        if (write.kind, write.namespace, write.name) == own or any(
            owner.get("uid") == track.uid for owner in owners
        ):
            yield write
