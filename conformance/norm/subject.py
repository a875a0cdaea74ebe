"""Subjects of claims: a workload, an attempt, an admission."""

from __future__ import annotations

from typing import Any, Protocol

from conformance.history import History
from conformance.history.operator import OperatorView


class Subject(Protocol):
    """One object's life in a history; `str` names it in explanations."""

    @property
    def history(self) -> History: ...

    @property
    def operator(self) -> OperatorView:
        """The operator under test."""

    @property
    def answers(self) -> dict[tuple[Any, ...], Any]:
        """Checkers' earlier queries: see `conformance.norm.shared`."""
