"""Other clients interfere: Jobs, Services and pods that go, names that are taken, quotas, TTLs."""

from __future__ import annotations

from typing import Any

from chaos.faults import (
    ApiErrors,
    CreateObject,
    DelayWatch,
    DeleteObject,
    DeletePod,
    EditObject,
    HoldObject,
    Pause,
    ReleaseObject,
    StaleReads,
    Tamper,
)
from conformance.breaking import during, operator_away
from conformance.scenario_type import scenario
from conformance.suites.jobset.api import RESTART_ATTEMPT, RESTART_JOB_SET, RESTART_UNCOUNTED
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import (
    SEEN_SECONDS,
    foreign_job,
    job_set,
    replicated_job,
    rule,
)
from conformance.world import World
from vocabulary.clock import MINUTE, SECOND
from vocabulary.kinds import RESOURCE_QUOTA
from vocabulary.objects import name_of

UNCOUNTED = rule(RESTART_UNCOUNTED)
OF_JOB_SETS = "jobset.x-k8s.io/v1alpha2/JobSet"
POLICIES = {each.lower(): each for each in ("Background", "Foreground", "Orphan")}


def _submit_running(world: World, **job: Any) -> JobSet:
    return JobSet.submit(world, job_set([replicated_job("w", 3, **job)], [UNCOUNTED]))


def _running(world: World, **job: Any) -> JobSet:
    its = _submit_running(world, **job)
    world.until(its.is_ready())
    return its


@scenario(arms=["JS-091"], cases=POLICIES)
def child_job_is_deleted(world: World, propagation: Any) -> None:
    """A child Job that a user deletes is created again, and no restart is counted."""
    its = _running(world)
    its.delete_job("w-1", propagation)
    world.wait(5 * SECOND)
    world.until(its.is_ready())


@scenario(
    arms=["JS-001", "JS-091", "JS-105"],
    kills="namespaces-are-one",
    namespaces=("elsewhere",),
)
def same_name_in_two_namespaces(world: World) -> None:
    """JobSets of one name in two namespaces have nothing to do with each other: one of them
    restarts."""
    asked = job_set([replicated_job("w", 2)], [UNCOUNTED])
    elsewhere = {**asked["metadata"], "namespace": "elsewhere"}
    there = JobSet.ready(world, {**asked, "metadata": elsewhere})
    here = JobSet.ready(world, asked)
    here.fail_until_restarted("w-1")
    world.until(here.is_ready() & there.is_ready())


@scenario(arms=["JS-001", "JS-090", "JS-091"], cases=POLICIES)
def child_job_is_deleted_in_a_restart(world: World, propagation: Any) -> None:
    """A child Job that a user deletes while the JobSet restarts is created once."""
    its = _running(world, behaviour="run forever, stop 5s")
    its.fail("w-0")
    world.until(its.has_restarted(1))
    its.delete_job("w-1", propagation)
    world.until(its.is_ready())


@scenario(
    arms=["JS-115", "JS-091"],
    kills="pods-are-not-awaited",
    cases={"running": False, "restarting": True},
)
def pods_outlive_their_job(world: World, restarts: bool) -> None:
    """Pods of a Job that a user deletes in the background stop slowly: where restarts block, the
    Job comes back after them."""
    asked = job_set([replicated_job("w", 3, behaviour="run forever, stop 20s")], [UNCOUNTED])
    asked["spec"]["failurePolicy"]["restartStrategy"] = "BlockingRecreate"
    its = JobSet.ready(world, asked)
    its.delete_job("w-1")
    if restarts:
        its.fail_until_restarted("w-0")
    world.wait(MINUTE)
    world.until(its.is_ready())


@scenario(arms=["JS-106"])
def service_is_deleted_after_a_restart(world: World) -> None:
    """The headless Service comes back also in a JobSet that has restarted."""
    its = _running(world)
    its.fail_until_restarted("w-0")
    world.until(its.is_ready())
    world.wait(20 * SECOND)
    world.inject(DeleteObject("Service", its.name))
    world.wait(20 * SECOND)


