"""JS-076: Jobs that have a topology domain to themselves."""

from __future__ import annotations

from conformance.norm import Obligations, met, undecided, violated
from conformance.norm.claim import Claim, Level
from conformance.norm.words import when
from conformance.suites.jobset.decisions import EXCLUSIVE_DOMAINS
from conformance.suites.jobset.judging import judges
from conformance.suites.jobset.sources import future_work
from conformance.suites.jobset.view import JobSetRun
from conformance.suites.jobset.view.placement import placements

JS_076 = Claim(
    id="JS-076",
    name="domains-are-exclusive",
    level=Level.PROVISIONAL,
    suite="jobset",
    text="In a JobSet with an exclusive topology, each domain MUST hold pods of at most one child "
    "Job, also after restarts of all or some of its Jobs.",
    source=future_work(
        "alpha.jobset.sigs.k8s.io/exclusive-topology: 1:1 job replica to topology domain assignment"
    ),
    decision=EXCLUSIVE_DOMAINS,
)


@judges(JS_076, armed_by="pod of a Job with an exclusive topology was assigned to a node")
def domains_are_exclusive(run: JobSetRun) -> Obligations:
    placed = sorted(placements(run), key=lambda each: each.bound.n)
    for position, each in enumerate(placed):
        bound = each.bound
        if not each.domain:
            yield undecided(bound, f"the topology domain of {each.pod} is not recorded")
            continue
        beside = next(
            (
                other
                for other in placed[:position]
                if other.domain == each.domain
                and other.child.name != each.child.name
                and other.is_there(bound.n)
            ),
            None,
        )
        if beside is None:
            yield met(bound)
        else:
            yield violated(
                bound,
                f"{when(bound)}: {each.pod} of {each.child} was assigned to the domain "
                f"{each.domain}, in which {beside.pod} of {beside.child} runs.",
                beside.bound,
            )
