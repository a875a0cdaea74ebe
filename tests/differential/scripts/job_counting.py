"""Failures of a Job's pods: which count, how often they are retried, and when."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, count, has, present
from tests.differential.script import script
from tests.differential.scripts.injection import (
    STATUS,
    TRACKING,
    delete_pod,
    end,
    failed,
    idle_job,
    pods_of,
    start,
    succeeded,
)
from tests.differential.scripts.manifests import PAST, fails, job
from vocabulary.kinds import JOB, POD

INDEXED = {"completionMode": "Indexed"}
COUNTED = ["status.active", "status.failed", "status.succeeded", "status.conditions"]
TRACKED = ["metadata.finalizers", "status.phase"]


def parallel(pods: int, **spec: Any) -> dict[str, Any]:
    return idle_job("a", completions=pods, parallelism=pods, **spec)


def _patch_pod(c: Dialogue, pod: str, body: dict[str, Any], label: str, show: list[str]) -> None:
    c.raw(
        "PATCH",
        POD.path(c.namespace, pod),
        body,
        content_type="application/merge-patch+json",
        label=label,
        show=show,
    )


@script("More failures at once than the limit allows fail the Job in one step.", ["5.2", "5.4"])
def failures_at_once(c: Dialogue) -> None:
    start(c, parallel(3, backoffLimit=1), 3)
    end(c, "a", failed(1))
    end(c, "a", failed(2))
    c.until(JOB, "a", condition("Failed"), show=STATUS)
    c.until_listed(POD, count(2), show=TRACKED)


@script("As many failures as the limit are retried.", ["5.4"])
def failures_at_limit(c: Dialogue) -> None:
    start(c, parallel(3, backoffLimit=2), 3)
    end(c, "a", failed(1))
    end(c, "a", failed(2))
    c.until(JOB, "a", has("status.failed", 2) & has("status.active", 3), show=STATUS)
    end(c, "a", succeeded())
    end(c, "a", succeeded())
    c.until(JOB, "a", has("status.succeeded", 2), show=STATUS)
    end(c, "a", succeeded())
    c.until(JOB, "a", condition("Complete"), show=STATUS)


@script("While a retry waits for its back-off, the status counts the pods that run.", ["5.4"])
def status_in_back_off(c: Dialogue) -> None:
    start(c, parallel(2, backoffLimit=3), 2)
    end(c, "a", {"phase": "Failed"})
    c.until(JOB, "a", has("status.failed", 1), show=STATUS)
    c.list(POD, show=TRACKED)
    c.until(JOB, "a", has("status.active", 2), within=40, show=STATUS)


@script("A success during the back-off of another pod's retry is counted immediately.", ["5.4"])
def success_in_back_off(c: Dialogue) -> None:
    start(c, parallel(3, backoffLimit=3), 3)
    end(c, "a", {"phase": "Failed"})
    c.until(JOB, "a", has("status.failed", 1), show=COUNTED)
    end(c, "a", succeeded())
    c.until(JOB, "a", has("status.succeeded", 1), show=["status.succeeded", "status.failed"])
    c.until(JOB, "a", has("status.active", 2), within=60, show=STATUS)


@script("The last failure and the last success at once: the failure decides.", ["5.3", "5.4"])
def failure_before_completion(c: Dialogue) -> None:
    start(c, parallel(2, backoffLimit=0), 2)
    end(c, "a", succeeded())
    end(c, "a", failed(1))
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A deleted pod fails a Job without retries.", ["5.2", "5.4"])
def deletion_without_retries(c: Dialogue) -> None:
    c.create(job("a", backoffLimit=0), show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    delete_pod(c, c.peek(POD, "job-name=a")[0]["metadata"]["name"])
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A pod that is deleted before it was bound counts and is replaced.", ["5.4"])
def deletion_before_binding(c: Dialogue) -> None:
    start(c, parallel(1, backoffLimit=2), 1)
    delete_pod(c, pods_of(c, "a")[0]["metadata"]["name"])
    c.until(JOB, "a", has("status.failed", 1) & has("status.active", 1), within=40, show=STATUS)
    c.list(POD, show=TRACKED)


@script(
    "With replacement policy Failed, a pod deleted before it was bound is ended first.", ["5.4"]
)
def deletion_before_binding_failed(c: Dialogue) -> None:
    start(c, parallel(1, backoffLimit=2, podReplacementPolicy="Failed"), 1)
    delete_pod(c, pods_of(c, "a")[0]["metadata"]["name"])
    c.until(JOB, "a", has("status.terminating", 1), show=STATUS)
    c.until(JOB, "a", has("status.failed", 1) & has("status.active", 1), within=80, show=STATUS)


@script("An evicted pod counts as failed and is replaced.", ["5.4", "5.5"])
def eviction_counts(c: Dialogue) -> None:
    c.create(job("a", {"finished_at": PAST}, backoffLimit=2), show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    name = c.peek(POD, "job-name=a")[0]["metadata"]["name"]
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    c.raw("POST", POD.path(c.namespace, name, "eviction"), body, label="evict the pod")
    c.until(JOB, "a", has("status.failed", 1) & has("status.ready", 1), within=40, show=STATUS)


@script("An eviction that a rule ignores does not count, and the Job goes on.", ["5.4", "5.5"])
def eviction_ignored(c: Dialogue) -> None:
    rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
    policy = {"podFailurePolicy": {"rules": [rule]}}
    c.create(job("a", {"finished_at": PAST}, backoffLimit=0, **policy), show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    name = c.peek(POD, "job-name=a")[0]["metadata"]["name"]
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    c.raw("POST", POD.path(c.namespace, name, "eviction"), body, label="evict the pod")
    c.until_listed(
        POD, count(1, has("metadata.deletionTimestamp", None)), within=40, show=["spec.nodeName"]
    )
    c.until(JOB, "a", has("status.ready", 1), within=40, show=STATUS)


@script("Without retries a single restart in place fails the Job.", ["5.4"])
def restart_without_retries(c: Dialogue) -> None:
    behaviour = fails(1, restart_after="20ms")
    never = {"restartPolicy": "OnFailure"}
    c.create(job("a", behaviour, backoffLimit=0, pod=never), show=["spec.backoffLimit"])
    c.until(JOB, "a", condition("Failed"), show=["status.conditions"])


@script("Restarts of a pod that succeeds in the end are no failures.", ["5.4"])
def restarts_and_success(c: Dialogue) -> None:
    pod = {"restartPolicy": "OnFailure"}
    start(c, parallel(1, backoffLimit=3, pod=pod), 1)
    main = {"name": "main", "image": "example.org/main", "imageID": "", "ready": True}
    running = {"state": {"running": {"startedAt": PAST}}, "restartCount": 2}
    end(c, "a", {"phase": "Running", "containerStatuses": [{**main, **running}]})
    c.settle(1.6)
    c.get(JOB, "a", show=STATUS)
    end(c, "a", succeeded())
    c.until(JOB, "a", condition("Complete"), show=STATUS)


@script("Restarts of all running pods together are compared with the limit.", ["5.4"])
def restarts_add_up(c: Dialogue) -> None:
    pod = {"restartPolicy": "OnFailure"}
    start(c, parallel(2, backoffLimit=3, pod=pod), 2)
    main = {"name": "main", "image": "example.org/main", "imageID": "", "ready": True}
    running = {"state": {"running": {"startedAt": PAST}}}
    for at, restarts in ((0, 2), (1, 1)):
        status = [{**main, **running, "restartCount": restarts}]
        names = sorted(item["metadata"]["name"] for item in pods_of(c, "a"))
        c.raw(
            "PATCH",
            POD.path(c.namespace, names[at], "status"),
            {"status": {"phase": "Running", "containerStatuses": status}},
            content_type="application/merge-patch+json",
            label=f"a pod has restarted {restarts} times",
            show=["status.phase"],
        )
        c.settle(2)
        c.get(JOB, "a", show=["status.conditions.0.reason"])
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A pod that has lost its tracking finalizer is not counted when it ends.", ["5.4", "5.8"])
def untracked_pod(c: Dialogue) -> None:
    start(c, parallel(1, backoffLimit=0), 1)
    pod = pods_of(c, "a")[0]["metadata"]["name"]
    _patch_pod(c, pod, {"metadata": {"finalizers": None}}, "stop tracking the pod", TRACKED)
    end(c, "a", failed(1))
    c.until(JOB, "a", has("status.active", 1), show=STATUS)
    c.settle(1.6)
    c.get(JOB, "a", show=STATUS)
    end(c, "a", succeeded())
    c.until(JOB, "a", condition("Complete"), show=STATUS)


@script("A finalizer of others does not keep a pod from being counted.", ["5.2", "5.8"])
def held_pod_counts(c: Dialogue) -> None:
    start(c, parallel(1), 1)
    pod = pods_of(c, "a")[0]["metadata"]["name"]
    held = [TRACKING, "tests.assay.dev/hold"]
    _patch_pod(c, pod, {"metadata": {"finalizers": held}}, "hold the pod", TRACKED)
    end(c, "a", succeeded())
    c.until(JOB, "a", condition("Complete"), show=STATUS)
    c.list(POD, show=TRACKED)


@script("A pod deleted by force stays until it has been counted.", ["5.4", "5.8"])
def forced_deletion(c: Dialogue) -> None:
    c.create(job("a", {"finished_at": PAST}, backoffLimit=3), show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    name = c.peek(POD, "job-name=a")[0]["metadata"]["name"]
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
    c.raw("DELETE", POD.path(c.namespace, name), options, label="delete by force", show=TRACKED)
    c.until(JOB, "a", has("status.failed", 1) & has("status.ready", 1), within=40, show=STATUS)


@script("A pod whose labels no longer match is released, and replaced.", ["5.8"])
def released_pod(c: Dialogue) -> None:
    start(c, parallel(1), 1)
    pod = pods_of(c, "a")[0]["metadata"]["name"]
    label = {"batch.kubernetes.io/controller-uid": "other"}
    show = ["metadata.ownerReferences", "metadata.finalizers"]
    _patch_pod(c, pod, {"metadata": {"labels": label}}, "relabel the pod", show)
    c.until_listed(POD, count(2), show=show)
    c.until(JOB, "a", has("status.active", 1), show=STATUS)


@script("A pod with the labels of a Job, and no owner, is adopted.", ["5.8"])
def adopted_pod(c: Dialogue) -> None:
    start(c, parallel(1), 1)
    mine = c.peek(POD, "job-name=a")[0]
    stray = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "stray", "labels": mine["metadata"]["labels"]},
        "spec": {
            "schedulerName": "nobody",
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "example.org/main"}],
        },
    }
    c.create(stray, show=["metadata.name"])
    c.settle(2.5)
    c.list(POD, show=["metadata.ownerReferences", "metadata.finalizers"])
    c.until(JOB, "a", has("status.active", 1), show=STATUS)


@script("Pods that are ready are counted, also while others are not.", ["5.4"])
def ready_pods(c: Dialogue) -> None:
    start(c, parallel(2), 2)
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    end(c, "a", ready)
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)


@script("A deadline takes effect at a later failure as well as by itself.", ["5.3"])
def deadline_and_failure(c: Dialogue) -> None:
    start(c, parallel(2, activeDeadlineSeconds=3, backoffLimit=5), 2)
    end(c, "a", {"phase": "Failed"})
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A Job without completions keeps its running pods after a success.", ["5.1", "5.4"])
def work_queue_after_success(c: Dialogue) -> None:
    start(c, idle_job("a", parallelism=3), 3)
    end(c, "a", succeeded())
    c.until(JOB, "a", has("status.succeeded", 1), show=STATUS)
    end(c, "a", failed(1))
    c.until(JOB, "a", has("status.failed", 1), show=STATUS)
    end(c, "a", succeeded())
    c.until(JOB, "a", condition("Complete"), show=STATUS)


@script("A Job of no completions is complete without a pod.", ["5.1", "5.2"])
def no_completions(c: Dialogue) -> None:
    c.create(idle_job("a", completions=0), show=["spec.completions", "spec.parallelism"])
    c.until(JOB, "a", condition("Complete"), show=STATUS)
    c.create(idle_job("b", completions=0, **INDEXED), show=["spec.completions"])
    c.until(JOB, "b", condition("Complete"), show=STATUS)
    c.create(idle_job("s", completions=0, suspend=True), show=["spec.completions"])
    c.until(JOB, "s", present("status.conditions"), show=STATUS)
