"""PodDisruptionBudgets: what they count, and which evictions they refuse."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import Predicate, condition, count, has
from tests.differential.script import script
from tests.differential.scripts.manifests import job, pod, unscheduled
from tests.differential.scripts.workloads import workload
from vocabulary.kinds import DEPLOYMENT, POD, POD_DISRUPTION_BUDGET, STATEFUL_SET

BUDGET = POD_DISRUPTION_BUDGET
STATUS = ["status"]
PHASE = ["status.phase"]


def _budget(c: Dialogue, name: str = "a", app: str = "a", /, **spec: Any) -> None:
    obj = {
        "apiVersion": BUDGET.api_version,
        "kind": BUDGET.kind,
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": app}}, **spec},
    }
    c.create(obj, show=["metadata.generation", "spec", "status"])


def _labelled(name: str, behaviour: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    obj = pod(name, behaviour, **fields)
    obj["metadata"]["labels"] = {"app": "a"}
    return obj


def _run(c: Dialogue, *names: str) -> None:
    for name in names:
        c.create(_labelled(name), show=PHASE)
        c.until(POD, name, condition("Ready"), show=PHASE)


def _allows(number: int, generation: int = 1) -> Predicate:
    return has("status.disruptionsAllowed", number) & has("status.observedGeneration", generation)


@script("A budget of a number of pods allows as many evictions as more are ready.", ["4.12"])
def budget_of_pods(c: Dialogue) -> None:
    _run(c, "one", "two", "three")
    _budget(c, minAvailable=2)
    c.until(BUDGET, "a", _allows(1), show=STATUS)
    c.evict("one", options={"dryRun": ["All"]})
    c.get(BUDGET, "a", show=STATUS)
    c.evict("one")
    c.until_gone(POD, "one")
    c.until(BUDGET, "a", _allows(0) & has("status.expectedPods", 2), show=STATUS)
    c.evict("two")
    c.get(POD, "two", show=["metadata.deletionTimestamp", "status.conditions"])
    c.table(BUDGET)
    c.patch(BUDGET, "a", {"spec": {"minAvailable": 1}}, show=["metadata.generation"])
    c.until(BUDGET, "a", _allows(1, 2), show=STATUS)
    c.delete(BUDGET, "a", show=["kind", "status"])
    c.evict("two")
    c.evict("three")
    c.until_listed(POD, count(0))


@script("A budget of a part counts the replicas that workloads want, rounded up.", ["4.12"])
def budget_of_workloads(c: Dialogue) -> None:
    c.create(workload("Deployment", replicas=3), show=["kind"])
    c.until(DEPLOYMENT, "a", has("status.readyReplicas", 3), show=["status.readyReplicas"])
    c.create(workload("StatefulSet", "b", replicas=2), show=["kind"])
    c.until(STATEFUL_SET, "b", has("status.readyReplicas", 2), show=["status.readyReplicas"])
    for name, app, spec, allowed in (
        ("most", "a", {"maxUnavailable": "50%"}, 2),
        ("some", "a", {"maxUnavailable": 1}, 1),
        ("least", "a", {"minAvailable": "50%"}, 1),
        ("half", "b", {"minAvailable": "50%"}, 1),
        ("all", "b", {"maxUnavailable": 0}, 0),
        ("any", "b", {"maxUnavailable": "100%"}, 2),
        ("more", "b", {"minAvailable": 5}, 0),
    ):
        _budget(c, name, app, **spec)
        c.until(BUDGET, name, _allows(allowed), show=STATUS)
        c.delete(BUDGET, name, show=["kind"])
    _budget(c, "some", "a", maxUnavailable=1)
    c.until(BUDGET, "some", _allows(1), show=STATUS)
    c.patch(DEPLOYMENT, "a", {"spec": {"replicas": 1}}, show=["spec.replicas"])
    c.until_listed(POD, count(1), labels="app=a", show=PHASE)
    c.until(BUDGET, "some", has("status.expectedPods", 1), show=STATUS)


@script("A budget cannot count the pods of a Job, so it refuses evictions.", ["4.12"])
def budget_of_jobs(c: Dialogue) -> None:
    body = job("a")
    body["spec"]["template"]["metadata"] = {"labels": {"app": "a"}}
    c.create(body, show=["kind"])
    c.until_listed(POD, count(1, condition("Ready")), show=PHASE)
    _budget(c, maxUnavailable=1)
    c.until(BUDGET, "a", condition("DisruptionAllowed", "False"), show=STATUS)
    name = c.peek(POD, "app=a")[0]["metadata"]["name"]
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    path = POD.path(c.namespace, name, "eviction")
    c.raw("POST", path, body, label="evict")
    c.patch(BUDGET, "a", {"spec": {"maxUnavailable": None, "minAvailable": 0}}, show=["spec"])
    c.until(BUDGET, "a", _allows(1, 2), show=STATUS)
    c.raw("POST", path, body, label="evict again")


@script("Pods without a controller are not counted in a part of all.", ["4.12"])
def budget_of_unmanaged(c: Dialogue) -> None:
    _run(c, "one", "two")
    _budget(c, maxUnavailable="50%")
    c.until(BUDGET, "a", _allows(0), show=STATUS)
    c.evict("one")


@script("A pod that two budgets select cannot be evicted.", ["4.12"])
def two_budgets(c: Dialogue) -> None:
    _run(c, "one")
    _budget(c, "a", minAvailable=0)
    _budget(c, "b", minAvailable=0)
    for name in ("a", "b"):
        c.until(BUDGET, name, _allows(1), show=STATUS)
    c.evict("one")
    c.get(POD, "one", show=["metadata.deletionTimestamp"])


@script("A pod that is not ready is evicted if enough others are, or always.", ["4.12"])
def budget_of_unready(c: Dialogue) -> None:
    _run(c, "ready")
    for name in ("one", "two"):
        c.create(_labelled(name, {"hold": "notready"}), show=PHASE)
        c.until(POD, name, has("status.phase", "Running"), show=PHASE)
    _budget(c, minAvailable=2)
    c.until(BUDGET, "a", _allows(0), show=STATUS)
    c.evict("one")
    c.patch(BUDGET, "a", {"spec": {"minAvailable": 1}}, show=["metadata.generation"])
    c.until(BUDGET, "a", _allows(0, 2), show=STATUS)
    c.evict("one")
    c.until_gone(POD, "one")
    changed = {"spec": {"minAvailable": 3, "unhealthyPodEvictionPolicy": "AlwaysAllow"}}
    c.patch(BUDGET, "a", changed, show=["spec"])
    c.until(BUDGET, "a", _allows(0, 3), show=STATUS)
    c.evict("ready")
    c.evict("two")
    c.until_gone(POD, "two")


@script("A pod that does not run yet, or no longer, is evicted whatever a budget says.", ["4.12"])
def budget_of_pending(c: Dialogue) -> None:
    c.create(unscheduled("waiting", labels={"app": "a"}), show=PHASE)
    c.create(_labelled("done", {"exit": "0"}, restartPolicy="Never"), show=PHASE)
    c.until(POD, "done", has("status.phase", "Succeeded"), show=PHASE)
    _budget(c, minAvailable=9)
    c.until(BUDGET, "a", has("status.expectedPods", 2), show=STATUS)
    c.evict("waiting")
    c.evict("done")
    c.until_listed(POD, count(0))


@script("A budget's numbers are checked, and its status is not its writer's.", ["4.12"])
def invalid_budgets(c: Dialogue) -> None:
    for name, spec in (
        ("both", {"minAvailable": 1, "maxUnavailable": 1}),
        ("negative", {"minAvailable": -1}),
        ("text", {"minAvailable": "many"}),
        ("too-much", {"maxUnavailable": "150%"}),
        ("policy", {"unhealthyPodEvictionPolicy": "Never"}),
        ("neither", {}),
    ):
        _budget(c, name, **spec)
    obj = c.get(BUDGET, "neither", show=["spec"]).body
    c.until(BUDGET, "neither", _allows(0), show=STATUS)
    obj = c.get(BUDGET, "neither", show=["spec"]).body
    c.update({**obj, "status": {**obj["status"], "expectedPods": 7}}, show=STATUS)
    c.patch(BUDGET, "neither", {"spec": {"selector": None}}, show=["spec", "metadata.generation"])
    c.until(BUDGET, "neither", _allows(0, 2), show=STATUS)
    c.patch(BUDGET, "neither", {"status": {"expectedPods": -1}}, subresource="status", show=STATUS)


@script("The time of a budget's condition is that of its last change.", ["4.12"])
def budget_condition_time(c: Dialogue) -> None:
    def changed_at() -> str:
        path = BUDGET.path(c.namespace, "a")
        (found,) = c.consult("GET", path).body["status"]["conditions"]
        return str(found["lastTransitionTime"])

    _run(c, "one", "two")
    _budget(c, minAvailable=1)
    c.until(BUDGET, "a", _allows(1), show=STATUS)
    allowed_at = changed_at()
    c.settle(1.1)  # times have whole seconds
    _run(c, "three")
    c.until(BUDGET, "a", _allows(2), show=STATUS)
    c.note("the time stays while evictions are allowed", changed_at() == allowed_at)
    c.patch(BUDGET, "a", {"spec": {"minAvailable": 3}}, show=["metadata.generation"])
    c.until(BUDGET, "a", _allows(0, 2), show=STATUS)
    refused_at = changed_at()
    c.note("it moves once none is", refused_at > allowed_at)
    c.settle(1.1)
    c.patch(BUDGET, "a", {"spec": {"minAvailable": 4}}, show=["metadata.generation"])
    c.until(BUDGET, "a", _allows(0, 3), show=STATUS)
    c.note("and stays while none is", changed_at() == refused_at)


@script("A pod that was evicted is counted out until it goes, or two minutes are over.", ["4.12"])
def disrupted_pods(c: Dialogue) -> None:
    _run(c, "one", "two", "three")
    _budget(c, minAvailable=1)
    c.until(BUDGET, "a", _allows(2), show=STATUS)
    since = c.get(POD, "one", show=["status.phase"]).body["metadata"]["creationTimestamp"]
    old = "2020-01-01T00:00:00Z"
    for label, disrupted, allowed in (
        ("one", {"one": since, "two": old, "none": since}, 1),
        ("two", {"one": since, "two": since}, 0),
    ):
        body = {"status": {"disruptedPods": disrupted, "observedGeneration": 1}}
        path = BUDGET.path(c.namespace, "a", "status")
        merge = "application/merge-patch+json"
        c.raw("PATCH", path, body, content_type=merge, label=f"disrupt {label}", show=["kind"])
        c.until(BUDGET, "a", _allows(allowed), show=STATUS)
    c.evict("three")
    c.get(POD, "three", show=["metadata.deletionTimestamp"])
    c.delete(POD, "one", show=["status.phase"])
    c.until_gone(POD, "one")
    c.until(BUDGET, "a", has("status.expectedPods", 2), show=STATUS)


@script("Pods whose owner has no scale, or is unknown, fail the sync of a budget.", ["4.12"])
def uncounted_owners(c: Dialogue) -> None:
    for number, (kind, version) in enumerate(
        (("Odd", "example.org/v1"), ("ConfigMap", "v1"), ("Gadget", "tests.assay.dev/v1"))
    ):
        obj = unscheduled(f"p-{number}", labels={"app": f"a-{number}"})
        owner = {"kind": kind, "apiVersion": version, "name": "o", "uid": "u", "controller": True}
        obj["metadata"] |= {"ownerReferences": [owner], "finalizers": ["example.org/hold"]}
        c.create(obj, show=["metadata.ownerReferences"])
        _budget(c, f"b-{number}", f"a-{number}", maxUnavailable=1)
        failed = condition("DisruptionAllowed", "False")
        c.until(BUDGET, f"b-{number}", failed, show=STATUS)
        c.evict(f"p-{number}")
