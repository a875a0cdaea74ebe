"""JS-002, 003: the first rule that matches, and the default."""

from __future__ import annotations

from conformance.norm import Obligation, Obligations, met, violated
from conformance.norm.claim import Claim, Level
from conformance.norm.words import listed, when
from conformance.suites.jobset.judging import judges
from conformance.suites.jobset.sources import api, constraints
from conformance.suites.jobset.view import JobSetRun
from conformance.suites.jobset.view.answers import Answer, all_matches, answers

JS_002 = Claim(
    id="JS-002",
    name="first-matching-rule-decides",
    level=Level.CORE,
    suite="jobset",
    text="For a failure that several rules match, the controller MUST take the action of the first "
    "of them, and no other.",
    source=constraints(
        "For a given Job failure, the rules will be evaluated in order, and only the first "
        "matching rule will be executed."
    ),
)


@judges(JS_002, armed_by="failure that several rules match")
def first_matching_rule_decides(run: JobSetRun) -> Obligations:
    for answer in answers(run):
        rules = (answer.before.policy or {}).get("rules") or ()
        if any(len(all_matches(rules, each.failure)) > 1 for each in answer.candidates):
            yield as_allowed(run, answer)


JS_003 = Claim(
    id="JS-003",
    name="unmatched-failures-restart",
    level=Level.CORE,
    suite="jobset",
    text="A failure that no rule matches MUST restart the JobSet as RestartJobSet does.",
    source=api("If no matching rule is found, the RestartJobSet action is applied."),
)


@judges(JS_003, armed_by="failure that no rule matches")
def unmatched_failures_restart(run: JobSetRun) -> Obligations:
    for answer in answers(run):
        if answer.before.policy is not None and any(
            each.rule is None for each in answer.candidates
        ):
            yield as_allowed(run, answer)


def as_allowed(run: JobSetRun, answer: Answer) -> Obligation:
    """The obligation that an answer is what the policy makes of its failure."""
    first = answer.candidates[0].failure
    if answer.taken in answer.allowed:
        return met(first, answer.after)
    return violated(
        answer.after,
        f"{when(answer.after)}: the answer of {run} to the failure of "
        f"{listed([str(each.failure) for each in answer.candidates])} is "
        f"{answer.taken or 'no action of the policy'}; the policy demands "
        f"{' or '.join(sorted(answer.allowed))}.",
        first,
    )
