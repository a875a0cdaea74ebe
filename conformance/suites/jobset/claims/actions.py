"""Shared by the claims about actions: the obligation of one answer to a failure."""

from __future__ import annotations

from collections.abc import Callable

from conformance.norm import Obligation, Obligations, met, undecided, violated
from conformance.norm.words import listed, when
from conformance.suites.jobset.view import JobSetRun
from conformance.suites.jobset.view.answers import Answer, answers
from conformance.suites.jobset.view.matching import Matched
from conformance.suites.jobset.view.responses import responses


def as_allowed(run: JobSetRun, answer: Answer) -> Obligation:
    """The obligation that an answer is what the policy makes of its failure."""
    first = answer.candidates[0].failure
    if answer.taken in answer.allowed:
        return met(first, answer.after)
    if answer.step.is_open:
        return undecided(first, f"the other counter of {run} may have followed")
    return violated(
        answer.after,
        f"{when(answer.after)}: the answer of {run} to the failure of "
        f"{listed([str(each.failure) for each in answer.candidates])} is "
        f"{answer.taken}; the policy demands {' or '.join(sorted(answer.allowed))}.",
        first,
    )


def where(run: JobSetRun, fits: Callable[[Answer, Matched], bool]) -> Obligations:
    """`as_allowed` of each answer to a failure that fits."""
    for answer in answers(run):
        if any(fits(answer, each) for each in answer.candidates):
            yield as_allowed(run, answer)


def triggered(run: JobSetRun, fits: Callable[[Matched], bool]) -> Obligations:
    """That each failure that fits is answered, and as the policy demands."""
    for response in responses(run):
        if fits(response.matched):
            yield response.obligation
    yield from where(run, lambda _, each: fits(each))
