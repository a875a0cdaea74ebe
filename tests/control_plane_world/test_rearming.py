"""Durations follow the machine's pace; what they were too short for is run again, once longer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec
import pytest

from conformance import claims
from conformance.implementations.ours import implementation
from conformance.norm.verdict import Outcome, Verdict
from conformance.report.run_result import RunResult, SuiteResult
from conformance.running import suite, why_not_run
from conformance.running.rearming import STRETCHES, unarmed
from conformance.running.run_options import RunOptions
from conformance.running.runner import run_one
from conformance.running.workers import RunAll, Task
from conformance.scenarios import SCENARIOS
from conformance.suites.appwrapper.settings import (
    DEFAULT_CONFIG,
    SETTINGS,
    SHORT_CONFIG,
    Durations,
    short_config,
)
from vocabulary.clock import SECOND

REPAIRED = "appwrapper/detection/failed-pod-is-replaced-in-time"
ITS_CLAIM = "AW-046"


def durations(late_us: int, stretch: int = 1) -> Durations:
    return Durations.of(SETTINGS.overlay(DEFAULT_CONFIG, short_config(late_us, stretch)))


def test_durations_are_the_short_ones_where_nobody_is_late() -> None:
    assert short_config(0) == SHORT_CONFIG
    assert short_config(2 * SECOND) == SHORT_CONFIG


def test_durations_keep_their_proportions_on_a_slow_machine() -> None:
    usual, slow = durations(0), durations(10 * SECOND)
    assert slow.failure_grace_us == 10 * SECOND
    for name in ("admission_grace_us", "warmup_grace_us", "retry_pause_us", "grace_maximum_us"):
        assert getattr(slow, name) == 2 * getattr(usual, name)
    assert slow.retry_limit == usual.retry_limit


def test_stretching_multiplies_what_the_pace_asks_for() -> None:
    assert durations(10 * SECOND, 2).failure_grace_us == 20 * SECOND
    assert durations(0, 4).retry_pause_us == 4 * durations(0).retry_pause_us


@pytest.fixture(scope="module")
def armed() -> RunResult:
    return run_one(SCENARIOS[REPAIRED], implementation("reference", "appwrapper"), 1)


def said(run: RunResult, outcome: Outcome, armed: int = 0) -> RunResult:
    """The run, with another verdict on the claim that it is for."""
    others = [verdict for verdict in run.verdicts if verdict.claim != ITS_CLAIM]
    own = Verdict(claim=ITS_CLAIM, outcome=outcome, armed=armed)
    return msgspec.structs.replace(run, verdicts=(*others, own))


def test_only_what_says_nothing_of_its_own_claim_is_worth_another_run(armed: RunResult) -> None:
    silent = said(armed, Outcome.INCONCLUSIVE)
    assert unarmed([armed]) == {}
    assert unarmed([silent]) == {REPAIRED: (ITS_CLAIM,)}
    assert unarmed([silent, armed]) == {}
    assert unarmed([armed, silent]) == {}


def test_what_was_violated_or_broke_off_is_never_tried_again(armed: RunResult) -> None:
    silent = said(armed, Outcome.INCONCLUSIVE)
    broke_off = msgspec.structs.replace(silent, error="not reached: something")
    failed = msgspec.structs.replace(
        silent, verdicts=(*silent.verdicts, Verdict(claim="AW-005", outcome=Outcome.FAILED))
    )
    for bad in (broke_off, failed, said(armed, Outcome.FAILED, 1)):
        assert unarmed([bad]) == {}
        assert unarmed([bad, silent]) == {}
        assert unarmed([silent, bad]) == {}


def run_with(
    results: dict[int, RunResult], monkeypatch: pytest.MonkeyPatch
) -> tuple[SuiteResult, list[Task]]:
    """The suite of one scenario on a pretended control plane: per stretch, what it gives."""
    made: list[Task] = []

    @contextmanager
    def workers(_options: RunOptions, _roles: object, *, many: bool) -> Iterator[RunAll]:
        def run_all(tasks: Sequence[Task]) -> Iterator[RunResult]:
            made.extend(tasks)
            return (
                msgspec.structs.replace(results[task.stretch], variant=task.variant)
                for task in tasks
            )

        yield run_all

    monkeypatch.setattr(suite, "workers", workers)
    return suite.run_suite([REPAIRED], RunOptions(cluster="control-plane"), lambda _: None), made


def test_a_scenario_is_run_again_with_longer_durations_until_it_arms_its_claim(
    armed: RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = said(armed, Outcome.INCONCLUSIVE)
    result, made = run_with({1: silent, 2: silent, 4: armed}, monkeypatch)
    assert [task.stretch for task in made] == [1, 2, 4]
    assert [run.variant for run in result.runs] == ["", "durations × 2", "durations × 4"]
    assert result.notes == tuple(
        f"1 scenario run again with durations × {stretch}: the machine was too slow to arm AW-046"
        for stretch in STRETCHES
    )


def test_it_is_given_up_after_the_last_stretch(
    armed: RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = said(armed, Outcome.INCONCLUSIVE)
    _, made = run_with({1: silent, 2: silent, 4: silent}, monkeypatch)
    assert [task.stretch for task in made] == [1, *STRETCHES]


def test_a_suite_that_armed_everything_is_run_once(
    armed: RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, made = run_with({1: armed}, monkeypatch)
    assert len(made) == 1
    assert result.notes == ()


def test_a_claim_is_out_of_reach_only_where_no_scenario_could_arm_it() -> None:
    assert why_not_run.out_of_reach("simulated") == {}
    reasons = why_not_run.out_of_reach("control-plane")
    assert reasons["AW-079"].startswith("Only the simulation can arm it: appwrapper/parameters/")
    assert reasons["MLB-024"].startswith("Only the simulation can arm it: it speaks of default")
    by_themselves = {claim.id for claim in claims.load() if claim.only_simulated}
    assert {"MLB-024", "MLB-061"} <= by_themselves
    for claim in reasons.keys() - by_themselves:
        arming = [found for found in SCENARIOS.values() if claim in found.arms]
        assert arming
        assert all(found.only_simulated for found in arming)
    # One of the scenarios that arm it cannot run there; others can.
    assert "AW-020" not in reasons
