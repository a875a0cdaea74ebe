"""Measure how long a cluster's kubelets take, before anything depends on it.

Two rounds of one pod per node. The first pulls the image on every node, and fails if it does not
run there. The second is measured: from a pod's creation until it is seen running, and from the
annotation that makes it exit until it is seen exited.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from clusters.behaviour import EXIT
from clusters.containers.pods import RealContainers
from vocabulary.clock import SECOND, Micros
from vocabulary.kinds import POD
from vocabulary.objects import Object, get_path, name_of
from vocabulary.requests import Create, Delete, Get, Patch, Request

Call: TypeAlias = Callable[[Request], Any]
LIMIT_SECONDS: Final = 180.0
POLL_SECONDS: Final = 0.05


class RehearsalError(Exception):
    """Pods do not run as they should; the message has the kubelet's reason."""


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """The longest that any of the nodes took."""

    start_us: Micros
    end_us: Micros

    @property
    def late_us(self) -> Micros:
        """The additional delay of pod status changes, compared with fake kubelets."""
        return max(self.start_us, self.end_us)


def rehearse(
    call: Call, namespace: str, nodes: Sequence[str], containers: RealContainers
) -> Rehearsed:
    """Run pods in the namespace on each of the nodes. Raises RehearsalError if one does not run.

    `call` sends requests as a user that may create, patch and delete pods there.
    """
    _round(call, namespace, nodes, containers, 1)
    return _round(call, namespace, nodes, containers, 2)


def _round(
    call: Call, namespace: str, nodes: Sequence[str], containers: RealContainers, number: int
) -> Rehearsed:
    names = [f"rehearsal-{number}-{index}" for index in range(len(nodes))]
    began = time.monotonic()
    for name, node in zip(names, nodes, strict=True):
        pod = containers.play(_pod(name, namespace, node))
        call(Create(POD, pod, namespace, name))
    _await_phase(call, namespace, names, "Running")
    running = time.monotonic()
    for name in names:
        call(Patch(POD, namespace, name, {"metadata": {"annotations": {EXIT: "0"}}}))
    _await_phase(call, namespace, names, "Succeeded")
    ended = time.monotonic()
    for name in names:
        call(Delete(POD, namespace, name, grace_period_seconds=0))
    return Rehearsed(
        start_us=round((running - began) * SECOND), end_us=round((ended - running) * SECOND)
    )


def _pod(name: str, namespace: str, node: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "nodeName": node,
            "restartPolicy": "Never",
            "containers": [{"name": "main"}],
        },
    }


def _await_phase(call: Call, namespace: str, names: Iterable[str], phase: str) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    waiting = list(names)
    while waiting:
        pods = [call(Get(POD, namespace, name, live=True)) for name in waiting]
        waiting = [name_of(pod) for pod in pods if get_path(pod, "status.phase") != phase]
        if waiting and time.monotonic() > deadline:
            raise RehearsalError(
                f"not {phase} after {LIMIT_SECONDS:g} s: {'; '.join(map(_in_words, pods))}"
            )
        time.sleep(POLL_SECONDS)


def _in_words(pod: Object) -> str:
    """The pod's state as its kubelet reports it, or that there is no report."""
    told = [
        state.get("reason", "") + (f" ({state['message']})" if "message" in state else "")
        for status in get_path(pod, "status.containerStatuses") or ()
        for state in status.get("state", {}).values()
    ]
    image = pod["spec"]["containers"][0]["image"]
    return (
        f"pod {name_of(pod)} with image {image} on node {pod['spec']['nodeName']} is "
        f"{get_path(pod, 'status.phase')}: {', '.join(filter(None, told)) or 'no reason reported'}"
    )
