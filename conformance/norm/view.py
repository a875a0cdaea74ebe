"""The objects of a kind in a history, and one object's way through it: what suites derive from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

from conformance.editions import edition_of, told_by
from conformance.history import History, Track
from conformance.history.operator import OperatorView
from conformance.norm.claim import Claim
from conformance.norm.obligations import Obligation
from vocabulary.kinds import Kind

R = TypeVar("R", bound="ObjectRun")


class ObjectRun:
    """One object's way through a history: a subject of claims."""

    def __init__(self, view: ObjectView[Any], track: Track) -> None:
        self.history: History = view.history
        self.operator: OperatorView = view.operator
        self.edition: str = view.edition
        self.track = track
        self.answers: dict[tuple[Any, ...], Any] = {}
        """Checkers' earlier queries: see `conformance.norm.shared`."""

    def __str__(self) -> str:
        return str(self.track)


class ObjectView(ABC, Generic[R]):
    """A history as a suite sees it whose claims are about the objects of one kind."""

    role: ClassVar[str]
    """The operator that reconciles them, named after its suite."""
    kind: ClassVar[Kind]

    def __init__(self, history: History) -> None:
        self.history = history
        self.operator = history.operators.get(self.role) or OperatorView(history, self.role)

    @abstractmethod
    def run_of(self, track: Track) -> R | None:
        """The way of an object; None for one that is not the operator's."""

    @cached_property
    def subjects(self) -> tuple[R, ...]:
        runs = map(self.run_of, self.history.by_kind.get(str(self.kind), ()))
        return tuple(run for run in runs if run is not None)

    @cached_property
    def edition(self) -> str:
        """The edition of the norm that the history is judged by."""
        return edition_of(self.role, told_by(self.history.header))

    def excused(self, claim: Claim, broken: Obligation) -> Obligation | None:
        """The undecided obligation for a violation that a decision of the suite excuses; None: no
        decision does."""
        del claim, broken
        return None

    def close(self) -> None:
        for subject in self.subjects:
            subject.answers.clear()
        vars(self).clear()
