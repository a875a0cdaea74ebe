"""The fake kubelet's handling of a pod's annotations."""

from __future__ import annotations

from typing import Any

import pytest

from .namespace import Namespace, condition_of, is_ready, phase_of

pytestmark = pytest.mark.control_plane


def main_container(pod: dict[str, Any]) -> dict[str, Any]:
    status: dict[str, Any] = pod["status"]["containerStatuses"][0]
    return status


def status_of(pod: dict[str, Any], kind: str) -> str | None:
    status: str | None = condition_of(pod, kind).get("status")
    return status


def waiting_reason(pod: dict[str, Any]) -> str | None:
    statuses = pod["status"].get("containerStatuses") or [{}]
    reason: str | None = statuses[0].get("state", {}).get("waiting", {}).get("reason")
    return reason


def test_a_pod_without_annotations_runs_and_is_ready(namespace: Namespace) -> None:
    namespace.pod("plain")
    pod = namespace.until("plain", is_ready, "is ready")
    assert phase_of(pod) == "Running"
    assert pod["status"]["podIP"]


def test_a_pod_succeeds_with_exit_code_0(namespace: Namespace) -> None:
    namespace.pod("done", {"assay.dev/exit": "0", "assay.dev/run-for": "50ms"})
    pod = namespace.until_phase("done", "Succeeded")
    terminated = main_container(pod)["state"]["terminated"]
    assert (terminated["exitCode"], terminated["reason"]) == (0, "Completed")
    assert not is_ready(pod)


def test_a_failing_pod_shows_exit_code_and_reason(namespace: Namespace) -> None:
    namespace.pod("broken", {"assay.dev/exit": "137", "assay.dev/reason": "OOMKilled"})
    terminated = main_container(namespace.until_phase("broken", "Failed"))["state"]["terminated"]
    assert (terminated["exitCode"], terminated["reason"]) == (137, "OOMKilled")


def test_an_exit_patched_onto_a_running_pod_kills_it(namespace: Namespace) -> None:
    namespace.pod("victim")
    namespace.until_phase("victim", "Running")
    namespace.annotate("victim", exit="42", finished_at="2020-01-01T00:00:00Z")
    terminated = main_container(namespace.until_phase("victim", "Failed"))["state"]["terminated"]
    assert terminated["exitCode"] == 42
    assert terminated["finishedAt"] == "2020-01-01T00:00:00Z"


def test_removing_the_exit_before_its_time_cancels_it(namespace: Namespace) -> None:
    namespace.pod("spared", {"assay.dev/exit": "1", "assay.dev/run-for": "700ms"})
    namespace.until_phase("spared", "Running")
    namespace.annotate("spared", exit=None)
    # A second pod with the same delay is the clock: when it has failed, the first had its time.
    namespace.pod("clock", {"assay.dev/exit": "1", "assay.dev/run-for": "800ms"})
    namespace.until_phase("clock", "Failed")
    assert phase_of(namespace.get("spared")) == "Running"


