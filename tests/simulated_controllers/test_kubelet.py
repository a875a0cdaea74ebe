"""The kubelet: phases, restarts, graceful termination, and what annotations make pods do."""

from __future__ import annotations

from itertools import pairwise

import pytest

from clusters.simulated.mistakes import SimulationError
from tests.simulated_controllers.lab import Lab, condition_status, pod
from vocabulary.clock import MILLISECOND, SECOND, Micros
from vocabulary.kinds import NODE, POD
from vocabulary.objects import condition, get_path


def terminated(lab: Lab, name: str = "p") -> tuple[int, str]:
    state = get_path(lab.pod(name), "status.containerStatuses.0.state.terminated")
    return state["exitCode"], state["reason"]


def restarts(lab: Lab, name: str = "p") -> int:
    return int(get_path(lab.pod(name), "status.containerStatuses.0.restartCount"))


def test_a_pod_runs_and_is_ready_within_some_tens_of_milliseconds() -> None:
    lab = Lab()
    lab.create(pod())
    ready_us = lab.until(lambda: condition_status(lab.pod(), "Ready") == "True")
    assert lab.phase() == "Running"
    assert 3 * MILLISECOND <= ready_us <= 90 * MILLISECOND
    lab.run(3600)
    assert lab.phase() == "Running"
    assert lab.cluster.is_quiet()


@pytest.mark.parametrize(
    ("code", "phase", "reason"), [(0, "Succeeded", "Completed"), (3, "Failed", "Error")]
)
def test_a_pod_ends_after_its_time_with_its_exit_code(code: int, phase: str, reason: str) -> None:
    lab = Lab()
    lab.create(pod(behaviour=f"run 5s, exit {code}"))
    began_us = lab.until(lambda: lab.phase() == "Running")
    ended_us = lab.until(lambda: lab.phase() == phase)
    assert ended_us - began_us == 5 * SECOND
    assert terminated(lab) == (code, reason)
    assert condition_status(lab.pod(), "Ready") == "False"


def test_an_exit_code_patched_onto_a_running_pod_kills_it_with_code_and_reason() -> None:
    lab = Lab()
    lab.create(pod())
    lab.run(10)
    lab.annotate("p", {"assay.dev/exit": "137", "assay.dev/reason": "OOMKilled"})
    killed_us = lab.until(lambda: lab.phase() == "Failed")
    assert killed_us - 10 * SECOND <= 25 * MILLISECOND
    assert terminated(lab) == (137, "OOMKilled")


def test_a_pod_becomes_ready_only_after_the_wanted_delay() -> None:
    lab = Lab()
    lab.create(pod(behaviour="ready-after 7s"))
    lab.run(6.9)
    assert lab.phase() == "Pending"
    lab.run(0.2)
    assert lab.phase() == "Running"


def test_a_held_pod_stays_pending_until_it_is_let_go() -> None:
    lab = Lab()
    lab.create(pod(behaviour="stay pending"))
    lab.run(60)
    assert lab.phase() == "Pending"
    assert lab.pod()["spec"]["nodeName"]
    lab.annotate("p", {"assay.dev/hold": None})
    lab.run(1)
    assert lab.phase() == "Running"


def test_a_missing_image_shows_as_image_pull_back_off() -> None:
    lab = Lab()
    lab.create(pod(behaviour="image missing"))
    lab.run(60)
    waiting = get_path(lab.pod(), "status.containerStatuses.0.state.waiting")
    assert lab.phase() == "Pending"
    assert waiting["reason"] == "ImagePullBackOff"


def test_a_stuck_init_container_keeps_the_pod_uninitialized() -> None:
    lab = Lab()
    inits = [{"name": "first", "image": "busybox"}, {"name": "second", "image": "busybox"}]
    lab.create(pod(behaviour="init stuck", initContainers=inits))
    lab.run(60)
    found = lab.pod()
    assert lab.phase() == "Pending"
    assert condition_status(found, "Initialized") == "False"
    states = [set(entry["state"]) for entry in found["status"]["initContainerStatuses"]]
    assert states == [{"running"}, {"waiting"}]


