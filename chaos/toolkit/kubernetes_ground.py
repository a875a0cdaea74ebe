"""A ground on nothing but a kubeconfig: objects, and the operator in its Deployment.

What needs a hand on the cluster's machinery (other controllers, kubelets, the way between
operator and API server) is refused, with what would do instead.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Any, NoReturn

from chaos.ground import FaultRefusedError, Processes, ProcessState, Rule
from reference_controller.runtime.connection import Connection
from reference_controller.runtime.discovery import Discovery
from vocabulary.clock import Micros
from vocabulary.history import OPERATOR
from vocabulary.kinds import DEPLOYMENT, POD
from vocabulary.objects import Object, get_path, name_of
from vocabulary.requests import Delete, Get, List, ObjectList, Patch, Request, as_served
from vocabulary.selectors import matches

ELSEWHERE = "run the experiment with `assay chaos`, or the plan on the control plane"


@dataclass(frozen=True, slots=True)
class OperatorDeployment:
    """Where the operator under test runs."""

    namespace: str
    name: str
    role: str = OPERATOR


class KubernetesGround:
    """Implements `chaos.ground.Ground` for one namespace of the cluster of a connection."""

    def __init__(
        self,
        connection: Connection,
        namespace: str,
        processes: Processes,
        seed: int,
        role: str = OPERATOR,
    ) -> None:
        self.namespace = namespace
        self.roles = (role,)
        self.processes = processes
        self.connection = NoConnection()
        self._client = connection
        self._discovery = Discovery(connection)
        self._seed = seed
        self._streams: dict[str, random.Random] = {}
        self._began = time.monotonic_ns()

    def call(self, request: Request, actor: str = "chaos") -> Any:
        """Send it; on a cluster that is not ours, `chaos` and `user` are the same identity."""
        del actor
        kind = self._discovery.served_or_unknown(request.kind)
        return self._client.handle(as_served(request, kind, self.namespace))

    def rng(self, name: str) -> random.Random:
        return self._streams.setdefault(name, random.Random(f"{self._seed}/{name}"))

    def concerned(self, kind: str) -> tuple[str, ...]:
        del kind
        return self.roles

    def elapsed_us(self) -> Micros:
        return (time.monotonic_ns() - self._began) // 1000


class DeployedOperator:
    """Implements `Processes` for an operator in its Deployment: killed by deleting its pods,
    kept down by scaling to 0."""

    def __init__(self, connection: Connection, operator: OperatorDeployment) -> None:
        self._client = connection
        self._operator = operator
        self._replicas = 1

    def state(self, name: str) -> ProcessState:
        self._require_operator(name)
        return "running" if get_path(self._deployment(), "spec.replicas", 1) else "down"

    def kill(
        self, name: str, *, graceful: bool = False, restart_after_us: Micros | None = None
    ) -> None:
        """The Deployment brings a killed pod back at once: `restart_after_us` is not waited for."""
        self._require_operator(name)
        deployment = self._deployment()
        if restart_after_us is None:
            self._replicas = get_path(deployment, "spec.replicas", 1) or self._replicas
            self._scale(0)
        for pod in self._pods(deployment):
            grace = None if graceful else 0
            self._client.handle(
                Delete(POD, self._operator.namespace, name_of(pod), grace_period_seconds=grace)
            )

    def start(self, name: str) -> None:
        self._require_operator(name)
        if self.state(name) == "down":
            self._scale(self._replicas)

    def pause(self, name: str) -> None:
        self._refuse(f"pause {name}")

    def resume(self, name: str) -> None:
        self._refuse(f"resume {name}")

    def _deployment(self) -> Object:
        found = self._client.handle(
            Get(DEPLOYMENT, self._operator.namespace, self._operator.name, live=True)
        )
        assert not isinstance(found, ObjectList)
        return found

    def _pods(self, deployment: Object) -> list[Object]:
        listed = self._client.handle(List(POD, self._operator.namespace, live=True))
        assert isinstance(listed, ObjectList)
        selector = get_path(deployment, "spec.selector")
        return [
            pod for pod in listed.items if matches(selector, get_path(pod, "metadata.labels") or {})
        ]

    def _scale(self, replicas: int) -> None:
        body = {"spec": {"replicas": replicas}}
        self._client.handle(Patch(DEPLOYMENT, self._operator.namespace, self._operator.name, body))

    def _require_operator(self, name: str) -> None:
        if name != self._operator.role:
            self._refuse(f"control the process {name}")

    def _refuse(self, what: str) -> NoReturn:
        raise FaultRefusedError(f"a kubeconfig cannot {what}; {ELSEWHERE}")


class NoConnection:
    """Nothing of ours lies between the operator and the API server of this cluster."""

    def add(self, rule: Rule) -> None:
        del rule
        raise FaultRefusedError(
            f"nothing lies between the operator and the API server of this cluster; {ELSEWHERE}"
        )

    def remove(self, rule: Rule) -> None:
        """There are none."""
