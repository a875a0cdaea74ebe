"""Every scenario, run under another hash seed, alone and in other orders: the histories have the
same bytes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.sampled import SAMPLED

pytestmark = pytest.mark.slow


def test_every_scenario_gives_the_same_bytes_whatever_strings_hash_to_and_ran_before_it() -> None:
    begun = {
        "in the suites' order": _begin("suites"),
        "by another hash seed": _begin("suites", hash_seed="12345"),
        "in the reverse order": _begin("reversed"),
        "alone": _begin("alone"),
    }
    digests = {how: _digests(process) for how, process in begun.items()}
    expected = digests["in the suites' order"]
    assert list(expected) == list(SAMPLED)
    differing = {
        how: [name for name in expected if found.get(name) != expected[name]]
        for how, found in digests.items()
    }
    assert {how: names for how, names in differing.items() if names} == {}


def _begin(order: str, hash_seed: str = "0") -> subprocess.Popen[str]:
    """Sets of strings are iterated in another order under each hash seed."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.determinism.print_digests", order],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        stdout=subprocess.PIPE,
        text=True,
    )


def _digests(process: subprocess.Popen[str]) -> dict[str, str]:
    """The digest of each scenario's history, as the process printed them."""
    output, _ = process.communicate()
    assert process.returncode == 0
    return dict(line.split(" ") for line in output.splitlines())
