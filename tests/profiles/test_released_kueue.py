"""Released Kueue on the simulated cluster: what both are convicted of, and what they keep."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from clusters.simulated.custom_resources.conversion import WebhookConversion
from conformance.history import History
from conformance.implementations.ours import implementations
from conformance.norm.verdict import Outcome
from conformance.profiles.choosing import left_out, simulated
from conformance.profiles.program import ProgramMissingError
from conformance.profiles.reading import read_profile
from conformance.report.run_result import RunResult
from conformance.running.repeated import difference_between
from conformance.running.runner import run_one
from conformance.scenario_type import Scenario
from conformance.scenarios import SCENARIOS
from conformance.suite import shipped_profiles
from conformance.suites.kueue.api import KEP, RELEASED
from conformance.suites.kueue.view import KueueHistory
from conformance.worlds.simulated.world import SimulatedWorld
from reference_controller.kueue.conversion import converted
from tests.reference_kueue.made import IN_BOTH_VERSIONS
from vocabulary.clock import MILLISECOND, MINUTE, SECOND

pytestmark = pytest.mark.slow

REQUEUES = ("KQ-006", "KQ-010", "KQ-012", "KQ-014", "KQ-016")
ROOT = Path(__file__).parents[2]
WRITTEN_TO = "kueue/requeuing/written-to-in-its-back-off"
CELLS_OF_A_SAMPLE = 4
EDITIONS = {"kueue-v0.6.2": KEP, "kueue-v0.12.3": RELEASED, "kueue-v0.19.2": RELEASED}


def repeated_run(release: str, scenario: Scenario, **others: str) -> RunResult:
    """The run, which a second one has repeated byte for byte; `others` are released operators of
    other roles beside it."""
    try:
        released = {role: simulated(name, role) for role, name in others.items()}
        released["kueue"] = simulated(release, "kueue")
    except ProgramMissingError as missing:
        pytest.skip(str(missing))
    first, second = (run_one(scenario, released, 1, None, "", EDITIONS[release]) for _ in range(2))
    assert difference_between(first, second) == ""
    return first


def verdict(run: RunResult, claim: str) -> Outcome:
    return next(each.outcome for each in run.verdicts if each.claim == claim)


@pytest.mark.parametrize("release", EDITIONS)
def test_its_pods_are_never_ready(release: str) -> None:
    run = repeated_run(release, SCENARIOS["kueue/requeuing/pods-are-never-ready"])
    assert run.error == ""
    assert {verdict(run, claim) for claim in REQUEUES} == {Outcome.PASSED}


@pytest.mark.parametrize("release", EDITIONS)
def test_it_acts_on_its_timers_when_they_are_due_however_often_it_polls(release: str) -> None:
    run = repeated_run(release, SCENARIOS["kueue/requeuing/pods-are-never-ready"])
    history = History(run.header, run.entries)
    (its,) = KueueHistory(history).subjects
    assert its.timeouts
    for each in its.timeouts:
        began_us = max(state.t for state in its.admissions if state.n < each.n)
        assert began_us // SECOND * SECOND <= each.t - 5 * MINUTE < began_us + 100 * MILLISECOND


@pytest.mark.parametrize(
    ("release", "outcome"),
    [
        ("kueue-v0.6.2", Outcome.FAILED),
        ("kueue-v0.12.3", Outcome.PASSED),
        ("kueue-v0.19.2", Outcome.PASSED),
    ],
)
def test_one_that_is_written_to_in_its_back_off(release: str, outcome: Outcome) -> None:
    assert verdict(repeated_run(release, SCENARIOS[WRITTEN_TO]), "KQ-016") is outcome


def test_one_that_is_reactivated_after_the_limit_is_never_requeued() -> None:
    """Kueue #14870."""
    run = repeated_run("kueue-v0.19.2", SCENARIOS["kueue/requeuing/limit-is-reached"])
    assert verdict(run, "KQ-036") is Outcome.FAILED


@pytest.mark.parametrize("way", ["preemption", "failure"])
def test_it_admits_the_appwrappers_of_a_release(way: str) -> None:
    """AppWrapper v1.2.0 holds its quota until its pods are gone, and Kueue waits for it."""
    scenario = SCENARIOS[f"quota/cells/of-app-wrapper/{way}/slow"]
    run = repeated_run("kueue-v0.19.2", scenario, appwrapper="appwrapper-v1.2.0")
    assert run.error == ""
    assert verdict(run, "QL-004") is Outcome.PASSED


