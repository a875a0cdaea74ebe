"""Runs the sampled scenarios in a process of its own, and prints the digest of each history.

A module to be run, not a test: what Python hashes by is decided when a process starts. Its argument
is the order: that of the suites, `reversed`, or `alone`, each in a process that has run no other.
"""

from __future__ import annotations

import os
import sys

from conformance.implementations.ours import Implementation, implementations
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenario_type import Scenario
from tests.sampled import SAMPLED
from vocabulary.history import history_digest
from vocabulary.implementations import REFERENCE


def main() -> None:
    order = sys.argv[1]
    scenarios = list(SAMPLED.values())
    for scenario in reversed(scenarios) if order == "reversed" else scenarios:
        # Here, so that what is alone need not import the reference controllers.
        references = implementations(REFERENCE, scenario.roles)
        if order != "alone":
            _run(scenario, references)
        elif child := os.fork():
            if os.waitpid(child, 0)[1]:
                sys.exit(f"{scenario.id} could not be run alone")
        else:
            _run(scenario, references)
            os._exit(0)


def _run(scenario: Scenario, references: dict[str, Implementation]) -> None:
    result = run_one(scenario, references, DEFAULT_SEED, is_judged=False)
    sys.stdout.write(f"{scenario.id} {history_digest(result.header, result.entries)}\n")
    sys.stdout.flush()  # before the process of a scenario that runs alone ends


if __name__ == "__main__":
    main()
