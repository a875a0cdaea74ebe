"""Restarts of single Jobs and of replicated jobs: their scope, their budget, their back-off."""

from __future__ import annotations

from typing import Final

from chaos.faults import ApiErrors, Kill
from conformance.breaking import during, operator_away
from conformance.scenario_type import scenario
from conformance.suites.jobset.api import (
    FAIL_JOB_SET,
    RESTART_JOB,
    RESTART_JOB_SET,
    RESTART_JOB_UNCOUNTED,
    RESTART_REPLICATED_JOB,
    RESTART_UNCOUNTED,
)
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import (
    BY_POLICY,
    NON_RETRIABLE,
    failing_by_policy,
    job_set,
    replicated_job,
    rule,
    with_domains,
)
from conformance.suites.jobset.view.submissions import REFUSED_AS_FLAWED
from conformance.world import World
from vocabulary.clock import MINUTE, SECOND
from vocabulary.errors import ApiError

OF_WORKERS: Final = rule(RESTART_REPLICATED_JOB, targets=["w"])
OF_ONE: Final = rule(RESTART_JOB)
UNCOUNTED_OF_ONE: Final = rule(RESTART_JOB_UNCOUNTED)
"""A rule of released controllers; the norm does not define its action."""


@scenario(arms=["JS-070", "JS-073"], cases={"first": "w-0", "last": "w-2"})
def replicated_job_restarts(world: World, failing: str) -> None:
    """All Jobs of a replicated job restart when one of them fails, and no other Job."""
    jobs = [replicated_job("driver"), replicated_job("w", 3), replicated_job("v", 2)]
    its = JobSet.submit(world, job_set(jobs, [OF_WORKERS]))
    for _ in range(2):
        its.fail_until_partly_restarted(failing)
    world.until(its.is_ready())


@scenario(arms=["JS-070", "JS-074"])
def driver_fails_after_its_workers(world: World) -> None:
    """The failure of another replicated job restarts all of them, also after a partial restart."""
    its = JobSet.submit(
        world, job_set([replicated_job("driver"), replicated_job("w", 2)], [OF_WORKERS])
    )
    its.fail_until_partly_restarted("w-1")
    its.fail_until_restarted("driver-0")
    its.fail_until_partly_restarted("w-0")
    world.until(its.is_ready())


@scenario(arms=["JS-070"])
def two_of_one_replicated_job_fail(world: World) -> None:
    """Two failures in one replicated job that are seen at once restart it once."""
    its = JobSet.ready(
        world, job_set([replicated_job("driver"), replicated_job("w", 3)], [OF_WORKERS])
    )
    with operator_away(world, for_us=5 * SECOND):
        its.fail("w-0")
        its.fail("w-2")
    its.ready_again(partly=1)


@scenario(arms=["JS-071", "JS-073"])
def job_restarts(world: World) -> None:
    """A Job restarts alone when it fails, again and again, and so does another one."""
    its = JobSet.submit(world, job_set([replicated_job("w", 3), replicated_job("v")], [OF_ONE]))
    for name in ("w-1", "w-1", "v-0"):
        its.fail_until_partly_restarted(name)
    world.until(its.is_ready())


@scenario(arms=["JS-060"])
def job_restarts_without_counting(world: World) -> None:
    """An API that has RestartJobAndIgnoreMaxRestarts restarts a Job alone beyond maxRestarts."""
    workers = replicated_job("w", 3)
    try:
        its = JobSet.submit(world, job_set([workers], [UNCOUNTED_OF_ONE], max_restarts=1))
    except ApiError as refused:
        if refused.code not in REFUSED_AS_FLAWED:
            raise
        # Its user has all Jobs restart instead.
        its = JobSet.submit(world, job_set([workers], [rule(RESTART_UNCOUNTED)], max_restarts=1))
        fail = its.fail_until_restarted
    else:
        fail = its.fail_until_partly_restarted
    for _ in range(3):
        fail("w-1")
    world.until(its.is_ready())


@scenario(arms=["JS-071"])
def two_jobs_fail_together(world: World) -> None:
    """Two Jobs that fail at once are restarted each, and the third is left alone."""
    its = JobSet.ready(world, job_set([replicated_job("w", 3)], [OF_ONE]))
    with operator_away(world, for_us=5 * SECOND):
        its.fail("w-0")
        its.fail("w-2")
    its.ready_again(partly=2)


