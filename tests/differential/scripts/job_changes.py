"""Changes of a Job's spec while it runs, and after its end."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, count, exists, has, present
from tests.differential.script import script
from tests.differential.scripts.injection import (
    STATUS,
    delete_pod,
    end,
    failed,
    idle_job,
    pods_of,
    start,
    succeeded,
)
from tests.differential.scripts.manifests import PAST, SUCCEEDS, fails, job
from vocabulary.kinds import JOB, POD

SPEC = ["spec"]
LIMIT = ["spec.backoffLimit", "metadata.generation"]
EXTERNAL = {"managedBy": "example.org/external"}


def parallel(pods: int, **spec: Any) -> dict[str, Any]:
    return idle_job("a", completions=pods, parallelism=pods, **spec)


@script("A limit that is lowered below the failures so far fails the Job.", ["5.1", "5.4"])
def limit_lowered(c: Dialogue) -> None:
    start(c, parallel(2, backoffLimit=5), 2)
    end(c, "a", failed(1))
    c.until(JOB, "a", has("status.failed", 1) & has("status.active", 2), show=STATUS)
    c.patch(JOB, "a", {"spec": {"backoffLimit": 1}}, show=LIMIT)
    c.settle(1.6)
    c.get(JOB, "a", show=STATUS)
    c.patch(JOB, "a", {"spec": {"backoffLimit": 0}}, show=LIMIT)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A limit that is raised allows further retries.", ["5.1", "5.4"])
def limit_raised(c: Dialogue) -> None:
    start(c, parallel(1, backoffLimit=1), 1)
    end(c, "a", failed(1))
    c.until(JOB, "a", has("status.failed", 1) & has("status.active", 1), show=STATUS)
    c.patch(JOB, "a", {"spec": {"backoffLimit": 2}}, show=LIMIT)
    end(c, "a", failed(1))
    c.until(JOB, "a", has("status.failed", 2) & has("status.active", 1), show=STATUS)


@script("A deadline that is set later counts from the Job's start.", ["5.1", "5.3"])
def deadline_set_later(c: Dialogue) -> None:
    start(c, parallel(1), 1)
    show = ["spec.activeDeadlineSeconds"]
    c.patch(JOB, "a", {"spec": {"activeDeadlineSeconds": 1}}, show=show)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A deadline that is taken away does not end the Job.", ["5.1", "5.3"])
def deadline_removed(c: Dialogue) -> None:
    start(c, parallel(1, activeDeadlineSeconds=4), 1)
    show = ["spec.activeDeadlineSeconds"]
    c.patch(JOB, "a", {"spec": {"activeDeadlineSeconds": None}}, show=show)
    c.stays(JOB, "a", has("status.failed", None), for_seconds=4, show=STATUS)


@script("A running Job of parallelism zero stops its pods without counting them.", ["5.1", "5.4"])
def parallelism_to_zero(c: Dialogue) -> None:
    start(c, idle_job("a", completions=4, parallelism=3), 3)
    c.patch(JOB, "a", {"spec": {"parallelism": 0}}, show=["spec.parallelism"])
    c.until(JOB, "a", has("status.active", None) & has("status.terminating", 0), show=STATUS)
    c.until_listed(POD, count(0))
    c.patch(JOB, "a", {"spec": {"parallelism": 1}}, show=["spec.parallelism"])
    c.until(JOB, "a", has("status.active", 1), show=STATUS)


@script("Fewer parallel pods: those that are not ready go first.", ["5.1", "5.4"])
def which_pods_go(c: Dialogue) -> None:
    start(c, idle_job("a", completions=4, parallelism=3), 3)
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    names = sorted(item["metadata"]["name"] for item in pods_of(c, "a"))
    for name, status in ((names[0], ready), (names[1], {"phase": "Running"})):
        c.patch(POD, name, {"status": status}, subresource="status", show=["status.phase"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    for parallelism in (2, 1):
        c.patch(JOB, "a", {"spec": {"parallelism": parallelism}}, show=["spec.parallelism"])
        wanted = has("status.active", parallelism) & has("status.terminating", 0)
        c.until(JOB, "a", wanted, show=STATUS)
        c.until_listed(POD, count(parallelism), show=["status.phase", "status.conditions"])


@script("The policies of a Job are immutable, its replacement policy is not.", ["5.1"])
def policies_are_immutable(c: Dialogue) -> None:
    rule = {"action": "Count", "onExitCodes": {"operator": "In", "values": [1]}}
    success = {"rules": [{"succeededCount": 1}]}
    c.create(
        idle_job(
            "a",
            **EXTERNAL,
            completionMode="Indexed",
            completions=2,
            backoffLimitPerIndex=1,
            maxFailedIndexes=1,
            podFailurePolicy={"rules": [rule]},
            successPolicy=success,
        ),
        show=SPEC,
    )
    for spec in (
        {"podFailurePolicy": {"rules": [{**rule, "action": "FailJob"}]}},
        {"podFailurePolicy": None},
        {"successPolicy": {"rules": [{"succeededCount": 2}]}},
        {"successPolicy": None},
        {"backoffLimitPerIndex": 2},
        {"backoffLimitPerIndex": None, "maxFailedIndexes": None},
        {"maxFailedIndexes": 2},
        {"maxFailedIndexes": 0},
        {"podReplacementPolicy": "TerminatingOrFailed"},
        {"completions": 3},
        {"completions": 3, "parallelism": 3},
        {"manualSelector": True},
    ):
        show = ["spec.maxFailedIndexes", "spec.completions", "spec.parallelism"]
        c.patch(JOB, "a", {"spec": spec}, show=show)


@script("A policy cannot be added to a Job, another replacement of pods can.", ["5.1", "5.4"])
def policies_added(c: Dialogue) -> None:
    c.create(idle_job("a", **EXTERNAL), show=["spec.podReplacementPolicy"])
    rule = {"action": "Count", "onExitCodes": {"operator": "In", "values": [1]}}
    for spec in (
        {"podFailurePolicy": {"rules": [rule]}, "podReplacementPolicy": "Failed"},
        {"podReplacementPolicy": "Failed"},
        {"podReplacementPolicy": "TerminatingOrFailed"},
        {"podReplacementPolicy": "Sometimes"},
        {"ttlSecondsAfterFinished": -1},
        {"ttlSecondsAfterFinished": 10},
        {"ttlSecondsAfterFinished": None},
        {"activeDeadlineSeconds": 0},
        {"backoffLimit": -1},
        {"backoffLimit": None},
    ):
        show = ["spec.podReplacementPolicy", "spec.ttlSecondsAfterFinished", "spec.backoffLimit"]
        c.patch(JOB, "a", {"spec": spec}, show=show)


@script("A TTL that is set after a Job's end counts from that end.", ["5.1"])
def ttl_set_later(c: Dialogue) -> None:
    c.create(job("a", SUCCEEDS), show=["spec.ttlSecondsAfterFinished"])
    c.until(JOB, "a", condition("Complete"), show=STATUS)
    show = ["spec.ttlSecondsAfterFinished"]
    c.patch(JOB, "a", {"spec": {"ttlSecondsAfterFinished": 600}}, show=show)
    c.stays(JOB, "a", exists, for_seconds=1, show=show)
    c.patch(JOB, "a", {"spec": {"ttlSecondsAfterFinished": 1}}, show=show)
    c.until_gone(JOB, "a")
    c.until_listed(POD, count(0))


@script("A TTL deletes in the foreground, and waits for pods that stop slowly.", ["5.1", "5.8"])
def ttl_waits_for_pods(c: Dialogue) -> None:
    c.create(job("a", fails(), backoffLimit=0, ttlSecondsAfterFinished=2), show=SPEC)
    c.until(JOB, "a", condition("Failed"), show=STATUS)
    pod = c.peek(POD, "job-name=a")[0]["metadata"]["name"]
    held = {"metadata": {"finalizers": ["tests.assay.dev/hold"]}}
    c.patch(POD, pod, held, show=["metadata.finalizers"])
    c.until(
        JOB,
        "a",
        present("metadata.deletionTimestamp"),
        show=["metadata.finalizers", "metadata.deletionGracePeriodSeconds"],
    )
    c.stays(JOB, "a", exists, for_seconds=1, show=["metadata.finalizers"])
    c.patch(POD, pod, {"metadata": {"finalizers": None}}, show=["metadata.finalizers"])
    c.until_gone(JOB, "a")


@script("A Job of another manager is deleted by its TTL like any other.", ["5.1", "5.7"])
def ttl_of_external(c: Dialogue) -> None:
    c.create(idle_job("a", **EXTERNAL, ttlSecondsAfterFinished=1), show=SPEC)
    reason = {"reason": "Mine", "message": "no more", "lastTransitionTime": PAST}
    entries = [{"type": type_, "status": "True", **reason} for type_ in ("FailureTarget", "Failed")]
    status = {"startTime": PAST, "conditions": entries}
    c.patch(JOB, "a", {"status": status}, subresource="status", show=["status.startTime"])
    c.until_gone(JOB, "a")


@script("A finished Job keeps its counts when its pods are deleted.", ["5.4", "5.8"])
def pods_of_finished(c: Dialogue) -> None:
    start(c, parallel(2, backoffLimit=0), 2)
    end(c, "a", succeeded())
    end(c, "a", succeeded())
    c.until(JOB, "a", condition("Complete"), show=STATUS)
    c.delete_collection(POD, show=["status.phase"])
    c.until_listed(POD, count(0))
    c.settle(1.6)
    c.get(JOB, "a", show=STATUS)


@script("A Job that is deleted during its failure goes without having failed.", ["5.2", "5.8"])
def deleted_while_failing(c: Dialogue) -> None:
    start(c, parallel(2, backoffLimit=0), 2)
    pod = pods_of(c, "a")[0]["metadata"]["name"]
    held = ["batch.kubernetes.io/job-tracking", "tests.assay.dev/hold"]
    c.patch(POD, pod, {"metadata": {"finalizers": held}}, show=["metadata.finalizers"])
    other = next(item for item in pods_of(c, "a") if item["metadata"]["name"] != pod)
    name = other["metadata"]["name"]
    c.patch(POD, name, {"status": failed(1)}, subresource="status", show=["status.phase"])
    wanted = condition("FailureTarget") & has("status.terminating", 1)
    c.until(JOB, "a", wanted, show=STATUS)
    c.delete(JOB, "a", "Foreground", show=["metadata.finalizers"])
    c.settle(1.6)
    c.get(JOB, "a", show=["metadata.finalizers", "status"])
    c.patch(POD, pod, {"metadata": {"finalizers": None}}, show=["metadata.finalizers"])
    c.until_gone(JOB, "a")


@script("A foreground deletion lets pods go that nobody counts any more.", ["5.8"])
def deleted_in_foreground(c: Dialogue) -> None:
    body = job("a", completions=2, parallelism=2)
    c.create(body, show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 2), show=STATUS)
    c.delete(JOB, "a", "Foreground", show=["metadata.finalizers", "metadata.generation"])
    c.until_gone(JOB, "a")
    c.until_listed(POD, count(0))
    c.create(body, show=["metadata.generation"])
    c.until(JOB, "a", has("status.ready", 2), show=STATUS)


@script("A Job replaced while its old pods remain does not count them.", ["5.8"])
def replaced_beside_old_pods(c: Dialogue) -> None:
    body = parallel(1)
    start(c, body, 1)
    c.delete(JOB, "a", "Orphan", show=["metadata.finalizers"])
    c.until_gone(JOB, "a")
    c.create(body, show=["metadata.generation"])
    c.until(JOB, "a", has("status.active", 1), show=STATUS)
    c.until_listed(POD, count(2), show=["metadata.finalizers"])
    old = next(
        item for item in c.peek(POD, "job-name=a") if "ownerReferences" not in item["metadata"]
    )
    path = POD.path(c.namespace, old["metadata"]["name"], "status")
    how = "application/merge-patch+json"
    label = "an old pod succeeds"
    c.raw("PATCH", path, {"status": succeeded()}, content_type=how, label=label, show=["kind"])
    c.settle(1.6)
    c.get(JOB, "a", show=STATUS)


@script("A quota stops a Job's pods, and lets the others in when places are free.", ["5.4"])
def quota_for_pods(c: Dialogue) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q"},
        "spec": {"hard": {"pods": "2"}},
    }
    c.create(quota, show=["spec"])
    c.settle(1)
    c.create(parallel(4, backoffLimit=3), show=["metadata.name"])
    c.until(JOB, "a", has("status.active", 2), show=STATUS)
    c.settle(1.6)
    c.get(JOB, "a", show=STATUS)
    end(c, "a", succeeded())
    c.until(JOB, "a", has("status.succeeded", 1) & has("status.active", 2), show=STATUS)


@script(
    "A deleted pod of a Job with a success policy is replaced, and does not end it.", ["5.4", "5.6"]
)
def deletion_under_success_policy(c: Dialogue) -> None:
    body = job(
        "a",
        {"finished_at": PAST},
        completionMode="Indexed",
        completions=2,
        parallelism=2,
        successPolicy={"rules": [{"succeededIndexes": "0"}]},
    )
    c.create(body, show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 2), show=STATUS)
    delete_pod(c, pods_of(c, "a", 1)[0]["metadata"]["name"])
    wanted = has("status.failed", 1) & has("status.ready", 2) & has("status.terminating", 0)
    c.until(JOB, "a", wanted, within=40, show=STATUS)


@script("A Job whose labels are removed has those of its template.", ["5.1"])
def labels_removed(c: Dialogue) -> None:
    labelled = parallel(1)
    labelled["metadata"]["labels"] = {"team": "research"}
    start(c, labelled, 1)
    show = ["metadata.labels"]
    c.patch(JOB, "a", {"metadata": {"labels": {"team": None}}}, show=show)
    c.patch(JOB, "a", {"metadata": {"labels": {"team": "other"}}}, show=show)
    c.get(JOB, "a", show=show)
