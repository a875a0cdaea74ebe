"""A failure is shrunk to what the same claim's violation needs, and to nothing less."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import msgspec
import pytest

from chaos.exploration import crash_points
from chaos.plan import Plan, plan_from_data
from conformance.implementations.ours import implementation
from conformance.norm.verdict import Outcome
from conformance.report.failures import by_entry
from conformance.report.run_result import RunResult
from conformance.running import suite
from conformance.running.run_options import RunOptions
from conformance.running.runner import run_one
from conformance.running.shrunk import Failure, failures, shrunk, smallest_run, whole_plan
from conformance.scenarios import SCENARIOS
from tests.shrinking.noisy import SLOW_PODS, TWO_FAILURES, failure_of, noisy_run
from vocabulary.history import Counterpart, history_digest

MUTANT = "quota-released-on-failed"


def small(failure: Failure) -> RunResult:
    run = shrunk(failure)
    assert run is not None
    return run


def outcome(claim: str, run: RunResult) -> Outcome:
    return next(verdict.outcome for verdict in run.verdicts if verdict.claim == claim)


@pytest.mark.parametrize(
    "scenario",
    [
        SLOW_PODS,
        TWO_FAILURES,
        "appwrapper/operator-faults/frozen-caches",
        "appwrapper/operator-faults/paused-in-the-middle",
        "appwrapper/autopilot/evictions-are-not-counted",
        "appwrapper/deletion/pods-stuck-terminating-during-a-reset",
    ],
)
def test_all_that_went_wrong_in_a_run_is_one_plan_that_replays_it_byte_for_byte(
    scenario: str,
) -> None:
    run = noisy_run(scenario, MUTANT)
    plan = whole_plan(run)
    again = run_one(
        SCENARIOS[scenario], implementation(f"mutant:{MUTANT}", "appwrapper"), run.seed, plan
    )
    assert plan.exhaustive
    assert again.entries == run.entries


def test_faults_that_a_violation_does_not_need_are_dropped_and_the_scenario_made_smaller() -> None:
    noisy = noisy_run(SLOW_PODS, MUTANT)
    run = small(failure_of("AW-015", noisy))
    assert len(noisy.struck) == 5
    assert run.shrunk == "plan shrunk 5 → 1 fault, 2 nodes → 1, 2 replicas → 1"
    assert run.plan == {
        "seed": 1729,
        "scenario": SLOW_PODS,
        "implementation": f"mutant:{MUTANT}",
        "scale": {"nodes": 1, "replicas": 1},
        "exhaustive": True,
        "faults": [{"kill_pod": {"pod": {"appwrapper": "a"}}, "when": {"injection": 1}}],
    }
    assert outcome("AW-015", run) is Outcome.FAILED


def test_two_faults_that_only_together_violate_a_claim_are_both_kept() -> None:
    run = small(failure_of("AW-015", noisy_run(TWO_FAILURES, MUTANT)))
    assert run.shrunk == "plan shrunk 6 → 2 faults, 2 nodes → 1, 2 replicas → 1"
    assert [step["when"] for step in run.plan["faults"]] == [{"injection": 1}, {"injection": 2}]


def test_a_crash_is_dropped_where_the_scenarios_own_fault_is_enough() -> None:
    scenario, mutant = SCENARIOS[SLOW_PODS], implementation(f"mutant:{MUTANT}", "appwrapper")
    point = crash_points(run_one(scenario, mutant, 1729).entries, "appwrapper")[4]
    crashed = run_one(scenario, mutant, 1729, point.plan(Plan(SLOW_PODS, 1729)))
    assert [next(iter(step)) for step in crashed.struck] == ["kill", "kill_pod"]
    run = small(failure_of("AW-015", crashed))
    assert run.shrunk.startswith("plan shrunk 2 → 1 fault")
    assert [next(iter(step)) for step in run.plan["faults"]] == ["kill_pod"]


def test_a_shrunk_run_violates_the_claims_it_was_shrunk_for_by_one_entry() -> None:
    failure = failure_of("AW-015", noisy_run(SLOW_PODS, MUTANT))
    assert failure.claims == ("AW-015", "INV-2", "MLB-053")
    (broken,) = by_entry(small(failure).verdicts)
    assert {verdict.claim for verdict in broken} >= {*failure.claims}


def test_of_a_failure_that_nothing_can_be_taken_from_nothing_is_said() -> None:
    once = small(failure_of("AW-015", noisy_run(SLOW_PODS, MUTANT)))
    plan = plan_from_data(once.plan)
    failure = Failure(
        claims=("AW-015",),
        shown_for=("AW-015",),
        implementation=f"mutant:{MUTANT}",
        plan=plan,
    )
    assert shrunk(failure) is None


def test_only_the_earliest_failure_that_shows_all_claims_is_shrunk() -> None:
    early = "appwrapper/deletion/component-is-held-by-a-foreign-finalizer"
    late = noisy_run(SLOW_PODS, MUTANT)
    (found,) = failures([late, noisy_run(early, MUTANT)])
    assert outcome("AW-015", late) is Outcome.FAILED
    assert found.plan.scenario == early
    assert found.shown_for == ("AW-015", "INV-2", "MLB-053")


def test_it_is_shrunk_with_the_profile_that_its_plan_names() -> None:
    """The history's header has the name of the profile, and no file."""
    run = noisy_run(SLOW_PODS, MUTANT)
    of_file = msgspec.structs.replace(run, plan={**run.plan, "implementation": "mine.yaml"})
    (found,) = failures([of_file])
    assert found.implementation == "mine.yaml"


