"""The end of a suite that is interrupted before its report is written."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import typer

from conformance.cli.exit_code import ExitCode
from conformance.cli.run_rules import WITH_NODES
from conformance.report.untrusted import printable

STDERR: Final = 2
"""Its file descriptor."""


@contextmanager
def ending_when_told_to(out: Path, cluster: str, *, ends_in_order: bool = False) -> Iterator[None]:
    """At Ctrl-C and SIGTERM the last lines tell what was kept in the report's folder, and how to
    judge it.

    On clusters of others SIGTERM ends what is done here as Ctrl-C does: the cluster is put in order
    first. With `ends_in_order` it does everywhere: a campaign reports the runs that ended.
    Otherwise it ends the process at once; all that it started ends with it.
    """
    report_before = _version_of_report(out)

    def last_lines() -> str:
        if _version_of_report(out) not in (None, report_before):
            return ""
        return "".join(f"assay: {printable(line)}\n" for line in _kept(out, cluster))

    def end_at_once(number: int, _: object) -> None:
        # Past sys.stderr, which may be in the middle of a write.
        os.write(STDERR, last_lines().encode())
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    in_order = ends_in_order or cluster in WITH_NODES
    handler = signal.default_int_handler if in_order else end_at_once
    handler_before = signal.signal(signal.SIGTERM, handler)
    try:
        yield
    except KeyboardInterrupt as error:
        typer.echo(last_lines(), err=True, nl=False)
        raise typer.Exit(ExitCode.INTERRUPTED) from error
    finally:
        signal.signal(signal.SIGTERM, handler_before)


def _version_of_report(out: Path) -> int | None:
    """Another one for each report that is written there; None if there is none."""
    from conformance.report.yaml_text import REPORT_NAME

    path = out / REPORT_NAME
    return path.stat().st_mtime_ns if path.is_file() else None


def _kept(out: Path, cluster: str) -> Iterator[str]:
    from conformance.report.counted import counted
    from conformance.report.folder import JOURNAL_NAME, UNFINISHED_NAME

    if cluster == "simulated" and (journal := out / UNFINISHED_NAME / JOURNAL_NAME).is_file():
        yield (
            f"interrupted: no report was written; {journal} keeps the runs that ended; go on with "
            "the same command and --resume"
        )
        return
    if cluster == "simulated":
        yield (
            "interrupted: no report was written, and in virtual time no history is kept before "
            "that; run it again, or a part of it"
        )
        return
    folder = out / UNFINISHED_NAME
    whole, cut_off = sorted(folder.glob("*.jsonl.gz")), sorted(folder.glob("*.jsonl"))
    if not whole and not cut_off:
        yield "interrupted: no report was written, and no run had begun; run it again"
        return
    yield (
        f"interrupted: no report was written; {folder} keeps the histories of "
        f"{counted(len(whole), 'run')} that ended, and of {len(cut_off)} as far as they came"
    )
    yield f"judge each by itself: assay check {shlex.quote(str((whole or cut_off)[0]))}"
