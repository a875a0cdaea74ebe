"""Record every verdict on the stored histories anew: `python -m tests.claims.record`.

Look at the difference before it is committed: each line of it is a verdict that a checker has
changed. With `--histories jobset` the histories of that suite's operator are chosen anew as well,
from the reports of released operators and from runs of the reference and its mutants: each claim is
met that can be, then as many as can be are violated, and as many lines of checkers executed.
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
from conformance.implementations.ours import implementations
from conformance.mutating.executed import Recording
from conformance.norm.claim import CLAIMS
from conformance.norm.verdict import Outcome, Verdict
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.suite import load as suites
from conformance.suite import of_scenario
from reference_controller import programs
from tests.claims.recorded import FOLDER, SUFFIX, described, histories, verdicts_path
from tests.claims.retold import WAYS
from tests.claims.summaries import RETOLD, summarised, summary_path
from vocabulary.history import read_history, write_history

ROOT: Final = Path(__file__).parents[2]
REPORTS: Final = {"appwrapper": ROOT / "reports" / "project-codeflare-appwrapper"}
"""The reports of released operators by their role."""
MOST: Final = {"appwrapper": 80, "jobset": 80, "kueue": 40, "streams": 12}
LARGEST_BYTES: Final = 64_000
Shown: TypeAlias = tuple[str, str | int]
"""A claim and its outcome, or a file and a line of it."""


def record(
    role: Annotated[
        str, typer.Option("--histories", help="Choose the histories of that operator anew, too.")
    ] = "",
) -> None:
    """Write the verdicts beside the histories."""
    if role:
        with tempfile.TemporaryDirectory() as folder:
            chosen = choice(role, Path(folder))
            for path in histories():
                if of_scenario(read_history(path).header.scenario).roles[:1] == (role,):
                    path.unlink()
                    verdicts_path(path).unlink()
            for name, path in chosen.items():
                shutil.copy(path, FOLDER / f"{name}{SUFFIX}")
    for history in histories():
        verdicts_path(history).write_text(described(history))
    RETOLD.mkdir(exist_ok=True)
    for way in WAYS:
        summary_path(way).write_text(summarised(way))
    typer.echo(f"{len(histories())} histories judged")


def choice(role: str, folder: Path) -> dict[str, Path]:
    """The histories that show the most, each in turn what the ones before it do not: a claim with
    an outcome, or a line of a checker that is executed; what meets more claims comes first.

    Those of mutants and of the reference are made in that folder.
    """
    own = {its.name for its in suites().values() if role in (*its.roles, *its.judged_with)}
    rooms = ("norm", "history", *(f"suites/{name}" for name in sorted(own)))
    judges = [path for room in rooms for path in (ROOT / "conformance" / room).rglob("*.py")]
    recording = Recording(map(str, judges))
    candidates: dict[str, Path] = {}
    shown: dict[str, set[Shown]] = {}
    with recording.on():
        for name, path, judged in _candidates(role, folder):
            recording.is_now(name)
            candidates[name] = path
            shown[name] = {
                (found.claim, found.outcome.value)
                for found in judged()
                if found.armed and CLAIMS[found.claim].suite in own
            }
    for module, lines in recording.executed().items():
        for line, names in lines.items():
            for name in names:
                shown[name].add((module, line))
    missing = set[Shown]().union(*shown.values())
    chosen: dict[str, Path] = {}
    while missing and len(chosen) < MOST[role]:
        best = max(sorted(candidates), key=lambda name: _worth(shown[name] & missing))
        chosen[best] = candidates.pop(best)
        missing -= shown[best]
    return chosen


def _worth(new: set[Shown]) -> tuple[int, int]:
    return sum(what == Outcome.PASSED.value for _, what in new), len(new)


def _candidates(
    role: str, folder: Path
) -> Iterator[tuple[str, Path, Callable[[], Sequence[Verdict]]]]:
    """Histories by name, each with what judges it."""
    for path in sorted(REPORTS[role].glob("*/histories/*.jsonl.gz")) if role in REPORTS else ():
        header, entries, _, _ = read_history(path)
        version = path.parts[-3].removesuffix("-control-plane")
        name = path.name.removesuffix(SUFFIX).removesuffix(f"-{DEFAULT_SEED}")
        name = f"{role}-{version}-{name.removeprefix(f'{role}-')}"
        yield name, path, partial(judge, header, entries)
    own = [found for found in SCENARIOS.values() if found.roles[0] == role]
    runs = [("reference", found) for found in own]
    for mutant in programs.load(role).mutants.values():
        armed = [found for found in own if mutant.killed_by[0] in found.arms]
        fewest = sorted(armed, key=lambda found: (len(found.arms), found.id))[:1]
        runs += [(f"mutant:{mutant.name}", found) for found in fewest]
    for maker, scenario in runs:
        run = run_one(scenario, implementations(f"{role}={maker}", scenario.roles), DEFAULT_SEED)
        is_mutant = maker != "reference"
        name = f"{role}-{maker.replace(':', '-')}" if is_mutant else scenario.id.replace("/", "-")
        path = folder / f"{name}{SUFFIX}"
        write_history(path, run.header, run.entries)
        if path.stat().st_size <= LARGEST_BYTES:
            yield name, path, partial(judge, run.header, run.entries)


if __name__ == "__main__":
    typer.run(record)
