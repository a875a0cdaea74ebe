"""The operator under test in the cluster: a Deployment, scaled up and down.

It has the same life cycle as an operator that is a process of this machine, so that faults
mean the same: killed, it is gone until it is started again. Two operators are two Deployments,
each with its own account, by which an audit log distinguishes them.

Signals reach it if its node can be reached. Elsewhere it can only be deleted, with a grace period
of one second, and cannot be paused.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from chaos.ground import FaultRefusedError, ProcessState
from conformance.leased.deployments import is_ready, pods_of, scale
from conformance.stored_objects.retrying_connection import RetryingConnection
from conformance.worlds.control_plane.operator_process import OperatorStartError
from vocabulary.errors import ApiError
from vocabulary.kinds import POD
from vocabulary.objects import Object, get_path, name_of, namespace_of
from vocabulary.requests import Delete

Signal: TypeAlias = Callable[[Object, str], None]
"""Sends a signal to the processes of a pod's containers that run."""
READY_SECONDS: Final = 180.0
GONE_SECONDS: Final = 60.0
POLL_SECONDS: Final = 0.1
KILL_GRACE_SECONDS: Final = 1
"""The least that a kubelet leaves a process whose end it still reports: with 0 the pod would be
gone from the API before its process is, which could go on to write."""


class DeployedOperator:
    """One operator, through all its pods. Safe to use from several threads."""

    def __init__(
        self,
        name: str,
        deployment: Object,
        connection: RetryingConnection,
        record: Callable[[str, Any], None],
        signal: Signal | None = None,
        *,
        replicas: int = 1,
    ) -> None:
        """`deployment` exists in the cluster, scaled to 0; `record` is called with (name, change).
        `replicas`: its number of pods while it runs; all of them are killed and paused."""
        self.name = name
        self._deployment = deployment
        self._replicas = replicas
        self._connection = connection
        self._record = record
        self._signal = signal
        self._lock = threading.RLock()
        self._is_wanted = False
        self._is_paused = False
        self._starts = 0

    @property
    def state(self) -> ProcessState:
        """True if it is to run: a container that crashed is its kubelet's to start again."""
        if not self._is_wanted:
            return "down"
        return "paused" if self._is_paused else "running"

    def start(self) -> None:
        """Scale it up; nothing happens if it runs. It is noted as started once it is ready."""
        with self._lock:
            if self._is_wanted:
                return
            self._scale(self._replicas)
            self._is_wanted = True
            self._is_paused = False
            self._starts += 1
            number = self._starts
        threading.Thread(
            target=self._note_ready, args=(number,), name=f"ready-{self.name}", daemon=True
        ).start()

    def wait_ready(self) -> None:
        """Wait until its pod is ready; OperatorStartError if it takes too long."""
        deadline = time.monotonic() + READY_SECONDS
        while not self._is_ready():
            if time.monotonic() > deadline:
                said = "; ".join(map(_in_words, self._pods())) or "it has no pod"
                raise OperatorStartError(
                    f"{self.name} is not ready after {READY_SECONDS:g} s: {said}"
                )
            time.sleep(POLL_SECONDS)

    def kill(self) -> None:
        """End its process, with no time to put anything in order, and leave it down.

        Like `stop` it raises FaultRefusedError if the process does not end: it is not down then.
        """
        self._end("killed", KILL_GRACE_SECONDS)

    def stop(self) -> None:
        """SIGTERM, and wait for its orderly end."""
        self._end("stopped", None)

    def retire(self) -> None:
        """The run is over: if it does not end at once, it does when its kubelet gets to it."""
        try:
            self.kill()
        except FaultRefusedError:
            self._scale(0)

    def pause(self) -> None:
        """Send SIGSTOP; refused if signals cannot reach it."""
        if self._signal is None:
            raise FaultRefusedError(
                f"{self.name} runs in a pod, and nobody can pause that through the API; "
                "run it as a process, or on kind"
            )
        with self._lock:
            if self.state == "running":
                self._send("SIGSTOP")
                self._is_paused = True
                self._record(self.name, "paused")

    def resume(self) -> None:
        """SIGCONT."""
        with self._lock:
            if self.state == "paused":
                self._send("SIGCONT")
                self._is_paused = False
                self._record(self.name, "resumed")

    def _end(self, change: str, grace_seconds: int | None) -> None:
        with self._lock:
            if not self._is_wanted:
                return
            if grace_seconds is not None:
                self._send("SIGKILL")
                self._delete_pods(grace_seconds)
            else:
                self.resume()
            self._scale(0)
            if not self._await_gone(grace_seconds):
                self._scale(self._replicas)  # it is noted as running, and so it is to run
                raise FaultRefusedError(
                    f"{self.name} has not ended within {GONE_SECONDS:g} s, and what it writes "
                    "would be that of a dead one; see what the kubelet of its pod's node says"
                )
            self._is_wanted = False
            self._record(self.name, change)

    def _await_gone(self, grace_seconds: int | None) -> bool:
        """True if it has no pod any more; one that is terminating may still write."""
        deadline = time.monotonic() + GONE_SECONDS
        while self._pods():
            if time.monotonic() >= deadline:
                return False
            # One that came in the place of a deleted one, before there were to be none.
            if grace_seconds is not None:
                self._delete_pods(grace_seconds)
            time.sleep(POLL_SECONDS)
        return True

    def _note_ready(self, number: int) -> None:
        while self._starts == number and self._is_wanted:
            if self._is_ready():
                with self._lock:
                    if self._starts == number and self._is_wanted:
                        self._record(self.name, "started")
                return
            time.sleep(POLL_SECONDS)

    def _is_ready(self) -> bool:
        return sum(map(is_ready, self._pods())) >= self._replicas

    def _send(self, signal: str) -> None:
        if self._signal is not None:
            for pod in self._pods():
                self._signal(pod, signal)

    def _scale(self, replicas: int) -> None:
        scale(self._connection, self._deployment, replicas)

    def _delete_pods(self, grace_seconds: int | None) -> None:
        for pod in self._pods():
            namespace = namespace_of(self._deployment)
            request = Delete(POD, namespace, name_of(pod), grace_period_seconds=grace_seconds)
            try:
                self._connection.handle(request)
            except ApiError as error:
                if not error.is_not_found:
                    raise

    def _pods(self) -> tuple[Object, ...]:
        return pods_of(self._connection, self._deployment)


def _in_words(pod: Object) -> str:
    states = [
        state.get("reason", "")
        for status in get_path(pod, "status.containerStatuses") or ()
        for state in (status.get("state") or {}).values()
    ]
    told = ", ".join(filter(None, states))
    return f"pod {name_of(pod)} is {get_path(pod, 'status.phase')} {told}".strip()
