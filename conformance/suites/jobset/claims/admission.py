"""JS-004, 006, 007, 009, 046, 075, 077, 110: the JobSets that are refused."""

from __future__ import annotations

from collections.abc import Callable

from conformance.norm import Obligations
from conformance.norm.claim import Claim, Level
from conformance.suites.jobset import api as names
from conformance.suites.jobset.decisions import (
    ALL_ACTIONS,
    DUPLICATE_KEYS,
    KNOWN_REASONS,
    KNOWN_TARGETS,
    REPAIRED_FUTURE,
)
from conformance.suites.jobset.judging import claim_of_history
from conformance.suites.jobset.sources import (
    api,
    constraints,
    future_story,
    story,
)
from conformance.suites.jobset.view import JobSetHistory
from conformance.suites.jobset.view.flaws import (
    REASONS,
    repeated,
    unknown_action,
    unknown_reason,
    unknown_resource,
    unknown_target,
    unknown_topology,
)
from conformance.suites.jobset.view.submissions import rules_of, submissions, texts
from vocabulary.objects import Object, get_path


@claim_of_history(
    "JS-004",
    api(14),
    decision=ALL_ACTIONS,
    armed_by="submission with a rule that has no known action",
    from_any_versions=True,
)
def unknown_actions_are_refused(view: JobSetHistory) -> Obligations:
    """A JobSet MUST be refused if a rule of its failure policy has no action, or one that the
    API does not define."""
    return _with_a_flaw(view, lambda rule: unknown_action(rule, view.edition))


@claim_of_history(
    "JS-006",
    api(20),
    editions=(names.KEP, names.KEP_V0_12),
    armed_by="submission with a rule that has a reason twice",
    from_any_versions=True,
)
def reasons_are_unique(view: JobSetHistory) -> Obligations:
    """A JobSet MUST be refused if a rule of its failure policy lists a reason twice."""
    return _with_a_flaw(view, lambda rule: repeated(rule, "onJobFailureReasons"))


@claim_of_history(
    "JS-007",
    constraints(3),
    armed_by="submission with a rule for a reason that no Job has",
    from_any_versions=True,
)
def unknown_reasons_are_refused(view: JobSetHistory) -> Obligations:
    """A JobSet MUST be refused if a rule of its failure policy lists what is no failure reason
    of a batch/v1 Job."""
    return _with_a_flaw(view, unknown_reason)


@claim_of_history(
    "JS-009",
    api(23),
    editions=(names.KEP,),
    armed_by="submission with a rule that has a target twice",
    from_any_versions=True,
)
def targets_are_unique(view: JobSetHistory) -> Obligations:
    """A JobSet MUST be refused if a rule of its failure policy lists a target twice."""
    return _with_a_flaw(view, lambda rule: repeated(rule, "targetReplicatedJobs"))


@claim_of_history(
    "JS-046",
    story(4, 13),
    level=Level.PROVISIONAL,
    decision=KNOWN_TARGETS,
    armed_by="submission with a rule for a replicated job that is not there",
    from_any_versions=True,
)
def unknown_targets_are_refused(view: JobSetHistory) -> Obligations:
    """A JobSet MUST be refused if a rule of its failure policy targets a replicated job that it
    does not have, as the manifest of story 4 does."""
    for each in submissions(view.history):
        known = {str(found.get("name")) for found in each.replicated_jobs}
        if flaw := next(filter(None, (unknown_target(rule, known) for rule in each.rules)), ""):
            yield each.must_be_refused(flaw)


@claim_of_history(
    "JS-075",
    future_story(2, 13),
    level=Level.PROVISIONAL,
    decision=KNOWN_REASONS,
    armed_by="submission with a rule for a user-defined reason",
    from_any_versions=True,
)
def user_defined_reasons_are_refused(view: JobSetHistory) -> Obligations:
    """A JobSet MUST be refused if a rule lists a reason that setConditionReason of a pod failure
    policy defines, as the manifest of the second future story does."""
    for each in submissions(view.history):
        defined = {
            str(rule["setConditionReason"])
            for found in each.replicated_jobs
            for rule in rules_of(get_path(found, "template.spec.podFailurePolicy"))
            if "setConditionReason" in rule
        }
        listed = {
            reason for rule in each.rules for reason in texts(rule.get("onJobFailureReasons"))
        }
        if found := sorted((defined & listed) - REASONS):
            yield each.must_be_refused(f"a rule lists {found[0]!r}, which no Job fails with")


JS_077 = Claim(
    id="JS-077",
    name="duplicate-keys-are-refused",
    level=Level.PROVISIONAL,
    suite="jobset",
    text="A manifest in which a key occurs twice, as in stories 1 to 4, MUST be refused with the "
    "line of the second one.",
    source=story(1, 8),
    decision=DUPLICATE_KEYS,
    not_judged="An API server is sent JSON, in which no key occurs twice. What reads manifests "
    "refuses them, and so does Assay: tests/suites/test_manifests.py has the file and the line of "
    "each of these manifests.",
)


@claim_of_history(
    "JS-110",
    future_story(1, 5),
    level=Level.PROVISIONAL,
    decision=REPAIRED_FUTURE,
    editions=(names.KEP,),
    armed_by="submission of which no pod could be created",
    from_any_versions=True,
)
def pods_can_be_created(view: JobSetHistory) -> Obligations:
    """A JobSet MUST be refused of which no pod could be created, since its exclusive topology is
    no label key, or a pod as a whole asks for other resources than pods have, as in the manifest
    of the first future story."""
    for each in submissions(view.history):
        annotated = (each.job_set, *(found.get("template") for found in each.replicated_jobs))
        flaws = [*map(unknown_topology, annotated), *map(unknown_resource, each.replicated_jobs)]
        if flaw := next(filter(None, flaws), ""):
            yield each.must_be_refused(flaw)


def _with_a_flaw(view: JobSetHistory, flaw_of: Callable[[Object], str]) -> Obligations:
    """An obligation for each submission of which a rule has the flaw."""
    for each in submissions(view.history):
        if flaw := next(filter(None, map(flaw_of, each.rules)), ""):
            yield each.must_be_refused(flaw)
