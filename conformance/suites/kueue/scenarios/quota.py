"""Quota that is there, borrowed, lent and lacking; flavors in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from chaos.choice import PodChoice
from chaos.fault import Fault
from chaos.faults import ApiErrors, DelayWatch, KillPod, LabelNode, LoseReply
from conformance.scenario_type import scenario
from conformance.suites.kueue.api import CLUSTER_QUEUE, RESOURCE_FLAVOR
from conformance.suites.kueue.handle import (
    QueuedAppWrapper,
    QueuedJob,
    QueuedJobSet,
    app_wrapper,
    flavor,
    job,
    pytorch_job,
    queue,
)
from conformance.suites.kueue.scenarios.requeuing import NEVER_READY, requeues
from conformance.world import Condition, World
from vocabulary.clock import SECOND
from vocabulary.objects import name_of, with_path

RUNS = "run 1m"
LONG = "run 20m"
ZONE = "example.com/zone"
SPOT = {"key": "spot", "value": "true", "effect": "NoSchedule"}
_WORKLOADS = "kueue.x-k8s.io/v1beta1/Workload"


@scenario(arms=["KQ-047", "KQ-102"], kills="nothing-is-borrowed")
def unused_quota_is_lent(world: World) -> None:
    """A queue borrows what its cohort has left, and no more."""
    queue(world, quota={"cpu": "2"}, cohort="all")
    queue(world, "other", quota={"cpu": "2"}, cohort="all")
    queue(world, "alone", quota={"cpu": "2"})
    borrows = QueuedJob.of(world, "borrows", RUNS, cpu=3)
    world.until(borrows.is_admitted())
    waits = QueuedJob.of(world, "waits", RUNS, cpu=2, queue="other")
    fits = QueuedJob.of(world, "fits", RUNS, queue="other")
    world.until(fits.is_admitted())
    world.until(waits.is_finished())


@scenario(arms=["KQ-047"], kills="limits-do-not-bind", cases={"borrowing": True, "lending": False})
def limits(world: World, borrowing: bool) -> None:
    """A queue borrows up to its limit, and no more than the others lend."""
    mine = {"borrowingLimit": "1"} if borrowing else {}
    theirs = {} if borrowing else {"lendingLimit": "1"}
    queue(world, quota={"cpu": "2"}, limits=mine, cohort="all")
    queue(world, "other", quota={"cpu": "2"}, limits=theirs, cohort="all")
    first = QueuedJob.of(world, "first", RUNS, cpu=3)
    world.until(first.is_admitted())
    second = QueuedJob.of(world, "second", RUNS)
    world.wait(10 * SECOND)
    world.until(second.is_finished())


@scenario(arms=["KQ-047", "KQ-102"], kills="limits-do-not-bind")
def limits_together(world: World) -> None:
    """A queue that lends a part of its quota keeps the rest for itself, and borrows only what is
    beyond all that it has."""
    both = {"lendingLimit": "1", "borrowingLimit": "1"}
    queue(world, quota={"cpu": "3"}, limits=both, cohort="all")
    queue(world, "other", quota={"cpu": "2"}, cohort="all")
    beyond = QueuedJob.of(world, "beyond", RUNS, pods=5)
    world.wait(5 * SECOND)
    beyond.delete()
    whole = QueuedJob.of(world, "whole", "run 20s", pods=4)
    world.until(whole.is_finished())
    first = QueuedJob.of(world, "first", LONG)
    world.until(first.is_admitted())
    lent = QueuedJob.of(world, "lent", "run 20s", pods=3, queue="other")
    world.until(lent.is_finished())
    too_much = QueuedJob.of(world, "too-much", RUNS, pods=4, queue="other")
    world.wait(5 * SECOND)
    too_much.delete()
    world.wait(5 * SECOND)
    second = QueuedJob.of(world, "second", RUNS, pods=3)
    world.until(second.is_admitted())
    third = QueuedJob.of(world, "third", "run 20s")
    world.until(second.is_finished() & third.is_finished())
    first.delete()


@scenario(arms=["KQ-047"], kills="uncovered-resources-are-free")
def uncovered_resource(world: World) -> None:
    """A Job that asks for a resource that its queue has no quota of waits."""
    queue(world, quota={"cpu": "2", "memory": "1Gi"})
    none = QueuedJob.of(world, "none", RUNS, requests={"cpu": "1", "ephemeral-storage": "1Gi"})
    half = QueuedJob.of(world, "half", RUNS, requests={"cpu": "1", "memory": "2Gi"})
    both = QueuedJob.of(world, "both", RUNS, requests={"cpu": "1", "memory": "1Gi"})
    world.until(both.is_finished())
    world.until(none.waits() & half.waits())


@scenario(arms=["KQ-047"], kills="more-is-given-than-there-is", gpus=4)
def two_groups(world: World) -> None:
    """A Job whose resources are of two groups waits until there is room in both."""
    gpu = "nvidia.com/gpu"
    groups = [
        _group(world, "default", {"cpu": "4", "memory": "4Gi"}),
        _group(world, "gpus", {gpu: "2"}),
    ]
    queue(world, resourceGroups=groups)
    jobs = []
    for name, count in (("first", "1"), ("second", "2")):
        asked = {"cpu": "1", "memory": "1Gi", gpu: count}
        jobs.append(QueuedJob.of(world, name, RUNS, requests=asked, limits=asked))
        world.wait(2 * SECOND)
    for its in jobs:
        world.until(its.is_finished())


@scenario(arms=["KQ-105"], kills="changed-queues-are-missed")
def quota_is_raised(world: World) -> None:
    """A Job that does not fit is admitted once its queue has more quota, though nothing else
    happens."""
    name = queue(world)
    its = QueuedJob.of(world, "its", RUNS, cpu=2)
    world.until(its.waits())
    world.wait(10 * SECOND)
    groups = [_group(world, "default", {"cpu": "2"})]
    world.patch(CLUSTER_QUEUE, name, {"spec": {"resourceGroups": groups}})
    world.until(its.is_finished())


@scenario(arms=["KQ-105"], kills="the-last-unit-is-kept")
def job_is_made_smaller(world: World) -> None:
    """A Job that does not fit is admitted once its user asks for fewer pods."""
    queue(world)
    its = QueuedJob.of(world, "its", RUNS, pods=2)
    world.until(its.waits())
    world.wait(10 * SECOND)
    its.patch({"spec": {"parallelism": 1}})
    world.until(its.is_finished())


@scenario(
    arms=["KQ-047"],
    kills="overdrawn-quota-is-left",
    cases={"nominal": "nominalQuota", "borrowing": "borrowingLimit"},
)
def quota_is_lowered(world: World, by: str) -> None:
    """Jobs that hold more than their queue may have any more run on, and others wait until it has
    room again, though its cohort has."""
    before = {"nominalQuota": "1", "borrowingLimit": "2"}
    if by == "nominalQuota":
        before = {"nominalQuota": "3", "borrowingLimit": "0"}
    name = queue(world, quota={"cpu": before["nominalQuota"]}, limits=before, cohort="all")
    queue(world, "other", quota={"cpu": "6"}, cohort="all")
    jobs = [QueuedJob.of(world, f"j{n}", f"run {n + 1}m") for n in range(3)]
    for its in jobs:
        world.until(its.is_ready())
    after = {**before, by: "1" if by == "nominalQuota" else "0"}
    group = _group(world, "default", {"cpu": "1"})
    (resource,) = group["flavors"][0]["resources"]
    resource.update(after)
    world.patch(CLUSTER_QUEUE, name, {"spec": {"resourceGroups": [group]}})
    world.wait(2 * SECOND)
    last = QueuedJob.of(world, "last", RUNS)
    world.until(jobs[-1].is_finished())
    world.until(last.is_finished())


@scenario(arms=["KQ-105"], kills="changed-queues-are-missed")
def flavor_is_swapped(world: World) -> None:
    """A Job whose flavor its queue has no longer runs on, and the one behind it is admitted to the
    new flavor at once; then the old one can be deleted."""
    name = queue(world, flavors=("old",))
    first = QueuedJob.of(world, "first", LONG)
    world.until(first.is_ready())
    second = QueuedJob.of(world, "second", RUNS)
    world.until(second.waits())
    world.wait(5 * SECOND)
    groups = [_group(world, "new", {"cpu": "1"})]
    world.patch(CLUSTER_QUEUE, name, {"spec": {"resourceGroups": groups}})
    world.until(second.is_finished())
    world.delete(RESOURCE_FLAVOR, flavor(world, "old"))
    first.activate(False)
    world.until(first.has_released())
    first.activate(True)
    world.until(first.is_ready())
    first.delete()


def _group(world: World, of: str, amounts: Mapping[str, str]) -> dict[str, Any]:
    """A resource group of one flavor."""
    resources = [{"name": name, "nominalQuota": each} for name, each in amounts.items()]
    flavors = [{"name": flavor(world, of), "resources": resources}]
    return {"coveredResources": list(amounts), "flavors": flavors}


@scenario(arms=["KQ-045"], kills="the-last-flavor-comes-first", cases={"two": 2, "three": 3})
def flavors_are_tried(world: World, count: int) -> None:
    """Jobs get the first flavor with room, then the next one."""
    names = [f"f{n}" for n in range(count)]
    queue(world, flavors=names, quota={"cpu": "1", "memory": "1Gi"})
    jobs = []
    for n in range(count):
        its = QueuedJob.of(world, f"j{n}", RUNS, requests={"cpu": "1", "memory": "512Mi"})
        world.until(its.is_admitted())
        jobs.append(its)
    world.until(jobs[-1].is_finished())


@scenario(arms=["KQ-045"], kills="borrowing-is-put-off", cases={"borrow": True, "next": False})
def borrowing_or_the_next_flavor(world: World, borrow: bool) -> None:
    """A Job borrows in the first flavor before the next is tried, unless its queue says
    otherwise."""
    policy = "Borrow" if borrow else "TryNextFlavor"
    fungibility: dict[str, Any] = {"flavorFungibility": {"whenCanBorrow": policy}}
    queue(world, flavors=("f0", "f1"), quota={"cpu": "1"}, cohort="all", **fungibility)
    queue(world, "other", flavors=("f0", "f1"), quota={"cpu": "1"}, cohort="all")
    first = QueuedJob.of(world, "first", RUNS)
    world.until(first.is_admitted())
    second = QueuedJob.of(world, "second", RUNS)
    world.until(second.is_finished())


@scenario(
    arms=["KQ-045"],
    kills="taints-do-not-matter",
    cases={"taint": "taint", "label": "label", "affinity": "affinity"},
)
def flavor_does_not_suit(world: World, by: str) -> None:
    """A flavor of whose taints or labels the pods do not match each is skipped."""
    taints = [SPOT] if by == "taint" else []
    flavor(world, "f0", nodeLabels={ZONE: "a"}, nodeTaints=taints)
    flavor(world, "f1", nodeLabels={ZONE: "b"})
    queue(world, flavors=("f0", "f1"), quota={"cpu": "4"})
    elsewhere = {"key": ZONE, "operator": "NotIn", "values": ["a"]}
    pods: dict[str, list[dict[str, Any]]] = {
        "taint": [
            {},
            {"tolerations": [{**SPOT, "effect": "NoExecute"}]},
            {"tolerations": [{**SPOT, "key": "other"}]},
            {"tolerations": [{**SPOT, "value": "false"}]},
        ],
        "label": [{"nodeSelector": {ZONE: "b"}}],
        "affinity": [
            _on_nodes([elsewhere]),
            _on_nodes([{**elsewhere, "operator": "In"}, elsewhere]),
        ],
    }
    jobs = [QueuedJob.of(world, f"j{n}", RUNS, **each) for n, each in enumerate(pods[by])]
    world.wait(10 * SECOND)
    for its in jobs:
        its.delete()


@scenario(arms=["KQ-045"], kills="the-last-flavor-comes-first")
def taint_is_tolerated(world: World) -> None:
    """Pods that tolerate the taint of the first flavor's nodes get it, in whichever words. What a
    flavor tolerates itself, prefers or does not mention keeps none away."""
    soft = {"key": "soft", "effect": "PreferNoSchedule"}
    own = {"key": "own", "effect": "NoSchedule"}
    flavor(world, "f0", nodeTaints=[soft, own, SPOT], tolerations=[{**own, "operator": "Exists"}])
    flavor(world, "f1", nodeLabels={ZONE: "b"})
    queue(world, flavors=("f0", "f1"), quota={"cpu": "5"})
    in_zone = {"key": ZONE, "operator": "Exists"}
    not_in_zone = {"key": ZONE, "operator": "DoesNotExist"}
    anywhere = {"key": "kubernetes.io/hostname", "operator": "Exists"}
    pods: list[dict[str, Any]] = [
        {"tolerations": [{"key": "", "operator": "Exists"}]},
        {"tolerations": [{"key": "spot", "operator": "Exists"}]},
        {"tolerations": [{"key": "other", "operator": "Exists"}, {"key": "spot", "value": "true"}]},
        {"tolerations": [SPOT], **_on_nodes([in_zone], [not_in_zone])},
        {"tolerations": [SPOT], **_on_nodes([anywhere])},
    ]
    jobs = [QueuedJob.of(world, f"j{n}", RUNS, **each) for n, each in enumerate(pods)]
    for its in jobs:
        world.until(its.is_finished())


def _on_nodes(*terms: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The affinity of pods to nodes that match all expressions of one of these terms."""
    required = {"nodeSelectorTerms": [{"matchExpressions": list(each)} for each in terms]}
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": required}
    return {"affinity": {"nodeAffinity": affinity}}


