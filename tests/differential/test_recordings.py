"""The simulation answers as the recorded control plane did, field by field."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.differential import redrawn, scripts
from tests.differential.limits import LIMITS, limit_of, stale
from tests.differential.lines import LINES
from tests.differential.page import PAGE, Comparison, compared, render
from tests.differential.script import Script
from tests.differential.transcript import FOLDER, load, path_of

EVERY = scripts.every()
MINIMUM = 80


@pytest.fixture(scope="module")
def comparisons() -> dict[str, Comparison]:
    """Comparisons so far, by script, since each is played once."""
    return {}


@pytest.mark.parametrize("script", EVERY, ids=lambda script: script.name)
def test_the_simulation_agrees_or_differs_by_a_named_limit(
    script: Script, comparisons: dict[str, Comparison]
) -> None:
    comparison = comparisons[script.name] = compared(script)
    unexplained = [str(one) for one in comparison.differences if limit_of(one) is None]
    assert not unexplained, (
        f"{script.title}\nfix the simulation, or name a limit in tests/differential/limits.py:\n"
        + "\n".join(unexplained)
    )


@pytest.mark.parametrize("script", redrawn.drawn(), ids=lambda script: script.name)
def test_the_simulation_agrees_in_further_draws(script: Script) -> None:
    recorded = redrawn.recorded(script)
    assert len(recorded) == len(redrawn.draws(script))
    for draw, line in zip(redrawn.draws(script), recorded, strict=True):
        steps = redrawn.simulated(script, draw).steps
        other = [
            step["step"]
            for step, found, kept in zip(steps, redrawn.digests(steps), line, strict=True)
            if kept not in (found, redrawn.DIFFERS)
        ]
        assert not other, f"draw {draw}: the simulation answers otherwise than it did: {other}"


def _all(comparisons: dict[str, Comparison]) -> Sequence[Comparison]:
    return [comparisons.get(script.name) or compared(script) for script in EVERY]


def test_no_limit_is_stale(comparisons: dict[str, Comparison]) -> None:
    found = [one for comparison in _all(comparisons) for one in comparison.differences]
    outlived = [f"{limit.id} in {script}" for limit, script in stale(found)]
    assert not outlived, f"no longer differ, take them off the list: {outlived}"


def test_the_page_says_what_the_comparison_says(comparisons: dict[str, Comparison]) -> None:
    assert PAGE.read_text() == render(_all(comparisons)), (
        "docs/differential.md is not up to date: run `python -m tests.differential.page`"
    )


def test_there_are_enough_scripts_and_each_line_is_covered() -> None:
    assert len(EVERY) >= MINIMUM
    covered = {line for script in EVERY for line in script.covers}
    assert not sorted(LINES.keys() - covered)


def test_titles_and_limit_ids_occur_once() -> None:
    for values in ([script.title for script in EVERY], [limit.id for limit in LIMITS]):
        assert sorted(values) == sorted(set(values))


def test_every_recording_belongs_to_a_script_and_is_complete() -> None:
    recordings = set(FOLDER.glob("*/*.jsonl"))
    assert recordings == {path_of(script) for script in EVERY}
    for script in EVERY:
        assert not [step["step"] for step in load(script).steps if "waited" in step]