def test_a_pod_that_is_never_ready_still_runs_and_can_become_ready() -> None:
    lab = Lab()
    lab.create(pod(behaviour="never ready"))
    lab.run(10)
    assert (lab.phase(), condition_status(lab.pod(), "Ready")) == ("Running", "False")
    lab.annotate("p", {"assay.dev/hold": None})
    lab.run(1)
    assert condition_status(lab.pod(), "Ready") == "True"
    lab.annotate("p", {"assay.dev/hold": "notready"})
    lab.run(1)
    assert condition_status(lab.pod(), "Ready") == "False"


def test_a_crashing_container_is_restarted_at_once_and_then_with_doubling_back_off() -> None:
    lab = Lab()
    lab.create(pod(behaviour="exit 1", restartPolicy="OnFailure"))
    times = [lab.until(lambda count=count: restarts_shown(lab) >= count) for count in range(1, 5)]
    gaps = [round((after - before) / SECOND) for before, after in pairwise(times)]
    assert gaps == [10, 20, 40]
    assert lab.phase() == "Running"


def restarts_shown(lab: Lab) -> int:
    statuses = get_path(lab.pod(), "status.containerStatuses")
    return restarts(lab) if statuses else 0


def test_a_container_that_exits_a_number_of_times_runs_on_afterwards() -> None:
    lab = Lab()
    lab.create(pod(behaviour="exit 1, 2 times, restart-after 1s", restartPolicy="OnFailure"))
    lab.run(3600)
    assert restarts(lab) == 2
    assert condition_status(lab.pod(), "Ready") == "True"
    assert lab.cluster.is_quiet()


def test_restart_policy_on_failure_lets_a_success_end_the_pod() -> None:
    lab = Lab()
    lab.create(pod(behaviour="run 2s, exit 0", restartPolicy="OnFailure"))
    lab.run(10)
    assert lab.phase() == "Succeeded"


def test_restart_policy_always_restarts_also_after_a_success() -> None:
    lab = Lab()
    lab.create(pod(behaviour="run 2s, exit 0", restartPolicy="Always"))
    lab.run(13)
    assert (lab.phase(), restarts(lab)) == ("Running", 1)


def test_4_12_a_deleted_pod_is_seen_failed_before_it_is_gone() -> None:
    lab = Lab()
    lab.create(pod())
    lab.run(5)
    lab.delete(POD, "p")
    lab.run(5)
    assert lab.events(POD, "p")[-3:] == [
        "MODIFIED Running terminating",
        "MODIFIED Failed terminating",
        "DELETED Failed terminating",
    ]
    last = lab.writes(POD, event="DELETED")[0]
    assert last.options["gracePeriodSeconds"] == 0
    assert last.object is not None
    code = get_path(last.object, "status.containerStatuses.0.state.terminated.exitCode")
    assert code == 143


def test_4_12_a_pod_that_traps_sigterm_ends_with_its_own_code() -> None:
    lab = Lab()
    lab.create(pod(behaviour="stop exit 0"))
    lab.run(5)
    lab.delete(POD, "p")
    lab.run(5)
    assert lab.events(POD, "p")[-1] == "DELETED Succeeded terminating"


def test_a_pod_takes_its_time_to_stop() -> None:
    lab = Lab()
    lab.create(pod(behaviour="stop 60s"))
    lab.run(5)
    lab.delete(POD, "p")
    gone_us = lab.until(lambda: lab.get(POD, "p") is None)
    assert 65 * SECOND <= gone_us <= 65 * SECOND + 50 * MILLISECOND


def killed(lab: Lab, name: str = "p") -> tuple[Micros, tuple[int, str]]:
    """When a pod was seen to have ended, since the run began, and how its container did."""
    write = next(
        write
        for write in lab.writes(POD, name=name)
        if get_path(write.object, "status.phase") in ("Failed", "Succeeded")
    )
    how = get_path(write.object, "status.containerStatuses.0.state.terminated")
    return write.t, (how["exitCode"], how["reason"])


