"""Each kind of jobs waits, runs, is evicted and comes back."""

from __future__ import annotations

from typing import Any

from chaos.choice import PodChoice
from chaos.faults import DelayWatch, KillPod, Restart
from conformance.breaking import during
from conformance.scenario_type import scenario
from conformance.suites.kueue.api import GROUP_NAME, GROUP_TOTAL, JOB_SET, QUEUE_LABEL
from conformance.suites.kueue.handle import (
    MAIN,
    QueuedAppWrapper,
    QueuedDeployment,
    QueuedJob,
    QueuedJobSet,
    QueuedPod,
    QueuedPodGroup,
    QueuedPyTorchJob,
    QueuedRayCluster,
    QueuedRayJob,
    QueuedStatefulSet,
    job,
    job_set,
    pod,
    queue,
)
from conformance.suites.kueue.scenarios.queues import LONG, SECOND_NAMESPACE
from conformance.suites.kueue.scenarios.requeuing import NEVER_READY, requeues
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.kinds import NAMESPACE, POD
from vocabulary.objects import get_path, name_of, with_path

_SLOW = "never ready, stop 1m"


def on_terminal(*frameworks: str) -> dict[str, Any]:
    """The configuration that holds the quota of some kinds until their pods are terminal."""
    strategies = {"quotaReleaseStrategy": dict.fromkeys(frameworks, "OnTerminal")}
    return {**requeues(), "quotaHeldUntilTerminal": True, "integrations": strategies}


@scenario(
    arms=["KQ-051"],
    kills="takes-back-what-it-finds",
    roles=("kueue", "jobset", "appwrapper"),
    cases={
        "job": QueuedJob,
        "job-set": QueuedJobSet,
        "app-wrapper": QueuedAppWrapper,
        "pod": QueuedPod,
    },
)
def operator_is_replaced(
    world: World, kind: type[QueuedJob | QueuedJobSet | QueuedAppWrapper | QueuedPod]
) -> None:
    """A running job goes on when another process, or another release, takes over; a waiting one is
    admitted later."""
    queue(world)
    its = kind.of(world, "a", "run forever, stop exit 0")
    world.until(its.is_ready())
    waits = QueuedJob.of(world, "b", "run 10s")
    world.wait(5 * SECOND)
    world.inject(Restart("kueue"))
    world.wait(45 * SECOND)
    its.delete()
    world.until(waits.is_finished())
    waits.delete()


@scenario(
    arms=["KQ-201", "KQ-204", "KQ-206"],
    kills="strategy-is-ignored",
    config=on_terminal("batch/job"),
)
def job_holds_quota_until_terminal(world: World) -> None:
    """Under OnTerminal a Job that is evicted holds its quota until its pod has stopped."""
    queue(world)
    first = QueuedJob.of(world, "a", _SLOW)
    world.until(first.was_requeued(1))
    second = QueuedJob.of(world, "b", "run 1m")
    world.until(first.has_released())
    world.until(second.is_finished())
    world.until(first.was_requeued(2))
    first.delete()
    world.wait(2 * 60 * SECOND)


@scenario(
    arms=["KQ-006", "KQ-012", "KQ-014", "KQ-016", "KQ-202"],
    kills="pods-are-always-awaited",
    roles=("kueue", "jobset"),
    config={"kueue": requeues()},
)
def job_set_is_never_ready(world: World) -> None:
    """A JobSet that is never ready is evicted, and another one runs while its pods stop."""
    _one_of_two_is_never_ready(world, QueuedJobSet, _SLOW)


def _one_of_two_is_never_ready(
    world: World, kind: type[QueuedJobSet | QueuedPyTorchJob], behaviour: str
) -> None:
    queue(world)
    first = kind.of(world, "a", behaviour)
    world.until(first.was_requeued(2))
    second = kind.of(world, "b", "run 1m")
    world.until(first.was_requeued(3))
    world.until(second.is_finished())
    first.delete()
    world.wait(30 * SECOND)


