"""Measure released operators: in virtual time, on the control plane, and beside the reference.

    python ci/bench/released.py jobset-v0.12.0 appwrapper-v1.1.2
    python ci/bench/released.py jobset-v0.12.0 --scenarios 5 --plans 20

For each release the same scenarios, drawn by the seed, run in virtual time and on the control
plane, one at a time; then the same plans, half of them crash points, run on the release and on the
reference. Printed are two tables in Markdown. Plans per core-hour are of processor time, that of
the operator's process included. Seconds per scenario are wall time, since a run on a control plane
mostly waits; scenarios that were aborted on either cluster are left out.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from conformance.profiles.choosing import left_out, profiles_named
from conformance.report.run_result import GIVEN_UP, RunResult
from conformance.running.crash_tasks import crash_tasks, drawn
from conformance.running.random_plans import random_tasks
from conformance.running.run_options import DEFAULT_SEED, RunOptions
from conformance.running.suite import run_suite, select
from conformance.running.why_not_run import reason_not_run, why_one_process
from conformance.running.workers import Task, run_task
from vocabulary.implementations import REFERENCE

PLANS_PER_SCENARIO = 3


def scenarios_of(release: str, count: int) -> list[str]:
    """So many scenarios that the release runs on both clusters."""
    profiles = profiles_named(release)
    suite = profiles[0].suite
    one_process = why_one_process(release, (suite,))
    missing = left_out(profiles)
    there_are = [
        found.id
        for found in select([suite], one_case=True)
        if found.id not in missing and not reason_not_run(found, "control-plane", None, one_process)
    ]
    return sorted(random.Random(DEFAULT_SEED).sample(there_are, min(count, len(there_are))))


def runs_of(release: str, scenarios: Sequence[str], cluster: str) -> list[RunResult]:
    """One run of each scenario, one at a time."""
    options = RunOptions(cluster=cluster, implementation=release, jobs=1, shrink=False)  # type: ignore[arg-type]
    return list(run_suite(scenarios, options, lambda _: None).runs)[: len(scenarios)]


def speed_row(release: str, virtual: Sequence[RunResult], real: Sequence[RunResult]) -> str:
    """The row of a release: seconds per scenario, and how many times as fast virtual time is."""
    ended = [pair for pair in zip(virtual, real, strict=True) if not any(run.error for run in pair)]
    if not ended:
        raise SystemExit(f"{release}: no scenario ended on both; ask for more with --scenarios")
    fast, slow = ([run.wall_seconds for run in runs] for runs in zip(*ended, strict=True))
    ratio = sum(slow) / sum(fast)
    cells = (f"{statistics.median(fast):.2f} s", f"{statistics.median(slow):.1f} s")
    totals = (f"{sum(fast):.0f} s", f"{sum(slow):,.0f} s")
    return (
        f"| {release} | {len(fast)} | "
        + " | ".join(
            (
                *(f"{cell}, {total}" for cell, total in zip(cells, totals, strict=True)),
                f"{ratio:.0f} ×",
            )
        )
        + " |"
    )


def plans_of(release: str, runs: Sequence[RunResult], count: int) -> list[Task]:
    """So many plans: as many crash points as random plans."""
    usable = [run for run in runs if GIVEN_UP not in run.error]
    killed = [task for run in usable for task in crash_tasks(run, release)]
    faulty = [task for run in usable for task in random_tasks(run, release, PLANS_PER_SCENARIO)]
    half = count // 2
    return [*drawn(killed, half, DEFAULT_SEED), *drawn(faulty, count - half, DEFAULT_SEED)]


def plans_per_core_hour(tasks: Sequence[Task]) -> float:
    """How many plans fit into an hour of processor time, that of programs included."""
    began = _processor_seconds()
    for task in tasks:
        run_task(task)
    return len(tasks) * 3600 / (_processor_seconds() - began)


def _processor_seconds() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def pace_row(release: str, tasks: Sequence[Task]) -> str:
    """The row of a release: its plans per core-hour, and those of the reference."""
    if not tasks:
        raise SystemExit(f"{release}: no run to kill or disturb; ask for more with --scenarios")
    of_reference = [replace(task, implementation=REFERENCE) for task in tasks]
    for first in (of_reference[0], tasks[0]):  # the first run of a process pays for what is loaded
        run_task(first)
    released, reference = plans_per_core_hour(tasks), plans_per_core_hour(of_reference)
    return (
        f"| {release} | {len(tasks)} | {released:,.0f} | {reference:,.0f} | "
        f"1 : {reference / released:.0f} |"
    )


def measure(releases: Sequence[str], scenarios: int, plans: int) -> Iterator[str]:
    """The lines of both tables."""
    paces = []
    yield "| release | scenarios | virtual time: median, sum | control plane: the same | faster |"
    yield "|---|---:|---:|---:|---:|"
    for release in releases:
        chosen = scenarios_of(release, scenarios)
        virtual = runs_of(release, chosen, "simulated")
        yield speed_row(release, virtual, runs_of(release, chosen, "control-plane"))
        paces.append(pace_row(release, plans_of(release, virtual, plans)))
    yield ""
    yield "| release | plans | plans per core-hour | the same on the reference | |"
    yield "|---|---:|---:|---:|---:|"
    yield from paces


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("write a number of at least 1")
    return number


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure released operators in virtual time.")
    parser.add_argument("releases", nargs="+", metavar="RELEASE", help="names of shipped profiles")
    parser.add_argument("--scenarios", type=_positive, default=15, help="how many of each suite")
    parser.add_argument(
        "--plans", type=_positive, default=60, help="how many plans of each release"
    )
    options = parser.parse_args()
    for line in measure(options.releases, options.scenarios, options.plans):
        print(line, flush=True)


if __name__ == "__main__":
    main()
