"""The terrain that random plans read from a recorded run."""

from __future__ import annotations

from typing import Any

from chaos.campaign import random_plan
from chaos.plan import parse_plan
from chaos.terrain import Written, terrain_of
from conformance.suites.appwrapper.api import APPWRAPPER
from vocabulary.clock import SECOND
from vocabulary.history import Entry, Mark, Write
from vocabulary.objects import Object

WRAPPER = {"apiVersion": APPWRAPPER.api_version, "kind": APPWRAPPER.kind}
WIDGET = {"apiVersion": "assay.dev/v1", "kind": "Widget"}
JOB = {"apiVersion": "batch/v1", "kind": "Job"}


def wrote(
    actor: str, kind: str, obj: Object, verb: str = "create", event: str = "ADDED", **fields: Any
) -> Write:
    return Write(
        n=0, t=0, actor=actor, verb=verb, kind=kind, name="a", event=event, object=obj, **fields
    )


def owned(obj: Object, by: Object) -> Object:
    """The object with an owner reference."""
    return {**obj, "metadata": {"ownerReferences": [{**by, "name": "a"}]}}


def status(phase: str, **conditions: str) -> Write:
    """The operator's write of a phase and of conditions."""
    shown = [{"type": type_, "status": value} for type_, value in conditions.items()]
    obj = {"status": {"phase": phase, "conditions": shown}}
    return wrote(
        "appwrapper", str(APPWRAPPER), obj, verb="update", event="MODIFIED", subresource="status"
    )


def pod(phase: str, appwrapper: str = "a") -> Write:
    labels = {"workload.codeflare.dev/appwrapper": appwrapper}
    obj = {"metadata": {"labels": labels}, "status": {"phase": phase}}
    return wrote("kubelet/n0", "Pod", obj)


ROLES = ("appwrapper",)
RECORDED: list[Entry] = [
    wrote("harness", "Node", {"apiVersion": "v1"}),
    wrote("user", str(APPWRAPPER), WRAPPER),
    status("Running", Unhealthy="False"),
    status("Running", Unhealthy="True"),
    wrote("appwrapper", "Job.batch", owned(JOB, WRAPPER)),
    wrote("job-controller", "Event", {"apiVersion": "v1"}),
    pod("Pending"),
    pod("Running"),
    pod("Unknown", appwrapper="another"),
    wrote("appwrapper/1", "Widget.assay.dev", owned(WIDGET, WRAPPER)),
    wrote("chaos", "ReplicaSet.apps", {"apiVersion": "apps/v1"}, event="", code=403),
    Mark(n=0, t=90 * SECOND, mark="faults-stopped"),
]


def test_random_plans_break_what_the_recorded_run_showed_and_nothing_else() -> None:
    terrain = terrain_of("any", RECORDED, ROLES)
    assert terrain is not None
    assert terrain.subject == "AppWrapper/a"
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


def test_a_run_in_which_the_operator_changed_nothing_of_others_has_nothing_to_be_broken() -> None:
    assert terrain_of("any", RECORDED[:2], ROLES) is None


def test_a_kind_that_no_suite_registered_is_found_and_followed_by_ownership() -> None:
    changed = {**WIDGET, "status": {"conditions": [{"type": "Done", "status": "True"}]}}
    terrain = terrain_of(
        "any",
        [
            wrote("user", "ConfigMap", {"apiVersion": "v1"}),
            wrote("user", "Widget.assay.dev", WIDGET),
            wrote("appwrapper", "Widget.assay.dev", changed, verb="patch", event="MODIFIED"),
            wrote("appwrapper", "Job.batch", owned(JOB, WIDGET)),
            wrote("appwrapper", "Gadget.assay.dev", {}, verb="delete", event="", code=404),
            wrote("job-controller", "Pod", {**owned({}, JOB), "status": {"phase": "Pending"}}),
        ],
        ROLES,
    )
    assert terrain is not None
    assert terrain.subject == "assay.dev/v1/Widget/a"
    assert terrain.components == ("Job",)
    assert terrain.conditions == (("Done", "True"),)
    assert terrain.pod_phases == ("Pending",)
    plans = [random_plan(terrain, seed) for seed in range(100)]
    assert [parse_plan(plan.to_yaml()) for plan in plans] == plans
    assert not any("autopilot_label" in plan.to_yaml() for plan in plans)


def test_a_run_that_shows_no_component_offers_none_to_be_held() -> None:
    written = wrote("appwrapper", "Job.batch", JOB, verb="update", event="MODIFIED")
    terrain = terrain_of("any", [wrote("user", "Job.batch", JOB), written], ROLES)
    assert terrain is not None and terrain.without == {"hold_object"}
    kinds = {
        step.fault.plan_key for seed in range(300) for step in random_plan(terrain, seed).faults
    }
    assert "hold_object" not in kinds and "tamper" in kinds