@scenario(
    arms=["KQ-203"],
    kills="success-waits-for-pods",
    roles=("kueue", "jobset"),
    config={"kueue": on_terminal("jobset.x-k8s.io/jobset")},
)
def job_set_succeeds_while_pods_stop(world: World) -> None:
    """A JobSet that has succeeded with its first Job gives its quota back while the pod of the
    other one stops."""
    queue(world, quota={"cpu": "2"})
    made = with_path(job_set("a", 2), "spec.successPolicy", {"operator": "Any"})
    its = QueuedJobSet.submit(world, made, "run forever, stop 20s")
    world.until(its.is_ready())
    other = QueuedJob.of(world, "b", "run 10s", cpu=2)
    world.inject(KillPod(pod=PodChoice(owner="a-workers-0"), exit_code=0))
    world.until(its.is_finished() & other.is_finished())


@scenario(
    arms=["KQ-107", "KQ-109"],
    kills="missing-pods-are-reclaimed",
    roles=("kueue", "appwrapper"),
)
def app_wrapper_is_reset(world: World) -> None:
    """An AppWrapper that is reset keeps its quota, and one that waits does not pass it."""
    queue(world)
    its = QueuedAppWrapper.of(world, "a", "run forever")
    world.until(its.is_ready())
    waits = QueuedAppWrapper.of(world, "b", "run 1m")
    world.wait(5 * SECOND)
    pod = PodChoice(of="AppWrapper/a", which="first")
    world.inject(KillPod(pod=pod, exit_code=1))
    world.wait(200 * SECOND)
    world.until(its.is_ready())
    world.inject(KillPod(pod=pod, exit_code=0))
    world.until(waits.is_finished())
    for each in (its, waits):
        each.delete()  # Else a run lasts until their TTL has passed, which is days.


@scenario(
    arms=["KQ-006", "KQ-012", "KQ-014", "KQ-016", "KQ-108", "KQ-119"],
    kills="job-is-not-asked",
    roles=("kueue", "appwrapper"),
    config={"kueue": requeues()},
)
def app_wrapper_is_never_ready(world: World) -> None:
    """An AppWrapper whose pod fits on no node is evicted, and another one runs before it comes
    back."""
    queue(world, quota={"cpu": "1", "memory": "1Pi"})
    first = QueuedAppWrapper.of(world, "a", "run 1m", requests={"cpu": "1", "memory": "1Pi"})
    world.until(first.was_requeued(1))
    second = QueuedAppWrapper.of(world, "b", "run 1m")
    world.until(first.was_requeued(2))
    world.until(second.is_finished())
    first.delete()
    second.delete()  # As above.
    world.wait(30 * SECOND)


@scenario(
    arms=["KQ-006", "KQ-012", "KQ-014", "KQ-016", "KQ-202"],
    kills="back-off-is-not-awaited",
    config=requeues(),
)
def pytorch_job_is_never_ready(world: World) -> None:
    """A PyTorchJob that is never ready is evicted, and another one runs before it comes back."""
    _one_of_two_is_never_ready(world, QueuedPyTorchJob, "stay pending")


@scenario(
    arms=["KQ-006", "KQ-012", "KQ-014", "KQ-016", "KQ-202"],
    kills="back-off-is-not-awaited",
    config=requeues(),
    only_simulated="its operator is not on the control plane",
    cases={"cluster": QueuedRayCluster, "job": QueuedRayJob},
)
def ray_is_never_ready(world: World, kind: type[QueuedRayCluster | QueuedRayJob]) -> None:
    """A kind of Ray that is never ready is evicted, and another one runs before it comes back."""
    queue(world, quota={"cpu": "2"})
    first = kind.of(world, "a", NEVER_READY)
    world.until(first.was_requeued(2))
    second = kind.of(world, "b", "run forever")
    world.until(second.is_ready())
    second.delete()
    world.until(first.was_requeued(3))
    first.delete()
    world.wait(30 * SECOND)


