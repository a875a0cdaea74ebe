"""Where Autopilot's marks are read, which of them count, and when they are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from chaos.fault import Fault
from chaos.faults import LabelNode, Taint
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.api import AUTOPILOT_KEY
from conformance.suites.appwrapper.faults.autopilot import AutopilotLabel
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import ITS_NODE
from conformance.suites.appwrapper.scenarios.workloads import appwrapper, job, pod_spec
from conformance.world import World
from vocabulary.clock import SECOND

ONE_GPU: Final = {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}
TOLERANT: Final = {"tolerations": [{"operator": "Exists"}]}
EVICT: Final = "EVICT"
CPU_HEALTH: Final = "example.com/cpu-health"
BOTH: Final = {"autopilot": {"source": "both"}}
TAINTS: Final = {"autopilot": {"source": "taints"}}


def _tolerant_workload(world: World) -> AppWrapper:
    """GPU pods that no taint drives away, so that only the operator can."""
    pod = pod_spec(ONE_GPU, **TOLERANT)
    aw = AppWrapper.submit(world, appwrapper(job({"parallelism": 2, "completions": 2}, pod)))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    return aw


def _stays(world: World) -> None:
    world.wait(world.durations.warmup_grace_us + 3 * world.durations.failure_grace_us)


@scenario(
    arms=["AW-002", "AW-033"],
    config=BOTH,
    gpus=4,
    cases={
        "label": AutopilotLabel(ITS_NODE, EVICT),
        "taint": Taint(ITS_NODE, AUTOPILOT_KEY, EVICT, "NoExecute"),
    },
)
def either_is_a_mark(world: World, mark: Fault) -> None:
    """Where labels and taints are both read, each of them alone makes a workload leave."""
    aw = _tolerant_workload(world)
    world.inject(mark)
    world.until(aw.is_in("Resetting"))
    world.until(aw.is_in("Running"))


@scenario(
    arms=["INV-9"],
    config=TAINTS,
    gpus=4,
    cases={
        "another-key": Taint(ITS_NODE, "example.com/other", EVICT, "NoExecute"),
        "another-value": Taint(ITS_NODE, AUTOPILOT_KEY, "WARN", "NoExecute"),
        "without-a-value": Taint(ITS_NODE, AUTOPILOT_KEY, "", "NoExecute"),
        "closed-to-new-pods": Taint(ITS_NODE, AUTOPILOT_KEY, "ERR", "NoSchedule"),
        "a-label": AutopilotLabel(ITS_NODE, EVICT),
    },
)
def other_marks_than_configured_taints(world: World, mark: Fault) -> None:
    """Where taints are read, a workload stays on a node with other taints, and other marks."""
    _tolerant_workload(world)
    world.inject(mark)
    _stays(world)


@scenario(
    arms=["INV-9"],
    gpus=4,
    cases={
        "a-taint": Taint(ITS_NODE, AUTOPILOT_KEY, EVICT, "NoExecute"),
        "another-key": LabelNode(ITS_NODE, "example.com/other", EVICT),
        "another-value": LabelNode(ITS_NODE, AUTOPILOT_KEY, "evict"),
    },
)
def other_marks_than_configured_labels(world: World, mark: Fault) -> None:
    """Where labels are read, a workload stays on a node with other labels, and with taints."""
    _tolerant_workload(world)
    world.inject(mark)
    _stays(world)


@scenario(
    arms=["AW-110"],
    gpus=4,
    config={"autopilot": None},
    cases={"before": True, "while-it-runs": False},
)
def autopilot_is_off(world: World, is_before: bool) -> None:
    """Where Autopilot is not deployed, nothing is injected, and no workload is moved."""
    if is_before:
        world.inject(AutopilotLabel(world.nodes[0], EVICT))
    _tolerant_workload(world)
    if not is_before:
        world.inject(AutopilotLabel(ITS_NODE, EVICT))
    _stays(world)


@scenario(arms=["AW-110"], gpus=4, config={"autopilot": {"injectAntiAffinities": False}})
def anti_affinities_are_not_injected(world: World) -> None:
    """Where anti-affinities are not to be injected, pods have those that their user wrote."""
    _tolerant_workload(world)
    world.wait(SECOND)


def _marked(*effects: str, **settings: Any) -> Mapping[str, Any]:
    """A configuration that monitors CPUs by one key, with a value for each effect."""
    taints = [{"key": CPU_HEALTH, "value": effect, "effect": effect} for effect in effects]
    return {"autopilot": {"resourceTaints": {"cpu": taints}, **settings}}


def _prefers(*keys: str) -> Mapping[str, Any]:
    """A preferred node affinity of the user's own."""
    terms = [
        {"weight": 1, "preference": {"matchExpressions": [{"key": key, "operator": "Exists"}]}}
        for key in keys
    ]
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}


@scenario(
    arms=["AW-111", "AW-100"],
    config=_marked("PreferNoSchedule", preferNoScheduleWeight=7),
    cases={"no-affinity": {}, "his-own": _prefers("example.com/fast", "example.com/near")},
)
def marks_that_discourage(world: World, affinity: Mapping[str, Any]) -> None:
    """Nodes with a mark that only discourages are avoided where possible, and not left."""
    aw = AppWrapper.submit(world, appwrapper(job({}, pod_spec(affinity=affinity))))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(LabelNode(ITS_NODE, CPU_HEALTH, "PreferNoSchedule"))
    _stays(world)


@scenario(arms=["AW-111", "AW-089"], config=_marked("PreferNoSchedule", "NoSchedule", "NoExecute"))
def marks_of_every_effect(world: World) -> None:
    """Marks that keep pods off a node are required to be avoided, and the others preferred."""
    world.inject(LabelNode(world.nodes[0], CPU_HEALTH, "NoSchedule"))
    aw = AppWrapper.submit(world, "job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(SECOND)


@scenario(arms=["INV-9"], config={"autopilot": {"resourceTaints": {"cpu": []}}})
def resource_without_marks(world: World) -> None:
    """A resource for which no mark is configured is as one that is not monitored."""
    aw = AppWrapper.submit(world, "job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    _stays(world)
