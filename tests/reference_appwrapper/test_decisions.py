"""The pure decisions, as tables: health, timers, ownership, deletion, the state machine."""

from __future__ import annotations

from typing import Any

import pytest

from reference_controller.appwrapper import OperatorConfig
from reference_controller.appwrapper.decide import decide, deleting
from reference_controller.appwrapper.names import Condition, Phase, Reason, Stamp
from reference_controller.appwrapper.observation import Component, Observation
from reference_controller.appwrapper.rules import RIGHT
from reference_controller.appwrapper.steps import (
    CreateComponent,
    DeleteEverything,
    Hold,
    LetGo,
    Record,
    Remove,
    Stay,
    Step,
)
from vocabulary.clock import MINUTE, SECOND, SIMULATION_EPOCH_US, Micros, to_rfc3339_micro
from vocabulary.kinds import CONFIG_MAP, JOB, POD, PYTORCH_JOB, Kind
from vocabulary.objects import Object, condition_status

NOW = SIMULATION_EPOCH_US + 3600 * SECOND
FINALIZER = "workload.codeflare.dev/finalizer"
OWNER = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "name": "a"}


def at(us: Micros) -> str:
    return to_rfc3339_micro(us)


def owned(uid: str = "aw-1") -> dict[str, Any]:
    return {"ownerReferences": [{**OWNER, "uid": uid, "controller": True}]}


def component(
    kind: Kind = JOB, *, expected: int = 1, state: str = "True", found: Object | None = None
) -> Component:
    record = {
        "name": "x",
        "kind": kind.kind,
        "apiVersion": kind.api_version,
        "uid": "x-1",
        "attempt": 1,
        "podSets": [{"path": "template.spec.template", "replicas": expected}],
        "conditions": [{"type": "ResourcesDeployed", "status": state, "reason": "r"}],
    }
    return Component(0, kind, record, found)


def job(*conditions: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "x", "namespace": "team", "uid": "x-1", **owned()},
        "spec": spec,
        "status": {"conditions": [{"type": name, "status": "True"} for name in conditions]},
    }


def pod(phase: str, *, terminating: bool = False, index: str = "0", attempt: str = "1") -> Object:
    prefix = "workload.codeflare.dev.appwrapper/"
    labels = {
        prefix + "component": index,
        prefix + "attempt": attempt,
        prefix + "owner-uid": "aw-1",
    }
    metadata: dict[str, Any] = {
        "name": phase.lower(),
        "namespace": "team",
        "uid": phase,
        "labels": labels,
    }
    if terminating:
        metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}
    return {"metadata": metadata, "spec": {"nodeName": "n0"}, "status": {"phase": phase}}


def appwrapper(
    phase: str, *, suspend: bool = False, meta: Object | None = None, **status: Any
) -> Object:
    conditions = status.pop("conditions", {"ResourcesDeployed": "True", "QuotaReserved": "True"})
    return {
        "metadata": {
            "name": "a",
            "namespace": "team",
            "uid": "aw-1",
            "finalizers": [FINALIZER],
            **(meta or {}),
        },
        "spec": {"suspend": suspend, "components": [{"template": {"metadata": {"name": "x"}}}]},
        "status": {
            "phase": phase,
            "attempt": 1,
            "conditions": [
                {"type": name, "status": value, "reason": "r"} for name, value in conditions.items()
            ],
            "componentStatus": [component().record],
            **status,
        },
    }


def seen(
    aw: Object, *components: Component, pods: tuple[Object, ...] = (), **more: Any
) -> Observation:
    annotations = more.pop("annotations", {})
    parameters = RIGHT.parameters(annotations, OperatorConfig().fault_tolerance)
    return Observation(aw, NOW, parameters, components, pods, **more)


def phase_recorded(step: Step) -> str:
    assert isinstance(step, Record)
    return str(step.status["phase"])


def reason_of(step: Step, type_: str = Condition.UNHEALTHY) -> str:
    assert isinstance(step, Record)
    return next(c["reason"] for c in step.status["conditions"] if c["type"] == type_)


RUNNING = {Stamp.DEPLOYED: at(NOW - 10 * SECOND)}