@scenario(arms=["KQ-065", "KQ-066"], kills="no-pod-is-reclaimed", config=requeues())
def last_pod_of_a_job_runs(world: World) -> None:
    """While the last of three pods of a Job runs, another Job has the quota of the others."""
    queue(world, quota={"cpu": "2"})
    made = with_path(job("a", pods=2), "spec.completions", 3)
    first = QueuedJob.submit(world, made, "run 2m")
    second = QueuedJob.of(world, "b", "run 30s")
    world.until(second.is_finished())
    world.until(first.is_finished())


@scenario(
    arms=["KQ-056"],
    kills="completions-do-not-count",
    roles=("kueue", "jobset"),
    cases={"job": QueuedJob, "job-set": QueuedJobSet},
)
def job_has_fewer_completions(world: World, kind: type[QueuedJob | QueuedJobSet]) -> None:
    """A Job that may run five pods at once and is complete with two fits where two do."""
    queue(world, quota={"cpu": "2"})
    its = kind.of(world, "a", "run 1m", pods=2, parallelism=5)
    world.until(its.is_finished())


@scenario(arms=["KQ-065"], kills="running-pods-are-reclaimed", config=requeues())
def pod_of_a_job_is_replaced(world: World) -> None:
    """A pod that is replaced while it stops counts as long as it runs."""
    queue(world, quota={"cpu": "2"})
    made = with_path(job("a", pods=2), "spec.completions", 3)
    made = with_path(made, "spec.backoffLimit", 6)
    its = QueuedJob.submit(world, made, "run 2m, stop 1m")
    world.until(its.is_ready())
    world.wait(150 * SECOND)
    for each in its.owned(POD):
        if get_path(each, "status.phase") == "Running":
            world.delete(POD, name_of(each))
    world.until(its.is_finished())


@scenario(
    arms=["KQ-067"],
    kills="unqueued-jobs-run",
    config={**requeues(), "manageJobsWithoutQueueName": True},
)
def job_names_no_queue(world: World) -> None:
    """Where all jobs are managed, one that names no queue waits until it does."""
    queue(world)
    its = QueuedJob.submit(world, with_path(job("a", queue=""), "spec.suspend", False), "run 1m")
    world.wait(60 * SECOND)
    its.patch({"metadata": {"labels": {QUEUE_LABEL: MAIN}}})
    world.until(its.is_finished())


@scenario(
    arms=["KQ-067"],
    kills="names-alone-select",
    config={
        **requeues(),
        "manageJobsWithoutQueueName": True,
        "managedJobsNamespaceSelector": {"matchLabels": {"example.com/batch": "yes"}},
    },
    only_simulated="webhooks that the harness serves cannot ask for namespaces",
)
def job_of_a_selected_namespace_names_no_queue(world: World) -> None:
    """Where the jobs of labelled namespaces are managed, one that names no queue waits."""
    labels = {"labels": {"example.com/batch": "yes"}}
    world.patch(NAMESPACE, world.namespace, {"metadata": labels})
    job_names_no_queue(world)


@scenario(arms=["KQ-060"], kills="parts-wait-themselves", roles=("kueue", "jobset"))
def parts_name_a_queue(world: World) -> None:
    """The Jobs and pods of a JobSet that waits in a queue run with it, though they name a queue,
    too."""
    queue(world)
    made = job_set("a")
    (workers,) = made["spec"]["replicatedJobs"]
    labels = {QUEUE_LABEL: MAIN}
    labelled = with_path(workers, "template.metadata.labels", labels)
    labelled = with_path(labelled, "template.spec.template.metadata.labels", labels)
    its = QueuedJobSet.submit(world, with_path(made, "spec.replicatedJobs", [labelled]), "run 1m")
    world.until(its.is_finished())


@scenario(arms=["KQ-060"], kills="what-is-late-is-absent", roles=("kueue", "jobset"))
def part_is_known_before_its_job_set(world: World) -> None:
    """Jobs of a JobSet are known to Kueue some seconds before the JobSet itself."""
    with during(world, DelayWatch("kueue", JOB_SET.kind, by=5 * SECOND)):
        parts_name_a_queue(world)


