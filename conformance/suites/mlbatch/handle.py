"""A team of the guide: its namespace, its queue, and the AppWrappers that it submits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from conformance.suites.kueue.api import APP_WRAPPER
from conformance.suites.kueue.handle import QueuedAppWrapper, app_wrapper, queue
from conformance.suites.mlbatch import TEAM
from conformance.world import Condition, World
from vocabulary.kinds import NAMESPACE
from vocabulary.objects import Object, condition_status, get_path, with_path

GPU: Final = "nvidia.com/gpu"
COHORT: Final = "default-cohort"
DEFAULT_QUEUE: Final = "default-queue"
PREEMPTION: Final[Mapping[str, Any]] = {
    "withinClusterQueue": "LowerOrNewerEqualPriority",
    "reclaimWithinCohort": "Any",
    "borrowWithinCohort": {"policy": "Never"},
}


class TeamsAppWrapper(QueuedAppWrapper):
    """An AppWrapper of a team."""

    def is_in(self, phase: str) -> Condition:
        return Condition(f"{self} is {phase}", lambda: get_path(self.now, "status.phase") == phase)

    def is_running(self) -> Condition:
        """It is Running, and its pods are ready."""
        ready = Condition("its pods are ready", lambda: self._shows("PodsReady"))
        return self.is_in("Running") & ready

    def was_reset(self) -> Condition:
        return Condition(
            f"{self} was reset", lambda: int(get_path(self.now, "status.resettingCount", 0)) > 0
        )

    def _shows(self, type_: str) -> bool:
        return condition_status(self.now, type_) == "True"


@dataclass(frozen=True, slots=True)
class Team:
    """A team whose jobs wait in the queue `default-queue` of its namespace."""

    world: World
    namespace: str
    cluster_queue: str

    @classmethod
    def of(cls, world: World, name: str, gpus: int, cpus: int = 100, **spec: Any) -> Team:
        """Set up a team with a quota of GPUs and CPUs, and more memory than it needs. A namespace
        that the scenario does not declare is the run's first one."""
        namespace = world.namespaces.get(name, world.namespace)
        world.patch(NAMESPACE, namespace, {"metadata": {"labels": {TEAM: "true"}}})
        made = queue(
            world,
            f"{name}-cluster-queue",
            {"cpu": str(cpus), "memory": "100Gi", GPU: str(gpus)},
            namespaces=(namespace,),
            local_name=DEFAULT_QUEUE,
            **{"cohort": COHORT, "preemption": PREEMPTION, **spec},
        )
        return cls(world, namespace, made)

    def submit(
        self,
        name: str,
        behaviour: str,
        gpus: int = 8,
        priority: str = "",
        extra: Mapping[str, str] | None = None,
        parameters: Mapping[str, str] | None = None,
        **changes: Any,
    ) -> TeamsAppWrapper:
        """Submit an AppWrapper of one Job without a queue's name, whose pods behave so and ask for
        so many GPUs each, and for what `extra` says; `priority` is a PriorityClass."""
        amounts = {"cpu": "500m", "memory": "1Gi", GPU: str(gpus), **(extra or {})}
        limits = {key: value for key, value in amounts.items() if "/" in key}
        if priority:
            changes["priorityClassName"] = priority
        made = app_wrapper(name, queue="", requests=amounts, limits=limits, **changes)
        return self._submit(made, behaviour, parameters)

    def wrap(
        self,
        name: str,
        *wrapped: Object,
        behaviour: str = "",
        parameters: Mapping[str, str] | None = None,
    ) -> TeamsAppWrapper:
        """Submit an AppWrapper of these objects, in the form of the guide."""
        made = {
            "apiVersion": APP_WRAPPER.api_version,
            "kind": APP_WRAPPER.kind,
            "metadata": {"name": name},
            "spec": {"components": [{"template": dict(each)} for each in wrapped]},
        }
        return self._submit(made, behaviour, parameters)

    def _submit(
        self, made: Object, behaviour: str, parameters: Mapping[str, str] | None = None
    ) -> TeamsAppWrapper:
        placed = with_path(made, "metadata.namespace", self.namespace)
        if parameters:
            prefix = "workload.codeflare.dev.appwrapper/"
            asked = {f"{prefix}{key}": value for key, value in parameters.items()}
            placed = with_path(placed, "metadata.annotations", asked)
        return TeamsAppWrapper.submit(self.world, placed, behaviour)


def slack_queue(world: World, gpus: int) -> str:
    """Create the ClusterQueue without jobs, with a quota of GPUs; returns its name."""
    amounts = {"cpu": "0", "memory": "0", GPU: str(gpus)}
    return queue(world, "slack-cluster-queue", amounts, cohort=COHORT)


def priority_classes(world: World, *, has_default: bool = False) -> tuple[str, str, str]:
    """Create the guide's PriorityClasses; the names of the low, the default and the high one. With
    `has_default` the second one is the cluster's default."""
    low, default, high = (f"{world.prefix}{each}-priority" for each in ("low", "default", "high"))
    for name, value in ((low, 1), (default, 5), (high, 10)):
        made = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            **({"globalDefault": True} if has_default and name == default else {}),
        }
        world.create(made)
    return low, default, high