@pytest.mark.parametrize(
    ("pods", "failed", "missing", "idle"),
    [
        ([], 0, 2, 2),
        (["Pending"], 0, 1, 2),
        (["Pending", "Running"], 0, 0, 1),
        (["Running", "Running"], 0, 0, 0),
        (["Running", "Succeeded"], 0, 0, 0),
        (["Running", "Failed"], 1, 0, 1),
        (["Unknown", "Running"], 0, 1, 1),
    ],
)
def test_pods_are_counted_by_their_phase(
    pods: list[str], failed: int, missing: int, idle: int
) -> None:
    one = seen(
        appwrapper("Running"), component(POD, expected=2), pods=tuple(pod(phase) for phase in pods)
    )
    census = RIGHT.census(one)
    found = (
        RIGHT.failed_pods(one, census),
        RIGHT.missing_pods(one, census),
        RIGHT.idle_pods(one, census),
    )
    assert found == (failed, missing, idle)


def test_a_pod_that_is_being_deleted_or_of_an_older_attempt_does_not_stand_in() -> None:
    pods = (pod("Running", terminating=True), pod("Running", attempt="0"))
    one = seen(appwrapper("Running"), component(POD, expected=1), pods=pods)
    assert RIGHT.missing_pods(one, RIGHT.census(one)) == 1


def test_pods_of_one_component_do_not_make_up_for_those_of_another() -> None:
    second = Component(1, POD, component(POD).record, None)
    pods = (pod("Running"), pod("Succeeded"))
    one = seen(appwrapper("Running"), component(POD), second, pods=pods)
    assert RIGHT.idle_pods(one, RIGHT.census(one)) == 1


@pytest.mark.parametrize(
    ("found", "pods", "counted"),
    [
        (job(parallelism=1, completions=1), ["Failed"], 1),
        (job(parallelism=1, completions=1), ["Failed", "Pending"], 0),
        (job(parallelism=2, completions=2), ["Failed", "Running"], 1),
        (job(parallelism=2, completions=3), ["Failed", "Succeeded", "Succeeded", "Running"], 0),
        (job("Complete", parallelism=1, completions=1), ["Failed", "Succeeded"], 0),
    ],
)
def test_a_jobs_failed_pods_count_only_while_they_are_not_replaced(
    found: Object, pods: list[str], counted: int
) -> None:
    one = seen(
        appwrapper("Running"), component(found=found), pods=tuple(pod(phase) for phase in pods)
    )
    assert RIGHT.failed_pods(one, RIGHT.census(one)) == counted


@pytest.mark.parametrize(
    ("kind", "found", "expected", "pods", "succeeded"),
    [
        (POD, {}, 1, ["Succeeded"], True),
        (POD, {}, 2, ["Succeeded"], False),
        (POD, {}, 1, ["Succeeded", "Running"], False),
        (POD, {}, 1, ["Succeeded", "Failed"], False),
        (POD, {}, 1, ["Succeeded", "Unknown"], False),
        (POD, {}, 0, [], False),
        (JOB, job(), 1, ["Succeeded"], False),
        (JOB, job("Complete"), 1, ["Succeeded"], True),
        (JOB, job("Complete"), 2, ["Succeeded", "Failed"], True),
        (JOB, job("Complete"), 1, ["Running"], False),
        (PYTORCH_JOB, job("Succeeded"), 2, ["Succeeded"], True),
        (PYTORCH_JOB, job(), 2, ["Succeeded", "Succeeded"], True),
    ],
)
def test_success_is_when_all_is_done_and_nothing_runs_and_jobs_agree(
    kind: Kind, found: Object, expected: int, pods: list[str], succeeded: bool
) -> None:
    one = seen(
        appwrapper("Running"),
        component(kind, expected=expected, found=found),
        pods=tuple(pod(phase) for phase in pods),
    )
    assert RIGHT.has_succeeded(one, RIGHT.census(one)) is succeeded


@pytest.mark.parametrize(
    ("found", "is_missing"),
    [
        (None, True),
        ({"metadata": {"uid": "x-1"}}, False),
        ({"metadata": {"uid": "x-2"}}, True),
        ({"metadata": {"uid": "x-1", "deletionTimestamp": "2026-01-01T00:00:00Z"}}, True),
    ],
)
def test_a_component_is_missing_when_it_is_gone_going_or_another_of_its_name(
    found: Object | None, is_missing: bool
) -> None:
    assert RIGHT.is_missing(component(found=found)) is is_missing
    assert not RIGHT.is_missing(component(found=found, state="Unknown"))