@scenario(arms=["JS-091"], cases={"deleted": False, "given-back": True})
def job_is_taken_away(world: World, is_given_back: bool) -> None:
    """A Job that its user makes an orphan takes a name, until it is deleted or given back."""
    its = _running(world)
    world.wait(5 * SECOND)
    taken = next(job for job in its.jobs if name_of(job) == its.job("w-1"))
    world.inject(EditObject("Job", its.job("w-1"), {"metadata": {"ownerReferences": None}}))
    world.wait(20 * SECOND)
    if is_given_back:
        owners = taken["metadata"]["ownerReferences"]
        patch = {"metadata": {"ownerReferences": owners}}
        world.inject(EditObject("Job", its.job("w-1"), patch))
    else:
        its.delete_job("w-1")
    world.wait(5 * SECOND)
    world.until(its.is_ready())


@scenario(
    arms=["JS-112"],
    kills="changes-any-namesake",
    cases={"counted": rule(RESTART_JOB_SET), "uncounted": UNCOUNTED},
)
def job_is_replaced_unseen(world: World, action: Any) -> None:
    """A Job that a restart has to replace goes, and another client's has its name before the
    controller learns of either: that one stays."""
    its = JobSet.ready(world, job_set([replicated_job("w", 3)], [action]))
    kept_back = ApiErrors(verb=("delete", "patch"), kind="Job", times=0)
    late = DelayWatch(kind="Job", by=30 * SECOND)
    world.inject(kept_back)
    its.fail("w-1")
    world.until(its.has_restarted(1))
    world.inject(late)
    its.delete_job("w-0")
    world.inject(CreateObject(foreign_job(its.job("w-0"))))
    world.revert(kept_back)
    world.wait(40 * SECOND)
    world.revert(late)
    its.delete_job("w-0")
    world.until(its.is_ready())


@scenario(arms=["JS-091"])
def failed_job_is_deleted(world: World) -> None:
    """A failed Job that a user deletes at once may or may not restart the JobSet."""
    its = _running(world)
    its.fail("w-2")
    world.until(its.has_failed_job("w-2") | its.has_restarted(1))
    its.delete_job("w-2")
    world.wait(5 * SECOND)
    world.until(its.is_ready())


@scenario(arms=["JS-091", "JS-093"])
def failed_job_is_deleted_unseen(world: World) -> None:
    """A Job that fails and is deleted while the controller is away is created again, and its
    JobSet completes."""
    its = JobSet.submit(world, job_set([replicated_job("w", 2)], [rule(RESTART_JOB_SET)]))
    fail_and_delete_unseen(world, its, "w-0")
    its.fail("w-0", 0)
    its.fail("w-1", 0)
    world.until(its.has_completed())


def fail_and_delete_unseen(world: World, its: JobSet, name: str) -> None:
    """Have a Job fail and be deleted while no controller runs, and wait until it is back."""
    world.until(its.is_ready())
    with operator_away(world, for_us=5 * SECOND):
        its.fail(name)
        world.until(its.has_failed_job(name))
        its.delete_job(name)
    world.until(its.is_ready())


@scenario(arms=["JS-001", "JS-091", "JS-108"], kills="manages-all")
def another_controller_manages_one(world: World) -> None:
    """A JobSet that `spec.managedBy` gives to another controller is left alone beside one that
    restarts."""
    workers = [replicated_job("w", 2)]
    other = job_set(workers, name="other", managedBy="kueue.x-k8s.io/multikueue")
    JobSet.submit(world, other)
    its = JobSet.submit(world, job_set(workers))
    its.fail_until_restarted("w-0")
    world.until(its.is_ready())


@scenario(arms=["JS-113"], kills="builds-up-the-deleted", cases={"foreground": False, "held": True})
def jobset_is_deleted_slowly(world: World, is_held: bool) -> None:
    """A JobSet that stays for a while after its deletion gets no Job for one that goes."""
    its = _running(world, behaviour="run forever, stop 5s")
    if is_held:
        world.inject(HoldObject(kind=OF_JOB_SETS, name=its.name))
    its.delete("Background" if is_held else "Foreground")
    if is_held:
        world.wait(5 * SECOND)
        its.delete_job("w-1")
    world.wait(30 * SECOND)


@scenario(arms=["JS-091"])
def service_is_deleted(world: World) -> None:
    """The deletion of the headless Service restarts nothing."""
    its = _running(world)
    world.inject(DeleteObject("Service", its.name))
    world.wait(5 * SECOND)
    world.until(its.is_ready())


@scenario(arms=["JS-003", "JS-091"])
def pod_is_deleted(world: World) -> None:
    """A pod that a user deletes fails its Job, whose failure no rule matches."""
    jobs = [replicated_job("w", 2)]
    its = JobSet.ready(world, job_set(jobs))
    world.inject(DeletePod(its.pods_of("w-1")))
    its.ready_again(1)