def test_a_workload_may_be_finished_before_its_job_is_gone() -> None:
    scenario = SCENARIOS["quota/cells/of-job/deleted-with-orphans/quick"]
    assert verdict(repeated_run("kueue-v0.19.2", scenario), "QL-016") is Outcome.PASSED


@pytest.mark.parametrize("release", ["kueue-v0.6.2", "kueue-v0.12.3", "kueue-v0.19.2"])
def test_it_gives_quota_back_when_the_page_says(release: str, tmp_path: Path) -> None:
    """The page has all cells; these are a sample, drawn by the release's name."""
    try:
        simulated(release, "kueue")
    except ProgramMissingError as missing:
        pytest.skip(str(missing))
    lacking = left_out([read_profile(shipped_profiles()[release])])
    cells = [each for each in SCENARIOS if each.startswith("quota/cells/") and each not in lacking]
    drawn = Random(release).sample(cells, CELLS_OF_A_SAMPLE)
    run = [sys.executable, "-m", "conformance.cli", "run", *drawn, "--implementation", release]
    edition = ["--edition", EDITIONS[release], "--no-shrink", "--quiet", "--out", str(tmp_path)]
    subprocess.run([*run, *edition], check=False)
    check = [sys.executable, str(ROOT / "ci" / "released-quota-table"), release, "--check"]
    checked = subprocess.run(
        [*check, "--runs", str(tmp_path)], check=False, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("sample", IN_BOTH_VERSIONS)
def test_the_reference_converts_as_the_released_controller_does(sample: str) -> None:
    older, newer = IN_BOTH_VERSIONS[sample]
    try:
        released = simulated("kueue-v0.19.2", "kueue")
    except ProgramMissingError as missing:
        pytest.skip(str(missing))
    scenario = SCENARIOS["kueue/requeuing/pods-are-never-ready"]
    world = SimulatedWorld(scenario, {"kueue": released}, 1, None)
    kind = older["kind"]
    (definition,) = (each for each in released.crds() if each["spec"]["names"]["kind"] == kind)
    for given, version in ((older, newer["apiVersion"]), (newer, older["apiVersion"])):
        answer = WebhookConversion(definition, world.cluster.api.conversion)(given, version)
        assert _told(answer) == _told(converted(given, version))
    world.close()


def _told(value: Any) -> Any:
    """A value without what it says nothing with: Go's types have every field."""
    if isinstance(value, Mapping):
        told = {name: _told(each) for name, each in value.items()}
        return {name: each for name, each in told.items() if each not in (None, "", 0, {}, [])}
    return [_told(each) for each in value] if isinstance(value, list) else value


RELEASES = {"kueue": "kueue-v0.19.2", "appwrapper": "appwrapper-v1.2.0", "jobset": "jobset-v0.12.0"}
PREFIXES = {"kueue": {"KQ", "QL"}, "appwrapper": {"AW", "INV", "MLB"}, "jobset": {"JS"}}


@pytest.mark.parametrize("released", ["kueue", "jobset", "appwrapper,jobset", ",".join(RELEASES)])
def test_three_operators_are_releases_or_references(released: str) -> None:
    """A JobSet in an AppWrapper in a queue: whichever of them is a release, no claim on another one
    is violated. Kueue v0.19.2 gives the quota of a Workload that is deactivated away at once."""
    scenario = SCENARIOS["quota/shapes/app-wrapper-of-a-job-set"]
    roles = released.split(",")
    try:
        of_releases = {role: simulated(RELEASES[role], role) for role in roles}
    except ProgramMissingError as missing:
        pytest.skip(str(missing))
    under_test = {**implementations("reference", scenario.roles), **of_releases}
    edition = RELEASED if "kueue" in roles else KEP
    run = run_one(scenario, under_test, 1, None, "", edition)
    assert run.error == ""
    violated = {each.claim for each in run.verdicts if each.outcome is Outcome.FAILED}
    blamed = {claim.partition("-")[0] for claim in violated}
    assert blamed <= {prefix for role in roles for prefix in PREFIXES[role]}
    assert ({"KQ-047", "QL-002"} <= violated) is ("kueue" in roles)
