"""The processes of pods, killed and frozen for real where an annotation says so.

The script that test containers run heeds the same annotations. But it cannot be killed before
it has read that it shall be, and nothing that it does withstands the SIGKILL at the end of a
grace period. From the node both are possible: a signal to the container's process; and a
containerd-shim that is stopped, so that no kubelet can end the pod's containers, not even by
force, as with a process that hangs in the kernel. Its pod is stuck until it is deleted from the
API with grace period 0, and the shim goes on when that has happened.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol

from clusters.behaviour import EXIT, REASON, RUN_FOR, STUCK_TERMINATING
from conformance.worlds.control_plane.recorder import Commit
from vocabulary.kinds import POD
from vocabulary.objects import Object, annotations_of, get_path, is_terminating, uid_of

SIGKILL_CODE: Final = "137"
_CTR: Final = "ctr --namespace k8s.io"
_SIGNAL_SHIM: Final = (
    f"pid=$({_CTR} tasks ls | awk -v id=$1 '$1 == id {{print $2}}') && "
    "shim=$(awk '/^PPid:/ {print $2}' /proc/$pid/status) && kill -$0 $shim && echo $shim"
)
"""$0: the signal; $1: a container. Prints the process id of the shim that holds its pod."""


class Nodes(Protocol):
    """Commands in nodes."""

    def execute(self, node: str, *command: str) -> str: ...


class PodProcesses:
    """Hears of every commit; `stop` when there are no more."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._killed: set[str] = set()
        """The containers that were sent SIGKILL."""
        self._stuck: dict[str, None] = {}
        """The uids of pods that are, or are about to be, frozen."""
        self._frozen: dict[str, tuple[str, str]] = {}
        """By the uid of a pod, its node and the process id of its shim."""
        # A watch must not wait for a node: what it would tell next might be missed. A command
        # that fails, since the container has ended meanwhile, has nothing left to do.
        self._hand = ThreadPoolExecutor(1, thread_name_prefix="pod-processes")

    def heard(self, _scope: str, commit: Commit) -> None:
        """A listener of `Recorder`."""
        if commit.kind != POD:
            return
        pod = commit.object
        is_there = commit.event != "DELETED"
        wishes = annotations_of(pod)
        if is_there and is_terminating(pod) and wishes.get(STUCK_TERMINATING) == "true":
            if uid_of(pod) not in self._stuck:
                self._stuck[uid_of(pod)] = None
                self._hand.submit(self._freeze, pod)
        elif uid_of(pod) in self._stuck:
            del self._stuck[uid_of(pod)]
            self._hand.submit(self._thaw, uid_of(pod))
        is_to_die = wishes.get(EXIT) == SIGKILL_CODE and not {REASON, RUN_FOR} & wishes.keys()
        if is_there and is_to_die and not self._killed.issuperset(_running(pod)):
            self._killed.update(_running(pod))
            self._hand.submit(signal_containers, self._nodes, pod, "SIGKILL")

    def stop(self) -> None:
        """Every pod can be ended by its kubelet again."""
        for uid in tuple(self._stuck):
            self._hand.submit(self._thaw, uid)
        self._hand.shutdown()

    def _freeze(self, pod: Object) -> None:
        uid = uid_of(pod)
        node = str(get_path(pod, "spec.nodeName", ""))
        for container in _running(pod):
            if uid not in self._frozen:
                shim = self._nodes.execute(node, "sh", "-c", _SIGNAL_SHIM, "STOP", container)
                self._frozen[uid] = node, shim.strip()

    def _thaw(self, uid: str) -> None:
        if uid in self._frozen:
            node, shim = self._frozen.pop(uid)
            self._nodes.execute(node, "kill", "-CONT", shim)


def signal_containers(nodes: Nodes, pod: Object, signal: str) -> None:
    """Send a signal to the first process of each container of the pod that runs."""
    node = str(get_path(pod, "spec.nodeName", ""))
    for container in _running(pod):
        nodes.execute(node, *_CTR.split(), "tasks", "kill", "--signal", signal, container)


def _running(pod: Object) -> Iterable[str]:
    """The ids of its containers that run, as the container runtime knows them."""
    for status in get_path(pod, "status.containerStatuses") or ():
        if "running" in (status.get("state") or {}):
            yield str(status["containerID"]).rpartition("//")[2]
