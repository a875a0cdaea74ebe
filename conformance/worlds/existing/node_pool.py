"""The nodes that runs may use: which of a cluster's they are, and who has which just now."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from clusters.control_plane import audit, kwok
from clusters.control_plane.nodes import is_usable
from clusters.control_plane.waiting import wait_until
from conformance.leased.nodes import borrowing, offering
from conformance.left_behind.clean import RUN_LABEL
from conformance.stored_objects.retrying_connection import RetryingConnection
from conformance.worlds.control_plane.session import NotLentError, OutOfTimeError
from reference_controller.runtime.connection import Connection
from vocabulary.errors import ApiError
from vocabulary.kinds import NODE, POD
from vocabulary.objects import Object, get_path, labels_of, name_of, namespace_of
from vocabulary.requests import Get, List, ObjectList, Patch

ATTEMPTS: Final = 20
USABLE_SECONDS: Final = 120.0
GUEST_SECONDS: Final = 60.0
"""How long a run waits for foreign pods to end."""
LOOK_SECONDS: Final = 0.5
_ENDED: Final = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Survey:
    """The nodes that a label selector chooses: those that can be used, and why others cannot."""

    usable: tuple[str, ...]
    refused: Mapping[str, str]


def survey(
    connection: Connection | RetryingConnection, selector: str, *, real_kubelets: bool = False
) -> Survey:
    """Look at the nodes; nothing is changed. `real_kubelets`: whether theirs may be real."""
    chosen = connection.handle(List(NODE, label_selector=selector, live=True))
    assert isinstance(chosen, ObjectList)
    guests = guests_by_node(connection)
    reasons = {
        name_of(node): _refusal(node, guests, real_kubelets=real_kubelets) for node in chosen.items
    }
    return Survey(
        usable=tuple(sorted(name for name, reason in reasons.items() if not reason)),
        refused={name: reason for name, reason in sorted(reasons.items()) if reason},
    )


def guests_by_node(connection: Connection | RetryingConnection) -> dict[str, str]:
    """By node, one pod that faults at the node would hit; those of DaemonSets do not count."""
    pods = connection.handle(List(POD, live=True))
    assert isinstance(pods, ObjectList)
    return {
        str(get_path(pod, "spec.nodeName", "")): f"{namespace_of(pod)}/{name_of(pod)}"
        for pod in pods.items
        if get_path(pod, "status.phase") not in _ENDED and not _is_daemon(pod)
    }


def _refusal(node: Object, guests: Mapping[str, str], *, real_kubelets: bool) -> str:
    """Why a node cannot be used; empty if it can."""
    if RUN_LABEL in labels_of(node):
        return f"belongs to run {labels_of(node)[RUN_LABEL]}"
    if not is_usable(node):
        return "is not ready, is cordoned, or has a taint"
    if kwok.ZONE not in labels_of(node) and not real_kubelets:
        return (
            f"has a kubelet of its own (no label {kwok.ZONE}): its containers cannot be told "
            "how to end, so scenarios would wait for what never comes"
        )
    if name_of(node) in guests:
        return f"runs {guests[name_of(node)]}, which faults at the node would hit"
    return ""


def _is_daemon(pod: Object) -> bool:
    owners = get_path(pod, "metadata.ownerReferences") or ()
    return any(owner["kind"] == "DaemonSet" for owner in owners)


def since_loans(events: Iterable[dict[str, Any]], loans: Mapping[str, int]) -> list[dict[str, Any]]:
    """Of audit events in order, those that are a run's: of what was asked of a node only what
    came after its loan, which the node's resourceVersion of then tells."""
    lent: set[str] = set()
    found: list[dict[str, Any]] = []
    for event in events:
        name = audit.node_of(event)
        if name in loans and audit.revision_of(event) >= loans[name]:
            lent.add(name)
        if name not in loans or name in lent:
            found.append(event)
    return found


