"""`assay check`: judge a stored history by today's claims."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conformance.cli.exit_code import ExitCode

if TYPE_CHECKING:
    from conformance.verdict import Verdict


def check(
    history: Annotated[Path, typer.Argument(help="A history file (.jsonl or .jsonl.gz).")],
    claim: Annotated[
        list[str] | None, typer.Option("--claim", "-c", help="Only this claim; may be repeated.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help="Write an HTML page of the worst verdict there.")
    ] = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="List passed and unarmed claims too.")
    ] = False,
) -> None:
    """Judge a stored history again, claim by claim.

    \b
    assay check .assay/histories/appwrapper-slow-pods-1729.jsonl.gz
    assay check run.jsonl.gz --claim AW-015 --page aw-015.html

    A history that was cut short is judged as far as it goes; then no claim counts as passed.
    """
    from conformance.cli.ending import echo_block, verdict_lines
    from conformance.cli.judging import all_claims, claim_named, judge
    from conformance.report.build import worst_of
    from conformance.report.pages.failure_page import failure_page
    from conformance.report.run_result import RunResult
    from conformance.verdict import Outcome
    from vocabulary.history import Mark, read_history

    wanted = {claim_named(word).id for word in claim or ()}
    header, entries, whole = read_history(history)
    # One that was written while its run went on has whole lines, but no end.
    whole = whole and any(isinstance(entry, Mark) and entry.mark == "end" for entry in entries)
    verdicts = [
        verdict for verdict in judge(header, entries) if not wanted or verdict.claim in wanted
    ]
    run = RunResult(
        scenario=header.scenario,
        title=f"Recorded history {history.name}",
        seed=header.seed,
        plan={},
        header=header,
        entries=tuple(entries),
        verdicts=tuple(verdicts),
        wall_seconds=0,
        virtual_seconds=entries[-1].t / 1_000_000 if entries else 0,
        error="" if whole else "the history was cut short",
    )
    for line in verdict_lines(all_claims(), verdicts, show_all=show_all):
        typer.echo(line)
    failed = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAILED]
    for verdict in failed:
        echo_block(all_claims()[verdict.claim], run, verdict)
    if not whole:
        typer.echo("note: the history was cut short; what is missing could change any verdict")
    if page is not None and verdicts:
        _, shown = worst_of((run, verdict) for verdict in verdicts)
        text = failure_page(all_claims()[shown.claim], run, shown, command=f"assay check {history}")
        page.write_text(text, encoding="utf-8")
        typer.echo(f"page: {page}")
    raise typer.Exit(_exit_code(verdicts, whole=whole))


def _exit_code(verdicts: Sequence[Verdict], *, whole: bool) -> ExitCode:
    """1 for a violation; 3 if the end is missing or nothing was armed; 0 otherwise."""
    from conformance.verdict import Outcome

    if any(verdict.outcome is Outcome.FAILED for verdict in verdicts):
        return ExitCode.VIOLATED
    if whole and any(verdict.outcome is Outcome.PASSED for verdict in verdicts):
        return ExitCode.CONFORMANT
    return ExitCode.INCONCLUSIVE
