"""The requests that follow from a status, from made-up observations."""

from __future__ import annotations

import pytest

from reference_controller.jobset.children import Changes, changes, leftovers
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import RIGHT
from tests.reference_jobset.driver import policy, replicated_job
from tests.reference_jobset.observed import (
    NOW,
    complete,
    failed,
    jobs_of,
    marked,
    ready,
    seen,
    standing,
    terminating,
)
from vocabulary.clock import SECOND, to_rfc3339_micro
from vocabulary.objects import Object, with_path

TWO = (replicated_job("a", replicas=2), replicated_job("b"))
COUNTED = {"restarts": 1, "restartsCountTowardsMax": 1}
UNCOUNTED = {"restarts": 1, "restartsCountTowardsMax": 0}


def after(made: Object, status: Object) -> Object:
    return {**made, "status": status}


def names(some: tuple[object, ...]) -> list[str]:
    return [request.name for request in some]  # type: ignore[attr-defined]


def wanted(made: Object, jobs: list[Job] | None = None) -> Changes:
    return changes(seen(made, jobs), RIGHT)


def test_a_job_is_created_for_each_index_of_which_none_stands() -> None:
    made = standing(*TWO)
    assert names(wanted(made, jobs_of(made)[1:2]).creates) == ["js-a-0", "js-b-0"]
    assert wanted(made) == Changes()


def test_a_counted_restart_deletes_all_jobs_of_before_by_their_uids() -> None:
    made = standing(*TWO)
    jobs = jobs_of(made, a_0=failed(), b_0=complete())
    found = wanted(after(made, COUNTED), [jobs[0], terminating(made, jobs[1]), jobs[2]])
    assert names(found.deletes) == ["js-a-0", "js-b-0"]
    assert [delete.uid for delete in found.deletes] == ["js-a-0-uid", "js-b-0-uid"]
    assert {delete.propagation_policy for delete in found.deletes} == {"Foreground"}
    assert found.creates == ()


def test_a_restart_that_does_not_count_marks_jobs_and_deletes_them_once_they_are() -> None:
    made = standing(*TWO)
    jobs = jobs_of(made, a_0=failed())
    found = wanted(after(made, UNCOUNTED), [marked(jobs[0]), *jobs[1:]])
    assert names(found.marks) == ["js-a-1", "js-b-0"]
    assert names(found.deletes) == ["js-a-0"]


@pytest.mark.parametrize(("strategy", "created"), [("Recreate", 1), ("BlockingRecreate", 0)])
def test_a_job_comes_back_once_its_own_predecessor_is_gone_or_all_of_them(
    strategy: str, created: int
) -> None:
    made = standing(*TWO, failurePolicy=policy(restartStrategy=strategy))
    found = wanted(after(made, COUNTED), jobs_of(made)[:2])
    assert len(found.creates) == created


@pytest.mark.parametrize(("job", "replaced"), [("", ["js-a-0", "js-a-1"]), ("js-a-1", ["js-a-1"])])
def test_a_partial_restart_replaces_its_jobs_alone_and_after_its_backoff(
    job: str, replaced: list[str]
) -> None:
    made = standing(*TWO)
    record = {
        "replicatedJob": "a",
        "job": job,
        "restarts": 1,
        "notBefore": to_rfc3339_micro(NOW + SECOND),
    }
    restarted = after(made, {"partialRestarts": [record]})
    jobs = jobs_of(made, a_1=failed())
    assert names(wanted(restarted, jobs).deletes) == replaced
    left = [each for each in jobs if each.name not in replaced]
    waiting = wanted(restarted, left)
    assert (waiting.creates, waiting.wake_at_us) == ((), NOW + SECOND)
    due = after(made, {"partialRestarts": [{**record, "notBefore": to_rfc3339_micro(NOW)}]})
    assert names(wanted(due, left).creates) == replaced
    assert not seen(due, jobs_of(due)).stale


def test_jobs_of_a_suspended_job_set_are_created_and_kept_suspended() -> None:
    made = standing(*TWO, suspend=True)
    running = jobs_of(with_path(made, "spec.suspend", False), a_1=complete())
    found = wanted(made, running[:2])
    assert [(patch.name, patch.body["spec"]) for patch in found.suspensions] == [
        ("js-a-0", {"suspend": True})
    ]
    assert [create.object["spec"]["suspend"] for create in found.creates] == [True]
    assert found.resumptions == ()


