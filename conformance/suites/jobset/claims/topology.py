"""JS-076: Jobs that have a topology domain to themselves."""

from __future__ import annotations

from conformance.norm import Obligations, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.jobset.decisions import EXCLUSIVE_DOMAINS
from conformance.suites.jobset.judging import claim_of_history
from conformance.suites.jobset.sources import future_story
from conformance.suites.jobset.view import JobSetHistory
from conformance.suites.jobset.view.placement import Placement, placements


@claim_of_history(
    "JS-076",
    future_story(1, 5),
    level=Level.PROVISIONAL,
    decision=EXCLUSIVE_DOMAINS,
    armed_by="pod of a Job with an exclusive topology was assigned to a node",
)
def domains_are_exclusive(view: JobSetHistory) -> Obligations:
    """Each domain of an exclusive topology MUST hold pods of at most one child Job of those that
    ask for it, in all JobSets and namespaces, also after restarts of all or some Jobs."""
    placed = [each for run in view.subjects for each in placements(run)]
    in_domain: dict[tuple[str, str], list[Placement]] = {}
    for each in sorted(placed, key=lambda each: each.bound.n):
        bound = each.bound
        if not each.domain:
            yield undecided(bound, f"the topology domain of {each.pod} is not recorded")
            continue
        others = in_domain.setdefault((each.topology, each.domain), [])
        beside = next(
            (other for other in others if other.job != each.job and other.is_there(bound.n)), None
        )
        others.append(each)
        if beside is None:
            yield met(bound)
        else:
            yield violated(
                bound,
                f"{when(bound)}: {each.pod} of {each.child} was assigned to the domain "
                f"{each.domain}, in which {beside.pod} of {beside.child} runs.",
                beside.bound,
            )
