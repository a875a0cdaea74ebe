"""JobSets that are suspended and resumed."""

from __future__ import annotations

from copy import deepcopy
from typing import Final

from chaos.faults import CreateObject, Pause, Resume
from conformance.scenario_type import scenario
from conformance.suites.jobset.api import JOB_SET, RESTART_JOB_SET
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import foreign_job, job_set, replicated_job, rule
from conformance.world import Condition, World
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.objects import get_path
from vocabulary.requests import Update

COUNTED: Final = rule(RESTART_JOB_SET)


@scenario(arms=["JS-099"])
def running_jobset_is_suspended(world: World) -> None:
    """The Jobs of a JobSet stop when it is suspended, and run again when it is resumed."""
    jobs = [replicated_job("once", behaviour="run 2s, exit 0"), replicated_job("w", 3)]
    its = JobSet.submit(world, job_set(jobs, [COUNTED]))
    world.until(its.has_job("once-0", "Complete"))
    world.until(its.is_ready())
    for _ in range(2):
        its.suspend()
        world.wait(20 * SECOND)
        its.resume()
        world.wait(5 * SECOND)
        world.until(its.is_ready())


@scenario(arms=["JS-099"])
def jobset_is_created_suspended(world: World) -> None:
    """No Job of a JobSet runs that is created suspended, until it is resumed."""
    jobs = [replicated_job("driver"), replicated_job("w", 2)]
    its = JobSet.submit(world, job_set(jobs, [COUNTED], suspend=True))
    world.wait(20 * SECOND)
    its.resume()
    world.wait(5 * SECOND)
    world.until(its.is_ready())


@scenario(
    arms=["JS-099", "JS-104", "JS-109"],
    kills="opens-once-suspended",
    cases={"at-rest": 20 * SECOND, "while-pods-stop": SECOND},
)
def queue_places_its_pods(world: World, later_us: int) -> None:
    """A JobSet is resumed after a queue has said on which nodes its pods are to run; the update
    that suspends it takes that back."""
    jobs = [replicated_job("w", 2, behaviour="run forever, stop 5s")]
    its = JobSet.submit(world, job_set(jobs, [COUNTED], suspend=True))
    for queue in ("spot", "reserved"):  # Jobs that have run are placed anew as well
        world.wait(later_us)
        _place(world, its, queue)
        world.wait(5 * SECOND)
        world.until(its.is_ready())
        _place(world, its, "none", suspend=True)


@scenario(
    arms=["JS-099", "JS-104"],
    kills="resumes-before-it-may",
    alone=True,
)
def queue_places_its_pods_while_jobs_stop(world: World) -> None:
    """A JobSet is resumed on other nodes, and the Job controller has yet to suspend its Jobs."""
    its = JobSet.ready(world, job_set([replicated_job("w", 2)], [COUNTED]))
    world.inject(Pause("job-controller"))
    its.suspend()
    world.until(_are_suspended(its))
    _place(world, its, "spot")
    world.wait(5 * SECOND)
    world.inject(Resume("job-controller"))
    world.wait(5 * SECOND)
    world.until(its.is_ready())


def _place(world: World, its: JobSet, queue: str, suspend: bool = False) -> None:
    """Resume or suspend a JobSet with its pods placed as a queue would."""
    while True:
        now = deepcopy(dict(its.now))
        for each in now["spec"]["replicatedJobs"]:
            template = each["template"]["spec"]["template"]
            template["metadata"]["labels"]["example.com/queue"] = queue
            template["metadata"]["annotations"]["example.com/workload"] = "a"
            # On real clusters a selector keeps the run on its nodes.
            selector = template["spec"].setdefault("nodeSelector", {})
            selector.pop("kubernetes.io/os", None)
            if queue == "spot":
                selector["kubernetes.io/os"] = "linux"
            tolerations = [{"key": f"example.com/{queue}", "operator": "Exists"}]
            template["spec"]["tolerations"] = tolerations
        now["spec"]["suspend"] = suspend
        try:
            world.call(Update(JOB_SET, now))
        except ApiError as refused:
            if not refused.is_conflict:
                raise
        else:
            return


@scenario(arms=["JS-099"])
def jobset_stays_suspended(world: World) -> None:
    """The Jobs of a JobSet that is suspended for good come to rest, each of them."""
    its = JobSet.ready(world, job_set([replicated_job("w", 3), replicated_job("v")], [COUNTED]))
    its.suspend()
    world.wait(10 * SECOND)


@scenario(arms=["JS-099"])
def job_is_deleted_from_a_suspended_jobset(world: World) -> None:
    """A Job that a user deletes from a suspended JobSet does not come back running."""
    its = JobSet.ready(world, job_set([replicated_job("w", 2)], [COUNTED]))
    its.suspend()
    world.wait(10 * SECOND)
    its.delete_job("w-1")
    world.wait(10 * SECOND)
    its.resume()
    world.wait(5 * SECOND)
    world.until(its.is_ready())


@scenario(
    arms=["JS-099"],
    only_simulated="a controller that never suspends them is waited for in vain, for minutes",
)
def one_job_of_a_suspended_jobset_is_missing(world: World) -> None:
    """The Jobs of a JobSet are suspended with it, also while another one's name is taken."""
    world.inject(CreateObject(foreign_job("a-w-1")))
    its = JobSet.submit(world, job_set([replicated_job("w", 3)], [COUNTED]))
    world.until(its.has_started("w-0"))
    its.suspend()
    world.until(_are_suspended(its))
    its.delete_job("w-1")
    world.wait(10 * SECOND)
    its.resume()
    world.until(its.is_ready())


def _are_suspended(its: JobSet) -> Condition:
    def holds() -> bool:
        return all(get_path(job, "spec.suspend") for job in its.jobs)

    return Condition(f"the Jobs of {its} are suspended", holds)