@pytest.mark.parametrize(
    ("hold", "reason"), [("image", "ImagePullBackOff"), ("init", "PodInitializing")]
)
def test_a_held_pod_stays_pending_with_a_reason_until_it_is_freed(
    namespace: Namespace, hold: str, reason: str
) -> None:
    init = [{"name": "prepare", "image": "example.org/init"}]
    namespace.pod("held", {"assay.dev/hold": hold}, initContainers=init)
    pod = namespace.until("held", lambda pod: waiting_reason(pod) == reason, f"waits: {reason}")
    assert phase_of(pod) == "Pending"
    if hold == "init":
        assert "running" in pod["status"]["initContainerStatuses"][0]["state"]
        assert status_of(pod, "Initialized") == "False"
    namespace.annotate("held", hold=None)
    pod = namespace.until("held", is_ready, "is ready")
    assert status_of(pod, "Initialized") == "True"
    assert pod["status"]["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0


def test_a_pod_held_pending_is_scheduled_but_has_no_containers(namespace: Namespace) -> None:
    namespace.pod("held", {"assay.dev/hold": "pending"})
    pod = namespace.until("held", lambda pod: bool(pod["spec"].get("nodeName")), "is scheduled")
    namespace.pod("neighbour")
    namespace.until_phase("neighbour", "Running")
    pod = namespace.get("held")
    assert phase_of(pod) == "Pending"
    assert not pod["status"].get("containerStatuses")
    namespace.annotate("held", hold=None)
    namespace.until_phase("held", "Running")


def test_readiness_follows_the_annotation(namespace: Namespace) -> None:
    namespace.pod("moody", {"assay.dev/hold": "notready"})
    assert not is_ready(namespace.until_phase("moody", "Running"))
    namespace.annotate("moody", hold=None)
    pod = namespace.until("moody", is_ready, "is ready")
    assert main_container(pod)["ready"]
    namespace.annotate("moody", hold="notready")
    pod = namespace.until("moody", lambda pod: not is_ready(pod), "is not ready")
    assert not main_container(pod)["ready"]
    namespace.annotate("moody", exit="0")
    namespace.until_phase("moody", "Succeeded")


def test_a_container_is_restarted_in_place_as_often_as_it_exits(namespace: Namespace) -> None:
    namespace.pod(
        "restless",
        {
            "assay.dev/exit": "2",
            "assay.dev/exit-times": "2",
            "assay.dev/restart-after": "20ms",
        },
        restartPolicy="Always",
    )
    pod = namespace.until(
        "restless",
        lambda pod: is_ready(pod) and main_container(pod)["restartCount"] == 2,
        "has been restarted twice",
    )
    assert phase_of(pod) == "Running"
    assert main_container(pod)["lastState"]["terminated"]["exitCode"] == 2


def test_the_first_restart_comes_at_once_and_the_second_after_a_back_off(
    namespace: Namespace,
) -> None:
    crashing = {"assay.dev/exit": "1", "assay.dev/run-for": "10ms"}
    namespace.pod("crashing", crashing, restartPolicy="Always")
    pod = namespace.until(
        "crashing",
        lambda pod: (
            waiting_reason(pod) == "CrashLoopBackOff" and main_container(pod)["restartCount"] == 1
        ),
        "waits for its second restart",
    )
    assert phase_of(pod) == "Running"
    assert not is_ready(pod)


def test_on_failure_restarts_an_error_and_ends_with_success(namespace: Namespace) -> None:
    namespace.pod(
        "retried",
        {"assay.dev/exit": "1", "assay.dev/restart-after": "1h"},
        restartPolicy="OnFailure",
    )
    namespace.until(
        "retried", lambda pod: waiting_reason(pod) == "CrashLoopBackOff", "waits for its restart"
    )
    namespace.annotate("retried", exit="0", restart_after="10ms")
    pod = namespace.until_phase("retried", "Succeeded")
    assert main_container(pod)["restartCount"] == 1


def test_graceful_deletion_passes_through_failed_with_143(namespace: Namespace) -> None:
    # A foreign finalizer keeps the final state visible.
    namespace.pod("leaving")
    namespace.until_phase("leaving", "Running")
    path = f"{namespace.path}/pods/leaving"
    namespace.api.patch(path, {"metadata": {"finalizers": ["tests.assay.dev/hold"]}})
    answer = namespace.api.delete(path)
    assert answer["metadata"]["deletionTimestamp"]
    assert phase_of(answer) == "Running"
    pod = namespace.until_phase("leaving", "Failed")
    assert main_container(pod)["state"]["terminated"]["exitCode"] == 143
    namespace.until(
        "leaving",
        lambda pod: pod["metadata"]["deletionGracePeriodSeconds"] == 0,
        "got the kubelet's last delete",
    )
    namespace.api.patch(path, {"metadata": {"finalizers": None}})
    namespace.until_gone("leaving")


def test_a_pod_deleted_before_it_ran_ends_in_a_final_phase(namespace: Namespace) -> None:
    path = f"{namespace.path}/pods/early"
    namespace.pod("early", {"assay.dev/hold": "init"})
    namespace.until("early", lambda pod: bool(waiting_reason(pod)), "waits")
    namespace.api.patch(path, {"metadata": {"finalizers": ["tests.assay.dev/hold"]}})
    namespace.api.delete(path)
    namespace.until_phase("early", "Failed")
    namespace.api.patch(path, {"metadata": {"finalizers": None}})
    namespace.until_gone("early")


def test_a_transition_time_moves_only_with_the_status(namespace: Namespace) -> None:
    namespace.pod("steady", {"assay.dev/hold": "notready"})
    before = condition_of(namespace.until_phase("steady", "Running"), "Ready")
    # The API has whole seconds: wait for a later one, told by another pod's exit.
    clock = {"assay.dev/exit": "0", "assay.dev/run-for": "1s"}
    namespace.pod("clock", clock)
    namespace.until_phase("clock", "Succeeded")
    namespace.annotate("steady", exit="1")
    after = condition_of(namespace.until_phase("steady", "Failed"), "Ready")
    assert (before["status"], after["status"]) == ("False", "False")
    assert (before["reason"], after["reason"]) == ("ContainersNotReady", "PodFailed")
    assert after["lastTransitionTime"] == before["lastTransitionTime"]


def test_slow_termination_outlasts_a_quick_one(namespace: Namespace) -> None:
    namespace.pod("slow", {"assay.dev/term-for": "1h"})
    namespace.pod("quick", {"assay.dev/term-for": "100ms", "assay.dev/term-exit": "0"})
    for name in ("slow", "quick"):
        namespace.until_phase(name, "Running")
        namespace.api.delete(f"{namespace.path}/pods/{name}")
    namespace.until_gone("quick")
    pod = namespace.get("slow")
    assert phase_of(pod) == "Running"
    assert pod["metadata"]["deletionTimestamp"]
    namespace.annotate("slow", term_for="10ms")
    namespace.until_gone("slow")


def test_a_stuck_pod_terminates_only_when_freed(namespace: Namespace) -> None:
    namespace.pod("stuck", {"assay.dev/stuck-terminating": "true"})
    namespace.pod("free")
    for name in ("stuck", "free"):
        namespace.until_phase(name, "Running")
        namespace.api.delete(f"{namespace.path}/pods/{name}")
    namespace.until_gone("free")
    assert phase_of(namespace.get("stuck")) == "Running"
    namespace.annotate("stuck", stuck_terminating=None)
    namespace.until_gone("stuck")


def test_a_pod_finds_the_node_with_the_extended_resource(namespace: Namespace) -> None:
    container = {
        "name": "main",
        "image": "example.org/main",
        "resources": {"limits": {"nvidia.com/gpu": "8"}},
    }
    namespace.pod("training", containers=[container])
    pod = namespace.until_phase("training", "Running")
    assert pod["spec"]["nodeName"] == "gpu"
    namespace.pod("too-much", containers=[container])
    pod = namespace.until(
        "too-much", lambda pod: status_of(pod, "PodScheduled") == "False", "is unschedulable"
    )
    assert phase_of(pod) == "Pending"
