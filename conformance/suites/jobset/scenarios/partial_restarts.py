"""Restarts of single Jobs and of replicated jobs: their scope, their budget, their back-off."""

from __future__ import annotations

from typing import Final

from chaos.faults import Kill, Start
from conformance.scenario_type import scenario
from conformance.suites.jobset.api import (
    EXCLUSIVE_TOPOLOGY,
    FAIL_JOB,
    RESTART_JOB,
    RESTART_JOB_SET,
    RESTART_REPLICATED_JOB,
    RESTART_UNCOUNTED,
)
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import (
    BY_BACKOFF,
    BY_POLICY,
    NON_RETRIABLE,
    failing_by_policy,
    job_set,
    replicated_job,
    rule,
)
from conformance.suites.jobset.view.placement import HOSTNAME
from conformance.world import World
from vocabulary.clock import MINUTE, SECOND

OF_WORKERS: Final = rule(RESTART_REPLICATED_JOB, targets=["w"])
OF_ONE: Final = rule(RESTART_JOB)


@scenario(arms=["JS-070", "JS-073"], cases={"first": "w-0", "last": "w-2"})
def replicated_job_restarts(world: World, failing: str) -> None:
    """All Jobs of a replicated job restart when one of them fails, and no other Job."""
    jobs = [replicated_job("driver"), replicated_job("w", 3), replicated_job("v", 2)]
    its = JobSet.submit(world, job_set(jobs, [OF_WORKERS]))
    for times in (1, 2):
        world.until(its.is_ready())
        its.fail(failing)
        world.until(its.has_partly_restarted(times))
    world.until(its.is_ready())


@scenario(arms=["JS-070", "JS-074"])
def driver_fails_after_its_workers(world: World) -> None:
    """The failure of another replicated job restarts all of them, also after a partial restart."""
    its = JobSet.submit(
        world, job_set([replicated_job("driver"), replicated_job("w", 2)], [OF_WORKERS])
    )
    world.until(its.is_ready())
    its.fail("w-1")
    world.until(its.has_partly_restarted(1))
    world.until(its.is_ready())
    its.fail("driver-0")
    world.until(its.has_restarted(1))
    world.until(its.is_ready())
    its.fail("w-0")
    world.until(its.has_partly_restarted(2))
    world.until(its.is_ready())


@scenario(arms=["JS-070"])
def two_of_one_replicated_job_fail(world: World) -> None:
    """Two failures in one replicated job that are seen at once restart it once."""
    its = JobSet.submit(
        world, job_set([replicated_job("driver"), replicated_job("w", 3)], [OF_WORKERS])
    )
    world.until(its.is_ready())
    world.inject(Kill(restart_after=None))
    its.fail("w-0")
    its.fail("w-2")
    world.wait(5 * SECOND)
    world.inject(Start())
    world.until(its.has_partly_restarted(1))
    world.until(its.is_ready())


@scenario(arms=["JS-071", "JS-073"])
def job_restarts(world: World) -> None:
    """A Job restarts alone when it fails, again and again, and so does another one."""
    its = JobSet.submit(world, job_set([replicated_job("w", 3), replicated_job("v")], [OF_ONE]))
    for times, name in enumerate(("w-1", "w-1", "v-0"), start=1):
        world.until(its.is_ready())
        its.fail(name)
        world.until(its.has_partly_restarted(times))
    world.until(its.is_ready())


@scenario(arms=["JS-071"])
def two_jobs_fail_together(world: World) -> None:
    """Two Jobs that fail at once are restarted each, and the third is left alone."""
    its = JobSet.submit(world, job_set([replicated_job("w", 3)], [OF_ONE]))
    world.until(its.is_ready())
    world.inject(Kill(restart_after=None))
    its.fail("w-0")
    its.fail("w-2")
    world.wait(5 * SECOND)
    world.inject(Start())
    world.until(its.has_partly_restarted(2))
    world.until(its.is_ready())


@scenario(arms=["JS-071"])
def job_restarts_beside_completed_ones(world: World) -> None:
    """A Job that restarts leaves those that have completed, and the JobSet completes with it."""
    jobs = [replicated_job("w", 2), replicated_job("v", behaviour="run 3s")]
    its = JobSet.submit(world, job_set(jobs, [OF_ONE]))
    world.until(its.is_ready() & its.has_job("v-0", "Complete"))
    its.fail("w-0")
    world.until(its.has_partly_restarted(1))
    world.until(its.is_ready())
    its.fail("w-0", 0)
    its.fail("w-1", 0)
    world.until(its.has_ended("Completed"))


