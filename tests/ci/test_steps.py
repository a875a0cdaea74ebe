"""The table at the end of `.ci/run`: what each step took, and its share."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

STEPS = Path(__file__).parents[2] / "ci" / "steps.sh"


def run(script: str) -> tuple[int, list[list[str]]]:
    """The script's exit code, and the lines of its table as words, from the last."""
    ended = subprocess.run(
        ["bash", "-c", f'set -euo pipefail; . "$0"; {script}', str(STEPS)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not ended.stderr, ended.stderr
    return ended.returncode, [line.split() for line in ended.stdout.splitlines() if line]


def test_each_step_has_a_line_with_its_seconds_and_share() -> None:
    code, lines = run(
        "SECONDS=0; step lint; SECONDS=10; step the tests; SECONDS=40; trap steps_table EXIT"
    )
    assert code == 0
    assert lines[-4:] == [
        ["step", "seconds", "share", "of", "CPUs"],
        ["lint", "10", "25%", "0"],
        ["the", "tests", "30", "75%", "0"],
        ["total", "40", "100%"],
    ]


def test_what_runs_beside_the_steps_is_timed_by_itself() -> None:
    code, lines = run(
        "work() { SECONDS=$((SECONDS + 700)); }; step all; beside mutants work & wait $!; "
        "steps_table"
    )
    assert code == 0
    assert lines[-1][:3] == ["beside", "these:", "mutants"]
    assert 700 <= int(lines[-1][3]) < 760, "the machine may take seconds of its own"


def test_what_fails_beside_the_steps_keeps_its_exit_code_and_ends_there() -> None:
    code, lines = run(
        "work() { false; echo went on; }; step all; code=0; "
        "beside mutants work & wait $! || code=$?; steps_table; exit $code"
    )
    assert code == 1
    assert ["went", "on"] not in lines
    assert lines[-1][:3] == ["beside", "these:", "mutants"]


def test_processor_time_is_counted_for_steps_and_for_what_runs_beside_them() -> None:
    spin = f"{sys.executable} -c 'import time\nwhile time.process_time() < 2.2: pass'"
    code, lines = run(f"step idle; step busy; {spin}; beside more {spin} & wait $!; steps_table")
    assert code == 0
    idle, busy, _, more = lines[-4:]
    assert (idle[0], idle[-1]) == ("idle", "0")
    assert int(busy[-1]) >= 4
    assert int(more[-1]) >= 2
