"""The state machine as tables: ailments, steps of each phase, attempts, deletion."""

from __future__ import annotations

import pytest

from reference_controller.appwrapper.decide import decide, deleting
from reference_controller.appwrapper.names import Condition, Phase, Reason, Stamp
from reference_controller.appwrapper.observation import Component
from reference_controller.appwrapper.rules import RIGHT
from reference_controller.appwrapper.rules.deletion import is_being_forced
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
from tests.reference_appwrapper.observed import (
    DELETING,
    NOW,
    appwrapper,
    at,
    component,
    job,
    owned,
    pod,
    seen,
)
from vocabulary.clock import MINUTE, SECOND
from vocabulary.kinds import JOB, POD
from vocabulary.objects import Object, condition_status


def phase_recorded(step: Step) -> str:
    assert isinstance(step, Record)
    return str(step.status["phase"])


def reason_of(step: Step, type_: str = Condition.UNHEALTHY) -> str:
    assert isinstance(step, Record)
    return next(c["reason"] for c in step.status["conditions"] if c["type"] == type_)


RUNNING = {Stamp.DEPLOYED: at(NOW - 10 * SECOND)}


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


def test_what_ends_an_attempt_or_begins_a_grace_period_is_momentous() -> None:
    ends = decide(seen(appwrapper("Running", **RUNNING), component(found=None)), RIGHT)
    ailing = appwrapper("Running", **RUNNING)
    begins = decide(seen(ailing, component(found=job()), pods=(pod("Failed"),)), RIGHT)
    tells = decide(seen(ailing, component(found=job()), pods=(pod("Running"),)), RIGHT)
    steps = (ends, begins, tells)
    assert [isinstance(step, Record) and step.is_momentous for step in steps] == [True, True, False]
    assert isinstance(tells, Record)


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


def test_a_new_attempt_has_a_new_number_and_begins_with_the_intent_of_its_first_component() -> None:
    begun = decide(seen(appwrapper("Suspended")), RIGHT)
    assert isinstance(begun, Record)
    assert begun.status["attempt"] == 2
    step = decide(seen({**appwrapper("Suspended"), "status": begun.status}), RIGHT)
    assert isinstance(step, Record)
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
    assert [(d.kind, d.grace_period_seconds) for d in forced.deletes] == [(JOB, 0), (POD, 0)]
    assert all(delete.uid for delete in (*asked.deletes, *forced.deletes))


@pytest.mark.parametrize(("finalizers", "again"), [([], True), (["example.com/hold"], False)])
def test_a_pod_whose_forceful_deletion_was_noted_is_deleted_again_unless_a_finalizer_holds_it(
    finalizers: list[str], again: bool
) -> None:
    """An API server that ends between noting it and carrying it out leaves such a pod."""
    noted = pod("Failed", terminating=True)
    metadata = {**noted["metadata"], "deletionGracePeriodSeconds": 0, "finalizers": finalizers}
    assert is_being_forced({**noted, "metadata": metadata}) is not again


def test_the_time_of_a_deletion_runs_though_there_is_nothing_left_to_ask_for() -> None:
    """Another actor deleted the component and orphaned its pods: only force will end those."""
    orphaned = (pod("Running"),)
    step = deleting(
        seen(appwrapper("Failed", conditions=DELETING), component(), pods=orphaned), RIGHT
    )
    assert isinstance(step, Remove)
    assert (step.deletes, step.starts) == ((), True)
    begun = appwrapper("Failed", conditions=DELETING, deletionStartedAt=at(NOW - MINUTE))
    later = deleting(seen(begun, component(), pods=orphaned), RIGHT)
    assert later == Remove((), starts=False, wake_at_us=NOW + 9 * MINUTE)


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


@pytest.mark.parametrize(
    ("metadata", "ours"),
    [
        ({"uid": "x-1"}, True),
        ({"uid": "x-1", **owned()}, True),
        ({"uid": "x-1", **owned("aw-2")}, False),
        ({"uid": "somebody-else's"}, False),
    ],
    ids=["orphaned", "owned", "taken", "of-the-same-name"],
)
def test_a_component_stays_ours_until_another_controller_takes_it(
    metadata: Object, ours: bool
) -> None:
    found = {**job(), "metadata": {"name": "x", "namespace": "team", **metadata}}
    observed = seen(appwrapper("Suspending", conditions=DELETING), component(found=found))
    assert bool(RIGHT.remaining(observed)) is ours
