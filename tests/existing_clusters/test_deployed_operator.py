"""Operators in the cluster: what runs them, where, and what faults do to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from chaos.ground import FaultRefusedError
from conformance.implementations.ours import implementation
from conformance.implementations.under_test import DeployedPlace, NotDeployableError
from conformance.profiles.choosing import under_test
from conformance.running.process_faults import CONNECTION, PAUSE, needs_process_beside
from conformance.suites.appwrapper.settings import DEFAULT_CONFIG
from conformance.worlds.control_plane import deployed_operator
from conformance.worlds.control_plane.deployed_operator import DeployedOperator
from conformance.worlds.existing.deploying import deploy
from vocabulary.objects import Object, get_path

from .one_deployment import OneDeployment


def place(**changes: Any) -> DeployedPlace:
    told: Mapping[str, Any] = {
        "name": "run-0-operator",
        "home": "suite",
        "account": "operator-3",
        "image": "example.com/assay:1",
        "identity": "appwrapper",
        "namespace": "run-0",
        "config": DEFAULT_CONFIG,
        "elects": False,
    }
    return DeployedPlace(**{**told, **changes})


@pytest.fixture
def cluster() -> OneDeployment:
    return OneDeployment()


@pytest.fixture
def operator(cluster: OneDeployment) -> DeployedOperator:
    told = deploy(cluster.connection, implementation("reference", "appwrapper"), place(), ["n0"])
    return DeployedOperator("appwrapper", told, cluster.connection, lambda *_: None)


def test_the_shipped_deployment_is_fitted_to_one_run(cluster: OneDeployment) -> None:
    deploy(
        cluster.connection,
        implementation("mutant:quota-released-on-failed", "appwrapper"),
        place(),
        ["n0"],
    )
    config, deployment = cluster.made
    text = config["data"]["config.yaml"]
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert deployment["spec"]["replicas"] == 0
    assert container["image"] == "example.com/assay:1"
    assert pod["serviceAccountName"] == "operator-3"
    arguments = container["args"]
    assert "--namespace=run-0" in arguments
    assert arguments[-2:] == ["--mutant", "quota-released-on-failed"]
    assert not [each for each in arguments if "webhook" in each or "leader" in each]
    assert get_path(pod["volumes"][0], "configMap.name") == config["metadata"]["name"]
    assert len(pod["volumes"]) == len(container["volumeMounts"]) == 1
    assert "faultTolerance" in text


def test_several_elect_one_in_the_runs_namespace(cluster: OneDeployment) -> None:
    deploy(
        cluster.connection, implementation("reference", "appwrapper"), place(elects=True), ["n0"]
    )
    arguments = cluster.made[1]["spec"]["template"]["spec"]["containers"][0]["args"]
    assert {"--leader-elect", "--lease-namespace=run-0", "--identity=appwrapper"} <= {*arguments}


def test_it_keeps_off_the_nodes_that_runs_borrow(cluster: OneDeployment) -> None:
    deploy(cluster.connection, implementation("reference", "appwrapper"), place(), ["n0", "n1"])
    affinity = cluster.made[1]["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    required = affinity["requiredDuringSchedulingIgnoredDuringExecution"]
    (term,) = required["nodeSelectorTerms"]
    (expression,) = term["matchExpressions"]
    assert expression["operator"] == "NotIn"
    assert expression["values"] == ["n0", "n1"]


def test_it_tolerates_the_control_planes_taint_and_no_cordon_or_taint_of_others(
    cluster: OneDeployment,
) -> None:
    deploy(cluster.connection, implementation("reference", "appwrapper"), place(), ["n0"])
    (toleration,) = cluster.made[1]["spec"]["template"]["spec"]["tolerations"]
    assert toleration["key"] == "node-role.kubernetes.io/control-plane"
    assert toleration["effect"] == "NoSchedule"


def test_a_killed_operator_has_no_time_and_stays_down_until_it_is_started(
    cluster: OneDeployment, operator: DeployedOperator
) -> None:
    operator.start()
    operator.wait_ready()
    assert operator.state == "running"
    operator.kill()
    assert operator.state == "down"
    assert cluster.deletions == [1]
    assert cluster.scaled[-1] == 0
    operator.start()
    operator.wait_ready()
    assert cluster.scaled[-1] == 1


def test_a_stopped_operator_is_left_to_end_in_order(
    cluster: OneDeployment, operator: DeployedOperator
) -> None:
    operator.start()
    operator.stop()
    assert operator.state == "down"
    assert not cluster.deletions


@pytest.mark.parametrize("end", [DeployedOperator.kill, DeployedOperator.stop])
def test_an_operator_that_does_not_end_is_not_noted_as_ended_and_runs_on(
    end: Callable[[DeployedOperator], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hanging(OneDeployment):
        def listed(self) -> tuple[Object, ...]:
            return ({**self.pod("p1"), "status": {}},)

    monkeypatch.setattr(deployed_operator, "GONE_SECONDS", 0.0)
    cluster, recorded = Hanging(), []
    told = deploy(cluster.connection, implementation("reference", "appwrapper"), place(), ["n0"])
    operator = DeployedOperator(
        "appwrapper", told, cluster.connection, lambda *change: recorded.append(change)
    )
    operator.start()
    with pytest.raises(FaultRefusedError, match="appwrapper has not ended within 0 s"):
        end(operator)
    assert (operator.state, cluster.scaled[-1], recorded) == ("running", 1, [])
    operator.retire()
    assert cluster.scaled[-1] == 0


def test_an_operator_that_no_signal_reaches_is_not_killed(cluster: OneDeployment) -> None:
    def refuse(_: Object, signal: str) -> None:
        raise FaultRefusedError(signal)

    told = deploy(cluster.connection, implementation("reference", "appwrapper"), place(), ["n0"])
    operator = DeployedOperator("appwrapper", told, cluster.connection, lambda *_: None, refuse)
    operator.start()
    with pytest.raises(FaultRefusedError, match="SIGKILL"):
        operator.kill()
    assert (operator.state, cluster.scaled[-1]) == ("running", 1)


def test_what_only_a_process_beside_it_could_suffer_is_refused_with_the_way_out(
    operator: DeployedOperator,
) -> None:
    with pytest.raises(FaultRefusedError, match="run it as a process, or on kind"):
        operator.pause()


def test_where_signals_reach_it_it_is_killed_and_paused_by_them(cluster: OneDeployment) -> None:
    sent: list[str] = []
    told = deploy(cluster.connection, implementation("reference", "appwrapper"), place(), ["n0"])
    operator = DeployedOperator(
        "appwrapper",
        told,
        cluster.connection,
        lambda *_: None,
        lambda _, signal: sent.append(signal),
    )
    operator.start()
    operator.pause()
    assert operator.state == "paused"
    operator.resume()
    operator.kill()
    assert sent == ["SIGSTOP", "SIGCONT", "SIGKILL"]


def test_a_program_whose_manifests_have_no_deployment_is_not_deployed() -> None:
    reference = implementation("reference", "appwrapper")
    bare = replace(reference.program.manifests, deployment=())
    undeployable = replace(reference, program=replace(reference.program, manifests=bare))
    assert reference.why_not_deployed == ""
    with pytest.raises(NotDeployableError, match="have no Deployment; leave out --operator-image"):
        undeployable.deployed(place())


def test_a_program_that_only_a_profile_describes_is_not_deployed() -> None:
    released = under_test("appwrapper-v1.1.2", "appwrapper")
    with pytest.raises(NotDeployableError, match="leave out --operator-image"):
        released.deployed(place())


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        ("appwrapper/operator-faults/leader-is-killed", ""),
        ("appwrapper/operator-faults/paused-in-the-middle", PAUSE),
        ("appwrapper/operator-faults/suspended-blindly", CONNECTION),
        ("appwrapper/operator-faults/retried-over-a-bad-connection/webhook-outage", ""),
    ],
)
def test_scenarios_that_need_the_operators_connection_or_process_are_named(
    scenario: str, reason: str
) -> None:
    assert needs_process_beside(scenario, "appwrapper", reaches_nodes=False) == reason
