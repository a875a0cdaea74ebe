"""Kueue's podSetInfos, written when it reserves quota, beside the template's own settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from chaos.faults import LabelNode
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.workloads import appwrapper, bare_pod, job, pod_spec
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.kinds import POD
from vocabulary.objects import get_path

POOL: Final = "example.com/pool"
QUEUE: Final = "example.com/queue"
NOTE: Final = "example.com/note"
GATE: Final = {"name": "example.com/topology"}
OWN_GATE: Final = {"name": "example.com/own"}
TOLERATED: Final = {"key": QUEUE, "operator": "Exists", "effect": "NoSchedule"}
OWN_TOLERATED: Final = {"key": "example.com/mine", "operator": "Exists", "effect": "NoSchedule"}
INFO: Final[Mapping[str, Any]] = {
    "labels": {QUEUE: "research"},
    "annotations": {QUEUE: "research"},
    "nodeSelector": {POOL: "large"},
    "tolerations": [TOLERATED],
}
OWN_METADATA: Final[Mapping[str, Any]] = {
    "labels": {QUEUE: "research", "team": "own"},
    "annotations": {NOTE: "keep", QUEUE: "research"},
}
OWN_SPEC: Final[Mapping[str, Any]] = {
    "nodeSelector": {POOL: "large", "kubernetes.io/os": "linux"},
    "tolerations": [OWN_TOLERATED],
}


def _with_infos(template: Mapping[str, Any], *infos: Mapping[str, Any]) -> dict[str, Any]:
    manifest = appwrapper(template)
    manifest["spec"]["components"][0]["podSetInfos"] = [dict(info) for info in infos]
    return manifest


def _job(metadata: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    made = job({"parallelism": 2, "completions": 2}, pod_spec(**fields))
    made["spec"]["template"]["metadata"] = dict(metadata)
    return made


@scenario(
    arms=["MLB-076", "AW-100"],
    cases={
        "beside-nothing": (_job({}), INFO),
        "beside-the-users": (_job(OWN_METADATA, **OWN_SPEC), INFO),
        "of-a-pod": (bare_pod(pod_spec(**OWN_SPEC), name="a-0", **OWN_METADATA), INFO),
        "labels-alone": (_job({}), {"labels": INFO["labels"]}),
        "annotations-alone": (_job({}), {"annotations": INFO["annotations"]}),
        "node-selector-alone": (_job(OWN_METADATA), {"nodeSelector": INFO["nodeSelector"]}),
        "tolerations-alone": (_job(OWN_METADATA), {"tolerations": INFO["tolerations"]}),
    },
)
def pods_go_where_their_quota_is(
    world: World, case: tuple[Mapping[str, Any], Mapping[str, Any]]
) -> None:
    """Pods are placed as podSetInfos say, and keep what their template says."""
    template, info = case
    for node in world.nodes:
        world.inject(LabelNode(node, POOL, "large"))
    aw = AppWrapper.submit(world, _with_infos(template, info))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(SECOND)


@scenario(
    arms=["MLB-076", "AW-100"],
    cases={"beside-none": (), "beside-another": (OWN_GATE,), "beside-the-same": (OWN_GATE, GATE)},
)
def pods_wait_for_what_their_quota_says(world: World, own: tuple[Mapping[str, Any], ...]) -> None:
    """Pods have the scheduling gates that podSetInfos name, each once, and start without them."""
    pod = pod_spec(schedulingGates=[dict(gate) for gate in own]) if own else pod_spec()
    info = {"schedulingGates": [GATE, OWN_GATE]}
    aw = AppWrapper.submit(world, _with_infos(bare_pod(pod, name="a-0"), info))
    world.until(aw.has_pods(1, "Pending"))
    world.wait(SECOND)
    world.patch(POD, "a-0", {"spec": {"schedulingGates": None}}, "chaos")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(
    arms=["MLB-076", "AW-020"],
    only_simulated="the control plane has no training operator",
    cases={"both": 2, "the-first": 1},
)
def each_pod_set_is_placed_for_itself(world: World, number: int) -> None:
    """Each pod set is placed as its own podSetInfos say, and one without as its template says."""
    infos = [{"labels": {"example.com/set": str(index)}} for index in range(number)]
    manifest = AppWrapper.manifest(world, "pytorch_job.yaml")
    aw = AppWrapper.submit(
        world, _with_infos(get_path(manifest, "spec.components.0.template"), *infos)
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(SECOND)
