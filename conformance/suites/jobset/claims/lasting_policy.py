"""JS-096: the failure policy in force stays."""

from __future__ import annotations

from conformance.norm import Obligations, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.jobset.decisions import LASTING_POLICY
from conformance.suites.jobset.judging import claim_of_history
from conformance.suites.jobset.sources import api
from conformance.suites.jobset.view import JobSetHistory
from conformance.suites.jobset.view.policies import in_words, is_another
from conformance.suites.jobset.view.submissions import refused_changes
from vocabulary.objects import get_path


@claim_of_history(
    "JS-096",
    api(26),
    level=Level.DERIVED,
    decision=LASTING_POLICY,
    armed_by="change of a failure policy was asked for",
    from_any_versions=True,
)
def policy_in_force_stays(view: JobSetHistory) -> Obligations:
    """The failure policy of a JobSet MUST NOT be changed, removed or added once the JobSet
    exists."""
    for run in view.subjects:
        for before, after in run.changes:
            if is_another(before.policy, after.policy):
                yield violated(
                    after,
                    f"{when(after)}: the failure policy of {run} is {in_words(after.policy)}; it "
                    f"was {in_words(before.policy)}.",
                    before,
                )
    for write, standing in refused_changes(view.history):
        asked = get_path(write.submitted or {}, "spec.failurePolicy")
        if is_another(get_path(standing, "spec.failurePolicy"), asked):
            yield met(write)
