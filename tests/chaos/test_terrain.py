"""What random plans learn from a recorded run about what there is to be broken."""

from __future__ import annotations

from typing import Any

from chaos.terrain import Written, terrain_of
from vocabulary.clock import SECOND
from vocabulary.history import Entry, Mark, Write
from vocabulary.kinds import APPWRAPPER
from vocabulary.objects import Object

WIDGET = {"apiVersion": "assay.dev/v1", "kind": "Widget"}
JOB = {"apiVersion": "batch/v1", "kind": "Job"}


def wrote(
    actor: str, kind: str, obj: Object, verb: str = "create", event: str = "ADDED", **fields: Any
) -> Write:
    return Write(
        n=0, t=0, actor=actor, verb=verb, kind=kind, name="a", event=event, object=obj, **fields
    )


def submission(*templates: Object) -> Write:
    """The creation of an AppWrapper that wraps these."""
    components = [{"template": template} for template in templates]
    return wrote("user", str(APPWRAPPER), {"spec": {"components": components}})


def status(phase: str, **conditions: str) -> Write:
    """The operator's write of a phase and of conditions."""
    shown = [{"type": type_, "status": value} for type_, value in conditions.items()]
    obj = {"status": {"phase": phase, "conditions": shown}}
    return wrote(
        "operator", str(APPWRAPPER), obj, verb="update", event="MODIFIED", subresource="status"
    )


def pod(phase: str, appwrapper: str = "a") -> Write:
    labels = {"workload.codeflare.dev/appwrapper": appwrapper}
    obj = {"metadata": {"labels": labels}, "status": {"phase": phase}}
    return wrote("kubelet/n0", "Pod", obj)


RECORDED: list[Entry] = [
    wrote("harness", "Node", {"apiVersion": "v1"}),
    submission(JOB, WIDGET),
    status("Running", Unhealthy="False"),
    status("Running", Unhealthy="True"),
    wrote("operator", "Job.batch", JOB),
    wrote("job-controller", "Event", {"apiVersion": "v1"}),
    pod("Pending"),
    pod("Running"),
    pod("Unknown", appwrapper="another"),
    wrote("operator/1", "Widget.assay.dev", WIDGET),
    wrote("chaos", "ReplicaSet.apps", {"apiVersion": "apps/v1"}, event="", code=403),
    Mark(n=0, t=90 * SECOND, mark="faults-stopped"),
]


def test_random_plans_break_what_the_recorded_run_showed_and_nothing_else() -> None:
    terrain = terrain_of("any", RECORDED)
    assert terrain is not None
    assert terrain.appwrapper == "a"
    assert terrain.components == ("Job", "assay.dev/v1/Widget")
    assert terrain.watched == ("AppWrapper", "Job", "Pod", "assay.dev/v1/Widget")
    assert terrain.controllers == ("job-controller", "kubelet/n0")
    assert terrain.phases == ("Running",)
    assert terrain.conditions == (("Unhealthy", "False"), ("Unhealthy", "True"))
    assert terrain.pod_phases == ("Pending", "Running")
    assert terrain.writes == (
        Written("update", "AppWrapper", "status", 2),
        Written("create", "Job", "", 1),
    )
    assert terrain.span_us == 90 * SECOND


def test_a_run_without_an_appwrapper_has_nothing_to_be_broken() -> None:
    assert terrain_of("any", RECORDED[:1]) is None
