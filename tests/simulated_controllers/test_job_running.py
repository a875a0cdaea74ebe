"""Jobs that run: creation, completion, parallelism, counting (sections 5.2 to 5.4)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from clusters.simulated.controllers.settings import Settings
from tests.simulated_controllers.lab import Lab, job
from vocabulary.clock import MILLISECOND, SECOND
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB, POD
from vocabulary.objects import finalizers_of, get_path, labels_of, name_of, owner_references


def test_5_8_a_pod_of_a_job_carries_finalizer_owner_and_labels() -> None:
    lab = Lab()
    stored = lab.create(job())
    lab.run(0.1)
    (pod,) = lab.pods
    assert finalizers_of(pod) == ("batch.kubernetes.io/job-tracking",)
    (owner,) = owner_references(pod)
    assert owner["controller"] is True
    assert owner["blockOwnerDeletion"] is True
    assert owner["uid"] == stored["metadata"]["uid"]
    assert labels_of(pod)["batch.kubernetes.io/job-name"] == "j"
    assert name_of(pod).startswith("j-")


def test_5_2_a_job_completes_in_two_steps_with_reason_and_message() -> None:
    lab = Lab()
    lab.create(job(behaviour="run 5s, exit 0", pods=3))
    lab.run(30)
    status = lab.job_status()
    assert lab.conditions(lab.job()) == {
        "SuccessCriteriaMet": ("True", "CompletionsReached"),
        "Complete": ("True", "CompletionsReached"),
    }
    messages = {entry["message"] for entry in status["conditions"]}
    assert messages == {"Reached expected number of succeeded pods"}
    assert status["succeeded"] == 3
    assert "active" not in status
    assert status["completionTime"]
    assert status["uncountedTerminatedPods"] == {}
    shown = [lab.conditions(entry.object or {}) for entry in lab.writes(JOB, subresource="status")]
    interim = next(index for index, seen in enumerate(shown) if "SuccessCriteriaMet" in seen)
    assert "Complete" not in shown[interim]
    assert lab.cluster.is_quiet()


def test_5_4_pod_driven_syncs_are_gathered_for_one_second() -> None:
    lab = Lab()
    lab.create(job(behaviour="run 5s, exit 0"))
    ended_us = lab.until(lambda: lab.pods and lab.phase(name_of(lab.pods[0])) == "Succeeded")
    done_us = lab.until(lambda: "Complete" in lab.conditions(lab.job()))
    assert SECOND <= done_us - ended_us <= SECOND + 50 * MILLISECOND


def test_the_gathering_of_pod_events_can_be_shortened_as_in_a_fast_controller_manager() -> None:
    lab = Lab(settings=Settings(job_sync_batch_us=20 * MILLISECOND))
    lab.create(job(behaviour="exit 0"))
    done_us = lab.until(lambda: "Complete" in lab.conditions(lab.job()))
    assert done_us < SECOND // 4


def test_5_1_parallelism_bounds_how_many_pods_run_at_once() -> None:
    lab = Lab()
    lab.create(job(behaviour="run 10s, exit 0", pods=2, completions=5))
    most = 0
    while "Complete" not in lab.conditions(lab.job()):
        lab.run(0.5)
        running = [pod for pod in lab.pods if get_path(pod, "status.phase") == "Running"]
        most = max(most, len(running))
    assert most == 2
    assert lab.job_status()["succeeded"] == 5


def test_without_completions_any_success_ends_the_job_once_the_others_have_ended() -> None:
    lab = Lab()
    obj = job(behaviour="run 60s, exit 0", pods=2)
    del obj["spec"]["completions"]
    lab.create(obj)
    lab.run(10)
    first, second = (name_of(pod) for pod in lab.pods)
    lab.annotate(first, {"assay.dev/exit": "0", "assay.dev/run-for": None})
    lab.run(20)
    assert lab.phase(second) == "Running"
    assert len(lab.pods) == 2
    lab.run(60)
    assert "Complete" in lab.conditions(lab.job())
    assert lab.job_status()["succeeded"] == 2


def test_fewer_pods_are_kept_when_parallelism_is_lowered_and_those_are_no_failures() -> None:
    lab = Lab()
    lab.create(job(pods=4))
    lab.run(5)
    lab.patch(JOB, "j", {"spec": {"parallelism": 1}})
    lab.run(10)
    assert len(lab.pods) == 1
    assert lab.job_status()["active"] == 1
    assert "failed" not in lab.job_status()


def test_the_status_shows_active_ready_and_terminating_pods() -> None:
    lab = Lab()
    lab.create(job(pods=2, behaviour="stop 30s"))
    lab.run(5)
    first, second = (name_of(pod) for pod in lab.pods)
    status = lab.job_status()
    assert (status["active"], status["ready"], status["terminating"]) == (2, 2, 0)
    lab.annotate(first, {"assay.dev/hold": "notready"})
    lab.run(3)
    assert lab.job_status()["ready"] == 1
    lab.delete(POD, second)
    lab.run(3)
    assert lab.job_status()["terminating"] == 1


def test_creations_that_are_refused_are_retried_with_back_off() -> None:
    lab = Lab()
    refusals: list[int] = []

    def refuse(request: Any, actor: str, new: Any, old: Any) -> Any:
        if new["kind"] == "Pod" and len(refusals) < 3:
            refusals.append(lab.loop.elapsed_us)
            raise ApiError(403, "Forbidden", "exceeded quota")
        return new

    lab.cluster.api.admission.mutating.append(refuse)
    lab.create(job(pods=2))
    lab.run(60)
    assert len(lab.pods) == 2
    gaps = [later - earlier for earlier, later in pairwise(refusals)]
    assert all(gap >= SECOND for gap in gaps)


@pytest.mark.parametrize("managed_by", ["example.com/other", "kubernetes.io/job-controller"])
def test_5_7_a_job_that_somebody_else_manages_is_ignored_entirely(managed_by: str) -> None:
    lab = Lab()
    lab.create(job(managedBy=managed_by))
    lab.run(30)
    mine = managed_by == "kubernetes.io/job-controller"
    assert bool(lab.pods) == mine
    assert bool(lab.writes(JOB, actor="job-controller")) == mine


def test_a_job_that_replaces_one_of_the_same_name_gets_its_own_pods() -> None:
    lab = Lab()
    lab.create(job(behaviour="stop 20s"))
    lab.run(5)
    (old,) = lab.pods
    lab.delete(JOB, "j", propagation_policy="Background")
    lab.create(job())
    lab.run(5)
    assert len(lab.pods) == 2
    assert lab.job_status()["active"] == 1
    lab.run(60)
    (new,) = lab.pods
    assert new["metadata"]["uid"] != old["metadata"]["uid"]


def test_a_pod_whose_labels_are_taken_away_is_let_go_and_replaced() -> None:
    lab = Lab()
    lab.create(job())
    lab.run(5)
    name = name_of(lab.pods[0])
    label = "batch.kubernetes.io/controller-uid"
    lab.patch(POD, name, {"metadata": {"labels": {label: None}}})
    lab.run(5)
    assert len(lab.pods) == 2
    assert owner_references(lab.pod(name)) == ()
    assert finalizers_of(lab.pod(name)) == ()
    assert "failed" not in lab.job_status()


def test_a_pod_whose_owner_reference_was_stripped_is_taken_in_again() -> None:
    lab = Lab()
    stored = lab.create(job())
    lab.run(5)
    name = name_of(lab.pods[0])
    lab.patch(POD, name, {"metadata": {"ownerReferences": None}})
    lab.run(5)
    (pod,) = lab.pods
    (owner,) = owner_references(pod)
    assert owner["uid"] == stored["metadata"]["uid"]
    assert finalizers_of(pod) == ("batch.kubernetes.io/job-tracking",)
