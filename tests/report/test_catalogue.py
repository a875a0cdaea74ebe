"""The catalogue of claims: its contents for each, besides the claim's own text."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from chaos.fault import FAULTS
from conformance.report.catalogue import catalogue_text
from conformance.running.fault_use import faults_of


@pytest.mark.parametrize(
    ("scenario", "faults"),
    [
        ("appwrapper/retry/limit-is-exhausted/1", ()),
        ("appwrapper/retry/one-failure-is-retried", ("kill_pod",)),
        (
            "appwrapper/deletion/component-is-held-by-a-foreign-finalizer",
            ("hold_object", "kill_pod"),
        ),
    ],
)
def test_the_faults_of_a_scenario_are_those_that_strike_in_its_run(
    scenario: str, faults: tuple[str, ...]
) -> None:
    assert faults_of(scenario) == faults
    assert FAULTS.keys() >= set(faults)


def entry_of(claim: str, text: str) -> dict[str, Any]:
    """The entry of one claim."""
    found: dict[str, Any] = next(
        entry for entry in yaml.safe_load(text)["claims"] if entry["id"] == claim
    )
    return found


def test_a_claim_names_its_mutants_and_the_faults_of_the_scenarios_that_arm_it() -> None:
    text = catalogue_text(
        {"MLB-049": ("unhealthy-for-ever",)},
        {
            "appwrapper/retry/one-failure-is-retried": ("kill_pod",),
            "appwrapper/operator-faults/killed-while-a-failure-is-borne": ("kill", "kill_pod"),
            "appwrapper/nodes/all-nodes-are-cordoned": ("cordon",),
        },
    )
    assert entry_of("MLB-049", text)["mutants"] == ["unhealthy-for-ever"]
    assert entry_of("MLB-049", text)["faults"] == ["kill", "kill_pod"]
    assert "faults" not in entry_of("MLB-021", text)
