"""Kubelets, nodes and controllers of a kind cluster: each fault becomes one command in a node."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaos.ground import FaultRefusedError
from conformance.worlds.control_plane.component import Component
from conformance.worlds.kind.component import components
from conformance.worlds.kind.node_containers import NodeContainers

from .machine import asked, program

ANSWERS: dict[str, str | None] = {"exec": "", "pause": "", "unpause": ""}


class Machine:
    """A cluster `c` with a node `n`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.recorded: list[tuple[str, str]] = []
        docker = program(folder, "docker", ANSWERS)
        nodes = NodeContainers(str(docker), "c")
        self.components = components(nodes, ["n"], lambda *change: self.recorded.append(change))

    def __getitem__(self, name: str) -> Component:
        return self.components[name]

    @property
    def commands(self) -> list[str]:
        return asked(self.folder, "docker")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_kubelet_is_paused_and_goes_on_as_a_unit_of_its_node(machine: Machine) -> None:
    kubelet = machine["kubelet/n"]
    kubelet.pause()
    assert kubelet.state == "paused"
    kubelet.pause()
    kubelet.resume()
    assert machine.commands == [
        "exec n systemctl kill --signal=STOP kubelet",
        "exec n systemctl kill --signal=CONT kubelet",
    ]
    assert machine.recorded == [("kubelet/n", "paused"), ("kubelet/n", "resumed")]


def test_a_killed_kubelet_stays_down_until_it_is_started(machine: Machine) -> None:
    kubelet = machine["kubelet/n"]
    kubelet.kill()
    assert kubelet.state == "down"
    assert machine.commands[-1] == "exec n systemctl stop kubelet"
    kubelet.resume()
    assert kubelet.state == "down"
    kubelet.start()
    assert machine.commands[-1] == "exec n systemctl start kubelet"


def test_controllers_share_a_process_which_is_paused_once(machine: Machine) -> None:
    machine["garbage-collector"].pause()
    machine["replicaset-controller"].pause()
    assert machine["replicaset-controller"].state == "paused"
    assert machine["scheduler"].state == "running"
    assert machine.commands == ["exec c-control-plane pkill -STOP -x kube-controller"]


def test_a_component_that_is_killed_cannot_be_started_by_its_kubelet(machine: Machine) -> None:
    machine["scheduler"].kill()
    away = "exec c-control-plane mv /etc/kubernetes/manifests/kube-scheduler.yaml"
    assert machine.commands == [
        f"{away} /etc/kubernetes/kube-scheduler.yaml",
        "exec c-control-plane pkill -KILL -x kube-scheduler",
    ]
    machine["scheduler"].start()
    assert machine["scheduler"].state == "running"
    assert machine.commands[-1].endswith(" /etc/kubernetes/manifests/kube-scheduler.yaml")


def test_what_docker_refuses_is_refused_as_a_fault_and_changes_nothing(tmp_path: Path) -> None:
    program(tmp_path, "docker", {"exec": None})
    nodes = NodeContainers(str(tmp_path / "docker"), "c")
    recorded: list[tuple[str, str]] = []
    kubelet = components(nodes, ["n"], lambda *change: recorded.append(change))["kubelet/n"]
    with pytest.raises(FaultRefusedError, match="docker exec n systemctl"):
        kubelet.pause()
    assert kubelet.state == "running" and not recorded


def test_a_whole_node_hangs_and_goes_on_but_cannot_be_killed(machine: Machine) -> None:
    node = machine["node/n"]
    with pytest.raises(FaultRefusedError, match="pause it"):
        node.kill()
    node.pause()
    node.resume()
    assert machine.commands == ["pause n", "unpause n"]
    assert machine.recorded == [("node/n", "paused"), ("node/n", "resumed")]
