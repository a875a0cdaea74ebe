"""Users scale what an AppWrapper wraps: its podSets say how many pods are expected, still."""

from __future__ import annotations

from typing import Any

from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.workloads import (
    appwrapper,
    deployment,
    job,
    stateful_set,
)
from conformance.world import World
from vocabulary.kinds import DEPLOYMENT, JOB, STATEFUL_SET, Kind
from vocabulary.objects import Object, name_of

KINDS: dict[str, tuple[Kind, str, Any]] = {
    "deployment": (DEPLOYMENT, "replicas", deployment),
    "stateful-set": (STATEFUL_SET, "replicas", stateful_set),
    "job": (JOB, "parallelism", job),
}


def _template(case: tuple[Kind, str, Any], pods: int) -> Object:
    kind, field, build = case
    built: Object = build({field: pods} | ({"completions": pods} if kind == JOB else {}))
    return built


def _scale(world: World, case: tuple[Kind, str, Any], pods: int) -> None:
    kind, field, _ = case
    world.patch(kind, name_of(_template(case, pods)), {"spec": {field: pods}})


@scenario(arms=["AW-021"], cases=KINDS)
def workload_is_scaled_down(world: World, case: tuple[Kind, str, Any]) -> None:
    """The pods that a user scales away are missed after the failure grace period."""
    aw = AppWrapper.submit(world, appwrapper(_template(case, 3)), retryLimit=1)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(world.durations.warmup_grace_us)
    _scale(world, case, 1)
    world.until(aw.shows("Unhealthy"))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.has_pods(3, "Running"))


@scenario(arms=["AW-020", "INV-9"], cases=KINDS)
def workload_is_scaled_down_for_a_moment(world: World, case: tuple[Kind, str, Any]) -> None:
    """A workload that is scaled up again within the failure grace period needs no reset."""
    aw = AppWrapper.submit(world, appwrapper(_template(case, 3)), failureGracePeriodDuration="1m")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(world.durations.warmup_grace_us)
    _scale(world, case, 1)
    world.until(aw.shows("Unhealthy"))
    _scale(world, case, 3)
    world.until(aw.has_pods(3, "Running") & aw.shows("Unhealthy", "False"))
    world.wait(2 * world.durations.failure_grace_us)


@scenario(
    arms=["AW-020", "INV-9"],
    cases={name: KINDS[name] for name in ("deployment", "stateful-set")},
)
def workload_is_scaled_up(world: World, case: tuple[Kind, str, Any]) -> None:
    """Pods beyond those that are expected do no harm."""
    aw = AppWrapper.submit(world, appwrapper(_template(case, 1)))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    _scale(world, case, 3)
    world.until(aw.has_pods(3, "Running"))
    world.wait(world.durations.warmup_grace_us + 2 * world.durations.failure_grace_us)
