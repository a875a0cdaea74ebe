"""Scenarios that a cluster cannot host are known, with the reason, before any run."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest

from conformance.implementations.ours import implementation
from conformance.norm.claim import CLAIMS
from conformance.running.process_faults import CONNECTION
from conformance.running.why_not_run import (
    not_run,
    out_of_reach,
    reason_not_run,
    why_in_turn,
    why_one_process,
)
from conformance.scenario_type import Steps
from conformance.scenarios import SCENARIOS
from conformance.worlds.control_plane import network
from conformance.worlds.control_plane.component import CONTROLLERS, MANAGER, SCHEDULER
from conformance.worlds.existing.access import Access
from conformance.worlds.existing.node_pool import Survey
from conformance.worlds.existing.preflight import Limits, Undertaking, operator_images
from vocabulary.clock import HOUR

ROLES = ("appwrapper",)
STOPPING = ("Kill", "Pause", "Restart")
LOST = SCENARIOS["appwrapper/nodes/node-is-lost"]
TAINTED = SCENARIOS["appwrapper/nodes/node-is-tainted-no-execute"]
FEDERATED = SCENARIOS["appwrapper/injection/users-of-identity-providers-are-written-down"]
TWICE = SCENARIOS["appwrapper/operator-faults/two-operators-without-election"]
ELECTING = SCENARIOS["appwrapper/operator-faults/leader-is-killed"]
BROKEN_CONNECTION = SCENARIOS["appwrapper/operator-faults/suspended-blindly"]
SEVERAL = SCENARIOS["kueue/queues/namespace-is-not-selected"]
ORDINARY = SCENARIOS["appwrapper/retry/one-failure-is-retried"]


def found_there(nodes: int) -> Undertaking:
    return Undertaking(
        access=Access(None),
        limits=Limits(time_us=HOUR, objects=100),
        audit_log=None,
        nodes=Survey(tuple(f"n{index}" for index in range(nodes)), {}),
    )


def test_one_role_may_be_deployed_while_another_is_a_process() -> None:
    reference = implementation("reference", "appwrapper")
    named = operator_images("toy=example.org/toy:1", {"appwrapper": reference})
    assert named == {"toy": "example.org/toy:1"}
    assert operator_images("i:1", {"appwrapper": reference}) == {"appwrapper": "i:1"}
    assert operator_images("", {"appwrapper": reference}) == {}
    beside = replace(found_there(9), operator_images=named)
    deployed = replace(found_there(9), operator_images={"appwrapper": "i:1"})
    assert reason_not_run(BROKEN_CONNECTION, "existing", beside) == ""
    assert reason_not_run(BROKEN_CONNECTION, "existing", deployed) == CONNECTION


def test_only_an_operator_that_is_deployed_for_a_run_is_given_one_namespace() -> None:
    beside = replace(found_there(9), operator_images={"appwrapper": "i:1"})
    deployed = replace(found_there(9), operator_images={"kueue": "i:1"})
    assert reason_not_run(SEVERAL, "existing", beside) == ""
    assert reason_not_run(SEVERAL, "existing", deployed).startswith("needs several namespaces")


def test_a_scenario_that_stops_what_others_need_runs_on_clusters_of_ones_own_alone() -> None:
    assert reason_not_run(LOST, "control-plane") == ""
    assert reason_not_run(LOST, "existing", found_there(9)).startswith("stops a node")


def test_a_scenario_whose_steps_stop_a_part_of_the_cluster_says_so() -> None:
    """Otherwise the fault is refused on a real cluster, and the scenario is another one there."""
    stopping = {
        name: found.alone
        for name, found in SCENARIOS.items()
        if any(_stopped(ast.parse(inspect.getsource(_function_of(found.steps)))))
    }
    assert len(stopping) > 5
    assert all(stopping.values()), stopping


def _function_of(steps: Steps) -> Callable[..., None]:
    """The function of a scenario, or of all its cases."""
    return steps.args[0] if isinstance(steps, partial) else steps


def _stopped(source: ast.AST) -> Iterator[str]:
    """The parts of the cluster that are named in faults that stop a process."""
    for node in ast.walk(source):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in STOPPING:
            texts = [*node.args, *(keyword.value for keyword in node.keywords)]
            names = {text.value for text in texts if isinstance(text, ast.Constant)}
            yield from names & {*CONTROLLERS, MANAGER, SCHEDULER, "scheduler"}


def test_a_scenario_needs_as_many_nodes_as_may_be_used() -> None:
    assert TAINTED.nodes == 3
    assert reason_not_run(TAINTED, "existing", found_there(3)) == ""
    reason = reason_not_run(TAINTED, "existing", found_there(2))
    assert reason == "needs 3 nodes, of which 2 may be used"


def test_a_scenario_with_users_of_several_kinds_needs_a_cluster_of_the_suites_own() -> None:
    assert reason_not_run(FEDERATED, "control-plane") == ""
    assert reason_not_run(FEDERATED, "existing", found_there(9)).startswith("needs users")


def test_where_no_networks_can_be_had_programs_with_one_port_run_one_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(network, "why_none_can_be_made", lambda: "Operation not permitted")
    told = why_in_turn("appwrapper-v1.1.2", ROLES)
    assert told.startswith("runs come one at a time, those of other commands on this machine")
    assert "appwrapper-v1.1.2 always listens on port 9443" in told
    assert "Operation not permitted" in told
    assert why_in_turn("reference", ROLES) == ""
    monkeypatch.setattr(network, "why_none_can_be_made", lambda: "")
    assert why_in_turn("appwrapper-v1.1.2", ROLES) == ""


def test_where_there_can_be_one_process_scenarios_with_two_operators_are_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(network, "why_none_can_be_made", lambda: "Operation not permitted")
    why = why_one_process("appwrapper-v1.1.2", ROLES)
    (told,) = not_run([TWICE, ELECTING, ORDINARY], "control-plane", one_process=why)
    assert told.startswith(f"not run: {TWICE.id}, {ELECTING.id}: takes a second operator beside")
    assert told.endswith(why)
    assert not_run([TWICE, ELECTING, ORDINARY], "control-plane") == []
    assert reason_not_run(TWICE, "simulated", one_process=why) == ""


def test_scenarios_that_are_not_run_stand_together_by_their_reason() -> None:
    told = not_run([LOST, ORDINARY, TAINTED], "existing", found_there(2))
    assert [line.split(": ")[1] for line in told] == [LOST.id, TAINTED.id]
    assert not_run([ORDINARY], "existing", found_there(2)) == []


def test_claims_that_only_such_scenarios_arm_are_out_of_reach_and_others_are_not() -> None:
    everywhere = out_of_reach("control-plane")
    there = out_of_reach("existing", found_there(2))
    assert everywhere.keys() <= there.keys()
    assert not set(ORDINARY.arms) & there.keys()
    for claim, reason in there.items():
        where = "the simulation" if CLAIMS[claim].only_simulated else "another cluster"
        assert reason.startswith(f"Only {where} can arm it: "), claim