@pytest.mark.parametrize(
    ("own", "asked", "lasts"),
    [(None, None, 30), (5, None, 5), (90, 7, 7), (5, 7, 7), (90, 1, 2)],
    ids=["default", "own", "shorter-on-request", "longer-on-request", "a-minimum"],
)
def test_a_container_is_killed_when_its_grace_period_is_over(
    own: int | None, asked: int | None, lasts: int
) -> None:
    lab = Lab()
    lab.create(pod(terminationGracePeriodSeconds=own))
    lab.annotate("p", {"assay.dev/term-for": "10m", "assay.dev/term-exit": "0"})
    lab.run(5)
    lab.delete(POD, "p", grace_period_seconds=asked)
    lab.until(lambda: lab.get(POD, "p") is None)
    ended_us, how = killed(lab)
    assert how == (137, "Error")
    assert (5 + lasts) * SECOND <= ended_us <= (5 + lasts) * SECOND + 50 * MILLISECOND


def test_a_container_that_stops_within_its_grace_period_ends_as_it_wants_to() -> None:
    lab = Lab()
    lab.create(pod(terminationGracePeriodSeconds=20, behaviour="stop 19s, stop exit 0"))
    lab.run(5)
    lab.delete(POD, "p")
    lab.until(lambda: lab.get(POD, "p") is None)
    ended_us, how = killed(lab)
    assert how == (0, "Completed")
    assert 24 * SECOND <= ended_us <= 24 * SECOND + 50 * MILLISECOND


@pytest.mark.parametrize(
    ("again", "ends"), [(90, 65), (30, 50), (10, 22)], ids=["longer", "shorter", "over-already"]
)
def test_4_12_another_deletion_shortens_the_grace_period_and_prolongs_none(
    again: int, ends: int
) -> None:
    """A kubelet that hears of a shorter one grants it anew, as of then."""
    lab = Lab()
    lab.create(pod(terminationGracePeriodSeconds=60))
    lab.annotate("p", {"assay.dev/term-for": "10m"})
    lab.run(5)
    lab.delete(POD, "p")
    lab.run(15)
    lab.delete(POD, "p", grace_period_seconds=again)
    lab.until(lambda: lab.get(POD, "p") is None)
    ended_us, how = killed(lab)
    assert how == (137, "Error")
    assert ends * SECOND <= ended_us <= ends * SECOND + 50 * MILLISECOND


def test_a_container_whose_pod_is_forced_and_held_is_killed_after_two_seconds() -> None:
    lab = Lab()
    obj = pod()
    obj["metadata"]["finalizers"] = ["example.com/hold"]
    lab.create(obj)
    lab.annotate("p", {"assay.dev/term-for": "10m"})
    lab.run(5)
    lab.delete(POD, "p", grace_period_seconds=0)
    lab.run(1)
    assert lab.phase() == "Running"
    lab.run(2)
    assert terminated(lab) == (137, "Error")


def test_a_kubelet_that_was_down_grants_the_whole_grace_period() -> None:
    lab = Lab(nodes=1)
    lab.create(pod(terminationGracePeriodSeconds=20))
    lab.annotate("p", {"assay.dev/term-for": "10m"})
    lab.run(5)
    lab.delete(POD, "p")
    lab.run(15)
    lab.processes.kill("kubelet/n0")
    lab.run(10)
    lab.processes.start("kubelet/n0")
    lab.until(lambda: lab.get(POD, "p") is None)
    assert 50 * SECOND <= killed(lab)[0] < 50 * SECOND + SECOND // 10


def test_a_pod_that_never_stops_goes_only_when_it_is_let_go_or_forced() -> None:
    lab = Lab()
    for name in ("a", "b"):
        lab.create(pod(name, behaviour="never stop"))
    lab.run(5)
    for name in ("a", "b"):
        lab.delete(POD, name)
    lab.run(3600)
    assert [lab.phase("a"), lab.phase("b")] == ["Running", "Running"]
    lab.annotate("a", {"assay.dev/stuck-terminating": None})
    lab.delete(POD, "b", grace_period_seconds=0)
    assert lab.get(POD, "b") is None
    lab.run(1)
    assert lab.get(POD, "a") is None


