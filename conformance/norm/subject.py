"""What claims are asked of, one by one: an AppWrapper, a JobSet, an admission."""

from __future__ import annotations

from typing import Any, Protocol

from conformance.history import History
from conformance.history.operator import OperatorView


class Subject(Protocol):
    """One object's way through a history; `str` names it in explanations."""

    @property
    def history(self) -> History: ...

    @property
    def operator(self) -> OperatorView:
        """The operator that has to keep the promises."""

    @property
    def answers(self) -> dict[tuple[Any, ...], Any]:
        """What checkers have asked of it already: see `conformance.norm.shared`."""
