"""A whole simulated cluster: loop, store, API server, and the actors around it.

    cluster = SimulatedCluster(seed=1729, nodes=3, gpus=8)
    user = cluster.client("user")
    user(create(job))
    cluster.loop.run_for(30 * SECOND)
    cluster.processes.kill("kubelet/n0")

Building one takes about a millisecond: definitions and strategies are parsed once per process.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from clusters.simulated.api_server import ApiServer
from clusters.simulated.builtin.registry import further_strategies
from clusters.simulated.controllers import built_in_controllers
from clusters.simulated.controllers.base import Controller, Environment
from clusters.simulated.controllers.informers import Informers
from clusters.simulated.controllers.kubelets.kubelet import Kubelets
from clusters.simulated.controllers.kubelets.node_status import fresh
from clusters.simulated.controllers.settings import Settings
from clusters.simulated.flow_control import found_at_start
from clusters.simulated.loop import Loop, Timer
from clusters.simulated.processes import ClusterProcesses
from clusters.simulated.recorder import Recorder
from clusters.simulated.store import Store
from vocabulary.clock import SIMULATION_EPOCH_US, Micros, to_rfc3339
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION, NAMESPACE, NODE
from vocabulary.objects import Object, name_of
from vocabulary.requests import Create, Request

HARNESS: Final = "harness"
GPU: Final = "nvidia.com/gpu"

Client = Callable[[Request], Any]
"""Sends one request; the answer, or an ApiError."""


class NodeSpec(msgspec.Struct, frozen=True):
    """A node to be made: its name, what it has, how it is labelled and tainted."""

    name: str
    cpu: str = "8"
    memory: str = "32Gi"
    pods: int = 110
    gpus: int = 0
    labels: Mapping[str, str] = {}
    taints: Sequence[Object] = ()
    extended: Mapping[str, str] = {}
    """Further resources, by name."""

    def to_object(self, address: str, now: str) -> dict[str, Any]:
        """The Node as its kubelet registers it, ready."""
        capacity: dict[str, str] = {
            "cpu": self.cpu,
            "memory": self.memory,
            "pods": str(self.pods),
            **self.extended,
        }
        if self.gpus:
            capacity[GPU] = str(self.gpus)
        labels = {
            "kubernetes.io/hostname": self.name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "beta.kubernetes.io/os": "linux",
            "beta.kubernetes.io/arch": "amd64",
            **self.labels,
        }
        spec: dict[str, Any] = {"taints": list(self.taints)} if self.taints else {}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.name, "labels": labels},
            "spec": spec,
            "status": fresh(capacity, self.name, address, now),
        }


class SimulatedCluster:
    """One cluster in virtual time. Everything in it happens in callbacks of its `loop`."""

    def __init__(
        self,
        seed: int,
        *,
        nodes: int | Iterable[NodeSpec] = 4,
        gpus: int = 0,
        crds: Iterable[Object] = (),
        namespaces: Iterable[str] = (),
        settings: Settings | None = None,
        controllers: Collection[str] | None = None,
        began_us: Micros = SIMULATION_EPOCH_US,
    ) -> None:
        """All controllers run, or those of these names; kubelets always do."""
        self.loop = Loop(seed, began_us=began_us)
        self.store = Store()
        self.recorder = Recorder(self.loop)
        self.api = ApiServer(self.loop, self.store, self.recorder)
        self.informers = Informers(self.store)
        settings = settings or Settings()
        if settings.every_kind:
            for strategy in further_strategies():
                self.api.serve_kind(strategy)
            for key, obj in found_at_start(to_rfc3339(began_us)):
                self.store.found(key, obj)
        environment = Environment(self.loop, self.api, self.informers, settings)
        self.processes = ClusterProcesses(self.loop, self.recorder)
        self.kubelets = Kubelets(environment)
        self.controllers: dict[str, Controller] = {
            controller.name: controller
            for controller in built_in_controllers(environment, self.processes, controllers)
        }
        for crd in crds:
            self.api.handle(Create(CUSTOM_RESOURCE_DEFINITION, crd, "", name_of(crd)), HARNESS)
        for namespace in namespaces:
            self.add_namespace(namespace)
        for controller in self.controllers.values():
            self.processes.add(controller)
            controller.start()
        if isinstance(nodes, int):
            nodes = [NodeSpec(f"n{number}", gpus=gpus) for number in range(nodes)]
        for node in nodes:
            self.add_node(node)

    def close(self) -> None:
        """Break the cycles between the parts: reference counts free the cluster then."""
        hubs = (self.loop, self.store, self.api, self.informers, self.processes, self.kubelets)
        for part in (*hubs, *self.controllers.values()):
            vars(part).clear()

    def add_namespace(self, name: str) -> None:
        """Create a namespace."""
        obj = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        self.api.handle(Create(NAMESPACE, obj, "", name), HARNESS)

    def add_node(self, spec: NodeSpec) -> None:
        """Let a node join, and start its kubelet."""
        kubelet = self.kubelets.add(spec.name)
        obj = spec.to_object(kubelet.host_ip, to_rfc3339(self.loop.now_us))
        self.api.handle(Create(NODE, obj, "", spec.name), HARNESS)
        self.processes.add(kubelet)
        kubelet.start()

    def client(self, actor: str) -> Client:
        """A function that sends requests as that actor, and returns at once."""
        handle = self.api.handle
        return lambda request: handle(request, actor)

    def is_quiet(
        self, until_us: Micros | None = None, apart_from: Collection[Timer | None] = ()
    ) -> bool:
        """True if nothing is left to do: no timer except housekeeping before a point in time.
        `apart_from` are timers that do not count.

        Without a point in time: no such timer at all. Work of paused or killed processes does
        not count.
        """
        return self.loop.is_quiet(until_us, apart_from)
