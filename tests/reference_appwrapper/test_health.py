"""How a workload fares, as pure decisions: pods counted, failures, success, what is missing."""

from __future__ import annotations

import pytest

from reference_controller.appwrapper.observation import Component
from reference_controller.appwrapper.rules import RIGHT
from tests.reference_appwrapper.observed import (
    appwrapper,
    component,
    job,
    pod,
    seen,
)
from vocabulary.kinds import CONFIG_MAP, JOB, POD, PYTORCH_JOB, STATEFUL_SET, Kind
from vocabulary.objects import Object


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


@pytest.mark.parametrize(
    ("restarts", "ended", "completed"),
    [
        ("Never", "2025-12-31T23:59:29Z", True),
        ("Never", "2025-12-31T23:59:30Z", False),
        ("Never", "2025-12-31T23:59:31Z", False),
        ("Never", "", False),
        ("Always", "2025-12-31T23:59:29Z", False),
    ],
)
def test_a_deleted_pod_has_completed_if_it_had_ended_before_its_grace_period_began(
    restarts: str, ended: str, completed: bool
) -> None:
    gone = pod("Succeeded", terminating=True, restarts=restarts, ended=ended)
    one = seen(appwrapper("Running"), component(STATEFUL_SET), pods=(gone,))
    census = RIGHT.census(one)
    assert RIGHT.has_succeeded(one, census) is completed
    assert RIGHT.missing_pods(one, census) == (0 if completed else 1)


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


def test_kinds_that_do_not_say_how_they_fare_neither_fail_nor_succeed_by_their_status() -> None:
    says_both = job("Failed", "Complete", "Succeeded")
    assert not RIGHT.says_failed(component(CONFIG_MAP, found=says_both))
    assert not RIGHT.says_succeeded(component(CONFIG_MAP, found=says_both))