@scenario(
    arms=["KQ-024", "KQ-045"],
    kills="the-last-flavor-comes-first",
    config=requeues(timestamp="Creation"),
)
def first_flavor_becomes_free(world: World) -> None:
    """A Job that was evicted from the second flavor gets the first, which became free meanwhile."""
    queue(world, flavors=("f0", "f1"))
    holds = QueuedJob.of(world, "holds", "run 4m")
    world.until(holds.is_admitted())
    its = QueuedJob.of(world, "its", NEVER_READY)
    world.until(its.is_admitted())
    world.until(its.was_requeued(1))
    world.until(its.has_released())
    world.until(its.is_admitted())
    its.delete()


def zones(world: World) -> None:
    """Nodes of two zones, with a flavor each."""
    for node, zone in zip(world.nodes, ("a", "b"), strict=True):
        world.inject(LabelNode(node=node, key=ZONE, value=zone))
        flavor(world, f"f-{zone}", nodeLabels={ZONE: zone})


@scenario(arms=["KQ-068"], kills="flavors-place-nothing")
def pods_go_where_their_quota_is(world: World) -> None:
    """Each of two Jobs runs on the node of its flavor."""
    zones(world)
    queue(world, flavors=("f-a", "f-b"))
    jobs = [QueuedJob.of(world, name, "run 20s") for name in ("one", "two")]
    for its in jobs:
        world.until(its.is_finished())


