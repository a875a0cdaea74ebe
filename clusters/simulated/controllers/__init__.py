"""The actors around the API server: each a client like any other, each a process.

A tour, in reading order:

- `base`: what they share: a queue, workers, a life that chaos can end.
- `informers`: the shared view of the cluster that they read; `settings`: their flags.
- `scheduling` gives pods nodes; `kubelets` play the pods of a node.
- `workloads` make pods: Job, ReplicaSet, Deployment, StatefulSet, PyTorchJob, RayCluster and
  RayJob, with what they have in common in `pods`; `ttl_after_finished` clears finished Jobs away.
- `garbage` deletes what has lost its owners.
- `nodes`: `node_lifecycle` taints those that are lost, `taint_manager` empties them, `pod_gc`
  ends what no kubelet can.
- `endpoints` writes the EndpointSlices of Services, `disruption` the status of
  PodDisruptionBudgets; off by default.
- `uncontrolled` tells by Events of objects on which none of them acts; off by default.
- `namespaces` empties namespaces, `pvc_protection` keeps volume claims in use, `resource_quota`
  shows what is used of a quota.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from clusters.simulated.controllers.base import Controller, Environment
from clusters.simulated.controllers.disruption import DisruptionController
from clusters.simulated.controllers.endpoints.endpoint_slice import EndpointSliceController
from clusters.simulated.controllers.garbage.garbage_collector import GarbageCollector
from clusters.simulated.controllers.namespaces import NamespaceController
from clusters.simulated.controllers.nodes.node_lifecycle import NodeLifecycle
from clusters.simulated.controllers.nodes.pod_gc import PodGarbageCollector
from clusters.simulated.controllers.nodes.taint_manager import TaintManager
from clusters.simulated.controllers.pvc_protection import PvcProtection
from clusters.simulated.controllers.resource_quota import ResourceQuotaController
from clusters.simulated.controllers.scheduling.scheduler import Scheduler
from clusters.simulated.controllers.uncontrolled import UncontrolledTeller
from clusters.simulated.controllers.workloads.deployment import DeploymentController
from clusters.simulated.controllers.workloads.job import JobController
from clusters.simulated.controllers.workloads.pytorchjob import PyTorchJobController
from clusters.simulated.controllers.workloads.ray import RayClusterController, RayJobController
from clusters.simulated.controllers.workloads.replicaset import ReplicaSetController
from clusters.simulated.controllers.workloads.statefulset import StatefulSetController
from clusters.simulated.controllers.workloads.ttl_after_finished import TtlAfterFinished
from clusters.simulated.processes import ClusterProcesses

_CONTROLLERS: Final[tuple[type[Controller], ...]] = (
    Scheduler,
    JobController,
    GarbageCollector,
    NodeLifecycle,
    TaintManager,
    PodGarbageCollector,
    DeploymentController,
    PyTorchJobController,
    RayClusterController,
    RayJobController,
    ReplicaSetController,
    StatefulSetController,
    NamespaceController,
    TtlAfterFinished,
    PvcProtection,
    ResourceQuotaController,
    EndpointSliceController,
    DisruptionController,
    UncontrolledTeller,
)
OF_CUSTOM_KINDS: Final[Mapping[str, str]] = {
    str(each.kind): each.name
    for each in (PyTorchJobController, RayClusterController, RayJobController)
}
"""The names of the controllers that stand for other projects' operators, by kind."""
SHORT_NAMES: Final[Mapping[str, str]] = {
    **{each.name.removesuffix("-controller"): each.name for each in _CONTROLLERS},
    "gc": GarbageCollector.name,
}
"""The names of all controllers by what they are called for short."""


def built_in_controllers(
    environment: Environment, processes: ClusterProcesses, chosen: Collection[str] | None = None
) -> tuple[Controller, ...]:
    """The controllers of a cluster but its kubelets, or those of these names; none of them is
    started yet."""
    if chosen is None:
        chosen = {each.name for each in _CONTROLLERS}
        for controller, is_wanted in (
            (EndpointSliceController, environment.settings.endpoint_slices),
            (DisruptionController, environment.settings.every_kind),
            (UncontrolledTeller, environment.settings.tells_uncontrolled),
        ):
            if not is_wanted:
                chosen.remove(controller.name)
        elsewhere = environment.settings.controlled_elsewhere
        chosen -= {name for kind, name in OF_CUSTOM_KINDS.items() if kind in elsewhere}

    running: dict[type[Controller], Controller] = {}
    if NodeLifecycle.name in chosen:
        nodes = NodeLifecycle(environment, lambda node: processes.is_running(f"kubelet/{node}"))

        def on_change(name: str) -> None:
            process, _, node = name.partition("/")
            if process == "kubelet":
                nodes.kubelet_changed(node)

        processes.on_change(on_change)
        # Those that hear of a change do so in the order in which they were made.
        running[NodeLifecycle] = nodes
    for each in _CONTROLLERS:
        if each.name in chosen and each is not NodeLifecycle:
            running[each] = each(environment)
    return tuple(running[each] for each in _CONTROLLERS if each in running)
