"""Runs every scenario in a process of its own, and prints the digest of each history.

A module to be run, not a test: what Python hashes by is decided when a process starts.
"""

from __future__ import annotations

import sys

from conformance.implementation import implementations
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from vocabulary.history import history_digest
from vocabulary.implementations import REFERENCE


def main() -> None:
    for scenario in SCENARIOS.values():
        references = implementations(REFERENCE, scenario.roles)
        result = run_one(scenario, references, DEFAULT_SEED, is_judged=False)
        sys.stdout.write(f"{scenario.id} {history_digest(result.header, result.entries)}\n")


if __name__ == "__main__":
    main()
