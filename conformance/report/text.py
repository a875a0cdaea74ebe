"""A report in the terminal: a block per failure, tables of claims, one last line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.norm.claim import Claim
from conformance.norm.verdict import Outcome, Verdict, Violation
from conformance.report.build import fault_texts
from conformance.report.conformance_report import ClaimReport, ConformanceReport
from conformance.report.counted import counted
from conformance.report.end_diff import end_diff
from conformance.report.pages.change import Step, actor_of, describe, subject_of, with_previous
from conformance.report.pages.shown_time import shown_time
from conformance.report.run_result import RunResult
from conformance.report.untrusted import printable
from vocabulary.history import Write

if TYPE_CHECKING:
    from rich.table import Table

MAX_EVIDENCE_LINES: Final = 12
MAX_DIFF_LINES: Final = 16
MAX_TROUBLES: Final = 20
_WIDTHS: Final = (12, 7, 22, 34)
"""Of the columns: time, resourceVersion, subject, what happened to it."""

STYLES: Final = {
    Outcome.FAILED: "bold red",
    Outcome.INCONCLUSIVE: "yellow",
    Outcome.SKIPPED: "cyan",
    Outcome.UNSUPPORTED: "cyan",
    Outcome.PASSED: "green",
}
SIGNS: Final = {
    Outcome.FAILED: "✗",
    Outcome.INCONCLUSIVE: "?",
    Outcome.SKIPPED: "–",
    Outcome.UNSUPPORTED: "–",
    Outcome.PASSED: "✓",
}


def failure_block(
    judged: Sequence[tuple[Claim, Verdict]],
    run: RunResult,
    *,
    replay: str = "",
    page: Path | None = None,
) -> str:
    """One failure: what happened, why that contradicts the claims, how to see it again.

    `replay` is the command that runs it again; empty if there is none.
    """
    circumstances = ", ".join([f"seed {run.seed}", *([run.shrunk] if run.shrunk else [])])
    lines = [f"{claim.id} {claim.name}  FAILED" for claim, _ in judged]
    lines[0] += f"   ({printable(circumstances)})"
    first = [min(each.violations, key=lambda v: v.at, default=None) for _, each in judged]
    lines += [f"    {line}" for line in evidence_lines(run, [v for v in first if v is not None])]
    told: dict[str, list[str]] = {}
    for (claim, verdict), violation in zip(judged, first, strict=True):
        because = violation.because if violation is not None else verdict.because
        told.setdefault(because, []).append(f"    {claim.id}: {claim.text} ({claim.source})")
    for because, claimed in told.items():
        lines += [*claimed, f"    {printable(because)}"]
    diff = [printable(line, 160) for line in end_diff(run)]
    lines += [f"    {line}" for line in diff[:MAX_DIFF_LINES]]
    if len(diff) > MAX_DIFF_LINES:
        lines.append(f"    … {len(diff) - MAX_DIFF_LINES} more lines, see the report")
    more = sum(max(len(verdict.violations) - 1, 0) for _, verdict in judged)
    if more > 0:
        lines.append(f"    and {counted(more, 'more violation')} in this history")
    faults = "; ".join(fault_texts(run))
    lines.append(f"    faults: {printable(faults) or 'none'}")
    lines.append(f"    scenario: {run.scenario}{f' [{run.variant}]' if run.variant else ''}")
    last = [f"replay: {printable(replay)}"] if replay else []
    last += [f"report: {page}"] if page else []
    if last:
        lines.append("    " + "      ".join(last))
    return "\n".join(lines)


def evidence_lines(run: RunResult, violations: Iterable[Violation]) -> list[str]:
    """One line per entry that shows them: when, resourceVersion, what, what of it, who."""
    shown = {n for violation in violations for n in (violation.at, *violation.evidence)}
    positions = sorted(shown & set(range(len(run.entries))))
    steps = with_previous(run.entries)
    lines = [event_line(steps[n]) for n in positions[-MAX_EVIDENCE_LINES:]]
    left_out = len(positions) - len(lines)
    return ([f"… {left_out} earlier entries"] if left_out else []) + lines


def decisive_step(run: RunResult, verdict: Verdict) -> Step | None:
    """The entry that contradicts a claim first; where an act is missing, the last entry that called
    for it. None if nothing does."""
    shown = contradicting_steps(run, verdict)
    acts = [step for step in shown if isinstance(step.entry, Write)]
    return next(reversed(acts or shown), None)


def contradicting_steps(run: RunResult, verdict: Verdict) -> list[Step]:
    """The entries that show the first violation of a claim, up to the one that contradicts it."""
    first = min(verdict.violations, key=lambda each: each.at, default=None)
    if first is None:
        return []
    steps = with_previous(run.entries)
    found = {n for n in (first.at, *first.evidence) if n <= first.at and n < len(steps)}
    return [steps[n] for n in sorted(found)]


def event_line(step: Step) -> str:
    """`t=12.001s  rv117  jobset/a       Completed     True → False     by operator`."""
    entry = step.entry
    rv = f"rv{entry.rv}" if isinstance(entry, Write) and entry.rv else ""
    cells = (f"t={shown_time(entry.t)}", rv, subject_of(entry), describe(step))
    line = "  ".join(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True))
    actor = actor_of(entry)
    return f"{line}  by {actor}" if actor else line.rstrip()


def claims_table(report: ConformanceReport, *, show_all: bool) -> Table:
    """The claims by outcome, worst first; of those that passed only if asked.

    Why a claim could not be judged stands below its name; violations have their own blocks.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Outcome", no_wrap=True)
    table.add_column("Claim", overflow="fold")
    table.add_column("Level", no_wrap=True)
    table.add_column("Armed", justify="right", no_wrap=True)
    table.add_column("Scenarios", justify="right", no_wrap=True)
    for claim in worst_first(report.claims):
        if claim.outcome is Outcome.PASSED and not show_all:
            continue
        name = Text(f"{claim.id} {claim.name}")
        if claim.outcome not in (Outcome.PASSED, Outcome.FAILED):
            name.append(f"\n{printable(claim.reason, 240)}", style="dim")
        table.add_row(
            Text(f"{SIGNS[claim.outcome]} {claim.outcome}", style=STYLES[claim.outcome]),
            name,
            Text(claim.level),
            str(claim.armed),
            str(len(claim.tests)),
        )
    return table


