"""Requests of an operator with more and more workloads, as a run's steps write them into its
history."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from vocabulary.history import Mark

COUNTS: Final = (1, 10, 100)
"""The numbers of workloads; a run that ends before the last one does not show what it costs."""
_STAGE: Final = re.compile(r"requests with (\d+) workloads?: (.*)")


class Stage(NamedTuple):
    """The cost of the workloads that were added last, each."""

    mark: Mark
    workloads: int
    """Their number then, with those before."""
    each_of: Mapping[str, float]
    """By verb and resource, requests per added workload."""

    @property
    def each(self) -> float:
        return sum(self.each_of.values())


def stage_in_words(count: int, requested: Mapping[str, int]) -> str:
    """The text of a step's mark: all requests so far."""
    asked = "; ".join(f"{times} {name}" for name, times in sorted(requested.items()))
    return f"requests with {count} {'workload' if count == 1 else 'workloads'}: {asked}"


def stages_in(marks: Iterable[Mark]) -> Iterator[Stage]:
    """The stages of a run, in order; what was asked for before the first workload is in none."""
    count, before = 0, dict[str, int]()
    for mark in marks:
        found = _STAGE.fullmatch(mark.text)
        if found is None:
            continue
        added, count = int(found[1]) - count, int(found[1])
        pairs = (each.split(" ", 1) for each in found[2].split("; ") if each)
        total = {name: int(times) for times, name in pairs}
        if added:
            each_of = {name: (times - before.get(name, 0)) / added for name, times in total.items()}
            yield Stage(mark, count, each_of)
        before = total