@scenario(arms=["KQ-006", "KQ-012", "KQ-202"], kills="pods-are-always-awaited", config=requeues())
def pod_is_never_ready(world: World) -> None:
    """A pod that is never ready is evicted, and another one runs while it stops."""
    queue(world)
    first = QueuedPod.of(world, "a", _SLOW)
    second = QueuedPod.of(world, "b", "run 1m")
    world.until(first.was_requeued(1))
    world.until(second.is_admitted())
    world.until(second.is_finished())
    world.until(first.is_gone())


@scenario(
    arms=["KQ-006", "KQ-012", "KQ-014", "KQ-016", "KQ-061", "KQ-062", "KQ-063"],
    kills="no-pod-is-gated",
    config=requeues(),
)
def stateful_set_is_never_ready(world: World) -> None:
    """A StatefulSet whose pods are never ready is evicted, and comes back after each back-off."""
    queue(world, quota={"cpu": "2"})
    its = QueuedStatefulSet.of(world, "a", NEVER_READY, pods=2)
    world.until(its.was_requeued(3))
    its.delete()
    world.wait(2 * 60 * SECOND)


@scenario(arms=["KQ-063"], kills="serving-groups-end", config=requeues())
def pods_of_a_stateful_set_are_deleted(world: World) -> None:
    """A StatefulSet keeps its quota though its pod is deleted, stops with 0, and stays a while."""
    queue(world)
    its = QueuedStatefulSet.of(world, "a", "run forever, stop 10s, stop exit 0")
    world.until(its.is_ready())
    world.patch(POD, "a-0", {"metadata": {"finalizers": ["example.com/hold"]}})
    world.delete(POD, "a-0")
    world.wait(60 * SECOND)
    world.patch(POD, "a-0", {"metadata": {"finalizers": None}})
    world.wait(60 * SECOND)
    world.until(its.is_ready())
    its.delete()
    world.wait(60 * SECOND)


@scenario(
    arms=["KQ-062", "KQ-064"],
    kills="every-gate-is-opened",
    namespaces=(SECOND_NAMESPACE,),
    config=requeues(),
)
def group_has_more_pods(world: World) -> None:
    """Of the pods of a group as many run as it says that it has, and it keeps its quota while a
    group of its name in another namespace is deleted."""
    queue(world, quota={"cpu": "3"}, namespaces=(world.namespace, SECOND_NAMESPACE))
    its = QueuedPodGroup.of(world, "a", "run 1m", pods=3, total=2)
    other = QueuedPodGroup.of(world, "a", LONG, pods=1, total=1, namespace=SECOND_NAMESPACE)
    world.until(its.is_ready() & other.is_ready())
    other.delete()
    waits = QueuedJob.of(world, "waits", "run 1m", cpu=2)
    world.until(its.is_finished())
    world.until(waits.is_finished())


@scenario(arms=["KQ-062"], kills="every-gate-is-opened", config=requeues())
def pod_of_a_group_stops_slowly(world: World) -> None:
    """The pod that replaces another one of its group waits until that has stopped."""
    queue(world, quota={"cpu": "2"})
    its = QueuedPodGroup.of(world, "a", "run 2m, stop 20s", pods=2, total=2)
    world.until(its.is_ready())
    world.delete(POD, "a-0")
    again = pod("b-0")
    again["metadata"]["labels"][GROUP_NAME] = "a"
    again["metadata"]["annotations"] = {GROUP_TOTAL: "2"}
    QueuedPod.submit(world, again, "run 1m")
    world.until(its.is_finished())


@scenario(arms=["KQ-064"], kills="no-pod-is-gated", config=requeues())
def deployment_has_quota_for_some(world: World) -> None:
    """Of the pods of a Deployment as many run as there is quota for."""
    queue(world, quota={"cpu": "2"})
    its = QueuedDeployment.of(world, "a", "run forever", pods=3)
    world.until(its.has_ready(2))
    world.wait(60 * SECOND)
    its.patch({"spec": {"replicas": 2}})
    its.delete()
    world.wait(60 * SECOND)