def test_a_forced_deletion_skips_the_failed_phase() -> None:
    lab = Lab()
    lab.create(pod())
    lab.run(5)
    lab.delete(POD, "p", grace_period_seconds=0)
    lab.run(5)
    assert lab.events(POD, "p")[-1].startswith("DELETED Running")
    assert not any("Failed" in event for event in lab.events(POD, "p"))


def test_4_11_a_foreign_finalizer_keeps_a_stopped_pod_until_it_is_removed() -> None:
    lab = Lab()
    obj = pod()
    obj["metadata"]["finalizers"] = ["example.com/hold"]
    lab.create(obj)
    lab.run(5)
    lab.delete(POD, "p")
    lab.run(60)
    assert lab.phase() == "Failed"
    assert lab.cluster.is_quiet()
    lab.patch(POD, "p", {"metadata": {"finalizers": None}})
    assert lab.get(POD, "p") is None


def test_a_pod_that_is_deleted_before_it_ever_ran_ends_failed() -> None:
    lab = Lab()
    lab.create(pod(behaviour="stay pending"))
    lab.run(5)
    lab.delete(POD, "p")
    lab.run(1)
    assert lab.events(POD, "p")[-2:] == [
        "MODIFIED Failed terminating",
        "DELETED Failed terminating",
    ]


def test_while_a_kubelet_is_down_nothing_happens_to_its_pods() -> None:
    lab = Lab(nodes=1)
    lab.create(pod(behaviour="run 5s, exit 3"))
    lab.run(1)
    lab.processes.kill("kubelet/n0")
    lab.run(30)
    assert lab.phase() == "Running"
    lab.processes.start("kubelet/n0")
    lab.run(1)
    assert terminated(lab) == (3, "Error")


def test_4_12_a_pod_of_a_lost_node_stays_terminating_until_the_kubelet_is_back() -> None:
    lab = Lab(nodes=1)
    lab.create(pod())
    lab.run(1)
    lab.processes.kill("kubelet/n0")
    lab.delete(POD, "p")
    lab.run(600)
    assert lab.phase() == "Running"
    lab.processes.start("kubelet/n0")
    lab.run(1)
    assert lab.get(POD, "p") is None


def test_a_paused_kubelet_goes_on_with_what_it_missed() -> None:
    lab = Lab(nodes=1)
    lab.processes.pause("kubelet/n0")
    lab.create(pod())
    lab.run(10)
    assert lab.phase() == "Pending"
    lab.processes.resume("kubelet/n0")
    lab.run(1)
    assert lab.phase() == "Running"


def test_a_node_label_makes_the_kubelet_report_not_ready_and_ready_again() -> None:
    lab = Lab(nodes=1)
    lab.patch(NODE, "n0", {"metadata": {"labels": {"assay.dev/not-ready": "true"}}})
    lab.run(1)
    entry = condition(lab.get(NODE, "n0"), "Ready")
    assert entry is not None
    assert (entry["status"], entry["reason"]) == ("False", "KubeletNotReady")
    lab.patch(NODE, "n0", {"metadata": {"labels": {"assay.dev/not-ready": None}}})
    lab.run(1)
    assert condition_status(lab.get(NODE, "n0"), "Ready") == "True"


def test_sidecars_run_on_beside_a_started_pod_and_other_init_containers_have_ended() -> None:
    lab = Lab()
    inits = [
        {"name": "once", "image": "busybox"},
        {"name": "sidecar", "image": "busybox", "restartPolicy": "Always"},
    ]
    lab.create(pod(initContainers=inits))
    lab.run(1)
    states = [set(entry["state"]) for entry in lab.pod()["status"]["initContainerStatuses"]]
    assert states == [{"terminated"}, {"running"}]


def test_a_malformed_duration_is_refused_with_the_annotation_s_name() -> None:
    lab = Lab()
    lab.create(pod())
    lab.run(1)
    lab.annotate("p", {"assay.dev/exit": "1", "assay.dev/run-for": "soon"})
    with pytest.raises(
        SimulationError, match=r"p: ValueError: annotation assay\.dev/run-for: 'soon'"
    ):
        lab.run(1)