@scenario(arms=["KQ-068"], kills="flavors-place-nothing", roles=("kueue", "appwrapper"))
def all_pod_sets_go_where_their_quota_is(world: World) -> None:
    """Master and worker of a PyTorchJob that an AppWrapper wraps run on nodes of their flavor."""
    zones(world)
    queue(world, flavors=("f-b",), quota={"cpu": "2"})
    wrapped = with_path(pytorch_job("its", ("Master", "Worker")), "spec.runPolicy.suspend", False)
    its = QueuedAppWrapper.submit(
        world, with_path(app_wrapper("a"), "spec.components", [{"template": wrapped}]), "run 20s"
    )
    world.until(its.is_finished())
    its.delete()


@scenario(arms=["KQ-103"], kills="nothing-counts")
def none_of_a_resource(world: World) -> None:
    """A Job that asks for none of a resource, of which its queue has borrowed, gets its nominal
    quota of another one back."""
    policies = {"reclaimWithinCohort": "Any"}
    for name in ("main", "other", "slack"):
        amounts = {"cpu": "4", "memory": "2Gi"}
        queue(world, name, quota=amounts, cohort="all", preemption=policies)
    for name, of, asked in (
        ("early", "main", {"cpu": "1", "memory": "4Gi"}),
        ("first", "other", {"cpu": "4"}),
        ("borrows", "other", {"cpu": "6"}),
    ):
        world.until(QueuedJob.of(world, name, LONG, queue=of, requests=asked).is_ready())
    its = QueuedJob.of(world, "its", RUNS, requests={"cpu": "2", "memory": "0"})
    world.until(its.is_finished())


