"""A claim: one normative sentence, where it comes from, and the checker that judges it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from conformance.history import History
    from conformance.norm.verdict import Verdict


class Level(StrEnum):
    """How binding a claim is."""

    CORE = "Core"
    EXTENDED = "Extended"
    DERIVED = "Derived"
    """Follows from Core claims; an invariant that is easier to check on every event."""
    PROVISIONAL = "Provisional"
    """The source is silent or ambiguous; the decision says what was chosen."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the sentence stands."""

    document: str
    section: str
    sentence: int
    """Counted from the section's heading: an item of a list, a table and a listing count as one."""

    def __str__(self) -> str:
        return f"{self.document}, {self.section}, sentence {self.sentence}"


@dataclass(frozen=True, slots=True)
class Decision:
    """A choice made where the source is ambiguous, in one place, so a reader can disagree."""

    id: str
    choice: str
    because: str


_TERMS: Final = {
    "reaction": "A reaction is the longest time that the controller under test is granted for one "
    "step. The header of a run says how long that is.",
}


@dataclass(eq=False, slots=True)
class Claim:
    """One normative sentence. `name` is kebab-case and unique, `text` a full RFC 2119 sentence."""

    id: str
    name: str
    level: Level
    suite: str
    text: str
    source: Source
    decision: Decision | tuple[Decision, ...] | None = None
    since: str = "0.1.0"
    editions: tuple[str, ...] = ()
    """The editions of its suite in which it holds; empty: all of them."""
    not_judged: str = ""
    """Non-empty: why no cluster can judge this claim; it is listed as not covered."""
    only_simulated: str = ""
    """Non-empty: why no run in real time arms it, whichever scenario is written to."""
    judge: Callable[[History], Verdict] | None = field(default=None, repr=False)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All decisions that it cites; no other one changes its verdicts."""
        if self.decision is None:
            return ()
        return self.decision if isinstance(self.decision, tuple) else (self.decision,)

    @property
    def terms(self) -> tuple[str, ...]:
        """The meaning of words in its text that norms do not define."""
        return tuple(meaning for word, meaning in _TERMS.items() if word in self.text)

    def cites(self, decision: str) -> bool:
        """True if the decision of that id is one of its own."""
        return any(decision == found.id for found in self.decisions)

    def __post_init__(self) -> None:
        if self.id in CLAIMS:
            raise ValueError(f"claim {self.id} is defined twice; ids are unique")
        CLAIMS[self.id] = self


CLAIMS: Final[dict[str, Claim]] = {}
"""Every claim by id, filled as the modules of `conformance.claims` are imported."""


def not_judged(suite: str, id: str, name: str, source: Source, text: str, reason: str) -> Claim:
    """A claim that no history can break; the reason names what judges or shows it instead."""
    return Claim(
        id=id,
        name=name,
        level=Level.EXTENDED,
        suite=suite,
        text=text,
        source=source,
        not_judged=reason,
    )
