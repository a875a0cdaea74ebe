"""The choice and timing of containers to kill and freeze in their nodes, from the pods' commits."""

from __future__ import annotations

from typing import Any

from conformance.worlds.control_plane.recorder import Commit
from conformance.worlds.kind.pod_processes import PodProcesses
from vocabulary.kinds import POD


class Node:
    """Records the commands it is to execute."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, ...]] = []

    def execute(self, node: str, *command: str) -> str:
        self.heard.append((node, *command))
        return "4711\n"


def commit(event: Any = "MODIFIED", *, terminating: bool = False, **wishes: str) -> Commit:
    """A change of a pod whose first container runs, the second does not."""
    annotations = {f"assay.dev/{key.replace('_', '-')}": value for key, value in wishes.items()}
    metadata = {"name": "a-0", "namespace": "run", "uid": "u", "annotations": annotations}
    if terminating:
        metadata["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    statuses = [
        {"name": "main", "containerID": "containerd://c0", "state": {"running": {}}},
        {"name": "late", "state": {"waiting": {"reason": "PodInitializing"}}},
    ]
    pod = {
        "metadata": metadata,
        "spec": {"nodeName": "n0"},
        "status": {"containerStatuses": statuses},
    }
    return Commit(1, event, POD, pod, 0)


def told(*commits: Commit) -> list[tuple[str, ...]]:
    """The commands sent to nodes, up to the end."""
    node = Node()
    processes = PodProcesses(node)
    for each in commits:
        processes.heard("run", each)
    processes.stop()
    return node.heard


def test_exit_code_137_is_a_sigkill_to_each_running_container_once() -> None:
    (command,) = told(commit(exit="137"), commit(exit="137"))
    assert command[:2] == ("n0", "ctr")
    assert command[-3:] == ("--signal", "SIGKILL", "c0")


def test_other_ends_are_left_to_the_containers_themselves() -> None:
    assert not told(
        commit(exit="1"),
        commit(exit="137", reason="OOMKilled"),
        commit(exit="137", run_for="5s"),
        commit("DELETED", exit="137"),
    )


def test_a_pod_that_is_stuck_is_frozen_when_it_is_to_end_and_thawed_when_it_is_gone() -> None:
    freeze, thaw = told(
        commit(stuck_terminating="true"),
        commit(stuck_terminating="true", terminating=True),
        commit(stuck_terminating="true", terminating=True),
        commit("DELETED", stuck_terminating="true", terminating=True),
    )
    assert freeze[0] == "n0"
    assert freeze[-2:] == ("STOP", "c0")
    assert thaw == ("n0", "kill", "-CONT", "4711")


def test_a_frozen_pod_is_thawed_when_the_annotation_goes() -> None:
    stuck = commit(stuck_terminating="true", terminating=True)
    assert told(stuck, commit(terminating=True))[-1] == ("n0", "kill", "-CONT", "4711")


def test_at_the_end_nothing_stays_frozen() -> None:
    assert told(commit(stuck_terminating="true", terminating=True))[-1][1:] == (
        "kill",
        "-CONT",
        "4711",
    )
