"""Shrinks two failures in a process of its own; prints the plans and the histories' digests.

A module to be run, not a test: what Python hashes by is decided when a process starts.
"""

from __future__ import annotations

import sys

from conformance.running.shrunk import shrunk
from tests.shrinking.noisy import SLOW_PODS, TWO_FAILURES, failure_of, noisy_run
from vocabulary import canonical
from vocabulary.history import history_digest


def main() -> None:
    for scenario in (SLOW_PODS, TWO_FAILURES):
        run = shrunk(failure_of("AW-015", noisy_run(scenario, "quota-released-on-failed")))
        assert run is not None
        digest = history_digest(run.header, run.entries)
        sys.stdout.write(f"{run.shrunk} {canonical.digest(run.plan)} {digest}\n")


if __name__ == "__main__":
    main()
