"""Progress of a suite: a bar with counts on a terminal, a line per tenth elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from conformance.norm.verdict import Outcome
from conformance.report.counted import counted
from conformance.running.run_options import OnProgress, Progress

if TYPE_CHECKING:
    from rich.console import Console

_COUNTED = (Outcome.PASSED, Outcome.FAILED, Outcome.INCONCLUSIVE)


@contextmanager
def showing_progress(
    console: Console, *, quiet: bool, tell_failures: bool = True
) -> Iterator[OnProgress]:
    """The progress callback for the runner; `quiet` shows nothing.

    `tell_failures` is for runs in which a failure is news; mutants are expected to fail.
    """
    if quiet:
        yield lambda _: None
    elif console.is_terminal:
        yield from _bar(console)
    else:
        yield plain_lines(
            lambda line: console.print(line, markup=False, highlight=False),
            tell_failures=tell_failures,
        )


def _bar(console: Console) -> Iterator[OnProgress]:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    counts: Counter[Outcome] = Counter()
    with Bar(
        TextColumn("[bold]{task.fields[counts]}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[scenario]}", markup=False),
        console=console,
        transient=True,
    ) as bar:
        task = bar.add_task("", total=None, counts="starting", scenario="")

        def on_progress(progress: Progress) -> None:
            if progress.outcome is not None:
                counts[progress.outcome] += 1
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                counts=_styled(counts),
                scenario=progress.scenario,
            )

        yield on_progress


def plain_lines(write: Callable[[str], None], *, tell_failures: bool = True) -> OnProgress:
    """Tells each failed run at once, and how far it is after the first run and every tenth of the
    way; what follows the runs, the failures made simpler, is counted by itself."""
    counts: Counter[Outcome] = Counter()
    told_tenths = -1  # so that the first run is told of
    shrunk = 0

    def on_progress(progress: Progress) -> None:
        nonlocal told_tenths, shrunk
        if progress.outcome is None:
            shrunk += 1
            failures = progress.total - progress.done + shrunk
            if shrunk == 1:
                write(f"making {counted(failures, 'failure')} simpler (--no-shrink: as found)")
            if shrunk == failures:
                write(f"{shrunk}/{failures} made as simple as they get")
            return
        counts[progress.outcome] += 1
        if tell_failures and progress.outcome is Outcome.FAILED:
            write(f"FAILED {progress.scenario}")
        tenths = progress.done * 10 // max(progress.total, 1)
        told_tenths = min(told_tenths, tenths)  # a campaign has added its runs
        if tenths > told_tenths or progress.done == progress.total:
            told_tenths = tenths
            write(f"{progress.done}/{progress.total} runs: {counts_text(counts)}")

    return on_progress


def counts_text(counts: Counter[Outcome]) -> str:
    """`12 passed, 1 failed, 0 inconclusive`."""
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in _COUNTED)


def _styled(counts: Counter[Outcome]) -> str:
    from conformance.report.text import SIGNS, STYLES

    return "  ".join(
        f"[{STYLES[outcome]}]{SIGNS[outcome]} {counts[outcome]}[/]" for outcome in _COUNTED
    )
