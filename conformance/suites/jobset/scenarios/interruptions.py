"""Failures at bad moments: the controller is away, the JobSet is suspended, resumes or succeeds."""

from __future__ import annotations

from typing import Any, Final

from chaos.fault import Fault
from chaos.faults import ApiErrors, DelayWatch, Kill, LoseReply, StaleReads
from conformance.breaking import during
from conformance.scenario_type import scenario
from conformance.suites.jobset.api import FAIL_JOB_SET, RESTART_JOB_SET, RESTART_UNCOUNTED
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import job_set, replicated_job, rule
from conformance.world import World
from vocabulary.clock import SECOND

COUNTED: Final = rule(RESTART_JOB_SET)
UNCOUNTED: Final = rule(RESTART_UNCOUNTED)
ACTIONS: Final = {"counted": COUNTED, "uncounted": UNCOUNTED}


def _running(world: World, rules: list[Any], **spec: Any) -> JobSet:
    return JobSet.ready(world, job_set([replicated_job("w", 3)], rules, **spec))


@scenario(arms=["JS-001", "JS-090", "JS-091"], cases=ACTIONS)
def controller_dies_before_it_deletes(world: World, action: Any) -> None:
    """A controller that dies between the counter and the deletions goes on, and counts once."""
    its = _running(world, [action])
    with during(world, ApiErrors(verb=("delete", "patch"), kind="Job", times=0)):
        its.fail("w-1")
        world.until(its.has_restarted(1))
        world.inject(Kill(restart_after=10 * SECOND))
    world.until(its.is_ready())


@scenario(arms=["JS-090", "JS-092"])
def controller_begins_with_an_old_job_set(world: World) -> None:
    """A controller that first sees its JobSet as it was before a restart counts that once."""
    its = _running(world, [COUNTED])
    stale = StaleReads(kind="jobset.x-k8s.io/v1alpha2/JobSet")
    with during(world, stale):
        its.fail("w-0")
        # Not until it has restarted: a controller that writes by its cache alone does not, before
        # the cache catches up.
        world.wait(5 * SECOND)
        world.inject(Kill(restart_after=2 * SECOND))
        world.wait(5 * SECOND)
    its.ready_again(1)


@scenario(
    arms=["JS-090", "JS-092"],
    cases={
        "conflicts": ApiErrors(
            verb=("update",), kind="jobset.x-k8s.io/v1alpha2/JobSet", code=409, times=3
        ),
        "refusals": ApiErrors(
            verb=("update",), kind="jobset.x-k8s.io/v1alpha2/JobSet", code=500, times=3
        ),
        "lost-reply": LoseReply(verb=("update",), kind="jobset.x-k8s.io/v1alpha2/JobSet", times=3),
    },
)
def counter_is_written_with_difficulty(world: World, fault: Fault) -> None:
    """A write of the counters that is refused, or whose reply is lost, counts once."""
    its = _running(world, [COUNTED])
    world.wait(5 * SECOND)  # until the status shows that all is ready: that is no counter
    world.inject(fault)
    its.fail("w-1")
    its.ready_again(1)


@scenario(arms=["JS-090", "JS-092"])
def counter_is_written_and_not_seen(world: World) -> None:
    """A controller that neither learns of its own write nor sees it counts no failure twice."""
    its = _running(world, [COUNTED])
    world.wait(5 * SECOND)
    world.inject(DelayWatch(kind="jobset.x-k8s.io/v1alpha2/JobSet", by=10 * SECOND))
    world.inject(LoseReply(verb=("update",), kind="jobset.x-k8s.io/v1alpha2/JobSet", times=3))
    its.fail("w-1")
    world.until(its.has_restarted(1))
    world.wait(30 * SECOND)
    world.until(its.is_ready())


@scenario(arms=["JS-001", "JS-091"])
def deletions_are_refused(world: World) -> None:
    """Deletions that an API server refuses at first are asked for again."""
    its = _running(world, [COUNTED])
    world.inject(ApiErrors(verb=("delete",), kind="Job", times=3))
    its.fail("w-1")
    its.ready_again(1)


