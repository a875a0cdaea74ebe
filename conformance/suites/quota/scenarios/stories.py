"""Bugs that others had: the situations of the stories beside this suite."""

from __future__ import annotations

from typing import Final

from chaos.choice import PodChoice
from chaos.faults import DelayWatch, KillPod
from conformance.manifests.pod_templates import with_behaviour
from conformance.scenario_type import scenario
from conformance.suites.kueue.api import JOB_SET
from conformance.suites.kueue.handle import QueuedJob, QueuedJobSet, job_set, queue
from conformance.world import Condition, World
from vocabulary.clock import HOUR, MINUTE, SECOND
from vocabulary.kinds import POD
from vocabulary.objects import Object, get_path, name_of, with_path

_HOLDS: Final = "assay.dev/hold"
_KEEPS: Final = "example.com/keeps"
_TIMEOUT_US: Final = 5 * MINUTE


@scenario(
    arms=["QL-004", "QL-006", "QL-012"],
    kills="readiness-comes-before-release",
    roles=("kueue", "jobset"),
    only_simulated="it takes a day",
)
def job_set_is_not_ready_again(world: World) -> None:
    """A JobSet that restarts after hours, and is ready too late, gives its quota back."""
    queue(world, quota={"cpu": "2"})
    twice = with_path(_replicated("workers", "run forever"), "template.spec.completions", 2)
    its = _restarting(world, {**twice, "replicas": 2})
    world.until(its.is_ready())
    world.wait(20 * HOUR)
    other = QueuedJob.of(world, "next", "run 30s", pods=2)
    first = _running(world)
    world.inject(KillPod(pod=PodChoice(of="JobSet/a", which="first"), exit_code=1))
    world.until(Condition("all of it runs again", lambda: len(_running(world) - first) == 2))
    for name in sorted(_running(world)):
        world.patch(POD, name, {"metadata": {"annotations": {_HOLDS: "notready"}}})
    world.wait(_TIMEOUT_US - 20 * SECOND)
    late = DelayWatch(actor="kueue", kind=str(JOB_SET), by=30 * SECOND)
    world.inject(late)
    world.inject(KillPod(pod=PodChoice(of="JobSet/a", which="all"), exit_code=0))
    world.until(its.was_requeued(1))
    world.revert(late)
    world.until(other.is_finished())
    its.delete()
    world.wait(30 * SECOND)


@scenario(
    arms=["QL-001", "QL-005", "QL-015"],
    kills="reclaimed-pods-stay-so",
    roles=("kueue", "jobset"),
)
def job_set_runs_again_what_was_done(world: World) -> None:
    """A JobSet of which a part was done has quota for that again once it restarts."""
    queue(world, quota={"cpu": "2"})
    done, fails = _replicated("done", "run 1m, exit 0"), _replicated("fails", "run 3m, exit 1")
    its = _restarting(world, done, fails)
    world.until(its.is_ready())
    world.wait(5 * MINUTE)
    its.delete()
    world.wait(30 * SECOND)


@scenario(
    arms=["KQ-009", "KQ-043", "QL-012"],
    kills="starts-are-recoveries",
    roles=("kueue", "jobset"),
    config={"kueue": {"waitForPodsReady": {"recoveryTimeout": "2m"}}},
    only_simulated="its timeouts are of minutes",
)
def job_set_restarts_once(world: World) -> None:
    """A JobSet that takes longer to restart than to recover is requeued once, and runs then."""
    queue(world, quota={"cpu": "2"})
    never = QueuedJob.of(world, "never", "never ready")
    its = _restarting(world, _replicated("workers", "ready-after 4m, run forever"))
    world.until(its.is_ready())
    world.inject(KillPod(pod=PodChoice(of="JobSet/a", which="first"), exit_code=1))
    world.until(never.was_requeued(1))
    never.delete()
    world.until(its.was_requeued(1))
    world.until(its.has_released())
    world.until(its.is_admitted())
    world.wait(_TIMEOUT_US)
    its.delete()
    world.wait(30 * SECOND)


@scenario(arms=["QL-001", "QL-004"], kills="deleted-jobs-are-gone")
def job_stays_while_it_is_deleted(world: World) -> None:
    """A Job that a finalizer keeps has its quota while its pod runs."""
    queue(world)
    its = QueuedJob.of(world, "a", "run forever, stop 10s")
    world.until(its.is_ready())
    its.patch({"metadata": {"finalizers": [_KEEPS]}})
    its.delete("Background")
    other = QueuedJob.of(world, "next", "run 30s")
    world.wait(MINUTE)
    its.patch({"metadata": {"finalizers": None}})
    world.until(other.is_finished())


def _running(world: World) -> set[str]:
    """The names of the pods that run."""
    pods = world.list(POD)
    return {name_of(pod) for pod in pods if get_path(pod, "status.phase") == "Running"}


def _replicated(name: str, behaviour: str) -> Object:
    """A replicated job whose pods behave so."""
    (workers,) = job_set("a")["spec"]["replicatedJobs"]
    return {**with_behaviour(workers, behaviour), "name": name}


def _restarting(world: World, *replicated: Object) -> QueuedJobSet:
    """Submit a JobSet of these that restarts once."""
    made = with_path(job_set("a"), "spec.replicatedJobs", list(replicated))
    return QueuedJobSet.submit(world, with_path(made, "spec.failurePolicy", {"maxRestarts": 1}))
