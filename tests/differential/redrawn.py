"""Scripts whose requests are drawn at random, with further draws of them.

Only a digest of each step is kept, as the real control plane answered: a line for each draw.
`python -m tests.differential.redrawn [SCRIPT …]` records them again, and says where the simulation
differs; such a step has a dash instead, and nothing is compared there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from tests.differential import scripts
from tests.differential.compare import differences
from tests.differential.dialogue import Step
from tests.differential.plane import definitions
from tests.differential.real_target import SETTINGS, RealTarget, started
from tests.differential.record import PARALLEL_SCRIPTS
from tests.differential.script import Script
from tests.differential.simulated_target import SimulatedTarget
from tests.differential.transcript import Transcript, play
from vocabulary.canonical import digest

FOLDER: Final = Path(__file__).parent / "redrawn"
DRAWS: Final = 8
FEWER: Final[Mapping[str, int]] = {"drawn-costs": 2, "drawn-values": 2}
"""These take seconds each."""
DIFFERS: Final = "-"
_DIGITS: Final = 4


def drawn() -> list[Script]:
    """The scripts that draw their requests."""
    return [script for script in scripts.every() if script.name.startswith("drawn-")]


def draws(script: Script) -> range:
    """The numbers of its further draws."""
    return range(1, FEWER.get(script.name, DRAWS) + 1)


def simulated(script: Script, draw: int) -> Transcript:
    return play(script, SimulatedTarget(definitions()), draw)


def digests(steps: Sequence[Step]) -> list[str]:
    """A few digits for each step."""
    return [digest(_plain(step))[:_DIGITS] for step in steps]


def _plain(value: Any) -> Any:
    """The value with one form for each number: `1.0` is 1."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def path_of(script: Script) -> Path:
    return FOLDER / f"{script.name}.txt"


def recorded(script: Script) -> list[list[str]]:
    """The digests of each draw."""
    return [line.split() for line in path_of(script).read_text().splitlines()]


def _compared(script: Script, real: Transcript, draw: int) -> Iterator[str]:
    """The digests of the real side, with dashes where the simulation differs, and says so."""
    ours = simulated(script, draw)
    for one in differences(real, ours):
        typer.echo(f"{draw}: {one}")
    others = digests(ours.steps)
    for place, each in enumerate(digests(real.steps)):
        yield each if others[place : place + 1] == [each] else DIFFERS


def _record(script: Script, target: RealTarget) -> None:
    lines = [list(_compared(script, play(script, target, draw), draw)) for draw in draws(script)]
    path_of(script).write_text("".join(f"{' '.join(line)}\n" for line in lines))
    steps = [each for line in lines for each in line]
    typer.echo(f"{script.name}: {steps.count(DIFFERS)} of {len(steps)} steps differ")


def main(names: Annotated[list[str] | None, typer.Argument(help="All if none.")] = None) -> None:
    """Record further draws on a real control plane."""
    wanted: Sequence[Script] = [it for it in drawn() if not names or it.name in names]
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="assay-differential-") as folder,
        started(Path(folder), SETTINGS) as target,
        ThreadPoolExecutor(PARALLEL_SCRIPTS) as pool,
    ):
        list(pool.map(lambda script: _record(script, target), wanted))


if __name__ == "__main__":
    typer.run(main)
