"""A node's label stops its kubelet, and the kubelet runs again when the label is gone."""

from __future__ import annotations

from pathlib import Path

from clusters.behaviour import NOT_READY_LABEL
from conformance.worlds.control_plane.recorder import Commit
from conformance.worlds.kind.kubelets import Kubelets
from conformance.worlds.kind.node_containers import NodeContainers
from vocabulary.kinds import NODE, POD, Kind

from .machine import asked, program

STOP, START = "exec n systemctl stop kubelet", "exec n systemctl start kubelet"


def commit(labels: dict[str, str], kind: Kind = NODE) -> Commit:
    return Commit(1, "MODIFIED", kind, {"metadata": {"name": "n", "labels": labels}}, 0)


def commands(folder: Path, *commits: Commit) -> list[str]:
    """The commands to a machine on these commits, and at the end."""
    kubelets = Kubelets(NodeContainers(str(program(folder, "docker", {"exec": ""})), "c"))
    for each in commits:
        kubelets.heard("", each)
    kubelets.stop()
    return asked(folder, "docker")


def test_the_kubelet_follows_the_label_once_each_way(tmp_path: Path) -> None:
    labelled = commit({NOT_READY_LABEL: "true"})
    assert commands(tmp_path, commit({}), labelled, labelled, commit({})) == [STOP, START]


def test_a_kubelet_that_is_down_at_the_end_is_started(tmp_path: Path) -> None:
    assert commands(tmp_path, commit({NOT_READY_LABEL: "true"})) == [STOP, START]


def test_only_nodes_have_kubelets(tmp_path: Path) -> None:
    assert commands(tmp_path, commit({NOT_READY_LABEL: "true"}, POD)) == []
