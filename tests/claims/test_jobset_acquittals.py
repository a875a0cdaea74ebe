"""Correct controllers of JobSets in situations that once looked like violations."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chaos.faults import DeleteObject, Pause
from conformance.suites.jobset.api import (
    DOMAIN,
    FAIL_JOB,
    FAIL_JOB_SET,
    RESTART_JOB,
    RESTART_JOB_SET,
)
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import job_set, replicated_job, rule
from conformance.world import World
from reference_controller.jobset.job_set import restarts_of
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules
from tests.claims.jobset_runs import RIGHT, judged_with, run_of, run_scenario, violated
from vocabulary.clock import SECOND, Micros, to_rfc3339_micro
from vocabulary.errors import ApiError
from vocabulary.history import Write
from vocabulary.objects import Object, get_path, labels_of, with_path


class DeletesFailedJobsLast(Rules):
    """Failed Jobs of an earlier restart go when the JobSet has ended, in this scenario."""

    has_ended = False

    def is_over(self, job_set: Object) -> bool:
        self.has_ended = super().is_over(job_set)
        return self.has_ended

    def needs_delete(self, job: Job) -> bool:
        return super().needs_delete(job) and (self.has_ended or not job.has_failed)

    def goes_at_the_end(self, job: Job, job_set: Object) -> bool:
        return super().goes_at_the_end(job, job_set) or job.restarts < restarts_of(job_set)


def test_a_failed_job_of_an_earlier_restart_may_go_after_the_end() -> None:
    def steps(world: World) -> None:
        jobs = [replicated_job("w"), replicated_job("v")]
        its = JobSet.submit(world, job_set(jobs, [rule(RESTART_JOB_SET)], max_restarts=1))
        world.until(its.is_ready())
        its.fail("w-0")
        world.until(its.has_restarted(1))
        world.wait(5 * SECOND)
        its.fail("v-0")
        world.until(its.has_failed())
        world.wait(10 * SECOND)

    run = run_of(steps, replace(RIGHT, rules=DeletesFailedJobsLast))
    assert "JS-021" in {each.claim for each in run.verdicts}
    assert violated(run.verdicts) == {}


def test_the_bad_name_of_one_rule_is_no_lack_of_a_name_of_another() -> None:
    rules = [rule(FAIL_JOB_SET), {**rule(RESTART_JOB_SET), "name": "not a name!"}]

    def steps(world: World) -> None:
        with pytest.raises(ApiError, match=r"rules\[1\]\.name"):
            JobSet.submit(world, job_set([replicated_job("w")], rules))
        world.wait(SECOND)

    assert violated(run_of(steps).verdicts) == {}


def _without_labels(job: Object) -> Object:
    metadata = dict(job["metadata"])
    metadata["labels"] = {
        key: value for key, value in labels_of(job).items() if not key.startswith(DOMAIN)
    }
    return {**job, "metadata": metadata}


def test_jobs_without_labels_are_told_apart_by_their_names() -> None:
    run = run_scenario("restarts/all-replicated-jobs-restart/counted")
    verdicts = judged_with(run, "Job.batch", _without_labels)
    assert "JS-094" in {each.claim for each in verdicts}
    assert "JS-094" not in violated(verdicts)


class BacksOffForEachJob(Rules):
    """The back-off of a replicated job's Jobs does not add up."""

    def streak_after(self, record: Object, ran_us: Micros) -> int:
        return super().streak_after(record, ran_us) if record.get("job") else 1


def test_failures_of_several_jobs_add_up_to_no_longer_back_off() -> None:
    under_test = replace(RIGHT, rules=BacksOffForEachJob)
    run = run_scenario("partial-restarts/driver-fails-after-its-workers", under_test)
    assert violated(run.verdicts) == {}


class EndsBackOffs(Rules):
    """A restart of the JobSet ends the back-off of those of its Jobs that restarted alone."""

    def partial_restarts_kept(self, job_set: Object) -> tuple[Object, ...]:
        records = super().partial_restarts_kept(job_set)
        return tuple({**record, "notBefore": to_rfc3339_micro(0)} for record in records)


def test_a_job_that_restarts_with_all_others_need_not_back_off() -> None:
    def steps(world: World) -> None:
        rules = [rule(RESTART_JOB, targets=["w"])]
        jobs = [replicated_job("driver"), replicated_job("w")]
        its = JobSet.submit(world, job_set(jobs, rules, max_restarts=20))
        for times in range(1, 6):
            world.until(its.is_ready())
            its.fail("w-0")
            world.until(its.has_partly_restarted(times))
        its.fail("driver-0")
        world.until(its.has_restarted(1))
        world.until(its.is_ready())

    assert violated(run_of(steps, replace(RIGHT, rules=EndsBackOffs)).verdicts) == {}


def test_a_job_that_is_left_failed_counts_as_failed_once_its_ttl_has_it_deleted() -> None:
    def steps(world: World) -> None:
        workers = replicated_job("w", 2, ttlSecondsAfterFinished=5)
        its = JobSet.submit(world, job_set([workers], [rule(FAIL_JOB)]))
        world.until(its.is_ready())
        its.fail("w-0")
        world.until(its.has_failed_job("w-0"))
        world.wait(30 * SECOND)
        assert len(its.jobs) == 1

    assert violated(run_of(steps).verdicts) == {}


def test_pods_that_a_user_left_by_the_last_deletion_are_not_the_controllers() -> None:
    def steps(world: World) -> None:
        its = JobSet.submit(world, job_set([replicated_job("w", 2)], [rule(RESTART_JOB_SET)]))
        world.until(its.is_ready())
        paused = Pause("garbage-collector")
        world.inject(paused)
        its.fail("w-0")
        world.until(its.has_restarted(1))
        world.wait(SECOND)
        world.inject(DeleteObject(kind="Job", name=its.job("w-1"), propagation="Orphan"))
        world.revert(paused)
        world.until(its.is_ready())

    run = run_of(steps)
    deletions = [
        (each.actor, each.options.get("propagationPolicy"))
        for each in run.entries
        if isinstance(each, Write) and each.verb == "delete" and each.name.endswith("w-1")
    ]
    assert deletions == [("jobset", "Foreground"), ("user", "Orphan")]
    assert violated(run.verdicts) == {}


def test_an_update_may_write_out_what_was_absent() -> None:
    """So do clients with types of their own, such as Kueue."""

    def steps(world: World) -> None:
        made = job_set([replicated_job("w")])
        its = JobSet.submit(world, made)
        world.until(its.is_ready())
        (job,) = get_path(its.now, "spec.replicatedJobs")
        spelled = with_path(job, "template.spec.template.spec.securityContext", {})
        spelled = with_path(spelled, "template.spec.template.spec.volumes", [])
        world.patch(its.kind, its.name, {"spec": {"replicatedJobs": [spelled]}})
        world.wait(5 * SECOND)

    assert "JS-109" not in violated(run_of(steps).verdicts)
