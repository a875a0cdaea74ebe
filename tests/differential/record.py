"""Record the real side again: `python -m tests.differential.record [SCRIPT …] [--check]`.

Starts a control plane of its own (see `assay cluster build`), runs every script on it, or the
named ones, and writes their transcripts. Scripts that need API priority and fairness run on a
second one. With `--check` nothing is written: it says what has changed since it was recorded.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Final

import typer

from tests.differential import scripts
from tests.differential.compare import Difference, differences
from tests.differential.real_target import FAIR, SETTINGS, RealTarget, started
from tests.differential.script import Script
from tests.differential.transcript import Transcript, load, path_of, play, save

PARALLEL_SCRIPTS: Final = 6


def recorded(
    target: RealTarget,
    wanted: Sequence[Script],
    done: Callable[[Script, Transcript, float], None],
) -> None:
    """Run scripts on a real control plane, side by side where they may be."""

    def one(script: Script) -> None:
        began = time.monotonic()
        transcript = play(script, target)
        done(script, transcript, time.monotonic() - began)

    with ThreadPoolExecutor(PARALLEL_SCRIPTS) as pool:
        list(pool.map(one, [script for script in wanted if not script.exclusive]))
    for script in wanted:
        if script.exclusive:
            one(script)


def changes(script: Script, transcript: Transcript) -> list[Difference]:
    """The differences from the recording."""
    return differences(load(script), transcript)


def main(
    names: Annotated[
        list[str] | None, typer.Argument(help="Scripts or subjects; all if none.")
    ] = None,
    check: Annotated[
        bool, typer.Option(help="Compare with what is recorded, write nothing.")
    ] = False,
) -> None:
    """Record transcripts of a real control plane."""
    wanted = scripts.chosen(names or [])
    failed: list[str] = []

    def done(script: Script, transcript: Transcript, took_seconds: float) -> None:
        typer.echo(f"{took_seconds:6.1f} s  {len(transcript.steps):3} steps  {script.name}")
        in_vain = [step["step"] for step in transcript.steps if "waited" in step]
        if in_vain:
            failed.append(script.name)
            typer.echo(f"          waited in vain: {in_vain}")
        if not check:
            save(script, transcript)
            return
        for difference in changes(script, transcript):
            failed.append(script.name)
            typer.echo(
                f"          {difference.step}: {difference.path}:"
                f" recorded {difference.real!r}, now {difference.simulated!r}"
            )

    began = time.monotonic()
    for settings in (SETTINGS, FAIR):
        played = [script for script in wanted if script.is_fair == (settings is FAIR)]
        if not played:
            continue
        with (
            tempfile.TemporaryDirectory(prefix="assay-differential-") as folder,
            started(Path(folder), settings) as target,
        ):
            recorded(target, played, done)
    if not names and not check:
        kept = {path_of(script) for script in wanted}
        for path in path_of(wanted[0]).parents[1].glob("*/*.jsonl"):
            if path not in kept:
                path.unlink()
    typer.echo(f"{len(wanted)} scripts in {time.monotonic() - began:.1f} s")
    if failed:
        typer.echo(f"not as they should be: {', '.join(sorted(set(failed)))}")
        sys.exit(1)


if __name__ == "__main__":
    typer.run(main)
