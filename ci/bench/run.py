"""Measure Assay's performance, and compare it with the design's targets.

    python ci/bench/run.py                     print the table; takes five minutes
    python ci/bench/run.py --write             and write it to docs/benchmarks.md
    python ci/bench/run.py --against COMMIT    run a commit and this tree in turn, print ratios

A missed target is marked but is not an error, since machines differ. The yardstick measures this
machine's speed, so that figures of different machines or days can be compared.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import figures
import job_sets
import kueue_cycles
from benchmarks_page import PAGE, write_opening
from figures import Figure

TREE = Path(__file__).parents[2]
ROUNDS = 3
COMPARED = "ci/bench/compared.py"
COMMAND = "python ci/bench/run.py --write"
_MARKS = {True: "met", False: "MISSED", None: ""}


def measure() -> Iterator[Figure]:
    """All figures; the quick ones first."""
    yield Figure("yardstick: a million look-ups in a dict", f"{yardstick_ms():.0f} ms")
    yield figures.cluster_start(times=50)
    of_scenarios, runs = figures.scenarios(rounds=3)
    yield from of_scenarios
    yield figures.crash_points(runs)
    yield figures.crash_states()
    yield figures.first_result()
    yield from figures.whole_suites(jobs=2)
    yield from figures.growth()
    yield from job_sets.growth()
    yield from kueue_cycles.growth()


def yardstick_ms() -> float:
    """The time that this machine takes for the most common operation of Python code."""
    table = dict.fromkeys(range(1024), 0)
    taken = []
    for _ in range(5):
        began = time.process_time()
        for number in range(1_000_000):
            table.get(number & 1023)
        taken.append(time.process_time() - began)
    return min(taken) * 1e3


def page(measured: list[Figure]) -> str:
    """The table as a page, with what it takes to repeat it."""
    cores = len(os.sched_getaffinity(0))
    rows = "".join(
        f"| {f.name} | {f.measured} | {f.target} | {_MARKS[f.is_met]} |\n" for f in measured
    )
    return (
        "# Benchmarks\n\n"
        f"Measured with `{COMMAND}` on {cores} cores ({platform.machine()}), "
        f"{platform.python_implementation()} {platform.python_version()}.\n"
        "Times are processor time unless they say wall; those depend on what else the machine "
        "does.\n\n"
        "| what | measured | target | |\n|---|---|---|---|\n"
        f"{rows}"
    )


def compare(commit: str) -> None:
    """Print the best of several rounds of a commit and of this tree, and their ratios."""
    with tempfile.TemporaryDirectory() as folder:
        _extract(commit, Path(folder))
        _register(Path(folder))
        trees = (Path(folder), TREE)
        rounds = [[_measured(tree) for tree in trees] for _ in range(ROUNDS)]
    print(f"{'milliseconds of processor time':48} {commit[:12]:>12} {'now':>8} {'ratio':>6}")
    for name in rounds[0][1]:
        old, new = (min(each[side][name] for each in rounds) for side in (0, 1))
        print(f"{name:48} {old:12.2f} {new:8.2f} {new / old:6.2f}")


def _extract(commit: str, folder: Path, *paths: str) -> None:
    words = ["git", "-C", str(TREE), "archive", commit, *paths]
    archive = subprocess.run(words, check=True, stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", folder], check=True, input=archive.stdout)


def _register(tree: Path) -> None:
    """Give a tree its own entry points: those of this one, which is installed, name suites and
    programs that an older one has not."""
    project = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    told = tree / f"{project['name']}-{project['version']}.dist-info"
    told.mkdir()
    identity = f"Name: {project['name']}\nVersion: {project['version']}\n"
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\n{identity}", encoding="utf-8")
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (told / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")


def _measured(tree: Path) -> dict[str, float]:
    """The tree's figures, by its own script, or by the first that there was: the current one
    imports modules that older trees have under other names."""
    script = tree / COMPARED
    if not script.exists():
        words = ["git", "-C", str(TREE), "log", "--diff-filter=A", "--format=%H", "--", COMPARED]
        first = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()[-1]
        _extract(first, tree, str(Path(COMPARED).parent))
    done = subprocess.run(
        [sys.executable, script],
        check=True,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        stdout=subprocess.PIPE,
    )
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure Assay against its targets.")
    parser.add_argument("--write", action="store_true", help=f"also write docs/{PAGE.name}")
    parser.add_argument("--against", metavar="COMMIT", help="compare with a commit instead")
    options = parser.parse_args()
    if options.against:
        compare(options.against)
        return
    measured: list[Figure] = []
    for figure in measure():
        measured.append(figure)
        print(f"{figure.name:62} {figure.measured:44} {figure.target:32} {_MARKS[figure.is_met]}")
    if options.write:
        write_opening(page(measured))
        print(f"written: docs/{PAGE.name}")


if __name__ == "__main__":
    main()
