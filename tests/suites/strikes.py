"""Runs the plans on standard input; writes of each the claims that it violated and its injections.

It is a process of its own, since the toy is installed in no other.
"""

from __future__ import annotations

import json
import sys

from conformance import suite
from conformance.norm.verdict import Outcome
from conformance.running.run_options import RunOptions
from conformance.running.workers import Task, workers
from vocabulary.history import Fault


def main() -> None:
    suite.load()
    tasks = [
        Task(plan["scenario"], plan["implementation"], plan["seed"], plan)
        for plan in json.load(sys.stdin)
    ]
    with workers(RunOptions(), ("toy", "appwrapper"), many=False) as run_all:
        runs = list(run_all(tasks))
    told = [
        {
            "violated": [v.claim for v in run.verdicts if v.outcome is Outcome.FAILED],
            "injected": [
                entry.fault
                for entry in run.entries
                if isinstance(entry, Fault) and entry.action == "injected"
            ],
        }
        for run in runs
    ]
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
