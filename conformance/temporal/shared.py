"""What several claims ask of an AppWrapper is worked out once.

The claims about a behaviour, about its parameter and about its maximum demand the same things
of the same moments, and say so by calling the same function. What that answers depends on
nothing but what it is asked, so the answer is remembered with the AppWrapper.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TypeVar, TypeVarTuple

from conformance.history_view import AppWrapperRun

Details = TypeVarTuple("Details")
Answer = TypeVar("Answer")


def shared(
    ask: Callable[[AppWrapperRun, *Details], Iterable[Answer]],
) -> Callable[[AppWrapperRun, *Details], tuple[Answer, ...]]:
    """Make a generator work out its answers once per AppWrapper and details (hashable ones)."""

    @functools.wraps(ask)
    def remembered(aw: AppWrapperRun, *details: *Details) -> tuple[Answer, ...]:
        question = (ask, *details)
        answers: tuple[Answer, ...] | None = aw.answers.get(question)
        if answers is None:
            answers = aw.answers[question] = tuple(ask(aw, *details))
        return answers

    return remembered