@scenario(
    arms=["JS-001", "JS-090", "JS-091"],
    cases={
        "stripped": Tamper("Job", "a-w-1"),
        "stripped-annotations": Tamper("Job", "a-w-1", strip="annotations"),
        "no-number": EditObject(
            "Job",
            "a-w-1",
            {"metadata": {"labels": {RESTART_ATTEMPT: "x"}, "annotations": {RESTART_ATTEMPT: "x"}}},
        ),
    },
)
def labels_are_tampered_with(world: World, tampering: Any) -> None:
    """A Job whose labels or annotations a user has changed restarts with the others."""
    its = _running(world)
    world.inject(tampering)
    world.wait(5 * SECOND)
    world.until(its.is_ready())
    restarts = its.state.restarts
    its.fail("w-0")
    its.ready_again(restarts + 1)


@scenario(arms=["JS-001", "JS-091"])
def name_is_taken(world: World) -> None:
    """A foreign Job of a child's name delays that child alone, until it is gone."""
    world.inject(CreateObject(foreign_job("a-w-1")))
    its = JobSet.submit(world, job_set([replicated_job("w", 3)], [UNCOUNTED]))
    world.until(its.has_started("w-0"))
    world.wait(10 * SECOND)
    its.fail("w-0")
    world.until(its.has_restarted(1))
    world.wait(10 * SECOND)
    its.delete_job("w-1")
    world.until(its.is_ready())


@scenario(arms=["JS-091"], cases={"at-once": False, "late": True})
def name_is_used_again(world: World, seen_late: bool) -> None:
    """A JobSet with the name of a deleted one has neither its failures nor its Jobs."""
    its = _running(world)
    unanswered = ApiErrors(verb=("update", "patch"), kind=OF_JOB_SETS, times=0)
    stale = StaleReads(kind=OF_JOB_SETS)
    with during(world, unanswered):
        its.fail("w-0")
        world.until(its.has_failed_job("w-0"))
        world.inject(HoldObject(kind="Job", name=its.job("w-0")))
        if seen_late:
            world.inject(stale)
        its.delete()
        world.until(its.is_gone())
        _submit_running(world)
        world.wait(5 * SECOND)
    world.wait(30 * SECOND)
    if seen_late:
        world.revert(stale)
    world.wait(10 * SECOND)
    world.inject(ReleaseObject(kind="Job", name=its.job("w-0")))
    world.until(its.is_ready())


@scenario(arms=["JS-001", "JS-090", "JS-091"])
def service_name_is_taken(world: World) -> None:
    """A foreign Service of the JobSet's name keeps it from running, until it is gone."""
    foreign = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}
    world.inject(CreateObject({**foreign, "spec": {"ports": [{"port": 80}]}}))
    its = JobSet.submit(world, job_set([replicated_job("w", 2)], [UNCOUNTED]))
    world.wait(10 * SECOND)
    world.inject(DeleteObject("Service", "a"))
    its.fail_until_restarted("w-0")
    world.until(its.is_ready())


@scenario(arms=["JS-106"])
def service_name_is_taken_for_a_while(world: World) -> None:
    """A JobSet gets its Service, and its Jobs, when another one of that name has gone."""
    foreign = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}
    world.inject(CreateObject({**foreign, "spec": {"ports": [{"port": 80}]}}))
    its = JobSet.submit(world, job_set([replicated_job("w", 2)]))
    world.wait(10 * SECOND)
    world.inject(DeleteObject("Service", "a"))
    world.until(its.is_ready())


@scenario(arms=["JS-001", "JS-090", "JS-091"], cases={"jobs": "count/jobs.batch", "pods": "pods"})
def quota_refuses_the_restart(world: World, limited: str) -> None:
    """A quota that refuses what a restart creates delays it, and spends no further restart."""
    its = _running(world)
    world.create(_none_of(limited), actor="chaos")
    its.fail("w-0")
    world.until(its.has_restarted(1))
    world.wait(60 * SECOND)
    world.delete(RESOURCE_QUOTA, "none", actor="chaos")
    world.until(its.is_ready())