def resumed(made: Object, **jobs: Object) -> Changes:
    """The requests once it is resumed."""
    return wanted(with_path(made, "spec.suspend", False), jobs_of(made, **jobs))


def test_a_resumed_job_takes_where_a_queue_has_its_pods_run_and_nothing_of_before() -> None:
    queued = replicated_job("a")
    made = standing(queued, suspend=True)
    template = "template.spec.template"
    now = with_path(made["spec"]["replicatedJobs"][0], f"{template}.spec.nodeSelector", {"z": "2"})
    now = with_path(now, f"{template}.metadata.labels", {"queue": "q"})
    (job,) = jobs_of(made)
    before = with_path(job.object, "spec.template.spec.nodeSelector", {"old": "1"})
    before = with_path(before, "spec.template.spec.tolerations", [{"key": "old"}])
    (patch,) = resumed(with_path(made, "spec.replicatedJobs", [now]), a_0=before).resumptions
    assert patch.body == {
        "metadata": {"uid": "js-a-0-uid"},
        "spec": {
            "suspend": False,
            "template": {
                "metadata": {"labels": {"queue": "q"}},
                "spec": {"tolerations": [], "nodeSelector": {"old": None, "z": "2"}},
            },
        },
    }


def test_a_job_that_is_still_stopping_is_resumed_when_it_takes_another_template() -> None:
    made = standing(replicated_job("a"), suspend=True)
    plain = jobs_of(made)[0].object
    moved = with_path(plain, "spec.template.spec.nodeSelector", {"old": "1"})
    stopped = {"conditions": [{"type": "Suspended", "status": "True"}]}
    assert len(resumed(made, a_0={**plain, **ready()}).resumptions) == 1
    assert resumed(made, a_0={**moved, **ready()}).resumptions == ()
    assert len(resumed(made, a_0={**moved, "status": stopped}).resumptions) == 1


@pytest.mark.parametrize(
    ("jobs", "started"),
    [
        ({}, ["js-a-0"]),
        ({"a_0": ready()}, ["js-b-0"]),
        ({"a_0": complete()}, ["js-b-0"]),
        ({"a_0": ready(), "b_0": ready()}, []),
    ],
)
@pytest.mark.parametrize("status", [{}, COUNTED])
def test_jobs_start_in_order_at_first_and_after_each_restart(
    jobs: dict[str, Object], started: list[str], status: Object
) -> None:
    order = {"startupPolicy": {"startupPolicyOrder": "InOrder"}}
    made = after(standing(replicated_job("a"), replicated_job("b"), **order), status)
    there = [job for job in jobs_of(made, **jobs) if f"{job.child.replicated_job}_0" in jobs]
    assert names(wanted(made, there).creates) == started


@pytest.mark.parametrize(
    ("needed", "job", "starts"),
    [
        ("Ready", ready(), True),
        ("Complete", ready(), False),
        ("Complete", complete(), True),
        ("Ready", {}, False),
    ],
)
def test_what_depends_on_a_replicated_job_waits_for_its_status(
    needed: str, job: Object, starts: bool
) -> None:
    waits = {"dependsOn": [{"name": "a", "status": needed}]}
    made = standing(replicated_job("a"), replicated_job("b", **waits))
    assert bool(wanted(made, jobs_of(made, a_0=job)[:1]).creates) is starts


def test_a_restart_has_what_depends_on_a_job_wait_for_its_successor() -> None:
    waits = {"dependsOn": [{"name": "a", "status": "Complete"}]}
    made = standing(replicated_job("a"), replicated_job("b", **waits))
    old = jobs_of(made, a_0=complete(), b_0=failed())
    found = wanted(after(made, COUNTED), [old[0]])
    assert names(found.creates) == []


def test_a_finished_job_set_keeps_jobs_that_are_finished_and_no_other() -> None:
    made = standing(*TWO)
    jobs = jobs_of(made, a_0=failed(), a_1=ready(), b_0=complete())
    assert names(leftovers(seen(made, jobs), RIGHT)) == ["js-a-1"]
    assert names(leftovers(seen(after(made, COUNTED), jobs), RIGHT)) == ["js-a-1"]


def test_a_job_that_may_have_finished_unseen_is_spared_at_the_end() -> None:
    made = standing(*TWO)
    jobs = jobs_of(made, a_0=failed(), a_1=ready(), b_0=complete())
    (delete,) = leftovers(seen(made, jobs), RIGHT)
    assert (delete.uid, delete.resource_version) == ("js-a-1-uid", "7")
