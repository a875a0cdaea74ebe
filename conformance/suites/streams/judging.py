"""The decorators that declare a claim about Jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from conformance.norm import Judging, Obligations
from conformance.norm.claim import Decision, Source
from conformance.suites.streams.decisions import ONE_AT_A_TIME
from conformance.suites.streams.view import JobRun, StreamsHistory

F = TypeVar("F", bound=Callable[..., Obligations])
_JUDGING: Final = Judging(StreamsHistory, JobRun)


def claim(
    id: str, source: Source, *, armed_by: str, decision: Decision | None = None, **details: Any
) -> Callable[[F], F]:
    """Declare a claim by its checker, a generator that is called for each Job."""
    declare: Callable[[F], F] = _JUDGING.claim(  # type: ignore[assignment]
        id, source, armed_by=armed_by, decision=_all(decision), **details
    )
    return declare


def claim_of_history(
    id: str, source: Source, *, armed_by: str, decision: Decision | None = None, **details: Any
) -> Callable[[F], F]:
    """Declare a claim about several Jobs."""
    declare: Callable[[F], F] = _JUDGING.claim_of_history(  # type: ignore[assignment]
        id, source, armed_by=armed_by, decision=_all(decision), **details
    )
    return declare


def _all(decision: Decision | None) -> tuple[Decision, ...]:
    """Each claim is judged by the decision that one process acts at a time."""
    return (ONE_AT_A_TIME,) if decision is None else (decision, ONE_AT_A_TIME)
