"""The catalogue of claims: its contents for each, besides the claim's own text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from chaos.fault import FAULTS
from conformance.implementations.ours import implementations
from conformance.report.catalogue import catalogue_text
from conformance.running.fault_use import OtherRunsError, faults_by_scenario_in, faults_of
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from vocabulary.history import Entry, write_history
from vocabulary.implementations import REFERENCE


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


HELD = "appwrapper/deletion/component-is-held-by-a-foreign-finalizer"


@pytest.fixture
def only_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """One scenario is all that there are."""
    monkeypatch.setattr("conformance.running.fault_use.SCENARIOS", {HELD: SCENARIOS[HELD]})


def written(
    folder: Path,
    *,
    implementation: str = REFERENCE,
    seed: int = DEFAULT_SEED,
    entries: slice = slice(None),
) -> None:
    """Write the history of a run of that scenario where `assay run` writes it."""
    scenario = SCENARIOS[HELD]
    run = run_one(scenario, implementations(implementation, scenario.roles), seed, is_judged=False)
    kept: tuple[Entry, ...] = tuple(run.entries)[entries]
    (folder / "histories").mkdir()
    write_history(folder / "histories" / "held.jsonl.gz", run.header, kept)


@pytest.mark.usefixtures("only_held")
def test_recorded_runs_have_the_faults_that_strike_in_a_new_run(tmp_path: Path) -> None:
    written(tmp_path)
    assert faults_by_scenario_in(tmp_path) == {HELD: faults_of(HELD)}


@pytest.mark.usefixtures("only_held")
def test_recorded_runs_of_another_kind_are_refused(tmp_path: Path) -> None:
    cases: dict[str, dict[str, Any]] = {
        "default seed": {"seed": DEFAULT_SEED + 1},
        "references": {"implementation": "mutant:quota-released-on-failed"},
        "cut short": {"entries": slice(-1)},
    }
    for said, how in cases.items():
        folder = tmp_path / said
        folder.mkdir()
        written(folder, **how)
        with pytest.raises(OtherRunsError, match=said):
            faults_by_scenario_in(folder)


@pytest.mark.usefixtures("only_held")
def test_a_report_without_a_scenario_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OtherRunsError, match=f"no history of {HELD} is there"):
        faults_by_scenario_in(tmp_path)


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