@scenario(arms=["JS-001", "JS-091"], kills="refused-deletes-are-forgotten")
def deletions_are_refused_for_a_while(world: World) -> None:
    """A deletion that an API server refuses for a minute is asked for again, although nothing else
    happens meanwhile."""
    refused = ApiErrors(verb=("delete", "patch"), kind="Job", times=0)
    its = JobSet.ready(world, job_set([replicated_job("w")], [COUNTED]))
    with during(world, refused):
        its.fail("w-0")
        world.until(its.has_restarted(1))
        world.wait(60 * SECOND)
    world.until(its.is_ready())


@scenario(arms=["JS-099"], cases={"suspension": True, "resumption": False})
def change_of_a_job_is_refused_for_a_while(world: World, suspends: bool) -> None:
    """A Job that cannot be suspended, or resumed, for a minute is afterwards."""
    refused = ApiErrors(verb=("patch", "update"), kind="Job", times=0)
    asked = job_set([replicated_job("w")], [COUNTED], suspend=not suspends)
    its = JobSet.submit(world, asked)
    world.wait(20 * SECOND)
    with during(world, refused):
        its.suspend(suspends)
        world.wait(60 * SECOND)
    world.wait(60 * SECOND)


@scenario(arms=["JS-090", "JS-092"])
def controller_starts_with_an_old_state(world: World) -> None:
    """A controller that starts from a list without its last restart counts no failure twice."""
    its = _running(world, [COUNTED])
    kept_back = ApiErrors(verb=("delete", "patch"), kind="Job", times=0)
    stale = StaleReads(kind="jobset.x-k8s.io/v1alpha2/JobSet")
    with during(world, stale), during(world, kept_back):
        its.fail("w-1")
        world.wait(10 * SECOND)
        world.inject(Kill(restart_after=2 * SECOND))
        world.wait(10 * SECOND)
    world.until(its.is_ready())


@scenario(arms=["JS-022", "JS-092"])
def controller_dies_between_restarts(world: World) -> None:
    """A controller that dies between restarts knows how many there have been."""
    its = _running(world, [COUNTED], max_restarts=2)
    for restarts in (1, 2):
        its.fail("w-1")
        its.ready_again(restarts)
        world.inject(Kill(restart_after=2 * SECOND))
        world.wait(5 * SECOND)
    its.fail("w-0")
    world.until(its.has_failed())


@scenario(arms=["JS-090", "JS-091"])
def jobs_are_seen_late(world: World) -> None:
    """A controller that sees its Jobs late does not count a failure again."""
    its = _running(world, [COUNTED])
    world.inject(DelayWatch(kind="Job", by=5 * SECOND))
    its.fail("w-1")
    world.until(its.has_restarted(1))
    world.wait(30 * SECOND)
    world.until(its.is_ready())


@scenario(arms=["JS-060"], cases=ACTIONS)
def failure_before_a_suspension(world: World, action: Any) -> None:
    """A failure that happens together with a suspension is answered then or at the resumption."""
    its = _running(world, [action])
    with during(world, StaleReads()):  # webhooks answer on
        its.fail("w-1")
        world.wait(3 * SECOND)
        its.suspend()
    world.wait(10 * SECOND)
    its.resume()
    world.until(its.is_ready())


@scenario(arms=["JS-099"], kills="failed-ones-have-succeeded")
def failure_before_a_lasting_suspension(world: World) -> None:
    """A JobSet says that it is suspended, and a Job of it has failed together with that."""
    its = _running(world, [ACTIONS["counted"]])
    with during(world, StaleReads()):  # webhooks answer on
        its.fail("w-1")
        world.wait(3 * SECOND)
        its.suspend()
    world.wait(10 * SECOND)


@scenario(arms=["JS-060", "JS-091"], cases=ACTIONS)
def failure_at_a_resumption(world: World, action: Any) -> None:
    """A Job that fails as soon as it is resumed restarts the JobSet."""
    its = _running(world, [action])
    its.suspend()
    world.wait(10 * SECOND)
    its.resume()
    its.fail_until_restarted("w-1")
    world.until(its.is_ready())


