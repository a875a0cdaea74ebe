"""JS-011, 107: the failure policies that are admitted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from conformance.norm import Obligations, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.jobset import api as names
from conformance.suites.jobset.decisions import KNOWN_POLICIES
from conformance.suites.jobset.judging import claim_of_history
from conformance.suites.jobset.sources import api
from conformance.suites.jobset.view import JobSetHistory
from conformance.suites.jobset.view.flaws import (
    ACTIONS,
    repeated,
    unknown_reason,
    unknown_target,
)
from conformance.suites.jobset.view.policies import RECREATE, in_words, is_another
from conformance.suites.jobset.view.submissions import Submission, submissions
from vocabulary.objects import Object, get_path

_NAME_OF_RULE: Final = re.compile(r"rules\[(\d+)\]\.name\b")
_POLICY: Final = re.compile(r"failure ?policy", re.IGNORECASE)
_FIELDS: Final = frozenset({"maxRestarts", "restartStrategy", "rules"})
_STRATEGIES: Final = (RECREATE, "BlockingRecreate")
_FIELDS_OF_RULE: Final = frozenset({"action", "onJobFailureReasons", "targetReplicatedJobs"})
_LISTS: Final = ("onJobFailureReasons", "targetReplicatedJobs")


@claim_of_history(
    "JS-011",
    api(12),
    armed_by="submission with a rule without a name",
    from_any_versions=True,
)
def rules_need_no_name(view: JobSetHistory) -> Obligations:
    """A JobSet MUST NOT be refused because a rule of its failure policy has no name."""
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


@claim_of_history(
    "JS-107",
    api(12),
    level=Level.DERIVED,
    decision=KNOWN_POLICIES,
    armed_by="submission with a failure policy that is valid",
    from_any_versions=True,
)
def valid_policies_are_admitted(view: JobSetHistory) -> Obligations:
    """A JobSet MUST be admitted, with the failure policy that it asks for, if the norm has all
    actions of that, batch/v1 all reasons, and the JobSet all targets, and no list has one twice."""
    for each in submissions(view.history):
        if each.write.submitted is None or not _is_valid(each, view.edition):
            continue
        asked = get_path(each.job_set, "spec.failurePolicy")
        admitted = get_path(each.write.object or {}, "spec.failurePolicy")
        if each.is_admitted and is_another(asked, admitted):
            yield violated(
                each.write,
                f"{when(each.write)}: {each} asks for {in_words(asked)}, and is admitted with "
                f"{in_words(admitted)}.",
            )
        elif each.is_admitted:
            yield met(each.write)
        elif each.is_refused and _is_for_its_policy(each):
            yield violated(
                each.write,
                f"{when(each.write)}: {each} is refused, and its failure policy is valid: "
                f"{each.write.message}.",
            )


def _is_for_its_policy(submission: Submission) -> bool:
    """True if the refusal speaks of the failure policy, and not of a name that a rule lacks. That
    of a policy with a restartStrategy may be for this: the norm has none."""
    if "restartStrategy" in get_path(submission.job_set, "spec.failurePolicy"):
        return False
    found = _POLICY.search(submission.write.message)
    return found is not None and not _is_for_lack_of_a_name(submission)


def _is_valid(submission: Submission, edition: str) -> bool:
    """True if nothing in a failure policy is wrong, or beyond what the norm speaks of."""
    policy = get_path(submission.job_set, "spec.failurePolicy")
    if not isinstance(policy, dict) or policy.keys() - _FIELDS:
        return False
    if policy.get("restartStrategy", RECREATE) not in _STRATEGIES:
        return False
    most, rules = policy.get("maxRestarts", 0), policy.get("rules", [])
    if not isinstance(most, int) or not 0 <= most < 2**31 or not isinstance(rules, list):
        return False
    targets = {str(found.get("name")) for found in submission.replicated_jobs}
    return len(submission.rules) == len(rules) and not any(
        flaw for rule in rules for flaw in _flaws(rule, targets, edition)
    )


def _flaws(rule: Object, targets: set[str], edition: str) -> Iterator[str]:
    known = _SHARED_ACTIONS if edition in names.WITH_JOB_RESTARTS else ACTIONS
    if rule.keys() - _FIELDS_OF_RULE or rule.get("action") not in known:
        yield "it is beyond what is judged"
    for field in _LISTS:
        if not isinstance(rule.get(field, []), list):
            yield f"{field} is no list"
        yield repeated(rule, field)
    yield unknown_reason(rule)
    yield unknown_target(rule, targets)


_SHARED_ACTIONS: Final = frozenset(
    {names.FAIL_JOB_SET, names.RESTART_JOB_SET, names.RESTART_UNCOUNTED}
)
"""The actions that each release has, whatever features it is started with."""
