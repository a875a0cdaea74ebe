"""Two transcripts, field by field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from tests.differential.transcript import Transcript

ABSENT: Final = "(absent)"


@dataclass(frozen=True)
class Difference:
    """One field in which the two sides differ."""

    script: str
    number: int
    """The step's number, from 1."""
    step: str
    path: str
    """Dotted, from the top of the step: `code`, `body.status.phase`, `events.2.type`."""
    real: Any
    simulated: Any

    def __str__(self) -> str:
        return (
            f"{self.script} step {self.number} ({self.step}): {self.path}:"
            f" real {self.real!r}, simulated {self.simulated!r}"
        )


def differences(real: Transcript, simulated: Transcript) -> list[Difference]:
    """Every field in which they differ, in order; empty if they agree."""
    found: list[Difference] = []
    for number, (one, other) in enumerate(zip_longest(real.steps, simulated.steps), 1):
        if one is None or other is None or one["step"] != other["step"]:
            label = (one or other)["step"]
            has, had = (entry["step"] if entry else ABSENT for entry in (one, other))
            found.append(Difference(real.script, number, label, "step", has, had))
            break
        for path, left, right in _unequal(one, other, ""):
            found.append(Difference(real.script, number, one["step"], path, left, right))
    return found


def fields_of(transcript: Transcript) -> int:
    """The number of single values in a transcript."""
    return sum(1 for step in transcript.steps for _ in _leaves(step))


def _unequal(real: Any, simulated: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(real, dict) and isinstance(simulated, dict):
        for key in sorted(real.keys() | simulated.keys()):
            yield from _unequal(
                real.get(key, ABSENT), simulated.get(key, ABSENT), f"{path}.{key}".lstrip(".")
            )
    elif isinstance(real, list) and isinstance(simulated, list):
        for index, (left, right) in enumerate(zip_longest(real, simulated, fillvalue=ABSENT)):
            yield from _unequal(left, right, f"{path}.{index}")
    elif real != simulated or isinstance(real, bool) != isinstance(simulated, bool):
        yield path, real, simulated


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for entry in value.values():
            yield from _leaves(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _leaves(entry)
    else:
        yield value