@scenario(arms=["JS-001", "JS-060", "JS-099"])
def suspension_in_a_restart(world: World) -> None:
    """A JobSet that is suspended while it restarts goes on when it is resumed."""
    workers = replicated_job("w", 2, behaviour="run forever, stop 5s")
    its = JobSet.submit(world, job_set([workers], [COUNTED]))
    its.fail_until_restarted("w-1")
    its.suspend()
    world.wait(20 * SECOND)
    its.resume()
    world.until(its.is_ready())


@scenario(arms=["JS-060"])
def jobset_is_deleted_in_a_restart(world: World) -> None:
    """A JobSet that its user deletes while it restarts is gone, and nothing of it comes back."""
    workers = replicated_job("w", 2, behaviour="run forever, stop 5s")
    its = JobSet.submit(world, job_set([workers], [COUNTED]))
    its.fail_until_restarted("w-1")
    its.delete()
    world.until(its.is_gone())


@scenario(arms=["JS-001", "JS-091"], cases=ACTIONS)
def failure_in_a_start_in_order(world: World, action: Any) -> None:
    """A failure while later replicated jobs wait restarts those that run, in order again."""
    jobs = [replicated_job("driver", behaviour="ready-after 5s"), replicated_job("w", 2)]
    in_order = {"startupPolicyOrder": "InOrder"}
    its = JobSet.submit(world, job_set(jobs, [action], startupPolicy=in_order))
    world.until(its.has_started("driver-0"))
    world.wait(2 * SECOND)
    its.fail("driver-0")
    its.ready_again(1)


@scenario(arms=["JS-003", "JS-022"])
def failure_and_success_at_once(world: World) -> None:
    """A failure beside the success of all that the success policy asks for is answered first."""
    _fail_and_succeed_unseen(world, {"operator": "All", "targetReplicatedJobs": ["w"]})


@scenario(arms=["JS-003", "JS-022"])
def failure_and_any_success_at_once(world: World) -> None:
    """A failure beside the one success that the success policy asks for is answered first."""
    _fail_and_succeed_unseen(world, {"operator": "Any"})


@scenario(
    arms=["JS-003"],
    kills="suspended-success-counts",
    cases={
        "all": {"operator": "All", "targetReplicatedJobs": ["w"]},
        "any": {"operator": "Any"},
    },
)
def failure_and_success_before_a_suspension(world: World, policy: dict[str, Any]) -> None:
    """A failure and then a success that are seen once the JobSet is suspended: the failure is
    answered, at once or at the resumption, and the success does not complete the JobSet."""
    _fail_and_succeed_unseen(world, policy, is_suspended=True)


def _fail_and_succeed_unseen(
    world: World, policy: dict[str, Any], *, is_suspended: bool = False
) -> None:
    """Have a Job fail, and then another one succeed, while no controller runs."""
    jobs = [replicated_job("w"), replicated_job("v")]
    its = JobSet.ready(world, job_set(jobs, successPolicy=policy))
    with during(world, StaleReads()):  # webhooks answer on
        its.fail("v-0")
        world.wait(5 * SECOND)
        its.fail("w-0", 0)
        world.wait(5 * SECOND)
        if is_suspended:
            its.suspend()
    if is_suspended:
        world.wait(30 * SECOND)
        its.resume()
    world.until(its.has_restarted(1) | its.has_completed())
    world.until(its.is_ready() | its.has_completed())


@scenario(arms=["JS-093", "JS-095"], cases={"fail": rule(FAIL_JOB_SET), "restart": COUNTED})
def success_before_a_failure(world: World, action: Any) -> None:
    """Of a success and a failure a moment later either may decide, and only one does."""
    jobs = [replicated_job("w"), replicated_job("v")]
    its = JobSet.ready(world, job_set(jobs, [action], successPolicy={"operator": "Any"}))
    its.fail("w-0", 0)
    its.fail("v-0")
    world.until(its.has_completed() | its.has_failed() | its.has_restarted(1))
    if its.state.restarts:
        world.until(its.is_ready())
        its.fail("w-0", 0)
    world.until(its.has_completed() | its.has_failed())
