"""Record every verdict on the stored histories anew: `python -m tests.claims.record`.

Look at the difference before it is committed: each line of it is a verdict that a checker has
changed. With `--histories` the histories are chosen anew as well, from the reports of released
operators and from runs of mutants, so that each claim is met somewhere, and most are violated.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer

from conformance import claims
from conformance.cli.judging import judge
from conformance.implementation import implementation
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.verdict import Verdict
from reference_controller.appwrapper.mutants import MUTANTS
from tests.claims.recorded import FOLDER, SUFFIX, described, histories, verdicts_path
from vocabulary.history import read_history, write_history

REPORTS: Final = Path(__file__).parents[2] / "reports" / "project-codeflare-appwrapper"
MOST: Final = 60
Shown: TypeAlias = frozenset[tuple[str, str]]
"""Claims, each with an outcome."""


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
    typer.echo(f"{len(histories())} histories judged")


def choice(folder: Path) -> dict[str, Path]:
    """The histories that show the most, each in turn what the ones before it do not.

    Those of mutants are made in that folder.
    """
    candidates = {name: (path, shown) for name, path, shown in _candidates(folder)}
    missing = frozenset[tuple[str, str]]().union(*(shown for _, shown in candidates.values()))
    chosen: dict[str, Path] = {}
    while missing and len(chosen) < MOST:
        best = max(sorted(candidates), key=lambda name: len(candidates[name][1] & missing))
        path, shown = candidates.pop(best)
        chosen[best] = path
        missing -= shown
    return chosen


def _candidates(folder: Path) -> Iterator[tuple[str, Path, Shown]]:
    for path in sorted(REPORTS.glob("*/histories/*.jsonl.gz")):
        header, entries, _ = read_history(path)
        version = path.parts[-3].removesuffix("-control-plane")
        name = path.name.removesuffix(SUFFIX).removesuffix(f"-{DEFAULT_SEED}")
        yield f"{version}-{name.removeprefix('appwrapper-')}", path, _shown(judge(header, entries))
    meant = {name: found.killed_by[0] for name, found in MUTANTS.items()}
    makers = [(f"mutant:{name}", claim) for name, claim in meant.items()]
    makers += [("reference", claim.id) for claim in claims.load()]
    for maker, claim_id in makers:
        armed = [found for found in SCENARIOS.values() if claim_id in found.arms]
        for scenario in sorted(armed, key=lambda found: (len(found.arms), found.id))[:1]:
            run = run_one(scenario, implementation(maker), DEFAULT_SEED)
            name = maker.replace(":", "-") if ":" in maker else f"{maker}-{claim_id.lower()}"
            path = folder / f"{name}{SUFFIX}"
            write_history(path, run.header, run.entries)
            yield name, path, _shown(run.verdicts)


def _shown(verdicts: tuple[Verdict, ...] | list[Verdict]) -> Shown:
    return frozenset((found.claim, found.outcome.value) for found in verdicts if found.armed)


if __name__ == "__main__":
    typer.run(record)
