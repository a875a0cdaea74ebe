"""One state of a JobSet, as a write left it."""

from __future__ import annotations

from functools import cached_property

from conformance.suites.jobset.kind import JobSetState
from vocabulary.clock import Micros
from vocabulary.history import Write
from vocabulary.objects import get_path


class Snapshot(JobSetState):
    """A version of a JobSet; it is a moment of the history."""

    def __init__(self, write: Write, filled_in: int | None = None) -> None:
        """`filled_in` is the `maxRestarts` that admission filled in where the default is 0."""
        super().__init__(write.object or {})
        self.write = write
        self._filled_in = filled_in

    @property
    def n(self) -> int:
        return self.write.n

    @property
    def t(self) -> Micros:
        return self.write.t

    @cached_property
    def max_restarts(self) -> int:
        found = int(get_path(self.object, "spec.failurePolicy.maxRestarts", 0))
        return 0 if found == self._filled_in else found