def worst_first(claims: Iterable[ClaimReport]) -> list[ClaimReport]:
    """Claims ordered for people: failed, inconclusive, passed, and what was not run."""
    order = [Outcome.FAILED, Outcome.INCONCLUSIVE, Outcome.PASSED]
    order += [Outcome.SKIPPED, Outcome.UNSUPPORTED]
    return sorted(claims, key=lambda claim: (order.index(claim.outcome), claim.id))


def counts_line(report: ConformanceReport) -> str:
    """`104 claims: 102 passed, 1 failed, 1 inconclusive`."""
    counts = Counter(claim.outcome for claim in report.claims)
    told = ", ".join(
        f"{counts[outcome]} {outcome}"
        for outcome in (Outcome.PASSED, *(o for o in SIGNS if o is not Outcome.PASSED))
        if counts[outcome]
    )
    return f"{counted(len(report.claims), 'claim')}: {told or 'none was judged'}"


def summary_lines(report: ConformanceReport) -> list[str]:
    """One line per profile, then what a campaign covered."""
    editions = report.suite.editions
    named = {name: f"{name}, edition {edition}" for name, edition in editions.items()}
    lines = [
        f"{named.get(profile.name, profile.name)}: {profile.summary}" for profile in report.profiles
    ]
    if report.coverage.crash_points != "0/0":
        lines.append(f"crash points: the operator was killed at {report.coverage.crash_points}")
    if report.coverage.random_plans:
        lines.append(f"random plans: {report.coverage.random_plans:,} were run")
    if report.determinism.rerun and not report.determinism.mismatches:
        lines.append(
            f"deterministic: {report.determinism.rerun} of {report.determinism.rerun} runs gave "
            "the same bytes when they were repeated"
        )
    return lines


def checker_failed(claim: str, where: str, error: str) -> str:
    """A checker that raised an exception on one history."""
    return f"{claim}: NOT JUDGED: its checker failed on {printable(where)}: {printable(error)}"


def checker_error_lines(report: ConformanceReport) -> list[str]:
    """The checkers that failed, each with the first run that it did not judge."""
    return [
        checker_failed(error.claim, f"{error.name}, seed {error.seed}", error.error)
        for error in report.checker_errors
    ]


def trouble_lines(report: ConformanceReport) -> list[str]:
    """Why a report cannot be relied on although no claim is violated; empty where it can."""
    lines: list[str] = []
    if report.determinism.mismatches:
        lines.append(
            f"NOT DETERMINISTIC: {report.determinism.mismatches} of {report.determinism.rerun} "
            "runs produced a different history when repeated"
        )
    if report.lacking_core:
        lines.append(
            f"NOT CONFORMANT: the implementation, or its profile, leaves out what core claims "
            f"need: {', '.join(report.lacking_core)}"
        )
    lines += checker_error_lines(report)
    lines += [
        f"{error.name}: did not end: {printable(error.error)}"
        for error in report.errors[:MAX_TROUBLES]
    ]
    more = len(report.errors) - MAX_TROUBLES
    if more > 0:
        lines.append(f"and {counted(more, 'more run')} did not end")
    return lines
