"""AppWrappers, and what happens to them, drawn at random, always the same.

The other scenarios put one thing to the test each. Here components of several kinds stand beside
one another, with names that are generated and with parameters of any value; their pods end well or
badly, are deleted or stick, components are deleted, and the whole is suspended and resumed.
"""

from __future__ import annotations

from random import Random
from typing import Any

from chaos.choice import PodChoice, Which
from chaos.faults import DeleteObject, DeletePod, KillPod, StickPod
from conformance.manifests.pod_templates import with_behaviour
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.api import APPWRAPPER_LABEL
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.workloads import (
    appwrapper,
    bare_pod,
    deployment,
    job,
    stateful_set,
)
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.kinds import DEPLOYMENT, JOB, POD, STATEFUL_SET
from vocabulary.objects import Object, labels_of, name_of

BEHAVIOURS = (
    "run forever",
    "run forever",
    "run forever, stop 3s",
    "run 20s, exit 0",
    "run 40s, exit 0",
    "run 1m, exit 1",
)
ROUNDS = 10


@scenario(
    arms=["INV-5", "INV-9"],
    kills="every-attempt-forgets-resets",
    cases={f"{number:02}": number for number in range(1, 33)},
)
def workload_is_drawn(world: World, number: int) -> None:
    """A workload that was drawn comes through what happens to workloads."""
    rng = Random(number)
    parameters: dict[str, str | int] = {}
    if rng.random() < 0.5:
        parameters["retryLimit"] = rng.choice((0, 1, 2))
    if rng.random() < 0.3:
        parameters["failureGracePeriodDuration"] = rng.choice(("0s", "2s", "20s"))
    if rng.random() < 0.3:
        parameters["retryPausePeriodDuration"] = rng.choice(("0s", "10s"))
    if rng.random() < 0.2:
        parameters["deletionOnFailureGracePeriodDuration"] = rng.choice(("0s", "30s"))
    components = [_component(rng, f"c{each}") for each in range(rng.choice((1, 2, 2, 3)))]
    manifest = AppWrapper.asked(appwrapper(*components), **parameters)
    aw = AppWrapper.submit(world, manifest)
    for _ in range(ROUNDS):
        world.wait(rng.choice((1, 5, 15)) * SECOND)
        if aw.phase in ("Succeeded", "Failed"):
            break
        _befall(world, aw, rng)
    if aw.phase == "Suspended":
        aw.resume()
    world.wait(60 * SECOND)


def _component(rng: Random, name: str) -> Object:
    return with_behaviour(_of_a_kind(rng, name), rng.choice(BEHAVIOURS))


def _of_a_kind(rng: Random, name: str) -> Object:
    kind = rng.choice(("pod", "pod", "job", "job", "job", "deployment", "set"))
    if kind == "pod":
        is_generated = rng.random() < 0.4
        return bare_pod(generateName="p-") if is_generated else bare_pod(name=name)
    replicas = rng.choice((1, 1, 2, 3))
    if kind == "deployment":
        return deployment({"replicas": replicas}, name=name)
    if kind == "set":
        return stateful_set({"replicas": replicas}, name=name)
    spec: dict[str, Any] = {"parallelism": replicas, "backoffLimit": rng.choice((0, 0, 2))}
    if rng.random() < 0.7:
        spec["completions"] = replicas * rng.choice((1, 1, 2))
    return job(spec, name=name)


def _befall(world: World, aw: AppWrapper, rng: Random) -> None:
    """One of the things that happen to a workload that goes on."""
    what = rng.choice(
        ("fail", "fail all", "end", "end", "delete pod", "stick", "component", "suspend", "suspend")
    )
    which: Which = "all" if what == "fail all" else rng.choice(("first", "last"))
    chosen = PodChoice(of=f"AppWrapper/{aw.name}", phase="Running", which=which)
    if what == "suspend" or aw.phase == "Suspended":
        aw.suspend(aw.phase != "Suspended")
    elif what == "component":
        found = [
            (kind.kind, name_of(each))
            for kind in (JOB, DEPLOYMENT, STATEFUL_SET, POD)
            for each in aw.owned(kind)
            if labels_of(each).get(APPWRAPPER_LABEL) == aw.name
        ]
        if found:
            world.inject(DeleteObject(*rng.choice(found)))
    elif what == "delete pod":
        world.inject(DeletePod(chosen))
    elif what == "stick":
        world.inject(StickPod(chosen))
    else:
        world.inject(KillPod(chosen, exit_code=0 if what == "end" else 1))
