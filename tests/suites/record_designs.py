"""Record the runs that `assay explain` shows: `python -m tests.suites.record_designs`."""

from __future__ import annotations

from conformance.explanation import argument_of, histories_of
from conformance.implementations.ours import implementations
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.suite import load
from vocabulary.history import write_history


def record() -> None:
    """Write the histories of all suites' designs."""
    for suite in load().values():
        argument = argument_of(suite)
        for design in () if argument is None else argument.designs:
            scenario = SCENARIOS[design.scenario]
            under_test = implementations(design.implementation, scenario.roles)
            run = run_one(scenario, under_test, DEFAULT_SEED)
            path = histories_of(suite) / f"{design.name}.jsonl.gz"
            write_history(path, run.header, run.entries)


if __name__ == "__main__":
    record()