@scenario(arms=["JS-071"])
def job_restarts_beside_completed_ones(world: World) -> None:
    """A Job that restarts leaves those that have completed, and the JobSet completes with it."""
    jobs = [replicated_job("w", 2), replicated_job("v", behaviour="run 3s")]
    its = JobSet.submit(world, job_set(jobs, [OF_ONE]))
    world.until(its.is_ready() & its.has_job("v-0", "Complete"))
    its.fail("w-0")
    its.ready_again(partly=1)
    its.fail("w-0", 0)
    its.fail("w-1", 0)
    world.until(its.has_completed())


@scenario(
    arms=["JS-073", "JS-111"], cases={"job": OF_ONE, "replicated-job": rule(RESTART_REPLICATED_JOB)}
)
def no_partial_restart_is_allowed(world: World, only: dict[str, object]) -> None:
    """Without maxRestarts the first failure that would restart a part fails the JobSet."""
    its = JobSet.ready(world, job_set([replicated_job("w", 2)], [only], max_restarts=0))
    its.fail("w-0")
    world.until(its.has_failed())


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
    its.fail_until_partly_restarted("w-0")
    its.fail_until_restarted("driver-0", NON_RETRIABLE)
    its.fail_until_partly_restarted("v-1")
    its.fail_until_restarted("driver-0")
    world.until(its.is_ready())
    its.fail("w-1")
    world.until(its.has_failed())


@scenario(arms=["JS-022", "JS-073", "JS-111"], cases={"job": OF_ONE, "replicated-job": OF_WORKERS})
def no_restart_is_left_for_all(world: World, only: dict[str, object]) -> None:
    """Once partial restarts have used up the budget, a failure that restarts all fails instead."""
    jobs = [replicated_job("driver", **failing_by_policy()), replicated_job("w", 2)]
    rules = [rule(RESTART_JOB_SET, [BY_POLICY]), only]
    its = JobSet.submit(world, job_set(jobs, rules, max_restarts=2))
    for name in ("w-0", "w-1"):
        its.fail_until_partly_restarted(name)
    world.until(its.is_ready())
    its.fail("driver-0", NON_RETRIABLE)
    world.until(its.has_failed())


@scenario(arms=["JS-071", "JS-111"])
def uncounted_restarts_of_a_job_leave_the_budget(world: World) -> None:
    """Restarts of a Job spend the budget, but for those that do not count, if there are such: the
    norm has no action for them, and a controller that keeps to it refuses that one."""
    jobs = [replicated_job("w", 2, **failing_by_policy()), replicated_job("v")]
    uncounted = rule(RESTART_JOB_UNCOUNTED, [BY_POLICY])
    codes: tuple[int, ...] = (1, NON_RETRIABLE, NON_RETRIABLE, 1)
    try:
        its = JobSet.submit(world, job_set(jobs, [uncounted, OF_ONE], max_restarts=2))
    except ApiError as refused:
        if refused.code not in REFUSED_AS_FLAWED:
            raise
        its, codes = JobSet.submit(world, job_set(jobs, [OF_ONE], max_restarts=2)), (1, 1)
    for code in codes:
        its.fail_until_partly_restarted("w-1", code)
    world.until(its.is_ready())
    its.fail("v-0")
    world.until(its.has_failed())


@scenario(arms=["JS-073", "JS-092"], cases={"job": OF_ONE, "replicated-job": OF_WORKERS})
def suspension_between_partial_restarts(world: World, only: dict[str, object]) -> None:
    """A suspension leaves the budget of partial restarts as it is."""
    jobs = [replicated_job("driver"), replicated_job("w", 2)]
    its = JobSet.submit(world, job_set(jobs, [only], max_restarts=2))
    for _ in range(2):
        its.fail_until_partly_restarted("w-1")
        its.suspend()
        world.wait(10 * SECOND)
        its.resume()
        world.wait(5 * SECOND)
    world.until(its.is_ready())
    its.fail("w-1")
    world.until(its.has_failed())


@scenario(
    arms=["JS-073"], kills="endless-back-off", cases={"job": OF_ONE, "replicated-job": OF_WORKERS}
)
def back_off_doubles(world: World, only: dict[str, object]) -> None:
    """A Job that always fails comes back later each time, a minute later at most."""
    workers = replicated_job("w", behaviour="run 1s, exit 1")
    its = JobSet.submit(world, job_set([workers, replicated_job("v")], [only], max_restarts=9))
    world.until(its.has_failed())


