"""An exception in a controller is reported once, with its type and line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.implementations.ours import implementation
from conformance.report.run_result import RunResult
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from reference_controller.appwrapper.rules import Rules
from vocabulary.history import Mark, Write


def breaks(*_: Any, **__: Any) -> Any:
    raise KeyError("spec\nand more")


def run_with(decision: str) -> RunResult:
    broken = type("Broken", (Rules,), {decision: breaks})
    under_test = replace(implementation("reference", "appwrapper"), name="broken", rules=broken)
    return run_one(SCENARIOS["appwrapper/retry/one-failure-is-retried"], under_test, 1729)


@pytest.mark.parametrize("decision", ["is_failed_pod", "failure_grace_ends_at", "parameters"])
def test_what_a_reconcile_raises_is_in_the_history_once_and_in_what_the_run_says(decision):
    found = run_with(decision)
    said = "appwrapper raised KeyError: 'spec\\nand more' (test_broken_controllers.py:"
    texts = [entry.text for entry in found.entries if isinstance(entry, Mark)]
    assert len([text for text in texts if text.startswith(said)]) == 1
    assert said in found.error
    assert found.error.startswith("not reached: ")


def test_what_a_webhook_raises_is_told_likewise_and_refuses_the_write():
    found = run_with("lasting_labels")
    assert (
        "webhook of appwrapper raised KeyError: 'spec\\nand more' (test_broken_controllers.py:"
        in found.error
    )
    refused = {entry.code for entry in found.entries if isinstance(entry, Write)}
    assert 500 in refused
