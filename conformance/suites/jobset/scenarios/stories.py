"""The norm's user stories, with its manifests."""

from __future__ import annotations

from chaos.choice import NodeChoice, PodChoice
from chaos.faults import EvictPod, KillPod, NodeDeleted, NodeLost
from conformance.scenario_type import scenario
from conformance.suites.jobset.handle import JobSet
from conformance.world import World
from vocabulary.clock import SECOND

MAINTENANCE = 143


@scenario(arms=["JS-040", "JS-048"])
def software_bug_fails_at_once(world: World) -> None:
    """Story 1: an application that exits with 1 fails the JobSet, and no restart is spent."""
    job_set = JobSet.submit(world, "story1.yaml", behaviour="run 20s, exit 1")
    world.until(job_set.has_failed())
    world.wait(30 * SECOND)


@scenario(arms=["JS-041"])
def maintenance_restarts_ten_times(world: World) -> None:
    """Story 1: host maintenance restarts the JobSet ten times, and then the JobSet fails."""
    job_set = JobSet.submit(world, "story1.yaml", behaviour="run 20s, exit 143")
    world.until(job_set.has_failed())


@scenario(arms=["JS-040", "JS-041"])
def software_bug_after_maintenance(world: World) -> None:
    """Story 1: a software bug fails the JobSet though maintenance has left it restarts."""
    job_set = JobSet.submit(world, "story1.yaml", behaviour="run forever")
    _fail_each(world, job_set, "buggy-job-0", (MAINTENANCE, MAINTENANCE))
    job_set.fail("buggy-job-0", 1)
    world.until(job_set.has_failed())


@scenario(arms=["JS-042", "JS-040"])
def memory_is_exceeded(world: World) -> None:
    """Story 1: a container that the kernel kills exits with 137, which is no SIGTERM."""
    job_set = JobSet.ready(world, "story1.yaml", behaviour="run forever")
    pods = job_set.pods_of("buggy-job-0")
    world.inject(KillPod(pods, exit_code=137, reason="OOMKilled"))
    world.until(job_set.has_failed())


@scenario(arms=["JS-040"])
def pod_is_evicted_and_ignores_sigterm(world: World) -> None:
    """Story 1: an evicted container that does not stop by itself is killed, and exits with 137."""
    job_set = JobSet.submit(world, "story1.yaml", behaviour="run forever, stop exit 137")
    world.until(job_set.is_ready())
    world.inject(EvictPod(job_set.pods_of("buggy-job-0")))
    world.until(job_set.has_failed())


@scenario(arms=["JS-041"])
def pod_is_evicted(world: World) -> None:
    """Story 1: an evicted container that obeys SIGTERM exits with 143, and the JobSet restarts."""
    job_set = JobSet.ready(world, "story1.yaml", behaviour="run forever")
    world.inject(EvictPod(job_set.pods_of("buggy-job-0")))
    job_set.ready_again(1)


@scenario(arms=["JS-042", "JS-041"], nodes=2, alone=True)
def node_is_lost(world: World) -> None:
    """Story 1: a pod whose node is gone has no exit code, and the JobSet restarts."""
    job_set = JobSet.ready(world, "story1.yaml", behaviour="run forever")
    its_pod = PodChoice(owner=job_set.job("buggy-job-0"))
    node = NodeChoice(hosting=its_pod)
    world.inject(NodeLost(node))
    world.inject(NodeDeleted(node))
    world.until(job_set.has_restarted(1))


@scenario(arms=["JS-022", "JS-043", "JS-001"])
def any_failure_restarts_all_workers(world: World) -> None:
    """Story 2: workers restart together at any failure, ten times, and then the JobSet fails."""
    job_set = JobSet.submit(world, "story2.yaml", behaviour="run 2s, exit 1")
    world.until(job_set.has_failed())


@scenario(arms=["JS-044", "JS-045"])
def maintenance_restarts_without_limit(world: World) -> None:
    """Story 3: more maintenance than maxRestarts restarts the JobSet each time."""
    job_set = JobSet.submit(world, "story3.yaml", behaviour="run forever")
    _fail_each(world, job_set, "workers-0", (MAINTENANCE,) * 12)


@scenario(arms=["JS-028", "JS-044", "JS-045"], kills="all-restarts-spend")
def maintenance_and_bugs_alternate(world: World) -> None:
    """Story 3: maintenance between other failures leaves them their ten restarts."""
    job_set = JobSet.submit(world, "story3.yaml", behaviour="run forever")
    _fail_each(world, job_set, "workers-0", (MAINTENANCE, 1) * 10)
    job_set.fail("workers-0", MAINTENANCE)
    job_set.ready_again(21)
    job_set.fail("workers-0", 1)
    world.until(job_set.has_failed())


@scenario(arms=["JS-026", "JS-028", "JS-061"])
def workers_and_parameter_servers(world: World) -> None:
    """Story 4: workers restart the JobSet without limit, parameter servers three times."""
    job_set = JobSet.submit(world, "story4.yaml", behaviour="run forever")
    names = ("workers-2", "parameter-server-0", "workers-0", "workers-1") * 3
    for times, name in enumerate(names, start=1):
        world.until(job_set.is_ready())
        job_set.fail(name)
        world.until(job_set.has_restarted(times))
    world.until(job_set.is_ready())
    job_set.fail("parameter-server-0")
    world.until(job_set.has_failed())


@scenario(arms=["JS-070", "JS-074", "JS-076"], nodes=5, gpus=2)
def workers_restart_without_their_driver(world: World) -> None:
    """Future story 1: a worker restarts all workers and not the driver; the driver, all of them."""
    its = JobSet.submit(world, "future1.yaml", behaviour="run forever")
    its.fail_until_partly_restarted("gpu-workers-2")
    its.fail_until_restarted("driver-0")
    world.until(its.is_ready())


@scenario(arms=["JS-071", "JS-072"])
def simulations_restart_or_stay_failed(world: World) -> None:
    """Future story 2: exit code 3 restarts a simulation, exit code 2 leaves it failed."""
    its = JobSet.submit(world, "future2.yaml", behaviour="run 20s")
    world.until(its.is_ready())
    its.fail("simulations-3", 3)
    its.fail("simulations-7", 2)
    world.until(its.has_partly_restarted(1))
    world.until(its.has_completed())


def _fail_each(world: World, job_set: JobSet, name: str, codes: tuple[int, ...]) -> None:
    """End a Job with each of these exit codes in turn, each of which restarts the JobSet."""
    for times, code in enumerate(codes, start=1):
        world.until(job_set.is_ready())
        job_set.fail(name, code)
        world.until(job_set.has_restarted(times))
    world.until(job_set.is_ready())