@scenario(
    arms=["JS-073"],
    kills="lasting-back-off",
    only_simulated="its Job runs for more than ten minutes",
)
def back_off_begins_again(world: World) -> None:
    """A Job that has run for more than ten minutes comes back as after its first failure."""
    its = JobSet.submit(world, job_set([replicated_job("w")], [OF_ONE], max_restarts=9))
    for _ in range(6):
        its.fail_until_partly_restarted("w-0")
    world.until(its.is_ready())
    world.wait(12 * MINUTE)
    its.fail("w-0")
    its.ready_again(partly=7)


@scenario(arms=["JS-073"], only_simulated="its Job runs for almost ten minutes")
def back_off_goes_on_after_nine_minutes(world: World) -> None:
    """A Job that has run for less than ten minutes comes back as after one failure more."""
    its = JobSet.submit(world, job_set([replicated_job("w")], [OF_ONE], max_restarts=9))
    for _ in range(6):
        its.fail_until_partly_restarted("w-0")
    world.until(its.is_ready())
    world.wait(9 * MINUTE + 30 * SECOND)
    its.fail("w-0")
    its.ready_again(partly=7)


@scenario(
    arms=["JS-076"],
    kills="domains-are-shared-later",
    nodes=4,
    cases={"job": OF_ONE, "replicated-job": OF_WORKERS},
)
def domains_stay_exclusive(world: World, only: dict[str, object]) -> None:
    """Jobs that restart get a node of their own again, of which a further one is free."""
    workers = replicated_job("w", 3, parallelism=3, completions=3)
    its = JobSet.submit(world, with_domains(job_set([workers], [only])))
    for name in ("w-1", "w-2"):
        its.fail_until_partly_restarted(name)
    world.until(its.is_ready())


@scenario(arms=["JS-073", "JS-097"], only_simulated="it is suspended for more than ten minutes")
def suspended_between_failures(world: World) -> None:
    """A suspension is no running: it does not have the back-off of a Job begin again."""
    its = JobSet.submit(world, job_set([replicated_job("w")], [OF_ONE], max_restarts=9))
    for _ in range(6):
        its.fail_until_partly_restarted("w-0")
    world.until(its.is_ready())
    its.suspend()
    world.wait(15 * MINUTE)
    its.resume()
    its.fail_until_partly_restarted("w-0")
    world.until(its.is_ready())


@scenario(arms=["JS-073", "JS-097"])
def restart_of_all_gives_nothing_back(world: World) -> None:
    """A partial restart stays spent when the whole JobSet restarts without counting."""
    jobs = [replicated_job("driver", **failing_by_policy()), replicated_job("w")]
    rules = [rule(RESTART_JOB, targets=["w"]), rule(RESTART_UNCOUNTED, [BY_POLICY])]
    its = JobSet.submit(world, job_set(jobs, rules, max_restarts=1))
    its.fail_until_partly_restarted("w-0")
    its.fail_until_restarted("driver-0", NON_RETRIABLE)
    world.until(its.is_ready())
    its.fail("w-0")
    world.until(its.has_failed())


@scenario(arms=["JS-073", "JS-097"], kills="restart-of-all-ends-the-back-off")
def restart_of_all_leaves_the_back_off(world: World) -> None:
    """A restart of the whole JobSet has the back-off of a Job go on where it was."""
    jobs = [replicated_job("driver", **failing_by_policy()), replicated_job("w")]
    rules = [rule(RESTART_JOB, targets=["w"]), rule(RESTART_UNCOUNTED, [BY_POLICY])]
    its = JobSet.submit(world, job_set(jobs, rules, max_restarts=9))
    for _ in range(3):
        its.fail_until_partly_restarted("w-0")
    its.fail_until_restarted("driver-0", NON_RETRIABLE)
    its.fail_until_partly_restarted("w-0")
    world.until(its.is_ready())


@scenario(arms=["JS-071"])
def names_of_jobs_begin_alike(world: World) -> None:
    """The Job that restarts is the one of that name, and none whose name begins with it."""
    its = JobSet.submit(world, job_set([replicated_job("w", 11)], [OF_ONE]))
    its.fail_until_partly_restarted("w-1")
    world.until(its.is_ready())