class NodePool:
    """Lends nodes to runs, whole and one run each. Safe to use from several threads."""

    def __init__(
        self,
        connection: RetryingConnection,
        names: Iterable[str],
        seconds_left: Callable[[], float],
    ) -> None:
        """`seconds_left` tells how long nodes may be waited for, whenever it is asked."""
        self._connection = connection
        self._free = list(names)
        self._there_are = len(self._free)
        self._seconds_left = seconds_left
        self._changed = threading.Condition()
        self._lost: list[str] = []
        """Why nodes that were lent will not come back."""

    def take(self, count: int) -> tuple[str, ...]:
        """Wait for so many nodes that no run has leased, and that have no foreign pods.

        The preflight saw no such pods, but a node that is not leased is open to all.
        Raises OutOfTimeError; NotLentError if pods do not end, or nodes are not restored.
        """
        deadline = math.inf
        while True:
            with self._changed:
                self._require_hope(count)
                if len(self._free) < count:
                    self._changed.wait(LOOK_SECONDS)
                    continue
            guests = self._guests()
            with self._changed:
                hosts = [name for name in self._free if name in guests]
                fit = [name for name in self._free if name not in guests]
                if len(fit) >= count:
                    self._free = [*fit[count:], *hosts]
                    return tuple(fit[:count])
                is_for_guests = self._there_are - len(hosts) < count
                now = time.monotonic()
                deadline = min(deadline, now + GUEST_SECONDS) if is_for_guests else math.inf
                if now >= deadline:
                    there = "; ".join(f"node {name} runs {guests[name]}" for name in hosts)
                    raise NotLentError(
                        f"{there}, which came after the suite had begun and which faults would "
                        "hit; move it, or choose nodes that others keep off"
                    )
                self._changed.wait(LOOK_SECONDS)

    def lend(self, names: Iterable[str], run: str, devices: Mapping[str, str]) -> dict[str, int]:
        """Make nodes that were taken the run's own, offering these devices.

        By name, the resourceVersion from which on the node's history is the run's. NotLentError
        if it cannot be done; all of them are to be put in order then, and given back.
        """
        return {name: self._lend(name, run, devices) for name in names}

    def await_usable(self, names: Iterable[str]) -> None:
        """Wait until the cluster itself would use these nodes again; WaitTimeoutError if not."""
        wanted = set(names)

        def are_usable() -> bool:
            listed = self._connection.handle(List(NODE, live=True))
            assert isinstance(listed, ObjectList)
            return wanted <= {name_of(node) for node in listed.items if is_usable(node)}

        wait_until(
            are_usable,
            f"the nodes {', '.join(sorted(wanted))} are ready and untainted again",
            limit_seconds=min(USABLE_SECONDS, self._seconds_left()),
            poll_seconds=0.5,
        )

    def put_back(self, names: Iterable[str]) -> None:
        """They are as they were before; the next run may have them."""
        with self._changed:
            self._free += names
            self._changed.notify_all()

    def lose(self, names: Iterable[str], error: BaseException) -> None:
        """Record nodes that a run could not restore, with the reason for later waiters."""
        lost = tuple(names)
        with self._changed:
            self._there_are -= len(lost)
            self._lost.append(f"{', '.join(lost)} cannot be used any more: {error}")
            self._changed.notify_all()

    def _guests(self) -> dict[str, str]:
        try:
            return guests_by_node(self._connection)
        except ApiError as error:
            raise NotLentError(f"whose pods are on the nodes cannot be seen: {error}") from error

    def _require_hope(self, count: int) -> None:
        if self._seconds_left() <= 0:
            raise OutOfTimeError("no node is lent any more: the session's time is up")
        if self._there_are < count:
            raise NotLentError("; ".join(self._lost))

    def _lend(self, name: str, run: str, devices: Mapping[str, str]) -> int:
        try:
            lent = self._mark(name, run)
            if devices:
                offer = Patch(NODE, "", name, offering(devices), subresource="status")
                self._connection.handle(offer)
        except ApiError as error:
            raise NotLentError(f"node {name} cannot be lent: {error}") from error
        return int(lent["metadata"]["resourceVersion"])

    def _mark(self, name: str, run: str) -> Object:
        """The node with the run's label, and with a note of what it was like before."""
        for attempt in range(1, ATTEMPTS + 1):
            node = self._connection.handle(Get(NODE, "", name, live=True))
            assert not isinstance(node, ObjectList)
            if labels_of(node).get(RUN_LABEL) == run:
                return node  # the answer to the attempt before was lost
            try:
                patch = borrowing(node, {RUN_LABEL: run})
                lent = self._connection.handle(Patch(NODE, "", name, patch))
            except ApiError as error:
                # Its kubelet has written its heartbeat in between.
                if not error.is_conflict or attempt == ATTEMPTS:
                    raise
                continue
            assert not isinstance(lent, ObjectList)
            return lent
        raise AssertionError("unreachable")
