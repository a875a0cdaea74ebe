"""Shared computations: common queries of several claims about a subject are evaluated once.

The claims about a behavior, about its parameter and about its maximum require the same of the
same moments, and express it by calling the same function. Its result depends only on its
arguments, so it is remembered with the subject.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TypeVar, TypeVarTuple

from conformance.norm.subject import Subject

Asked = TypeVar("Asked", bound=Subject)
Details = TypeVarTuple("Details")
Answer = TypeVar("Answer")


def shared(
    ask: Callable[[Asked, *Details], Iterable[Answer]],
) -> Callable[[Asked, *Details], tuple[Answer, ...]]:
    """Make a generator work out its answers once per subject and details (hashable ones)."""

    @functools.wraps(ask)
    def remembered(subject: Asked, *details: *Details) -> tuple[Answer, ...]:
        question = (ask, *details)
        answers: tuple[Answer, ...] | None = subject.answers.get(question)
        if answers is None:
            answers = subject.answers[question] = tuple(ask(subject, *details))
        return answers

    return remembered