@scenario(arms=["JS-070"])
def names_of_replicated_jobs_begin_alike(world: World) -> None:
    """The replicated job that restarts is the one of that name, and none that begins with it."""
    jobs = [replicated_job("w", 2), replicated_job("w-more"), replicated_job("w0")]
    its = JobSet.submit(world, job_set(jobs, [OF_WORKERS]))
    its.fail_until_partly_restarted("w-1")
    world.until(its.is_ready())


@scenario(arms=["JS-070", "JS-071", "JS-073"])
def job_restarts_after_its_replicated_job(world: World) -> None:
    """Restarts of a replicated job and of one of its Jobs are counted each for itself."""
    workers = replicated_job("w", 2, **failing_by_policy())
    rules = [rule(RESTART_REPLICATED_JOB, [BY_POLICY], ["w"]), OF_ONE]
    its = JobSet.submit(world, job_set([workers, replicated_job("v")], rules))
    for code in (NON_RETRIABLE, 1):
        its.fail_until_partly_restarted("w-0", code)
    its.fail_until_partly_restarted("w-1", NON_RETRIABLE)
    world.until(its.is_ready())


@scenario(arms=["JS-073", "JS-097"], kills="back-off-is-forgotten")
def controller_dies_between_back_offs(world: World) -> None:
    """A controller that dies between partial restarts knows how often the Job has failed."""
    its = JobSet.submit(world, job_set([replicated_job("w")], [OF_ONE], max_restarts=9))
    for _ in range(4):
        its.fail_until_partly_restarted("w-0")
        world.until(its.is_ready())
        world.inject(Kill(restart_after=SECOND))


@scenario(arms=["JS-073"], cases={"job": OF_ONE, "replicated-job": rule(RESTART_REPLICATED_JOB)})
def short_back_off_beside_a_long_one(world: World, only: dict[str, object]) -> None:
    """A Job whose back-off is short does not wait for another whose back-off is long."""
    jobs = [replicated_job("w", 2), replicated_job("v")]
    its = JobSet.submit(world, job_set(jobs, [only], max_restarts=99))
    for _ in range(7):
        its.fail_until_partly_restarted("w-0")
    others = ("w-1", "v-0") if only is OF_ONE else ("v-0",)
    for times, name in enumerate(others, start=8):
        its.fail(name)
        world.until(its.has_partly_restarted(times))
    world.until(its.is_ready())


@scenario(
    arms=["JS-073"],
    kills="age-is-running",
    only_simulated="its JobSet is suspended for more than ten minutes",
)
def back_off_goes_on_after_a_suspension(world: World) -> None:
    """A Job that came back suspended has not been running, and its back-off goes on."""
    its = JobSet.submit(world, job_set([replicated_job("w")], [OF_ONE], max_restarts=9))
    for _ in range(4):
        its.fail_until_partly_restarted("w-0")
        its.suspend()
        world.wait(12 * MINUTE)
        its.resume()
    its.fail_until_partly_restarted("w-0")
    world.until(its.is_ready())


@scenario(arms=["JS-021"])
def job_set_fails_before_a_restart_is_carried_out(world: World) -> None:
    """Jobs that were to restart, and whose deletion was refused, run no longer once their JobSet
    has failed."""
    rules = [OF_WORKERS, rule(FAIL_JOB_SET, targets=["v"])]
    its = JobSet.ready(world, job_set([replicated_job("w", 2), replicated_job("v")], rules))
    refused = ApiErrors(verb=("delete",), kind="Job", code=500, times=0)
    with during(world, refused):
        its.fail("w-0")
        world.until(its.has_failed_job("w-0"))
        world.wait(3 * SECOND)
        its.fail("v-0")
        world.until(its.has_failed())
        world.wait(5 * SECOND)
    world.wait(MINUTE)


@scenario(
    arms=["JS-073", "JS-097"],
    kills="suspension-ends-the-back-off",
    cases={"at-once": 0, "before-its-end": 7 * SECOND},
)
def resumed_within_a_back_off(world: World, after_us: int) -> None:
    """A suspension ends no back-off: a Job that is resumed within its back-off waits for its
    end."""
    its = JobSet.submit(world, job_set([replicated_job("w", 2)], [OF_ONE], max_restarts=9))
    for _ in range(5):
        its.fail_until_partly_restarted("w-0")
    its.suspend()
    world.wait(after_us)
    its.resume()
    world.wait(30 * SECOND)
    world.until(its.is_ready())