@scenario(arms=["JS-073"], cases={"job": OF_ONE, "replicated-job": rule(RESTART_REPLICATED_JOB)})
def no_partial_restart_is_allowed(world: World, only: dict[str, object]) -> None:
    """Without maxRestarts the first failure that would restart a part fails the JobSet."""
    its = JobSet.submit(world, job_set([replicated_job("w", 2)], [only], max_restarts=0))
    world.until(its.is_ready())
    its.fail("w-0")
    world.until(its.has_ended("Failed"))


@scenario(arms=["JS-070", "JS-071", "JS-073"])
def all_restarts_share_one_budget(world: World) -> None:
    """Restarts of a Job, of a replicated job and of the JobSet use up one budget, others none."""
    jobs = [
        replicated_job("driver", **failing_by_policy()),
        replicated_job("w", 2),
        replicated_job("v", 2),
    ]
    rules = [OF_WORKERS, rule(RESTART_JOB, targets=["v"]), rule(RESTART_UNCOUNTED, [BY_POLICY])]
    its = JobSet.submit(world, job_set(jobs, rules, max_restarts=3))
    world.until(its.is_ready())
    its.fail("w-0")
    world.until(its.has_partly_restarted(1))
    world.until(its.is_ready())
    its.fail("driver-0", NON_RETRIABLE)
    world.until(its.has_restarted(1))
    world.until(its.is_ready())
    its.fail("v-1")
    world.until(its.has_partly_restarted(2))
    world.until(its.is_ready())
    its.fail("driver-0")
    world.until(its.has_restarted(2))
    world.until(its.is_ready())
    its.fail("w-1")
    world.until(its.has_ended("Failed"))


@scenario(arms=["JS-022", "JS-073"], cases={"job": OF_ONE, "replicated-job": OF_WORKERS})
def no_restart_is_left_for_all(world: World, only: dict[str, object]) -> None:
    """Once partial restarts have used up the budget, a failure that restarts all fails instead."""
    jobs = [replicated_job("driver", **failing_by_policy()), replicated_job("w", 2)]
    rules = [rule(RESTART_JOB_SET, [BY_POLICY]), only]
    its = JobSet.submit(world, job_set(jobs, rules, max_restarts=2))
    for times in (1, 2):
        world.until(its.is_ready())
        its.fail(f"w-{times - 1}")
        world.until(its.has_partly_restarted(times))
    world.until(its.is_ready())
    its.fail("driver-0", NON_RETRIABLE)
    world.until(its.has_ended("Failed"))


@scenario(arms=["JS-073", "JS-092"], cases={"job": OF_ONE, "replicated-job": OF_WORKERS})
def suspension_between_partial_restarts(world: World, only: dict[str, object]) -> None:
    """A suspension leaves the budget of partial restarts as it is."""
    jobs = [replicated_job("driver"), replicated_job("w", 2)]
    its = JobSet.submit(world, job_set(jobs, [only], max_restarts=2))
    for times in (1, 2):
        world.until(its.is_ready())
        its.fail("w-1")
        world.until(its.has_partly_restarted(times))
        its.suspend()
        world.wait(10 * SECOND)
        its.resume()
        world.wait(5 * SECOND)
    world.until(its.is_ready())
    its.fail("w-1")
    world.until(its.has_ended("Failed"))


@scenario(arms=["JS-073"], cases={"job": OF_ONE, "replicated-job": OF_WORKERS})
def back_off_doubles(world: World, only: dict[str, object]) -> None:
    """A Job that always fails comes back later each time, a minute later at most."""
    workers = replicated_job("w", behaviour="run 1s, exit 1")
    its = JobSet.submit(world, job_set([workers, replicated_job("v")], [only], max_restarts=9))
    world.until(its.has_ended("Failed"))


@scenario(arms=["JS-073"], only_simulated="its Job runs for more than ten minutes")
def back_off_begins_again(world: World) -> None:
    """A Job that has run for more than ten minutes comes back as after its first failure."""
    its = JobSet.submit(world, job_set([replicated_job("w")], [OF_ONE], max_restarts=9))
    for times in range(1, 7):
        world.until(its.is_ready())
        its.fail("w-0")
        world.until(its.has_partly_restarted(times))
    world.until(its.is_ready())
    world.wait(12 * MINUTE)
    its.fail("w-0")
    world.until(its.has_partly_restarted(7))
    world.until(its.is_ready())


