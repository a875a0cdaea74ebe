"""A controller that never comes to rest ends a run, and is reported as such."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from clusters.simulated import loop as loops
from conformance.implementations.ours import implementation
from conformance.manifests.files import load_manifests
from conformance.norm.verdict import Outcome, Verdict
from conformance.report.run_result import RunResult
from conformance.running import hung
from conformance.running.hung import HungError, processor_time_bounded
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.world import World
from conformance.worlds.simulated import bounds
from reference_controller.appwrapper import observe, running
from reference_controller.appwrapper.names import Phase
from reference_controller.appwrapper.observation import Observation, PodCounts
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.status import is_suspended
from vocabulary.clock import MILLISECOND
from vocabulary.history import Mark
from vocabulary.objects import Object

PODS = 500
SLOW_PODS = SCENARIOS["appwrapper/deletion/slow-pods-hold-their-quota"]


class Unsettled(Rules):
    """Begins an attempt anew while one is under way, and so writes the status without end."""

    def may_resume(self, phase: str, aw: Object) -> bool:
        return phase in (Phase.SUSPENDED, Phase.RESUMING) and not is_suspended(aw)


class Resetting(Rules):
    """Resets a workload indefinitely, whatever its pods do."""

    def failed_pods(self, seen: Observation, census: Sequence[PodCounts]) -> int:
        return 1

    def is_within_limit(self, resets: int, limit: int) -> bool:
        return True


class Endless(Rules):
    """Never returns from a decision."""

    def honours_suspend(self, phase: str, aw: Object) -> bool:
        while True:
            pass


@pytest.fixture
def no_run_has_hung() -> Iterator[None]:
    hung.forget_hung_runs()
    yield
    hung.forget_hung_runs()


def run_with(rules: Callable[[], Rules], name: str = "wrong") -> RunResult:
    return run_one(
        SLOW_PODS, replace(implementation("reference", "appwrapper"), name=name, rules=rules), 1729
    )


def marks_of(run: RunResult) -> list[Mark]:
    return [entry for entry in run.entries if isinstance(entry, Mark)]


def verdict_on_progress(run: RunResult) -> Verdict:
    return next(verdict for verdict in run.verdicts if verdict.claim == "INV-8")


def test_a_run_with_more_steps_than_any_needs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_STEPS", 60)
    monkeypatch.setattr(bounds, "STEPS_PER_POD", 0)
    run = run_with(Rules)
    assert run.error.startswith("not reached: ")
    assert run.error.endswith("given up after 61 events, the limit of Assay for 3 pods")
    *_, last, end = marks_of(run)
    assert (last.mark, end.mark) == ("not-stable", "end")
    assert last.text == "given up after 61 events, the limit of Assay for 3 pods"
    assert verdict_on_progress(run).outcome is Outcome.INCONCLUSIVE
    assert "given up after 61 events" in verdict_on_progress(run).because


def test_a_run_with_more_entries_than_any_needs_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounds, "MAX_ENTRIES", 20)
    monkeypatch.setattr(bounds, "ENTRIES_PER_POD", 0)
    run = run_with(Rules)
    # The twentieth may be none of a write, which alone are counted.
    assert re.search(
        r"given up after 2\d entries in the history, the limit of Assay for \d pods$", run.error
    )
    assert verdict_on_progress(run).outcome is Outcome.INCONCLUSIVE


def test_the_limits_grow_with_the_pods_that_users_ask_for() -> None:
    def steps(world: World) -> None:
        job = load_manifests(world.folder / "job.yaml")[0]
        (component,) = job["spec"]["components"]
        template = component["template"]
        spec = {**template["spec"], "parallelism": PODS, "completions": PODS}
        components = [{"template": {**template, "spec": spec}}]
        aw = AppWrapper.submit(world, {**job, "spec": {"components": components}})
        world.until(aw.is_in("Running") & aw.shows("PodsReady"))

    scenario = replace(SLOW_PODS, steps=steps, nodes=PODS // 10)
    run = run_one(scenario, implementation("reference", "appwrapper"), 1729)
    assert not run.error
    assert len(run.entries) > bounds.MAX_ENTRIES


def test_an_operator_that_writes_for_ever_has_failed_progress() -> None:
    run = run_with(Unsettled)
    assert "given up after 120 writes of appwrapper without progress, 120 of them: " in run.error
    verdict = verdict_on_progress(run)
    assert verdict.outcome is Outcome.FAILED
    assert "while it stayed Resuming and nobody else wrote anything" in verdict.because
    assert len(run.entries) < 400


def test_an_operator_that_resets_for_ever_is_given_up() -> None:
    run = run_with(Resetting)
    assert run.error.endswith("given up after 9 times that AppWrapper a began again")


@pytest.mark.usefixtures("no_run_has_hung")
def test_an_operator_that_never_returns_ends_its_run_by_its_processor_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hung, "MAX_PROCESSOR_SECONDS", 0.2)
    monkeypatch.setattr(hung, "SECONDS_PER_POD", 0)
    monkeypatch.setattr(hung, "SECONDS_PER_EVENT", 0)
    run = run_with(Endless)
    assert run.error == "given up after 0.2 s of processor time, at test_livelock.py"
    assert marks_of(run)[-1].mark == "end"
    assert verdict_on_progress(run).outcome is Outcome.INCONCLUSIVE


@pytest.mark.usefixtures("no_run_has_hung")
def test_an_operator_that_has_never_returned_twice_is_not_run_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hung, "MAX_PROCESSOR_SECONDS", 0.2)
    monkeypatch.setattr(hung, "SECONDS_PER_POD", 0)
    monkeypatch.setattr(hung, "SECONDS_PER_EVENT", 0)
    runs = [run_with(Endless) for _ in range(3)]
    assert runs[-1].error == "given up after 2 runs of appwrapper=wrong that never returned"
    assert not run_with(Rules, "another").error


@pytest.mark.usefixtures("no_run_has_hung")
def test_code_of_the_same_name_in_another_role_is_run_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run_of(role: str, *, hangs: bool = False) -> None:
        with processor_time_bounded({role: "reference"}, lambda: 0, lambda: 0):
            if hangs:
                raise HungError("hung")

    monkeypatch.setattr(hung, "MAX_HUNG_RUNS", 1)
    with pytest.raises(HungError, match="hung"):
        run_of("toy", hangs=True)
    with pytest.raises(HungError, match="1 runs of toy=reference that never returned"):
        run_of("toy")
    run_of("appwrapper")


@pytest.mark.usefixtures("no_run_has_hung")
def test_an_operator_that_keeps_trying_has_more_processor_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hung, "MAX_PROCESSOR_SECONDS", 0.01)
    monkeypatch.setattr(hung, "RING_AGAIN_SECONDS", 0.01)
    monkeypatch.setattr(hung, "SECONDS_PER_EVENT", 1)
    events = 0
    with processor_time_bounded({"toy": "reference"}, lambda: 0, lambda: events):
        until = time.process_time() + 0.1
        while time.process_time() < until:
            events += 1


def test_an_operator_that_only_polls_comes_to_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "POLL_US", MILLISECOND)
    monkeypatch.setattr(observe, "_WATCHED", frozenset())
    run = run_with(Rules)
    assert not run.error
    assert [mark.mark for mark in marks_of(run)][-2:] == ["stable", "end"]


def test_a_wait_that_takes_more_steps_than_any_needs_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loops, "MAX_STEPS", 100)
    loop = loops.Loop(seed=1)

    def again() -> None:
        loop.call_later(0, again)

    again()
    with pytest.raises(loops.LivelockError, match="100 steps without an end at virtual second 0"):
        loop.run_for(1)


def test_a_loop_that_serves_for_ever_is_not_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "MAX_STEPS", 100)
    loop = loops.Loop(seed=1)

    def again() -> None:
        loop.call_later(1, again)

    again()
    for _ in range(10):
        loop.run_for(50)
    assert loop.steps >= 499
