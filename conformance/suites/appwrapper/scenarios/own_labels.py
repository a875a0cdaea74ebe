"""Components whose users wrote a label that the operator knows: they are its components still."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from chaos.faults import DeleteObject, KillPod
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD
from conformance.suites.appwrapper.scenarios.workloads import appwrapper, bare_pod, job
from conformance.world import World

LABELS: Final = {"workload.codeflare.dev/appwrapper": "other"}


def _labelled(template: Mapping[str, Any]) -> dict[str, Any]:
    return {**template, "metadata": {**template["metadata"], "labels": LABELS}}


@scenario(arms=["AW-035", "AW-057", "AW-100"], untouched=True)
def labelled_component_is_deleted(world: World) -> None:
    """A component that its user labelled as another AppWrapper's is missed when it is deleted."""
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a-config"}}
    aw = AppWrapper.submit(world, appwrapper(_labelled(config), bare_pod()))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(DeleteObject("ConfigMap", "a-config"))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-034", "AW-044", "AW-100"], untouched=True)
def labelled_job_fails(world: World) -> None:
    """A Job that its user labelled as another AppWrapper's is heard when it says that it failed."""
    aw = AppWrapper.submit(
        world, appwrapper(_labelled(job({"backoffLimit": 0}))), failureGracePeriodDuration="1h"
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
