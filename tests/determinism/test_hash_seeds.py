"""Every scenario, run under different hash seeds: the histories have the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys

from conformance.scenarios import SCENARIOS

HASH_SEEDS = ("0", "12345")
"""Sets of strings are iterated in another order under each."""


def test_every_scenario_gives_the_same_bytes_whatever_strings_hash_to() -> None:
    command = [sys.executable, "-m", "tests.determinism.print_digests"]
    processes = [
        subprocess.Popen(
            command, env={**os.environ, "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE, text=True
        )
        for seed in HASH_SEEDS
    ]
    one, other = (_digests(process) for process in processes)
    assert list(one) == list(SCENARIOS)
    assert [name for name in one if one[name] != other[name]] == []


def _digests(process: subprocess.Popen[str]) -> dict[str, str]:
    """The digest of each scenario's history, as the process printed them."""
    output, _ = process.communicate()
    assert process.returncode == 0
    digests = {}
    for line in output.splitlines():
        name, _, digest = line.partition(" ")
        digests[name] = digest
    return digests
