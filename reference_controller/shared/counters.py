"""Counters with labels; `samples` returns them for any endpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import ClassVar, NamedTuple, TypeAlias

Labels: TypeAlias = tuple[tuple[str, str], ...]


class Sample(NamedTuple):
    """One counter or gauge with its labels and its value."""

    name: str
    labels: dict[str, str]
    value: float


class LabelledCounters:
    """The base of a controller's counters; they begin at 0 with its process."""

    help: ClassVar[Mapping[str, str]]
    """By name: what a counter counts."""

    def __init__(self) -> None:
        self._values: Counter[tuple[str, Labels]] = Counter()

    def count(self, name: str, **labels: str) -> None:
        self._values[name, tuple(sorted(labels.items()))] += 1

    def samples(self) -> Iterator[Sample]:
        """All counters, by name and labels."""
        for (name, labels), value in sorted(self._values.items()):
            yield Sample(name, dict(labels), value)