@scenario(arms=["JS-076"], nodes=4, cases={"job": OF_ONE, "replicated-job": OF_WORKERS})
def domains_stay_exclusive(world: World, only: dict[str, object]) -> None:
    """Jobs that restart get a node of their own again, of which a further one is free."""
    workers = replicated_job("w", 3, parallelism=3, completions=3)
    asked = job_set([workers], [only])
    asked["metadata"]["annotations"] = {EXCLUSIVE_TOPOLOGY: HOSTNAME}
    its = JobSet.submit(world, asked)
    for times in (1, 2):
        world.until(its.is_ready())
        its.fail(f"w-{times}")
        world.until(its.has_partly_restarted(times))
    world.until(its.is_ready())


LEAVES: Final = rule(FAIL_JOB)


@scenario(arms=["JS-072"], cases={"one": ("w-1",), "two": ("w-0", "w-2")})
def others_complete(world: World, failing: tuple[str, ...]) -> None:
    """Jobs that are left failed leave the others running, and the JobSet completes with those."""
    its = JobSet.submit(world, job_set([replicated_job("w", 3), replicated_job("v")], [LEAVES]))
    world.until(its.is_ready())
    for name in failing:
        its.fail(name)
        world.until(its.has_failed_job(name))
    world.wait(30 * SECOND)
    for name in sorted({"w-0", "w-1", "w-2", "v-0"} - {*failing}):
        its.fail(name, 0)
    world.until(its.has_ended("Completed"))


@scenario(
    arms=["JS-072"],
    cases={"all": {}, "any": {"operator": "Any", "targetReplicatedJobs": ["w"]}},
)
def all_are_left_failed(world: World, policy: dict[str, object]) -> None:
    """A JobSet of which all Jobs that it asks for are left failed has failed."""
    jobs = [replicated_job("w", 2), *([replicated_job("v")] if policy else [])]
    manifest = job_set(jobs, [LEAVES])
    if policy:
        manifest["spec"]["successPolicy"] = policy
    its = JobSet.submit(world, manifest)
    world.until(its.is_ready())
    its.fail("w-0")
    world.until(its.has_failed_job("w-0"))
    world.wait(10 * SECOND)
    its.fail("w-1")
    world.until(its.has_ended("Failed"))


@scenario(
    arms=["JS-072"],
    cases={
        "any-of-all": {"operator": "Any"},
        "all-of-one": {"operator": "All", "targetReplicatedJobs": ["v"]},
    },
)
def success_waits_for_the_others(world: World, policy: dict[str, object]) -> None:
    """Once a Job is left failed, the JobSet completes when all others have finished."""
    jobs = [replicated_job("w", 2), replicated_job("v")]
    its = JobSet.submit(world, job_set(jobs, [LEAVES], successPolicy=policy))
    world.until(its.is_ready())
    its.fail("w-0")
    world.until(its.has_failed_job("w-0"))
    world.wait(5 * SECOND)
    its.fail("v-0", 0)
    world.until(its.has_job("v-0", "Complete"))
    world.wait(10 * SECOND)
    its.fail("w-1", 0)
    world.until(its.has_ended("Completed"))


@scenario(arms=["JS-072"])
def other_failures_are_answered(world: World) -> None:
    """A Job that is left failed neither answers nor hides the failures of others."""
    jobs = [replicated_job("driver"), replicated_job("w", 2, **failing_by_policy())]
    rules = [rule(FAIL_JOB, [BY_POLICY]), rule(RESTART_JOB, [BY_BACKOFF], ["w"])]
    its = JobSet.submit(world, job_set(jobs, rules))
    world.until(its.is_ready())
    its.fail("w-0", NON_RETRIABLE)
    world.until(its.has_failed_job("w-0"))
    its.fail("w-1")
    world.until(its.has_partly_restarted(1))
    its.fail("driver-0")
    world.until(its.has_restarted(1))
    world.until(its.is_ready())


@scenario(arms=["JS-072"])
def left_failed_job_has_a_ttl(world: World) -> None:
    """A Job that is left failed does not start again once its TTL has it deleted, and the JobSet
    completes with the others."""
    workers = replicated_job("w", 2, ttlSecondsAfterFinished=5)
    its = JobSet.submit(world, job_set([workers, replicated_job("v")], [LEAVES]))
    world.until(its.is_ready())
    its.fail("w-0")
    world.until(its.has_failed_job("w-0"))
    world.wait(30 * SECOND)
    its.fail("w-1", 0)
    its.fail("v-0", 0)
    world.until(its.has_ended("Completed"))


@scenario(arms=["JS-073", "JS-097"], only_simulated="it is suspended for more than ten minutes")
def suspended_between_failures(world: World) -> None:
    """A suspension is no running: it does not have the back-off of a Job begin again."""
    its = JobSet.submit(world, job_set([replicated_job("w")], [OF_ONE], max_restarts=9))
    for times in range(1, 7):
        world.until(its.is_ready())
        its.fail("w-0")
        world.until(its.has_partly_restarted(times))
    world.until(its.is_ready())
    its.suspend()
    world.wait(15 * MINUTE)
    its.resume()
    world.until(its.is_ready())
    its.fail("w-0")
    world.until(its.has_partly_restarted(7))
    world.until(its.is_ready())