@scenario(
    arms=["KQ-047", "KQ-110"],
    kills="lost-answers-are-refusals",
    cases={
        "lost": LoseReply(verb=("update",), kind=_WORKLOADS),
        "refused": ApiErrors(verb=("update",), kind=_WORKLOADS, code=500, times=2),
        "late": DelayWatch(kind=_WORKLOADS, by=10 * SECOND),
    },
)
def answers_fail(world: World, fault: Fault) -> None:
    """Quota is given once, though the answer to an admission or the news of it are lost or late."""
    queue(world)
    first = QueuedJob.of(world, "first", RUNS)
    world.until(first.is_ready())
    second = QueuedJob.of(world, "second", RUNS)
    world.wait(2 * SECOND)
    third = QueuedJob.of(world, "third", RUNS)
    world.until(second.waits() & third.waits())
    world.wait(5 * SECOND)
    if isinstance(fault, LoseReply | ApiErrors):
        fault = replace(fault, name=name_of(second.workload))
    world.inject(fault)
    world.until(third.is_finished())


@scenario(
    arms=["KQ-058"],
    kills="placed-for-good",
    roles=("kueue", "jobset", "appwrapper"),
    cases={
        "job": partial(QueuedJob.of, cpu=2),
        "job-set": partial(QueuedJobSet.of, driver={}),
        "app-wrapper": partial(QueuedAppWrapper.of, cpu=2),
    },
)
def it_goes_to_another_flavor(
    world: World, submitted: Callable[[World, str, str], QueuedJob | QueuedJobSet]
) -> None:
    """A job that comes back with quota of another flavor has left the nodes of the first, with
    each of its pod sets."""
    for node, name in zip(world.nodes, ("spot", "reserved"), strict=True):
        world.inject(LabelNode(node=node, key=f"example.com/{name}", value="true"))
        flavor(world, f"f-{name}", nodeLabels={f"example.com/{name}": "true"})
    queue(world, flavors=("f-spot", "f-reserved"), quota={"cpu": "2"})
    its = submitted(world, "its", "run forever, stop exit 0")
    world.until(its.is_ready())
    its.activate(False)
    world.until(its.has_released())
    world.until(QueuedJob.of(world, "next", LONG, cpu=2).is_ready())
    its.activate(True)
    world.until(its.is_ready())
    its.delete()