def test_a_sound_controller_has_nothing_to_shrink() -> None:
    run = run_one(SCENARIOS[SLOW_PODS], implementation("reference", "appwrapper"), 1729)
    assert failures([run]) == []


def test_shrinking_gives_the_same_bytes_whatever_strings_hash_to() -> None:
    command = [sys.executable, "-m", "tests.shrinking.print_shrunk"]
    one, other = (
        subprocess.run(
            command,
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "12345")
    )
    assert one == other
    assert one.count("plan shrunk") == 2


def test_a_shrunk_plan_replays_the_history_of_its_run() -> None:
    run = small(failure_of("AW-015", noisy_run(SLOW_PODS, MUTANT)))
    plan = plan_from_data(run.plan)
    mutant = implementation(plan.implementation, "appwrapper")
    again = run_one(SCENARIOS[SLOW_PODS], mutant, plan.seed, plan)
    assert history_digest(again.header, again.entries) == history_digest(run.header, run.entries)


def test_a_simpler_plan_of_a_compared_run_fails_by_the_same_cause() -> None:
    """Ends may differ for any reason, and the claim is the same one."""
    run = noisy_run(SLOW_PODS, MUTANT)
    known = Counterpart(scenario=SLOW_PODS, sha256="", is_stable=True, end={})
    header = msgspec.structs.replace(run.header, counterpart=known)
    compared = msgspec.structs.replace(run, header=header)
    (found,) = failures([compared])
    other = msgspec.structs.replace(found, cause="operator: ADDED ConfigMap")
    assert found.cause == "appwrapper: MODIFIED AppWrapper.workload.codeflare.dev"
    assert smallest_run(found, lambda _: compared) is not None
    assert smallest_run(other, lambda _: compared) is None


def test_an_interruption_meanwhile_loses_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_found: object, _jobs: int) -> Iterator[None]:
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(suite, "shrink_all", interrupted)
    options = RunOptions(implementation=f"mutant:{MUTANT}", jobs=1)
    made = suite.run_suite((SLOW_PODS,), options, lambda _progress: None)
    assert made.interrupted == "interrupted while failures were made simpler"
    assert outcome("AW-015", made.runs[0]) is Outcome.FAILED