@pytest.mark.parametrize(
    ("pods", "components", "annotations", "reason", "phase"),
    [
        (["Running"], [component(found=None)], {}, Reason.MISSING_COMPONENT, Phase.FAILED),
        (
            ["Failed"],
            [component(found=job("Failed"))],
            {},
            Reason.FAILED_COMPONENT,
            Phase.RESETTING,
        ),
        (["Failed"], [component(found=job())], {}, Reason.FOUND_FAILED_PODS, Phase.RUNNING),
        (
            ["Failed"],
            [component(found=job())],
            {"failureGracePeriodDuration": "0s"},
            Reason.FOUND_FAILED_PODS,
            Phase.RESETTING,
        ),
        (
            ["Failed"],
            [component(found=job())],
            {"failureGracePeriodDuration": "0s", "retryLimit": "0"},
            Reason.FOUND_FAILED_PODS,
            Phase.FAILED,
        ),
        (
            [],
            [component(found=job())],
            {"admissionGracePeriodDuration": "10s"},
            Reason.INSUFFICIENT_PODS_READY,
            Phase.RUNNING,
        ),
        (
            ["Pending"],
            [component(found=job())],
            {"warmupGracePeriodDuration": "10s"},
            Reason.INSUFFICIENT_PODS_READY,
            Phase.RUNNING,
        ),
        (
            ["Pending"],
            [component(found=job())],
            {"admissionGracePeriodDuration": "10s"},
            Reason.FOUND_NO_FAILED_PODS,
            Phase.RUNNING,
        ),
    ],
)
def test_a_running_workload_goes_where_its_first_ailment_leads(
    pods: list[str],
    components: list[Component],
    annotations: dict[str, str],
    reason: str,
    phase: str,
) -> None:
    prefix = "workload.codeflare.dev.appwrapper/"
    one = seen(
        appwrapper("Running", **RUNNING),
        *components,
        pods=tuple(pod(name) for name in pods),
        annotations={prefix + key: value for key, value in annotations.items()},
    )
    step = decide(one, RIGHT)
    assert (phase_recorded(step), reason_of(step)) == (phase, reason)


def test_what_ends_an_attempt_is_momentous_and_what_only_tells_is_not() -> None:
    ends = decide(seen(appwrapper("Running", **RUNNING), component(found=None)), RIGHT)
    tells = decide(
        seen(appwrapper("Running", **RUNNING), component(found=job()), pods=(pod("Failed"),)), RIGHT
    )
    assert isinstance(ends, Record)
    assert ends.is_momentous
    assert isinstance(tells, Record)
    assert not tells.is_momentous


@pytest.mark.parametrize(
    ("aw", "expected"),
    [
        (appwrapper("Suspended", suspend=True), Stay()),
        (appwrapper("Suspended", meta={"finalizers": []}), Hold()),
        (appwrapper("Suspending"), DeleteEverything()),
        (appwrapper("Suspending", suspend=True), DeleteEverything()),
        (appwrapper("Resetting"), DeleteEverything()),
        (appwrapper("Resetting", pauseStartedAt=at(NOW)), Stay(NOW + 90 * SECOND)),
        (appwrapper("Failed", failedAt=at(NOW - SECOND)), DeleteEverything()),
        (appwrapper("Failed", conditions={"ResourcesDeployed": "False"}), Stay()),
        (appwrapper("Succeeded", conditions={"ResourcesDeployed": "False"}), Stay()),
        (appwrapper("Running", meta={"deletionTimestamp": at(NOW)}), DeleteEverything()),
        (appwrapper("Running", meta={"deletionTimestamp": at(NOW), "finalizers": []}), Stay()),
    ],
)
def test_each_phase_has_its_next_step(aw: Object, expected: Step) -> None:
    assert decide(seen(aw), RIGHT) == expected


@pytest.mark.parametrize("phase", ["Resuming", "Running", "Resetting"])
def test_a_suspension_leads_out_of_the_retry_loop_from_anywhere(phase: str) -> None:
    assert phase_recorded(decide(seen(appwrapper(phase, suspend=True)), RIGHT)) == Phase.SUSPENDING


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_a_suspension_leads_nowhere_from_where_it_ended(phase: str) -> None:
    stamps = {Stamp.FAILED: at(NOW), Stamp.SUCCEEDED: at(NOW)}
    step = decide(seen(appwrapper(phase, suspend=True, **stamps)), RIGHT)
    assert isinstance(step, Stay | DeleteEverything)


