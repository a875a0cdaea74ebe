"""The versions of an operator in one run: two if the second replaces the first, as an upgrade does.

Each process starts as the first version. Once one starts again, the second version is installed,
and all starts are of that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, cast

from conformance.implementations.under_test import UnderTest

V = TypeVar("V", bound=UnderTest)


class Versions(Generic[V]):
    """Those of one operator."""

    def __init__(self, implementation: V, install: Callable[[V], None]) -> None:
        """`install` is called with the second version before its first start."""
        self._last = implementation
        self._install = install
        self._started: set[str] = set()
        self.present = cast("V", first_of(implementation))
        """The installed one."""

    @property
    def all(self) -> tuple[V, ...]:
        return (self._last,) if self.present is self._last else (self.present, self._last)

    def of_start(self, name: str) -> V:
        """The version of a process that starts now."""
        if name in self._started and self.present is not self._last:
            self.present = self._last
            self._install(self._last)
        self._started.add(name)
        return self.present


def first_of(implementation: UnderTest) -> UnderTest:
    """The version that its processes start with."""
    return implementation.upgraded_from or implementation
