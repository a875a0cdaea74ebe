"""Record every verdict on the stored histories anew: `python -m tests.claims.record`.

Look at the difference before it is committed: each line of it is a verdict that a checker has
changed. With `--histories` the histories are chosen anew as well, from the reports of released
operators and from runs of the reference and its mutants: as many claims as can be are met and
violated, and as many lines of checkers executed.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer

from conformance.cli.judging import judge
from conformance.implementation import implementation
from conformance.mutating.executed import Recording
from conformance.norm.verdict import Verdict
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from reference_controller.appwrapper.mutants import MUTANTS
from tests.claims.recorded import FOLDER, SUFFIX, described, histories, verdicts_path
from tests.claims.retold import WAYS
from tests.claims.summaries import RETOLD, summarised, summary_path
from vocabulary.history import read_history, write_history

ROOT: Final = Path(__file__).parents[2]
REPORTS: Final = ROOT / "reports" / "project-codeflare-appwrapper"
MOST: Final = 80
JUDGES: Final = ("claims", "history_view", "temporal")
Shown: TypeAlias = tuple[str, str | int]
"""A claim and its outcome, or a file and a line of it."""


def record(
    choose: Annotated[
        bool, typer.Option("--histories", help="Choose the histories anew, too.")
    ] = False,
) -> None:
    """Write the verdicts beside the histories."""
    if choose:
        with tempfile.TemporaryDirectory() as folder:
            chosen = choice(Path(folder))
            shutil.rmtree(FOLDER, ignore_errors=True)
            FOLDER.mkdir()
            for name, path in chosen.items():
                shutil.copy(path, FOLDER / f"{name}{SUFFIX}")
    for history in histories():
        verdicts_path(history).write_text(described(history))
    RETOLD.mkdir(exist_ok=True)
    for way in WAYS:
        summary_path(way).write_text(summarised(way))
    typer.echo(f"{len(histories())} histories judged")


def choice(folder: Path) -> dict[str, Path]:
    """The histories that show the most, each in turn what the ones before it do not: a claim with
    an outcome, or a line of a checker that is executed.

    Those of mutants and of the reference are made in that folder.
    """
    judges = [path for name in JUDGES for path in (ROOT / "conformance" / name).rglob("*.py")]
    recording = Recording(map(str, judges))
    candidates: dict[str, Path] = {}
    shown: dict[str, set[Shown]] = {}
    with recording.on():
        for name, path, judged in _candidates(folder):
            recording.is_now(name)
            candidates[name] = path
            shown[name] = {(found.claim, found.outcome.value) for found in judged() if found.armed}
    for path, lines in recording.executed().items():
        for line, names in lines.items():
            for name in names:
                shown[name].add((path, line))
    missing = set[Shown]().union(*shown.values())
    chosen: dict[str, Path] = {}
    while missing and len(chosen) < MOST:
        best = max(sorted(candidates), key=lambda name: len(shown[name] & missing))
        chosen[best] = candidates.pop(best)
        missing -= shown[best]
    return chosen


def _candidates(folder: Path) -> Iterator[tuple[str, Path, Callable[[], Sequence[Verdict]]]]:
    """Histories by name, each with what judges it."""
    for path in sorted(REPORTS.glob("*/histories/*.jsonl.gz")):
        header, entries, _, _ = read_history(path)
        version = path.parts[-3].removesuffix("-control-plane")
        name = path.name.removesuffix(SUFFIX).removesuffix(f"-{DEFAULT_SEED}")
        name = f"{version}-{name.removeprefix('appwrapper-')}"
        yield name, path, partial(judge, header, entries)
    runs = [("reference", found) for found in SCENARIOS.values()]
    for mutant in MUTANTS.values():
        armed = [found for found in SCENARIOS.values() if mutant.killed_by[0] in found.arms]
        fewest = sorted(armed, key=lambda found: (len(found.arms), found.id))[:1]
        runs += [(f"mutant:{mutant.name}", found) for found in fewest]
    for maker, scenario in runs:
        run = run_one(scenario, implementation(maker, "appwrapper"), DEFAULT_SEED)
        is_mutant = maker != "reference"
        name = maker.replace(":", "-") if is_mutant else scenario.id.replace("/", "-")
        path = folder / f"{name}{SUFFIX}"
        write_history(path, run.header, run.entries)
        yield name, path, partial(judge, run.header, run.entries)


if __name__ == "__main__":
    typer.run(record)
