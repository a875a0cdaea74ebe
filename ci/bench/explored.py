"""Measure disturbed runs of `assay explore`: plans per minute of processor time, by operator.

    python ci/bench/explored.py backups.assay.yaml:sample.yaml jobset-v0.12.0:jobset.yaml --plans 20

Each argument is a profile and a workload. The operator is killed at its writes, drawn by the seed,
in runs one after the other; the undisturbed run comes first and is not counted. Printed is a table
in Markdown. Processor time includes the operator's processes.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from dataclasses import replace
from pathlib import Path

from chaos.plan import Plan, plan_from_data
from conformance.explore.campaign import CREATED, SUITE
from conformance.explore.disturbances import Terrain, around_writes
from conformance.explore.workload import read_workload
from conformance.history import History
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.workers import Task, run_task


def processor_seconds() -> float:
    """That of this process and of all that have ended."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def tasks_of(operator: str, workload: Path, count: int) -> list[Task]:
    """So many runs, each with one kill at a write."""
    named = f"{SUITE}={operator}"
    plan = Plan(CREATED, seed=DEFAULT_SEED, manifests=read_workload(workload))
    undisturbed = run_task(Task(CREATED, named, DEFAULT_SEED, plan.to_data()))
    terrain = Terrain(undisturbed, History(undisturbed.header, undisturbed.entries))
    found = [each for each in around_writes(terrain) if each.sort == "kills"]
    chosen = random.Random(DEFAULT_SEED).sample(found, min(count, len(found)))
    base = replace(plan_from_data(undisturbed.plan), implementation="")
    return [
        Task(CREATED, named, DEFAULT_SEED, replace(base, faults=each.steps).to_data(), each.text)
        for each in chosen
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("operators", nargs="+", metavar="PROFILE:WORKLOAD")
    parser.add_argument("--plans", type=int, default=20)
    asked = parser.parse_args()
    print("| operator | plans | wall | processor | plans per minute of processor time |")
    print("|---|---:|---:|---:|---:|")
    for each in asked.operators:
        operator, _, workload = each.rpartition(":")
        tasks = tasks_of(operator, Path(workload), asked.plans)
        began, used = time.monotonic(), processor_seconds()
        errors = [run.error for run in map(run_task, tasks) if run.error]
        seconds, processor = time.monotonic() - began, processor_seconds() - used
        if errors:
            raise SystemExit(f"{operator}: {len(errors)} runs did not end: {errors[0]}")
        rate = len(tasks) * 60 / processor
        print(f"| {operator} | {len(tasks)} | {seconds:.0f} s | {processor:.1f} s | {rate:.0f} |")


if __name__ == "__main__":
    main()