@scenario(arms=["KQ-045", "KQ-112"], kills="labels-do-not-matter", roles=("kueue", "jobset"))
def pod_sets_differ(world: World) -> None:
    """Each pod set gets the flavor that suits it, beside a Job that fits in none; where none suits
    the second one, the JobSet waits."""
    zones(world)
    queue(world, flavors=("f-a", "f-b"), quota={"cpu": "2"})
    large = QueuedJob.of(world, "large", RUNS, cpu=4)
    world.until(large.waits())
    none, its = (
        QueuedJobSet.of(
            world,
            name,
            "run 20s",
            cpu=2,
            nodeSelector={ZONE: "a"},
            driver={"nodeSelector": {ZONE: zone}},
        )
        for name, zone in (("none", "c"), ("its", "b"))
    )
    world.until(its.is_finished())
    world.wait(10 * SECOND)
    world.until(none.waits() & large.waits())


@scenario(arms=["KQ-045"], kills="the-last-flavor-comes-first")
def fewer_pods_come_back(world: World) -> None:
    """A Job, one of whose two pods is done, fits into the second flavor when it comes back."""
    queue(world, flavors=("f0", "f1"), quota={"cpu": "2"})
    world.until(QueuedJob.of(world, "first", LONG, cpu=2).is_ready())
    its = QueuedJob.submit(world, job("its", pods=2), "run forever")
    world.until(its.is_ready())
    world.inject(KillPod(pod=PodChoice(owner="its", which="first"), exit_code=0))
    world.until(Condition("one pod is reclaimable", lambda: its.state.reclaimable == 1))
    world.until(QueuedJob.of(world, "second", LONG).is_ready())
    its.activate(False)
    world.until(its.has_released())
    world.wait(20 * SECOND)
    its.activate(True)
    world.until(its.is_admitted())
    world.wait(10 * SECOND)
    its.delete()
