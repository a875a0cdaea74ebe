"""The figures by which two commits are compared, as JSON: see `run.py --against`.

Each commit runs its own copy of this file; one that has none runs the first that there was. Only
AppWrapper's scenarios are measured, which every commit has.
"""

from __future__ import annotations

import json
import statistics
import time

from figures import MANY_OF, OF_APPWRAPPER, REFERENCE, crowd

from conformance.running.collecting import collecting_seldom
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one

COMPARED_SIZES = (100, 1_000)
WARM_UP = 30
"""Scenarios that are run before, uncounted."""


def measure() -> dict[str, float]:
    """Milliseconds of processor time."""
    taken_ms: list[float] = []
    with collecting_seldom():
        for scenario in OF_APPWRAPPER[:WARM_UP]:
            run_one(scenario, REFERENCE, DEFAULT_SEED)
        for scenario in OF_APPWRAPPER:
            began = time.process_time()
            run_one(scenario, REFERENCE, DEFAULT_SEED)
            taken_ms.append((time.process_time() - began) * 1e3)
    figures = {
        "scenario with all its checkers, median": statistics.median(taken_ms),
        "scenario with all its checkers, mean": statistics.mean(taken_ms),
    }
    for pods in COMPARED_SIZES:
        figures[f"per pod, one workload, {pods:,} pods"] = sum(crowd(pods, pods))
        figures[f"per pod, workloads of {MANY_OF}, {pods:,} pods"] = sum(crowd(pods, MANY_OF))
    return figures


if __name__ == "__main__":
    print(json.dumps(measure()))
