"""Shared by the claims about actions: the obligation of one answer to a failure."""

from __future__ import annotations

from collections.abc import Callable

from conformance.norm import Obligation, Obligations, met, undecided, violated
from conformance.norm.words import listed, when
from conformance.suites.jobset.api import FAIL_JOB_SET
from conformance.suites.jobset.view import JobSetRun
from conformance.suites.jobset.view.answers import Answer, Budget, answers
from conformance.suites.jobset.view.matching import Matched
from conformance.suites.jobset.view.responses import responses


def as_allowed(run: JobSetRun, answer: Answer, budget: Budget = Budget.ANY) -> Obligation:
    """The obligation that an answer is what the policy makes of its failure."""
    first = answer.candidates[0].failure
    if answer.taken in answer.allowed(budget):
        return met(first, answer.after)
    if answer.step.is_open:
        return undecided(first, f"the other counter of {run} may have followed")
    demands = " or ".join(
        dict.fromkeys(_demand(answer, each, budget) for each in answer.candidates)
    )
    return violated(
        answer.after,
        f"{when(answer.after)}: the answer of {run} to the failure of "
        f"{listed([str(each.failure) for each in answer.candidates])} is "
        f"{answer.taken}; the policy demands {demands}.",
        first,
    )


def _demand(answer: Answer, each: Matched, budget: Budget) -> str:
    """The action that a failure demands, and the reason for it."""
    if not each.has_policy:
        return f"{FAIL_JOB_SET}: there is none"
    rule = "no rule matches" if each.rule is None else f"rules[{each.rule}] matches"
    of_whom = f" for job/{each.failure.child.name}" if len(answer.candidates) > 1 else ""
    most = answer.before.max_restarts
    if each.action not in answer.demanded(each, budget):
        spent = f"{answer.used} of maxRestarts {most} are spent"
        return f"{FAIL_JOB_SET}{of_whom} ({rule}: {each.action}, and {spent})"
    return f"{each.action}{of_whom} ({rule})"


def where(
    run: JobSetRun, fits: Callable[[Answer, Matched], bool], budget: Budget = Budget.ANY
) -> Obligations:
    """`as_allowed` of each answer to a failure that fits."""
    for answer in answers(run):
        if any(fits(answer, each) for each in answer.candidates):
            yield as_allowed(run, answer, budget)


def triggered(run: JobSetRun, fits: Callable[[Matched], bool]) -> Obligations:
    """That each failure that fits is answered, and as its rule demands."""
    for response in responses(run):
        if fits(response.matched):
            yield response.obligation
    yield from where(run, lambda _, each: fits(each))
