"""JS-004, 006, 007, 009, 011, 046, 075, 077, 096: what is admitted, and what is refused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from conformance.norm import Obligations, met, violated
from conformance.norm.claim import Claim, Level
from conformance.norm.words import when
from conformance.suites.jobset import api as names
from conformance.suites.jobset.decisions import (
    ALL_ACTIONS,
    DUPLICATE_KEYS,
    KNOWN_REASONS,
    KNOWN_TARGETS,
    LASTING_POLICY,
)
from conformance.suites.jobset.judging import judges_history
from conformance.suites.jobset.sources import api, constraints, future_work, stories
from conformance.suites.jobset.view import JobSetHistory
from conformance.suites.jobset.view.submissions import (
    Submission,
    refused_changes,
    rules_of,
    submissions,
    texts,
)
from vocabulary.objects import Object, get_path

ACTIONS: Final = frozenset(
    {
        names.FAIL_JOB_SET,
        names.RESTART_JOB_SET,
        names.RESTART_UNCOUNTED,
        names.RESTART_REPLICATED_JOB,
        names.RESTART_JOB,
        names.FAIL_JOB,
        names.RESTART_JOB_UNCOUNTED,
    }
)
"""Those of the norm, and one that released controllers have beside them."""
REASONS: Final = frozenset(
    {
        "PodFailurePolicy",
        "BackoffLimitExceeded",
        "DeadlineExceeded",
        "MaxFailedIndexesExceeded",
        "FailedIndexes",
    }
)
_NAME_OF_RULE: Final = re.compile(r"rules\[(\d+)\]\.name\b")

JS_004 = Claim(
    id="JS-004",
    name="unknown-actions-are-refused",
    level=Level.CORE,
    suite="jobset",
    text="A JobSet MUST be refused if a rule of its failure policy has no action, or one that the "
    "API does not define.",
    source=api("The action to take if the rule is matched."),
    decision=ALL_ACTIONS,
)


@judges_history(
    JS_004, armed_by="submission with a rule that has no known action", from_any_versions=True
)
def unknown_actions_are_refused(view: JobSetHistory) -> Obligations:
    def flaw(rule: Object) -> str:
        action = rule.get("action")
        if action is None:
            return "a rule has no action"
        return "" if action in ACTIONS else f"a rule has the action {action!r}"

    return _with_a_flaw(view, flaw)


JS_006 = Claim(
    id="JS-006",
    name="reasons-are-unique",
    level=Level.CORE,
    suite="jobset",
    text="A JobSet MUST be refused if a rule of its failure policy lists a reason twice.",
    source=api("OnJobFailureReasons []string: +kubebuilder:validation:UniqueItems:true"),
    editions=(names.KEP,),
)


@judges_history(
    JS_006, armed_by="submission with a rule that has a reason twice", from_any_versions=True
)
def reasons_are_unique(view: JobSetHistory) -> Obligations:
    return _with_a_flaw(view, lambda rule: _repeated(rule, "onJobFailureReasons"))


JS_007 = Claim(
    id="JS-007",
    name="unknown-reasons-are-refused",
    level=Level.CORE,
    suite="jobset",
    text="A JobSet MUST be refused if a rule of its failure policy lists what is no failure reason "
    "of a batch/v1 Job.",
    source=constraints(
        "OnJobFailureReasons must be a valid Job failure reason as defined here in the batchv1 "
        "Job API."
    ),
)


@judges_history(
    JS_007, armed_by="submission with a rule for a reason that no Job has", from_any_versions=True
)
def unknown_reasons_are_refused(view: JobSetHistory) -> Obligations:
    def flaw(rule: Object) -> str:
        unknown = [each for each in texts(rule.get("onJobFailureReasons")) if each not in REASONS]
        return f"a rule lists the reason {unknown[0]!r}" if unknown else ""

    return _with_a_flaw(view, flaw)


JS_009 = Claim(
    id="JS-009",
    name="targets-are-unique",
    level=Level.CORE,
    suite="jobset",
    text="A JobSet MUST be refused if a rule of its failure policy lists a target twice.",
    source=api("TargetReplicatedJobs []string: +kubebuilder:validation:UniqueItems"),
    editions=(names.KEP,),
)


@judges_history(
    JS_009, armed_by="submission with a rule that has a target twice", from_any_versions=True
)
def targets_are_unique(view: JobSetHistory) -> Obligations:
    return _with_a_flaw(view, lambda rule: _repeated(rule, "targetReplicatedJobs"))


JS_011 = Claim(
    id="JS-011",
    name="rules-need-no-name",
    level=Level.CORE,
    suite="jobset",
    text="A JobSet MUST NOT be refused because a rule of its failure policy has no name.",
    source=api("FailurePolicyRule defines a FailurePolicyAction to be executed if a child job"),
)


@judges_history(JS_011, armed_by="submission with a rule without a name", from_any_versions=True)
def rules_need_no_name(view: JobSetHistory) -> Obligations:
    for each in submissions(view.history):
        if each.write.submitted is None or all("name" in rule for rule in each.rules):
            continue
        if each.is_admitted:
            yield met(each.write)
        elif each.is_refused and _is_for_lack_of_a_name(each):
            yield violated(each.write, f"{when(each.write)}: {each.write.message}.")


def _is_for_lack_of_a_name(submission: Submission) -> bool:
    """True if the refusal names the name of a rule that has none."""
    listed = get_path(submission.job_set, "spec.failurePolicy.rules")
    nameless = {
        position
        for position, rule in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(rule, dict) and "name" not in rule
    }
    return any(int(found) in nameless for found in _NAME_OF_RULE.findall(submission.write.message))


JS_046 = Claim(
    id="JS-046",
    name="unknown-targets-are-refused",
    level=Level.PROVISIONAL,
    suite="jobset",
    text="A JobSet MUST be refused if a rule of its failure policy targets a replicated job that "
    "it does not have, as the manifest of story 4 does.",
    source=stories("targetReplicatedJobs: parameter-server"),
    decision=KNOWN_TARGETS,
)


@judges_history(
    JS_046,
    armed_by="submission with a rule for a replicated job that is not there",
    from_any_versions=True,
)
def unknown_targets_are_refused(view: JobSetHistory) -> Obligations:
    for each in submissions(view.history):
        known = {str(found.get("name")) for found in _replicated_jobs(each.job_set)}
        for rule in each.rules:
            missing = [
                name for name in texts(rule.get("targetReplicatedJobs")) if name not in known
            ]
            if missing:
                yield each.must_be_refused(f"a rule targets {missing[0]!r}, which it does not have")
                break


JS_075 = Claim(
    id="JS-075",
    name="user-defined-reasons-are-refused",
    level=Level.PROVISIONAL,
    suite="jobset",
    text="A JobSet MUST be refused if a rule lists a reason that setConditionReason of a pod "
    "failure policy defines, as the manifest of the second future story does.",
    source=future_work(
        "If a pod fails with exit code 3, fail the Job, using the user-defined reason."
    ),
    decision=KNOWN_REASONS,
)


@judges_history(
    JS_075, armed_by="submission with a rule for a user-defined reason", from_any_versions=True
)
def user_defined_reasons_are_refused(view: JobSetHistory) -> Obligations:
    for each in submissions(view.history):
        defined = {
            str(rule["setConditionReason"])
            for found in _replicated_jobs(each.job_set)
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
    source=stories("image: bash:latest image: docker.io/library/bash:5"),
    decision=DUPLICATE_KEYS,
    not_judged="An API server is sent JSON, in which no key occurs twice; what reads manifests "
    "refuses them, and so does Assay with its own.",
)

JS_096 = Claim(
    id="JS-096",
    name="policy-in-force-stays",
    level=Level.DERIVED,
    suite="jobset",
    text="The failure policy of a JobSet MUST NOT be changed, removed or added once the JobSet "
    "exists.",
    source=api("MaxRestarts defines the limit on the number of JobSet restarts."),
    decision=LASTING_POLICY,
)


@judges_history(JS_096, armed_by="change of a failure policy was asked for", from_any_versions=True)
def policy_in_force_stays(view: JobSetHistory) -> Obligations:
    for run in view.subjects:
        for before, after in run.changes:
            if _is_another(before.policy, after.policy):
                yield violated(
                    after,
                    f"{when(after)}: the failure policy of {run} is {_told(after.policy)}; it was "
                    f"{_told(before.policy)}.",
                    before,
                )
    for write, standing in refused_changes(view.history):
        asked = get_path(write.submitted or {}, "spec.failurePolicy")
        if _is_another(get_path(standing, "spec.failurePolicy"), asked):
            yield met(write)


def _with_a_flaw(view: JobSetHistory, flaw_of: Callable[[Object], str]) -> Obligations:
    """An obligation for each submission of which a rule has the flaw."""
    for each in submissions(view.history):
        if flaw := next(filter(None, map(flaw_of, each.rules)), ""):
            yield each.must_be_refused(flaw)


def _repeated(rule: Object, field: str) -> str:
    """The flaw of a list with a value twice."""
    counts = Counter(texts(rule.get(field)))
    twice = next((value for value, count in counts.items() if count > 1), None)
    return "" if twice is None else f"{field} of a rule has {twice!r} {counts[twice]} times"


def _replicated_jobs(job_set: Object) -> list[Object]:
    found = get_path(job_set, "spec.replicatedJobs")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _is_another(before: Any, after: Any) -> bool:
    """True if a policy is not what it was; fields that were filled in or left out, and decide
    nothing, change nothing."""
    if _in_force(before) != _in_force(after):
        return True
    if before is None:
        return False
    pairs = [(before, after), *zip(rules_of(before), rules_of(after), strict=True)]
    return any(
        key not in _IN_FORCE and old[key] != new[key]
        for old, new in pairs
        for key in old.keys() & new.keys()
    )


_IN_FORCE: Final = ("maxRestarts", "rules", "onJobFailureReasons", "targetReplicatedJobs")
"""Fields whose absence, or the order of whose values, means nothing."""


def _in_force(policy: Any) -> tuple[Any, ...] | None:
    """The part of a policy that decides; defaults that were filled in later change nothing."""
    if policy is None:
        return None
    rules = [
        (
            rule.get("action"),
            sorted(texts(rule.get("onJobFailureReasons"))),
            sorted(texts(rule.get("targetReplicatedJobs"))),
        )
        for rule in rules_of(policy)
    ]
    return policy.get("maxRestarts") or 0, rules


def _told(policy: Object | None) -> str:
    if policy is None:
        return "none"
    actions = [str(rule.get("action")) for rule in rules_of(policy)]
    names = [str(rule.get("name", "-")) for rule in rules_of(policy)]
    return (
        f"maxRestarts {policy.get('maxRestarts', 0)} with the rules {', '.join(actions) or '-'}, "
        f"their names {', '.join(names) or '-'}, restartStrategy {policy.get('restartStrategy')}"
    )
