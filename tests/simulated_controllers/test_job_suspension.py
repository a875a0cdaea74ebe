"""Suspending, resuming and deleting Jobs (sections 5.7 and 5.8)."""

from __future__ import annotations

import pytest

from tests.simulated_controllers.lab import Lab, job
from vocabulary.clock import SECOND, parse_rfc3339
from vocabulary.kinds import JOB, POD
from vocabulary.objects import finalizers_of, name_of


def suspend(lab: Lab, value: bool) -> None:
    lab.patch(JOB, "j", {"spec": {"suspend": value}})


def test_5_7_a_job_that_is_born_suspended_makes_no_pods_and_has_no_start_time() -> None:
    lab = Lab()
    lab.create(job(suspend=True))
    lab.run(30)
    assert lab.pods == []
    assert lab.conditions(lab.job()) == {"Suspended": ("True", "JobSuspended")}
    assert "startTime" not in lab.job_status()


def test_5_7_suspension_deletes_pods_that_are_then_no_failures() -> None:
    lab = Lab()
    lab.create(job(pods=2))
    lab.run(5)
    suspend(lab, True)
    suspended_us = lab.until(lambda: "Suspended" in lab.conditions(lab.job()))
    assert suspended_us - 5 * SECOND < SECOND // 10
    assert "active" not in lab.job_status()
    lab.run(10)
    assert lab.pods == []
    assert "failed" not in lab.job_status()


def test_5_7_the_finalizer_is_removed_before_a_pod_is_deleted_for_suspension() -> None:
    lab = Lab()
    lab.create(job())
    lab.run(5)
    suspend(lab, True)
    lab.run(5)
    verbs = [entry.verb for entry in lab.writes(POD, actor="job-controller")][1:]
    assert verbs == ["patch", "delete"]


def test_5_7_resumption_starts_anew_and_says_so() -> None:
    lab = Lab()
    lab.create(job(suspend=True))
    lab.run(30)
    suspend(lab, False)
    lab.run(5)
    assert lab.conditions(lab.job())["Suspended"] == ("False", "JobResumed")
    began_us = parse_rfc3339(lab.job_status()["startTime"]) - lab.loop.began_us
    assert began_us == 30 * SECOND
    assert len(lab.pods) == 1


def test_5_7_a_suspended_job_has_no_start_time_from_1_36_on() -> None:
    lab = Lab()
    lab.create(job())
    lab.run(5)
    suspend(lab, True)
    lab.run(5)
    assert "startTime" not in lab.job_status()


def test_5_7_the_deadline_does_not_run_while_suspended() -> None:
    lab = Lab()
    lab.create(job(activeDeadlineSeconds=20))
    lab.run(15)
    suspend(lab, True)
    lab.run(60)
    suspend(lab, False)
    lab.run(15)
    assert "Failed" not in lab.conditions(lab.job())
    lab.run(15)
    assert lab.conditions(lab.job())["Failed"] == ("True", "DeadlineExceeded")


def test_5_7_the_back_off_is_kept_through_a_suspension() -> None:
    lab = Lab()
    lab.create(job(behaviour="exit 1"))
    lab.until(lambda: len(lab.writes(POD, event="ADDED")) == 3)
    lab.run(2)
    suspend(lab, True)
    lab.run(2)
    suspend(lab, False)
    lab.run(10)
    assert len(lab.writes(POD, event="ADDED")) == 3
    lab.run(40)
    assert len(lab.writes(POD, event="ADDED")) == 4


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
def test_5_8_a_deleted_job_takes_its_pods_along(policy: str) -> None:
    lab = Lab()
    lab.create(job(pods=3))
    lab.run(5)
    lab.delete(JOB, "j", propagation_policy=policy)
    lab.run(10)
    assert lab.pods == []
    assert lab.job() is None
    assert lab.cluster.is_quiet()


def test_5_8_in_the_foreground_the_job_goes_after_its_last_pod() -> None:
    lab = Lab()
    lab.create(job(pods=2, behaviour="stop 30s"))
    lab.run(5)
    lab.delete(JOB, "j", propagation_policy="Foreground")
    lab.run(20)
    assert finalizers_of(lab.job()) == ("foregroundDeletion",)
    lab.run(30)
    order = [entry.kind for entry in lab.writes(event="DELETED")]
    assert order == ["Pod", "Pod", "Job.batch"]


def test_5_8_in_the_background_the_job_goes_first() -> None:
    lab = Lab()
    lab.create(job(pods=2))
    lab.run(5)
    lab.delete(JOB, "j", propagation_policy="Background")
    lab.run(10)
    assert [entry.kind for entry in lab.writes(event="DELETED")] == ["Job.batch", "Pod", "Pod"]


def test_5_8_orphaned_pods_lose_owner_and_finalizer_and_live_on() -> None:
    lab = Lab()
    lab.create(job(pods=2))
    lab.run(5)
    lab.delete(JOB, "j", propagation_policy="Orphan")
    lab.run(10)
    assert lab.job() is None
    assert len(lab.pods) == 2
    for pod in lab.pods:
        assert finalizers_of(pod) == ()
        assert "ownerReferences" not in pod["metadata"]


def test_5_8_an_orphan_that_has_lost_its_finalizer_is_left_alone() -> None:
    lab = Lab()
    lab.create(job())
    lab.run(5)
    lab.processes.kill("job-controller")
    lab.delete(JOB, "j", propagation_policy="Orphan")
    lab.run(10)
    (orphan,) = lab.pods
    lab.processes.start("job-controller")
    lab.patch(POD, name_of(orphan), {"metadata": {"finalizers": None}})
    lab.run(10)
    assert lab.writes(POD)[-1].actor == "user"


def test_5_8_a_job_that_is_being_deleted_makes_no_more_pods() -> None:
    lab = Lab()
    obj = job(pods=2)
    obj["metadata"]["finalizers"] = ["example.com/hold"]
    lab.create(obj)
    lab.run(5)
    lab.delete(JOB, "j", propagation_policy="Background")
    lab.delete(POD, name_of(lab.pods[0]))
    lab.run(60)
    assert len(lab.writes(POD, event="ADDED")) == 2


def test_5_8_an_orphan_s_finalizer_goes_also_when_the_controller_was_down() -> None:
    lab = Lab()
    lab.create(job())
    lab.run(5)
    lab.processes.kill("job-controller")
    lab.delete(JOB, "j", propagation_policy="Background")
    lab.run(60)
    assert [finalizers_of(pod) for pod in lab.pods] == [("batch.kubernetes.io/job-tracking",)]
    lab.processes.start("job-controller")
    lab.run(5)
    assert lab.pods == []
