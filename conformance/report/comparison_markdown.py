"""A comparison of two reports as Markdown, for a comment on a pull request.

Text from a cluster or a report is in code spans: nothing in those is a link, a mention or HTML,
even in untrusted text. The first line is an invisible comment, by which a bot finds its own comment
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.report.comparison import ClaimChange, Comparison, Worse
from conformance.report.comparison_text import (
    FURTHER_DECIDES_NOTHING,
    MAX_IDS,
    groups_of,
    headline,
    outcome_word,
    place_of,
)
from conformance.report.conformance_report import ConformanceReport
from conformance.report.counted import counted, first_few
from conformance.report.text import counts_line
from conformance.report.untrusted import printable

MARKER: Final = "<!-- assay compare -->"
MAX_ROWS: Final = 40
"""Of each table: GitHub refuses a comment of more than 65,536 characters."""
MAX_CELL: Final = 280

_SIGNS: Final[dict[Worse, str]] = {"": "✅", "inconclusive": "⚠️", "failing": "❌"}


def comparison_markdown(comparison: Comparison) -> str:
    """The whole comment."""
    return "\n".join(_lines(comparison)) + "\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    yield MARKER
    yield f"### {_SIGNS[comparison.worse]} Assay: {headline(comparison)}"
    yield ""
    yield from _table(("", "baseline", "current"), list(_facts(comparison)))
    for name, changes in groups_of(comparison).items():
        if changes:
            yield ""
            yield f"#### {name.capitalize()} ({len(changes)})"
            yield ""
            yield from _changes(changes)
    if comparison.newly_broken_off:
        yield ""
        yield f"#### Did not end ({len(comparison.newly_broken_off)})"
        yield ""
        rows = [(code(error.name), code(error.error)) for error in comparison.newly_broken_off]
        yield from _table(("run", "why"), rows)
    if comparison.slower:
        yield ""
        yield f"#### Slower ({len(comparison.slower)})"
        yield ""
        yield from _table(
            ("scenario", "baseline", "current"),
            [
                (code(slow.scenario), f"{slow.before_seconds:.3f} s", f"{slow.after_seconds:.3f} s")
                for slow in comparison.slower
            ],
        )
    if comparison.still_failing:
        yield ""
        yield f"Still failing, as in the baseline: {first_few(comparison.still_failing, MAX_IDS)}."
    yield ""
    yield "<details><summary>How this was compared</summary>"
    yield ""
    for difference in comparison.differences:
        yield f"- {code(difference.told(MAX_IDS))}"
    if comparison.failing_further and not comparison.further_is_worse:
        yield f"- {FURTHER_DECIDES_NOTHING}"
    yield f"- {comparison.times}"
    yield f"- Reproduce: {code(comparison.current.reproduce.command)}"
    yield ""
    yield "</details>"


def _facts(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    both = (comparison.baseline, comparison.current)
    yield ("implementation", *(code(_implementation(report)) for report in both))
    yield ("result", *(report.result for report in both))
    yield ("claims", *(counts_line(report) for report in both))
    yield ("cluster", *(code(_cluster(report)) for report in both))


def _implementation(report: ConformanceReport) -> str:
    return f"{report.implementation.project} {report.implementation.version}"


def _cluster(report: ConformanceReport) -> str:
    found = report.environment
    return f"{found.cluster}, Kubernetes {found.kubernetes_version}, {found.clock} time"


def _changes(changes: Sequence[ClaimChange]) -> Iterator[str]:
    yield from _table(
        ("claim", "level", "was", "now", "why"),
        [
            (
                code(f"{change.claim} {change.name}"),
                change.level,
                outcome_word(change.before),
                outcome_word(change.after),
                code(_why(change)),
            )
            for change in changes
        ],
    )


def _why(change: ClaimChange) -> str:
    if change.after is None:
        return ""
    where = f"{place_of(change)}: " if change.scenarios else ""
    more = len(change.scenarios) - 1
    others = f" (and in {counted(more, 'more scenario')})" if more > 0 else ""
    return f"{where}{change.because}{others}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows[:MAX_ROWS]:
        yield f"| {' | '.join(row)} |"
    if len(rows) > MAX_ROWS:
        yield f"| and {len(rows) - MAX_ROWS} more |{' |' * (len(head) - 1)}"


def code(text: str) -> str:
    """Text of a stranger as a code span that also fits into a table's cell; `–` for none."""
    plain = printable(text, MAX_CELL).replace("`", "'").replace("|", "\\|").strip()
    return f"`{plain}`" if plain else "–"