@scenario(arms=["JS-073", "JS-097"])
def restart_of_all_gives_nothing_back(world: World) -> None:
    """A partial restart stays spent when the whole JobSet restarts without counting."""
    jobs = [replicated_job("driver", **failing_by_policy()), replicated_job("w")]
    rules = [rule(RESTART_JOB, targets=["w"]), rule(RESTART_UNCOUNTED, [BY_POLICY])]
    its = JobSet.submit(world, job_set(jobs, rules, max_restarts=1))
    world.until(its.is_ready())
    its.fail("w-0")
    world.until(its.has_partly_restarted(1))
    world.until(its.is_ready())
    its.fail("driver-0", NON_RETRIABLE)
    world.until(its.has_restarted(1))
    world.until(its.is_ready())
    its.fail("w-0")
    world.until(its.has_ended("Failed"))


@scenario(arms=["JS-071"])
def names_of_jobs_begin_alike(world: World) -> None:
    """The Job that restarts is the one of that name, and none whose name begins with it."""
    its = JobSet.submit(world, job_set([replicated_job("w", 11)], [OF_ONE]))
    world.until(its.is_ready())
    its.fail("w-1")
    world.until(its.has_partly_restarted(1))
    world.until(its.is_ready())


@scenario(arms=["JS-070"])
def names_of_replicated_jobs_begin_alike(world: World) -> None:
    """The replicated job that restarts is the one of that name, and none that begins with it."""
    jobs = [replicated_job("w", 2), replicated_job("w-more"), replicated_job("w0")]
    its = JobSet.submit(world, job_set(jobs, [OF_WORKERS]))
    world.until(its.is_ready())
    its.fail("w-1")
    world.until(its.has_partly_restarted(1))
    world.until(its.is_ready())


@scenario(arms=["JS-070", "JS-071", "JS-073"])
def job_restarts_after_its_replicated_job(world: World) -> None:
    """Restarts of a replicated job and of one of its Jobs are counted each for itself."""
    workers = replicated_job("w", 2, **failing_by_policy())
    rules = [rule(RESTART_REPLICATED_JOB, [BY_POLICY], ["w"]), OF_ONE]
    its = JobSet.submit(world, job_set([workers, replicated_job("v")], rules))
    for times, code in enumerate((NON_RETRIABLE, 1), start=1):
        world.until(its.is_ready())
        its.fail("w-0", code)
        world.until(its.has_partly_restarted(times))
    world.until(its.is_ready())
    its.fail("w-1", NON_RETRIABLE)
    world.until(its.has_partly_restarted(3))
    world.until(its.is_ready())


@scenario(arms=["JS-073", "JS-097"])
def controller_dies_between_back_offs(world: World) -> None:
    """A controller that dies between partial restarts knows how often the Job has failed."""
    its = JobSet.submit(world, job_set([replicated_job("w")], [OF_ONE], max_restarts=9))
    for times in range(1, 5):
        world.until(its.is_ready())
        its.fail("w-0")
        world.until(its.has_partly_restarted(times))
        world.until(its.is_ready())
        world.inject(Kill(restart_after=SECOND))


@scenario(arms=["JS-073"])
def short_back_off_beside_a_long_one(world: World) -> None:
    """A Job whose back-off is short does not wait for another whose back-off is long."""
    jobs = [replicated_job("w"), replicated_job("v")]
    its = JobSet.submit(world, job_set(jobs, [OF_ONE], max_restarts=99))
    for times in range(1, 8):
        world.until(its.is_ready())
        its.fail("w-0")
        world.until(its.has_partly_restarted(times))
    its.fail("v-0")
    world.until(its.has_partly_restarted(8))
    world.until(its.is_ready())


@scenario(arms=["JS-073"], only_simulated="its JobSet is suspended for more than ten minutes")
def back_off_goes_on_after_a_suspension(world: World) -> None:
    """A Job that stood suspended has not been running, and its back-off goes on."""
    its = JobSet.submit(world, job_set([replicated_job("w")], [OF_ONE], max_restarts=9))
    for times in range(1, 5):
        world.until(its.is_ready())
        its.fail("w-0")
        world.until(its.has_partly_restarted(times))
        world.until(its.is_ready())
        its.suspend()
        world.wait(12 * MINUTE)
        its.resume()
