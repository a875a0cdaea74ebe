"""A comparison of two reports for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from conformance.report.comparison import ClaimChange, Comparison
from conformance.report.counted import counted, first_few
from conformance.report.untrusted import printable

if TYPE_CHECKING:
    from rich.padding import Padding
    from rich.text import Text

MAX_ROWS: Final = 20
"""Of each kind of change."""
MAX_NOT_TESTED: Final = 5
"""If one report did not test more claims than this, only their ids are listed."""
MAX_IDS: Final = 8
"""Of a list of claims' ids; the JSON has all of them."""
MAX_SCENARIOS: Final = 3
MAX_BECAUSE: Final = 240
MAX_SLOWER: Final = 20
FURTHER_DECIDES_NOTHING: Final = (
    "Failing in further scenarios decides nothing here, as was asked for."
)

_STYLES: Final = {
    "newly failing": "bold red",
    "failing in further scenarios": "red",
    "newly inconclusive": "yellow",
    "no longer tested": "yellow",
    "newly passing": "green",
    "no longer failing": "green",
    "newly tested": "green",
}
_TESTED_IN_ONE: Final = ("no longer tested", "newly tested")
_WITH_A_REASON: Final = ("newly failing", "failing in further scenarios", "newly inconclusive")


def groups_of(comparison: Comparison) -> dict[str, tuple[ClaimChange, ...]]:
    """The changes by what they are called, worst first."""
    return {
        "newly failing": comparison.newly_failing,
        "failing in further scenarios": comparison.failing_further,
        "newly inconclusive": comparison.newly_inconclusive,
        "no longer tested": comparison.no_longer_tested,
        "newly passing": comparison.newly_passing,
        "no longer failing": comparison.no_longer_failing,
        "newly tested": comparison.newly_tested,
    }


def headline(comparison: Comparison) -> str:
    """`1 claim newly failing, 2 claims newly passing, 1 still failing`, or that nothing changed."""
    parts = [
        f"{counted(len(changes), 'claim')} {name}"
        for name, changes in groups_of(comparison).items()
        if changes
    ]
    if comparison.newly_broken_off:
        parts.append(f"{counted(len(comparison.newly_broken_off), 'run')} newly broke off")
    if comparison.slower:
        parts.append(f"{counted(len(comparison.slower), 'scenario')} slower")
    if comparison.still_failing:
        parts.append(f"{len(comparison.still_failing)} still failing")
    return ", ".join(parts) or f"no change in {counted(len(comparison.current.claims), 'claim')}"


def changes_told(comparison: Comparison) -> Iterator[Text | Padding]:
    """The claims that changed, worst first: for `Console.print`, which wraps each as it fits."""
    from rich.text import Text

    for name, changes in groups_of(comparison).items():
        if not changes:
            continue
        yield Text(f"{name} ({len(changes)})", style=_STYLES[name])
        if name in _TESTED_IN_ONE and len(changes) > MAX_NOT_TESTED:
            # What was not run has nothing to tell but its name; most of a suite may be it.
            yield _indented(first_few([change.claim for change in changes], MAX_IDS))
            continue
        for change in changes[:MAX_ROWS]:
            outcomes = f"{outcome_word(change.before)} → {outcome_word(change.after)}"
            yield _indented(f"{change.claim} {change.name} ({change.level}): {outcomes}")
            if name in _WITH_A_REASON and change.because:
                yield _indented(printable(change.because, MAX_BECAUSE), 6, style="dim")
            for line in scenario_lines(change):
                yield _indented(line, 6, style="dim")
        if len(changes) > MAX_ROWS:
            yield _indented(f"and {len(changes) - MAX_ROWS} more")


def _indented(text: str, columns: int = 2, style: str = "") -> Padding:
    """Each line of the text, once it is wrapped."""
    from rich.padding import Padding
    from rich.text import Text

    return Padding(Text(text, style=style), (0, 0, 0, columns), expand=False)


def outcome_word(outcome: str | None) -> str:
    """The outcome, or that a report does not have the claim."""
    return "not in the report" if outcome is None else str(outcome)


def place_of(change: ClaimChange) -> str:
    """The scenario that is quoted, and whether it was made smaller: that is what its page shows."""
    first = change.scenarios[0]
    return f"{first} ({change.shrunk})" if change.shrunk else first


def scenario_lines(change: ClaimChange) -> Iterator[str]:
    """Where a claim fails now and did not; the first few."""
    if change.scenarios:
        yield f"in {printable(place_of(change))}"
    for name in change.scenarios[1:MAX_SCENARIOS]:
        yield f"in {printable(name)}"
    more = len(change.scenarios) - MAX_SCENARIOS
    if more > 0:
        yield f"and in {counted(more, 'more scenario')}"


def difference_lines(comparison: Comparison) -> Iterator[str]:
    """Differences that make the reports hard to compare: to be read first."""
    for difference in comparison.differences:
        yield f"note: {printable(difference.told(MAX_IDS))}"


def note_lines(comparison: Comparison) -> Iterator[str]:
    """Notes that do not concern one claim: aborted runs, slowdowns, terms of the comparison."""
    for error in comparison.newly_broken_off:
        yield f"{printable(error.name)}: did not end: {printable(error.error, MAX_BECAUSE)}"
    for slow in comparison.slower[:MAX_SLOWER]:
        yield (
            f"slower: {printable(slow.scenario)} took {slow.before_seconds:.3f} s, "
            f"now {slow.after_seconds:.3f} s"
        )
    more = len(comparison.slower) - MAX_SLOWER
    if more > 0:
        yield f"slower: {counted(more, 'more scenario')}"
    if comparison.still_failing:
        yield f"still failing: {first_few(comparison.still_failing, MAX_IDS)}"
    if comparison.failing_further and not comparison.further_is_worse:
        yield f"note: {FURTHER_DECIDES_NOTHING}"
    yield f"note: {comparison.times}"