def test_a_new_attempt_begins_with_a_new_number_and_the_intent_of_its_first_component() -> None:
    step = decide(seen(appwrapper("Suspended")), RIGHT)
    assert isinstance(step, Record)
    assert step.status["attempt"] == 2
    first = step.status["componentStatus"][0]
    assert (first["attempt"], first["conditions"][0]["status"]) == (2, "Unknown")
    assert "uid" not in first


def test_an_intended_component_is_created_and_a_confirmed_one_is_not_created_again() -> None:
    records = [component(state="Unknown").record]
    assert decide(seen(appwrapper("Resuming", componentStatus=records)), RIGHT) == CreateComponent(
        0
    )
    done = seen(appwrapper("Resuming"), component(found=job()))
    assert phase_recorded(decide(done, RIGHT)) == Phase.RUNNING


DELETING = {"ResourcesDeployed": "True", "QuotaReserved": "True", "DeletingResources": "True"}


def test_deletion_asks_first_and_forces_pods_and_components_when_its_time_is_over() -> None:
    left = (component(found=job()),)
    pods = (pod("Running"),)
    early = appwrapper("Failed", conditions=DELETING, deletionStartedAt=at(NOW - 10 * MINUTE + 1))
    asked = deleting(seen(early, *left, pods=pods), RIGHT)
    assert isinstance(asked, Remove)
    assert [(d.kind, d.grace_period_seconds) for d in asked.deletes] == [(JOB, None)]
    assert asked.wake_at_us == NOW + 1
    late = appwrapper("Failed", conditions=DELETING, deletionStartedAt=at(NOW - 10 * MINUTE))
    forced = deleting(seen(late, *left, pods=pods), RIGHT)
    assert isinstance(forced, Remove)
    assert [(d.kind, d.grace_period_seconds) for d in forced.deletes] == [(POD, 0), (JOB, 0)]
    assert all(delete.uid for delete in (*asked.deletes, *forced.deletes))


def test_an_object_of_another_owner_under_a_components_name_is_not_what_remains() -> None:
    theirs = {**job(), "metadata": {**job()["metadata"], **owned("aw-2")}}
    one = seen(appwrapper("Failed", conditions=DELETING), component(found=theirs))
    assert RIGHT.is_all_gone(one)


@pytest.mark.parametrize(
    ("phase", "next_phase", "quota"),
    [
        ("Resetting", "Resetting", "True"),
        ("Suspending", "Suspended", "False"),
        ("Failed", "Failed", "False"),
        ("Succeeded", "Succeeded", "False"),
    ],
)
def test_when_all_is_gone_the_quota_goes_too_but_not_during_a_reset(
    phase: str, next_phase: str, quota: str
) -> None:
    step = deleting(seen(appwrapper(phase, conditions=DELETING)), RIGHT)
    assert phase_recorded(step) == next_phase
    assert isinstance(step, Record)
    assert condition_status({"status": step.status}, "QuotaReserved") == quota
    assert condition_status({"status": step.status}, "ResourcesDeployed") == "False"


def test_a_deleted_appwrapper_is_let_go_only_when_nothing_is_left_and_no_quota_is_held() -> None:
    dying = {"deletionTimestamp": at(NOW)}
    held = appwrapper("Running", meta=dying, conditions=DELETING)
    assert isinstance(deleting(seen(held, component(found=job())), RIGHT), Record)
    assert isinstance(deleting(seen(held), RIGHT), Record)
    freed = appwrapper("Terminating", meta=dying, conditions={"ResourcesDeployed": "False"})
    assert deleting(seen(freed), RIGHT) == LetGo()


def test_kinds_that_do_not_say_how_they_fare_neither_fail_nor_succeed_by_their_status() -> None:
    says_both = job("Failed", "Complete", "Succeeded")
    assert not RIGHT.says_failed(component(CONFIG_MAP, found=says_both))
    assert not RIGHT.says_succeeded(component(CONFIG_MAP, found=says_both))
