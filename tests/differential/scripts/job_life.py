"""Suspending, resuming and deleting Jobs; status written by others."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, count, event, exists, has, present, terminating
from tests.differential.script import script
from tests.differential.scripts.manifests import PAST, job
from vocabulary.kinds import JOB, POD

STATUS = ["status"]
NOW = "2024-01-01T00:00:00Z"
HOLD = "tests.assay.dev/hold"
PODS = [
    "metadata.finalizers",
    "metadata.ownerReferences",
    "metadata.deletionTimestamp",
    "status.phase",
]


@script("A suspended Job runs no pods, and its status shows that.", ["5.7"])
def created_suspended(c: Dialogue) -> None:
    c.create(job("a", suspend=True), show=["spec.suspend"])
    c.until(JOB, "a", condition("Suspended"), show=STATUS)
    c.list(POD, show=["metadata.name"])
    c.patch(JOB, "a", {"spec": {"suspend": False}}, show=["spec.suspend"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)


@script("Suspending stops the pods without counting them, resuming starts over.", ["5.7"])
def suspend_and_resume(c: Dialogue) -> None:
    c.create(
        job("a", parallelism=2, completions=2, activeDeadlineSeconds=600), show=["metadata.name"]
    )
    c.until(JOB, "a", has("status.ready", 2), show=STATUS)
    c.patch(JOB, "a", {"spec": {"suspend": True}}, show=["spec.suspend", "metadata.generation"])
    c.until(JOB, "a", condition("Suspended") & has("status.terminating", 0), show=STATUS)
    c.until_listed(POD, count(0))
    c.patch(JOB, "a", {"spec": {"suspend": False}}, show=["spec.suspend", "metadata.generation"])
    c.until(JOB, "a", has("status.ready", 2), show=STATUS)
    c.list(POD, show=["status.phase", "metadata.finalizers"])


@script("A deleted Job goes first, and its pods after it.", ["5.8"])
def delete_background(c: Dialogue) -> None:
    c.create(job("a"), show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    c.delete(JOB, "a", "Background")
    c.get(JOB, "a")
    c.until_listed(POD, count(0))


@script("A Job deleted in the foreground exists until its pods are gone.", ["4.6", "4.8", "5.8"])
def delete_foreground(c: Dialogue) -> None:
    first = c.create(job("a", {"stuck_terminating": "true"}), show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    c.delete(JOB, "a", "Foreground", show=["metadata.finalizers", "metadata.generation", "status"])
    c.until_listed(POD, count(1, terminating), show=PODS)
    c.create(job("a"))
    c.until(JOB, "a", has("status.terminating", 1), show=["metadata.finalizers", "status"])
    name = c.list(POD, show=PODS).items[0]["metadata"]["name"]
    body = {"metadata": {"annotations": {"assay.dev/stuck-terminating": None}}}
    c.raw(
        "PATCH",
        POD.path(c.namespace, name),
        body,
        content_type="application/merge-patch+json",
        label="free the pod",
        show=PODS,
    )
    c.until_gone(JOB, "a")
    c.list(POD, show=PODS)
    c.watch(
        JOB,
        event("DELETED"),
        since=first.revision,
        name="a",
        distinct=True,
        show=["metadata.finalizers"],
    )


@script("Without a policy a Job orphans its pods, for compatibility.", ["4.1", "5.8"])
def delete_default(c: Dialogue) -> None:
    c.create(job("a"), show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    c.delete(JOB, "a", show=["metadata.finalizers"])
    c.until_gone(JOB, "a")
    c.until_listed(POD, count(1, has("metadata.finalizers", None)), show=PODS)


@script("A Job deleted with orphaning leaves its pod, without owner and tracking.", ["4.10", "5.8"])
def delete_orphan(c: Dialogue) -> None:
    c.create(job("a"), show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    c.delete(JOB, "a", "Orphan", show=["metadata.finalizers"])
    c.until_gone(JOB, "a")
    c.until_listed(
        POD,
        count(1, has("metadata.ownerReferences", None) & has("metadata.finalizers", None)),
        show=PODS,
    )


@script("A terminating Job creates no more pods, and releases those it has.", ["5.8"])
def terminating_job(c: Dialogue) -> None:
    held = job("a", {"finished_at": PAST})
    held["metadata"]["finalizers"] = [HOLD]
    c.create(held, show=["metadata.finalizers"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    c.delete(JOB, "a", "Background", show=["metadata.finalizers"])
    c.until_listed(POD, count(1, has("metadata.finalizers", None)), show=PODS)
    name = c.list(POD, show=PODS).items[0]["metadata"]["name"]
    c.raw("DELETE", POD.path(c.namespace, name), label="delete the pod", show=["status.phase"])
    c.until_listed(POD, count(0))
    c.stays(JOB, "a", exists, for_seconds=2, show=["metadata.finalizers"])
    c.list(POD, show=PODS)


@script(
    "A Job's pod is gone once the Job has counted it, and the kubelet has deleted it.",
    ["4.12", "5.8"],
)
def tracking_finalizer(c: Dialogue) -> None:
    c.create(
        job("a", {"exit": "0", "run_for": "50ms", "finished_at": PAST}), show=["metadata.name"]
    )
    c.until(JOB, "a", condition("Complete"), show=STATUS)
    c.list(POD, show=PODS)
    c.delete_collection(POD, show=["metadata.finalizers", "status.phase"])
    c.until_listed(POD, count(0))
    c.get(JOB, "a", show=STATUS)


@script("Orphaned pods that match a selector are not adopted by a Job with another uid.", ["5.8"])
def no_adoption(c: Dialogue) -> None:
    c.create(job("a"), show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    c.delete(JOB, "a", "Orphan", show=["metadata.finalizers"])
    c.until_gone(JOB, "a")
    c.create(job("a"), show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    c.until_listed(POD, count(2), show=PODS)


def _external(c: Dialogue, name: str = "a", **spec: Any) -> None:
    c.create(job(name, managedBy="example.org/external", **spec), show=["metadata.name", "status"])


def _put(c: Dialogue, status: dict[str, Any], name: str = "a") -> None:
    c.patch(JOB, name, {"status": status}, subresource="status", show=STATUS)


def _conditions(*types: str) -> list[dict[str, str]]:
    return [{"type": type_, "status": "True", "lastTransitionTime": NOW} for type_ in types]


@script("A Job's status is validated: failing.", ["5.9"])
def status_failed(c: Dialogue) -> None:
    _external(c)
    _put(c, {"startTime": NOW, "active": 1, "ready": 1})
    _put(c, {"ready": 2})
    _put(c, {"conditions": _conditions("Failed")})
    _put(c, {"conditions": _conditions("FailureTarget", "Failed")})
    _put(c, {"conditions": _conditions("FailureTarget", "SuccessCriteriaMet")})
    _put(c, {"conditions": _conditions("FailureTarget")})
    _put(c, {"conditions": []})
    _put(
        c,
        {
            "conditions": _conditions("FailureTarget", "Failed"),
            "active": 0,
            "ready": 0,
            "failed": 1,
            "completionTime": NOW,
        },
    )
    _put(
        c,
        {
            "conditions": _conditions("FailureTarget", "Failed"),
            "active": 0,
            "ready": 0,
            "failed": 1,
            "terminating": 1,
        },
    )
    _put(
        c,
        {
            "conditions": _conditions("FailureTarget", "Failed"),
            "active": 0,
            "ready": 0,
            "failed": 1,
            "uncountedTerminatedPods": {"failed": ["x"]},
        },
    )
    _put(
        c,
        {
            "conditions": _conditions("FailureTarget", "Failed"),
            "active": 0,
            "ready": 0,
            "failed": 1,
        },
    )
    _put(c, {"conditions": _conditions("FailureTarget")})
    _put(c, {"conditions": _conditions("FailureTarget", "Failed", "Complete")})
    _put(c, {"failed": 0})
    _put(c, {"startTime": "2025-01-01T00:00:00Z"})


@script("A Job's status is validated: succeeding.", ["5.9"])
def status_complete(c: Dialogue) -> None:
    _external(c)
    _put(c, {"conditions": _conditions("SuccessCriteriaMet", "Complete"), "completionTime": NOW})
    _put(c, {"startTime": NOW, "active": 1})
    _put(c, {"completionTime": NOW})
    _put(
        c,
        {"conditions": _conditions("Complete"), "completionTime": NOW, "active": 0, "succeeded": 1},
    )
    _put(
        c,
        {"conditions": _conditions("SuccessCriteriaMet", "Complete"), "active": 0, "succeeded": 1},
    )
    _put(
        c,
        {
            "conditions": _conditions("SuccessCriteriaMet", "Complete"),
            "active": 0,
            "succeeded": 1,
            "completionTime": "2023-01-01T00:00:00Z",
        },
    )
    _put(c, {"conditions": _conditions("SuccessCriteriaMet"), "succeeded": 1, "active": 0})
    _put(c, {"conditions": _conditions("SuccessCriteriaMet", "Complete"), "completionTime": NOW})
    _put(c, {"completionTime": "2025-01-01T00:00:00Z"})
    _put(c, {"completionTime": None})
    _put(c, {"succeeded": 0})


@script("A Job's status is validated: both terminal conditions in one write are accepted.", ["5.9"])
def status_in_one_write(c: Dialogue) -> None:
    _external(c)
    _put(c, {"startTime": NOW, "conditions": _conditions("FailureTarget", "Failed"), "failed": 1})
    _external(c, "b")
    _put(
        c,
        {
            "startTime": NOW,
            "conditions": _conditions("SuccessCriteriaMet", "Complete"),
            "succeeded": 1,
            "completionTime": NOW,
        },
        "b",
    )


@script("A Job's status is validated: indexes, counts and times.", ["5.9"])
def status_details(c: Dialogue) -> None:
    _external(c)
    _put(c, {"completedIndexes": "0"})
    _put(c, {"failedIndexes": "0"})
    _put(c, {"active": -1, "ready": -1, "failed": -1, "succeeded": -1, "terminating": -1})
    _put(c, {"startTime": NOW})
    _put(c, {"startTime": None})
    _put(c, {"startTime": "2025-01-01T00:00:00Z"})
    _external(c, "i", completionMode="Indexed", completions=3, backoffLimitPerIndex=1)
    _put(c, {"completedIndexes": "2,1"}, "i")
    _put(c, {"completedIndexes": "0,7"}, "i")
    _put(c, {"completedIndexes": "0-1", "failedIndexes": "1"}, "i")
    _put(c, {"completedIndexes": "0", "failedIndexes": "2", "succeeded": 1, "failed": 1}, "i")
    _put(c, {"uncountedTerminatedPods": {"succeeded": ["x", "x"]}}, "i")
    _put(c, {"uncountedTerminatedPods": {"succeeded": ["x"], "failed": ["x", ""]}}, "i")
    _external(c, "s", suspend=True)
    _put(c, {"startTime": NOW}, "s")
    _put(c, {"startTime": None}, "s")


@script(
    "A suspended Job that was started can lose its start time, as queues need it.", ["5.7", "5.9"]
)
def reset_start_time(c: Dialogue) -> None:
    c.create(job("a"), show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    c.patch(JOB, "a", {"spec": {"suspend": True}}, show=["spec.suspend"])
    c.until(JOB, "a", condition("Suspended") & has("status.terminating", 0), show=STATUS)
    c.patch(JOB, "a", {"status": {"startTime": None}}, subresource="status", show=STATUS)
    c.patch(
        JOB,
        "a",
        {"spec": {"template": {"spec": {"nodeSelector": {"kubernetes.io/hostname": "n0"}}}}},
        show=["spec.template.spec.nodeSelector"],
    )
    c.patch(JOB, "a", {"spec": {"suspend": False}}, show=["spec.suspend"])
    c.until(JOB, "a", present("status.startTime") & has("status.ready", 1), show=STATUS)
