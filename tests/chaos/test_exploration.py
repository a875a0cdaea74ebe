"""Crash points are enumerated completely; plans are generated from seeds, and shrunk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from itertools import combinations
from typing import Any

import pytest

from chaos.campaign import pairwise, random_plan
from chaos.exploration import CRASH_PLACES, CrashPoint, crash_points
from chaos.fault import FAULTS, Fault
from chaos.faults import ApiErrors, Cordon, Kill, KillPod, StaleReads
from chaos.happening import Happening, Place
from chaos.injector import Injector
from chaos.macros import restart_storm, swizzle
from chaos.menu import FAULT_MENU, USER_MENU
from chaos.plan import Plan, Step, parse_plan, plan_from_data
from chaos.shrinking import shrink
from chaos.subject_kind import subject_kind
from chaos.terrain import Written
from chaos.trigger import At, Named, On
from conformance.suites.appwrapper.api import APPWRAPPER
from conformance.suites.appwrapper.faults.variation import Added, AppWrapperVariation
from tests.chaos.examples import TERRAIN
from tests.chaos.fake_ground import small_cluster
from vocabulary.clock import SECOND, Micros
from vocabulary.history import Mark, Process, Write

PASSED_BY = (Place.BEFORE_COMMIT, Place.AFTER_COMMIT, Place.BEFORE_REPLY, Place.AFTER_REPLY)


class Operator:
    """A toy that makes a fixed list of writes, and dies when it is killed."""

    WRITES = ("create", "update", "update", "delete", "patch")

    def __init__(self, plan: Plan) -> None:
        self.ground = small_cluster()
        self.entries: list[Any] = []
        self.died: tuple[int, Place] | None = None
        self.injector = Injector(self.ground, lambda *_: None, plan)
        self.injector.start()

    def run(self) -> None:
        self.entries.append(Mark(n=0, t=0, mark="step"))
        for k, verb in enumerate(self.WRITES, start=1):
            self._write("job-controller", "create")
            code = 409 if k == 3 else 200
            died_at = self._write("operator", verb, code)
            if died_at is not None:
                self.died = (k, died_at)
                return

    def _write(self, actor: str, verb: str, code: int = 200) -> Place | None:
        """Where the operator died on the way, if it did."""
        for place in PASSED_BY:
            if place is Place.AFTER_COMMIT:
                self.entries.append(
                    Write(
                        n=len(self.entries),
                        t=0,
                        actor=actor,
                        verb=verb,
                        kind="Pod",
                        name="p",
                        code=code,
                    )
                )
            known = 200 if place is Place.BEFORE_COMMIT else code
            self.injector.observe(Happening(place, actor, verb, "Pod", "t", "p", code=known))
            if self.ground.processes.states["operator"] != "running":
                return place
        return None


def baseline() -> list[Any]:
    operator = Operator(Plan("s"))
    operator.run()
    assert operator.died is None
    return operator.entries


def test_every_write_of_the_operator_has_a_crash_point_at_each_place():
    points = crash_points(baseline(), "operator")
    assert [(point.k, point.place) for point in points] == [
        (k, place) for k in range(1, 6) for place in CRASH_PLACES
    ]
    assert points[0].describe() == "killed before commit of write 1 of 5: create Pod p"


@pytest.mark.parametrize("index", range(15))
def test_the_plan_of_each_crash_point_kills_exactly_there_k_of_k(index: int):
    point = crash_points(baseline(), "operator")[index]
    operator = Operator(plan_from_data(point.plan(Plan("s")).to_data()))
    operator.run()
    assert operator.died == (point.k, point.place)


def test_a_crash_plan_keeps_the_faults_of_its_base_and_adds_one_kill():
    base = parse_plan("scenario: s\nseed: 7\nfaults: [{cordon: {node: n0}, when: {at: 1s}}]")
    plan = crash_points(baseline(), "operator")[0].plan(base, restart_after_us=None)
    assert plan.seed == 7 and plan.faults[0] == base.faults[0]
    assert plan.faults[1].fault == Kill("operator", restart_after=None)


def test_another_actors_crash_points_are_its_own():
    points = crash_points(baseline(), actor="job-controller")
    assert len(points) == 15 and {point.actor for point in points} == {"job-controller"}
    assert crash_points(baseline(), actor="nobody") == ()


def test_what_is_written_after_the_faults_have_stopped_has_no_crash_point():
    entries = baseline()
    last = max(n for n, entry in enumerate(entries) if getattr(entry, "actor", "") == "operator")
    stop = Mark(n=0, t=SECOND, mark="faults-stopped")
    points = crash_points([*entries[:last], stop, *entries[last:]], "operator")
    assert [point.k for point in points] == [k for k in range(1, 5) for _ in CRASH_PLACES]


def test_a_reply_that_a_process_did_not_live_to_hear_is_no_crash_point():
    end = Process(n=0, t=0, process="operator", change="killed")
    points = crash_points([*baseline(), end], "operator")
    assert {point.place for point in points} == {Place.BEFORE_COMMIT, Place.AFTER_COMMIT}


def test_no_crash_point_lies_at_a_delivery():
    with pytest.raises(ValueError, match="no crash is explored before delivery"):
        CrashPoint(1, 1, Place.BEFORE_DELIVERY, "x", "operator").trigger()


def test_every_fault_is_on_a_menu_or_is_the_undoing_or_a_variant_of_one_that_is():
    menu = {*FAULT_MENU, *USER_MENU, *subject_kind(APPWRAPPER).menu}
    others = {
        "edit_object",
        "label_node",
        "lift",
        "release_object",
        "resume",
        "return_lease",
        "start",
        "take_lease",  # scenarios of one operator have none
        "uncordon",
        "untaint",
    }
    assert menu | others == set(FAULTS) and not menu & others


def test_equal_seeds_give_equal_plans_and_seeds_differ():
    plans = [random_plan(TERRAIN, seed) for seed in range(50)]
    assert plans == [random_plan(TERRAIN, seed) for seed in range(50)]
    assert len({plan.digest() for plan in plans}) > 45


def test_random_plans_come_to_use_every_fault_on_the_menu():
    used = {
        step.fault.plan_key for seed in range(400) for step in random_plan(TERRAIN, seed).faults
    }
    assert used == {*FAULT_MENU, *USER_MENU, "autopilot_label"}


def test_random_plans_strike_at_whatever_the_run_showed():
    shown = replace(
        TERRAIN,
        conditions=(("Unhealthy", "True"),),
        pod_phases=("Running",),
        writes=(Written("delete", "Job", "", 1),),
    )
    spelled = str([random_plan(shown, seed).to_data() for seed in range(200)])
    for part in (
        "{'status.conditions[Unhealthy].status': 'True'}",
        "'event': 'updated', 'kind': 'Pod', 'labels': 'workload.codeflare.dev/appwrapper=a', "
        "'field': {'status.phase': 'Running'}",
        "'verb': 'delete', 'kind': 'Job', 'subresource': ''",
    ):
        assert part in spelled


def test_random_plans_vary_every_part_of_a_workload():
    varied = [random_plan(TERRAIN, seed).workload for seed in range(300)]
    drawn = {key for workload in varied if workload for key in workload.to_data()}
    assert drawn == {field.name for field in fields(AppWrapperVariation)}
    assert None in varied


def test_users_and_quotas_come_up_in_some_percent_of_the_plans():
    spelled = [str(random_plan(TERRAIN, seed).to_data()) for seed in range(400)]
    for part in (
        "'create_object'",
        "'suspend'",
        "'delete_object': {'kind': 'AppWrapper'",
        "'strip': 'finalizers'",
    ):
        assert sum(part in plan for plan in spelled) >= 12, part


def test_users_act_while_the_operator_is_down():
    def unnoticed(plan: Plan) -> bool:
        down = [
            (at, at + fault.restart_after)
            for fault, at in _timed(plan)
            if isinstance(fault, Kill) and fault.restart_after
        ]
        acts = [at for fault, at in _timed(plan) if fault.plan_key in USER_MENU]
        return any(begin < at < end for begin, end in down for at in acts)

    assert sum(unnoticed(random_plan(TERRAIN, seed)) for seed in range(400)) >= 12


def test_pairwise_tries_every_fault_alone_and_every_pair_once():
    plans = list(pairwise(TERRAIN, 1))
    groups = [tuple(sorted(step.fault.plan_key for step in plan.faults)) for plan in plans]
    names = sorted({*FAULT_MENU, *USER_MENU, "autopilot_label"})
    assert sorted(groups) == sorted([*((name,) for name in names), *combinations(names, 2)])
    assert plans == list(pairwise(TERRAIN, 1))


def test_a_swizzle_freezes_some_watches_one_by_one_and_thaws_them_in_another_order():
    kinds = ("Pod", "Job", "AppWrapper", "Node")
    orders = set()
    for seed in range(30):
        steps = swizzle(kinds, seed, at_us=10 * SECOND, step_us=SECOND)
        assert steps == swizzle(kinds, seed, at_us=10 * SECOND, step_us=SECOND)
        begins = [step.when.at for step in steps if isinstance(step.when, At)]
        ends = [at + (step.lasts_us or 0) for at, step in zip(begins, steps, strict=True)]
        assert begins == [(10 + n) * SECOND for n in range(len(steps))]
        assert sorted(ends) == [(10 + len(steps) + n) * SECOND for n in range(len(steps))]
        orders.add(tuple(ends))
        assert all(isinstance(step.fault, StaleReads) for step in steps)
    assert len(orders) > 5


def test_a_restart_storm_kills_again_when_the_actor_has_hardly_come_back():
    steps = restart_storm(3, at_us=SECOND, every_us=4 * SECOND)
    assert [step.when for step in steps] == [At(SECOND), At(5 * SECOND), At(9 * SECOND)]
    assert all(step.fault == Kill("operator", restart_after=2 * SECOND) for step in steps)


def _used(plans: Iterable[Plan]) -> set[str]:
    return {step.fault.plan_key for plan in plans for step in plan.faults}


def _has(plan: Plan, *keys: str) -> bool:
    return set(keys) <= {step.fault.plan_key for step in plan.faults}


def test_shrinking_keeps_only_the_faults_that_matter_in_their_simplest_form():
    plan = random_plan(TERRAIN, 0)
    noise = tuple(step for seed in range(6) for step in random_plan(TERRAIN, seed).faults)
    noise = tuple(step for step in noise if step.fault.plan_key not in ("kill", "cordon"))
    guilty = (
        Step(Kill("operator", restart_after=77 * SECOND), On(after="commit", occurrence=9), SECOND),
        Step(Cordon("n1"), At(123_456_789)),
    )
    plan = Plan("s", 1, (*noise[:7], guilty[0], *noise[7:], guilty[1]))
    shrunk = shrink(plan, lambda candidate: _has(candidate, "kill", "cordon"))
    assert shrunk.faults == (
        Step(Kill("operator"), On(after="commit")),
        Step(Cordon("n1"), At(0)),
    )


def test_shrinking_gives_the_workload_back_what_the_failure_does_not_need():
    workload = AppWrapperVariation(
        "a",
        name="b",
        replicas=3,
        behaviour="run 20s, exit 1",
        parameters={"retryLimit": "-1", "failureGracePeriodDuration": "0"},
        beside=(Added("Job", "x"), Added("Pod", "y")),
    )
    plan = Plan("s", 1, workload=workload)

    def needs_a_limit_and_a_pod(candidate: Plan) -> bool:
        varied = candidate.workload
        return (
            varied is not None
            and "retryLimit" in varied.parameters
            and Added("Pod", "y") in varied.beside
        )

    assert shrink(plan, needs_a_limit_and_a_pod).workload == AppWrapperVariation(
        "a", parameters={"retryLimit": "-1"}, beside=(Added("Pod", "y"),)
    )
    assert shrink(plan, lambda _: True).workload is None


def test_shrinking_stops_at_the_smallest_value_that_still_fails():
    plan = Plan("s", 1, (Step(KillPod("a"), On(after="commit", occurrence=13)),))

    def fails(candidate: Plan) -> bool:
        return any(
            isinstance(step.when, On) and step.when.occurrence >= 5 for step in candidate.faults
        )

    (step,) = shrink(plan, fails).faults
    assert isinstance(step.when, On) and step.when.occurrence == 5


def test_shrinking_takes_combined_triggers_apart_and_drops_names_nobody_uses():
    plan = parse_plan(
        "scenario: s\n"
        "triggers: {used: {at: 5s}, unused: {at: 6s}}\n"
        "faults:\n"
        "- kill: {}\n  when: {all: [used, {after: commit, kind: Pod}]}\n  until: {at: 1h}\n"
    )
    shrunk = shrink(plan, lambda candidate: _has(candidate, "kill"))
    assert shrunk.faults[0].until is None
    assert shrunk.faults[0].when in (Named("used"), On(after="commit", kind="Pod"))
    assert "unused" not in shrunk.triggers


def test_shrinking_is_bounded_never_repeats_a_plan_and_never_runs_the_first_one():
    plan = random_plan(TERRAIN, 3)
    seen: list[str] = []

    def fails(candidate: Plan) -> bool:
        seen.append(candidate.digest())
        return len(candidate.faults) > 0

    shrink(plan, fails)
    assert len(seen) == len(set(seen)) and plan.digest() not in seen
    seen.clear()
    shrink(plan, fails, max_runs=3)
    assert len(seen) == 3


@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_shrunk_still_fails_is_no_larger_and_reads_back(seed: int):
    plan = random_plan(TERRAIN, seed)
    guilty = plan.faults[-1].fault.plan_key

    def fails(candidate: Plan) -> bool:
        assert plan_from_data(candidate.to_data()) == candidate
        return _has(candidate, guilty)

    shrunk = shrink(plan, fails)
    assert _has(shrunk, guilty) and len(shrunk.faults) == 1


def test_a_plan_that_fails_without_any_fault_shrinks_to_none():
    plan = Plan("s", 1, (Step(ApiErrors(), At(0)), Step(Cordon("n0"), At(1))))
    assert shrink(plan, lambda _: True).faults == ()


def _timed(plan: Plan) -> list[tuple[Fault, Micros]]:
    return [(step.fault, step.when.at) for step in plan.faults if isinstance(step.when, At)]
