"""Kubelets that follow a label of their node: it says not ready, and they do not run.

A fake kubelet can say of itself that it is not ready, and go on. Nothing can make a real one
say so; what the rest of the cluster sees is the same when it is stopped.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from clusters.behaviour import NOT_READY_LABEL
from conformance.worlds.control_plane.recorder import Commit
from conformance.worlds.kind.node_containers import NodeContainers
from vocabulary.kinds import NODE
from vocabulary.objects import labels_of, name_of


class Kubelets:
    """Hears of every commit; `stop` when there are no more."""

    def __init__(self, nodes: NodeContainers) -> None:
        self._nodes = nodes
        self._stopped: set[str] = set()
        # A watch must not wait for a container: what it would tell next might be missed.
        self._hand = ThreadPoolExecutor(1, thread_name_prefix="kubelets")

    def heard(self, _scope: str, commit: Commit) -> None:
        """A listener of `Recorder`."""
        if commit.kind != NODE:
            return
        name = name_of(commit.object)
        is_wanted = labels_of(commit.object).get(NOT_READY_LABEL) != "true"
        if is_wanted == (name in self._stopped):
            verb = "start" if is_wanted else "stop"
            (self._stopped.discard if is_wanted else self._stopped.add)(name)
            self._hand.submit(self._nodes.execute, name, "systemctl", verb, "kubelet")

    def stop(self) -> None:
        """All of them run again."""
        for name in self._stopped:
            self._hand.submit(self._nodes.execute, name, "systemctl", "start", "kubelet")
        self._hand.shutdown()