@scenario(arms=["JS-106"])
def quota_refuses_the_service(world: World) -> None:
    """A JobSet gets its Service once the quota that refused it has gone."""
    world.create(_none_of("services"), actor="chaos")
    its = JobSet.submit(world, job_set([replicated_job("w", 2)]))
    world.wait(30 * SECOND)
    world.delete(RESOURCE_QUOTA, "none", actor="chaos")
    world.until(its.is_ready())


def _none_of(limited: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "none"},
        "spec": {"hard": {limited: "0"}},
    }


@scenario(arms=["JS-093"], kills="failed-goes-on")
def failed_job_has_a_ttl(world: World) -> None:
    """A failed Job that its TTL deletes from a JobSet that has failed does not come back."""
    workers = replicated_job("w", 2, ttlSecondsAfterFinished=SEEN_SECONDS)
    its = JobSet.ready(world, job_set([workers], max_restarts=0))
    its.fail("w-0")
    world.until(its.has_failed())
    world.wait(2 * SEEN_SECONDS * SECOND)


@scenario(arms=["JS-090", "JS-093"])
def completed_job_has_a_ttl(world: World) -> None:
    """A completed Job that its TTL deletes is no failure, and restarts nothing."""
    ttl = {"ttlSecondsAfterFinished": SEEN_SECONDS}
    once = replicated_job("once", behaviour="run 2s, exit 0", **ttl)
    jobs = [once, replicated_job("w", behaviour=f"run {2 * SEEN_SECONDS}s, exit 0")]
    its = JobSet.submit(world, job_set(jobs, [rule(RESTART_JOB_SET)]))
    world.until(its.has_job("once-0", "Complete"))
    its.fail("w-0")
    world.until(its.has_restarted(1))
    world.until(its.has_completed())


@scenario(arms=["JS-093", "JS-101"], kills="ttl-is-in-minutes", cases={"at-once": 0, "later": 20})
def jobset_has_a_ttl(world: World, seconds: int) -> None:
    """A JobSet that restarts is kept by its TTL until it has ended, and then deleted."""
    workers = replicated_job("w", 2, behaviour="run 5s, exit 1")
    manifest = job_set([workers], max_restarts=2, ttlSecondsAfterFinished=seconds)
    its = JobSet.submit(world, manifest)
    world.until(its.has_restarted(2))
    world.until(its.is_gone())


@scenario(arms=["JS-093", "JS-101"], kills="ttl-is-ignored")
def jobset_has_a_ttl_and_was_suspended(world: World) -> None:
    """The TTL of a JobSet begins when it ends, whatever its conditions said before."""
    workers = replicated_job("w", 2, behaviour="run 5s, exit 0")
    manifest = job_set([workers], ttlSecondsAfterFinished=20, suspend=True)
    its = JobSet.submit(world, manifest)
    world.wait(10 * SECOND)
    its.resume()
    world.until(its.has_completed())
    world.until(its.is_gone())


@scenario(arms=["JS-093", "JS-095"])
def job_of_a_completed_jobset_is_deleted(world: World) -> None:
    """A completed JobSet does not create a Job again that a user deletes."""
    jobs = [replicated_job("w", 2, behaviour="run 5s, exit 0")]
    its = JobSet.submit(world, job_set(jobs, max_restarts=0))
    world.until(its.has_completed())
    its.delete_job("w-0")
    world.wait(2 * SECOND)
    its.fail("w-0")
    world.wait(30 * SECOND)


@scenario(arms=["JS-093", "JS-095"])
def job_of_a_failed_jobset_is_deleted(world: World) -> None:
    """A failed JobSet does not create a Job again that a user deletes."""
    its = JobSet.ready(world, job_set([replicated_job("w", 2)], max_restarts=0))
    its.fail("w-0")
    world.until(its.has_failed())
    world.wait(5 * SECOND)
    its.delete_job("w-0")
    world.wait(30 * SECOND)


@scenario(arms=["JS-090", "JS-091"], alone=True)
def jobs_of_a_namesake_are_left(world: World) -> None:
    """A failed Job that is left of an earlier JobSet of this name is no failure of the new one."""
    first = JobSet.ready(world, job_set([replicated_job("w", 2)], max_restarts=0))
    first.fail("w-0")
    world.until(first.has_failed())
    world.wait(5 * SECOND)
    with during(world, Pause("garbage-collector")):
        first.delete()
        world.until(first.is_gone())
        again = JobSet.submit(world, job_set([replicated_job("w", 2)]))
        world.wait(10 * SECOND)
    world.until(again.is_ready())
    again.fail("w-1")
    again.ready_again(1)
