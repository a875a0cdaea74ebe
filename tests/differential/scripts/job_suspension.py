"""Suspended Jobs: deadlines that stand still, pods that stop slowly, failures kept in mind."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, count, has, present
from tests.differential.script import script
from tests.differential.scripts.injection import (
    STATUS,
    end,
    failed,
    idle_job,
    start,
    succeeded,
)
from tests.differential.scripts.manifests import SUCCEEDS, job
from vocabulary.kinds import JOB, POD

INDEXED = {"completionMode": "Indexed"}
SUSPEND = ["spec.suspend"]


def suspend(c: Dialogue, value: bool, name: str = "a") -> None:
    c.patch(JOB, name, {"spec": {"suspend": value}}, show=SUSPEND)


@script("A suspended Job has no deadline, and a resumed one a new one.", ["5.7"])
def deadline_of_suspended(c: Dialogue) -> None:
    c.create(job("a", activeDeadlineSeconds=3), show=SUSPEND)
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    suspend(c, True)
    c.until(JOB, "a", condition("Suspended") & has("status.terminating", 0), show=STATUS)
    c.stays(JOB, "a", has("status.failed", None), for_seconds=4, show=STATUS)
    suspend(c, False)
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A Job created suspended has its deadline counted from when it is resumed.", ["5.7"])
def deadline_after_suspension(c: Dialogue) -> None:
    c.create(job("a", activeDeadlineSeconds=2, suspend=True), show=SUSPEND)
    c.until(JOB, "a", condition("Suspended"), show=STATUS)
    c.stays(JOB, "a", condition("Suspended"), for_seconds=3, show=STATUS)
    suspend(c, False)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("Suspending keeps the count of failures, and does not add to it.", ["5.4", "5.7"])
def failures_over_suspension(c: Dialogue) -> None:
    start(c, idle_job("a", completions=2, parallelism=2, backoffLimit=1), 2)
    end(c, "a", failed(1))
    c.until(JOB, "a", has("status.failed", 1) & has("status.active", 2), show=STATUS)
    suspend(c, True)
    c.until(JOB, "a", condition("Suspended") & has("status.terminating", 0), show=STATUS)
    suspend(c, False)
    c.until(JOB, "a", has("status.active", 2), show=STATUS)
    end(c, "a", failed(1))
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A pod that ends while the Job is being suspended is counted.", ["5.4", "5.7"])
def end_in_suspension(c: Dialogue) -> None:
    start(c, idle_job("a", completions=3, parallelism=3, backoffLimit=1), 3)
    end(c, "a", succeeded())
    end(c, "a", failed(1))
    suspend(c, True)
    c.until(JOB, "a", condition("Suspended") & has("status.terminating", 0), show=STATUS)
    c.settle(1.6)
    c.get(JOB, "a", show=STATUS)


@script("A suspended Job waits for pods that stop slowly, but says that it is suspended.", ["5.7"])
def slow_suspension(c: Dialogue) -> None:
    c.create(job("a", {"stuck_terminating": "true"}), show=SUSPEND)
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    suspend(c, True)
    c.until(JOB, "a", has("status.terminating", 1) & condition("Suspended"), show=STATUS)
    name = c.peek(POD, "job-name=a")[0]["metadata"]["name"]
    c.list(POD, show=["metadata.finalizers", "status.phase"])
    body = {"metadata": {"annotations": {"assay.dev/stuck-terminating": None}}}
    c.patch(POD, name, body, show=["status.phase"])
    c.until(JOB, "a", has("status.terminating", 0), show=STATUS)


@script("A Job resumed while its old pods still stop starts new ones beside them.", ["5.4", "5.7"])
def resumed_early(c: Dialogue) -> None:
    c.create(job("a", {"stuck_terminating": "true"}), show=SUSPEND)
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    suspend(c, True)
    c.until(JOB, "a", has("status.terminating", 1) & condition("Suspended"), show=STATUS)
    suspend(c, False)
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)


@script("With policy Failed a resumed Job waits until its old pods have stopped.", ["5.4", "5.7"])
def resumed_late(c: Dialogue) -> None:
    body = job("a", {"stuck_terminating": "true"}, podReplacementPolicy="Failed")
    c.create(body, show=SUSPEND)
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    suspend(c, True)
    c.until(JOB, "a", has("status.terminating", 1) & condition("Suspended"), show=STATUS)
    name = c.peek(POD, "job-name=a")[0]["metadata"]["name"]
    suspend(c, False)
    c.until(JOB, "a", condition("Suspended", "False"), show=STATUS)
    c.stays(JOB, "a", has("status.active", None), for_seconds=2, show=STATUS)
    free = {"metadata": {"annotations": {"assay.dev/stuck-terminating": None}}}
    c.patch(POD, name, free, show=["metadata.finalizers"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)


@script("A suspended Job keeps its succeeded indexes, and goes on with the others.", ["5.6", "5.7"])
def indexes_over_suspension(c: Dialogue) -> None:
    start(c, idle_job("a", completions=3, parallelism=3, **INDEXED), 3)
    end(c, "a", succeeded(), index=1)
    c.until(JOB, "a", has("status.completedIndexes", "1"), show=STATUS)
    suspend(c, True)
    c.until(JOB, "a", condition("Suspended") & has("status.terminating", 0), show=STATUS)
    suspend(c, False)
    c.until(JOB, "a", has("status.active", 2), show=STATUS)
    c.until_listed(POD, count(3), show=["spec.hostname", "status.phase"])


@script("The failures of an index are forgotten when its pod is suspended.", ["5.6", "5.7"])
def index_failures_over_suspension(c: Dialogue) -> None:
    start(c, idle_job("a", completions=1, **INDEXED, backoffLimitPerIndex=1), 1)
    end(c, "a", failed(1), index=0)
    c.until(JOB, "a", has("status.failed", 1) & has("status.active", 1), show=STATUS)
    c.settle(1.6)
    c.list(POD, show=["metadata.annotations", "status.phase"])
    suspend(c, True)
    c.until(JOB, "a", condition("Suspended") & has("status.terminating", 0), show=STATUS)
    suspend(c, False)
    c.until(JOB, "a", has("status.active", 1), show=STATUS)
    c.list(POD, show=["metadata.annotations", "status.phase"])


@script("A finished Job can be suspended to no effect.", ["5.1", "5.7"])
def suspended_after_the_end(c: Dialogue) -> None:
    c.create(job("a", SUCCEEDS), show=SUSPEND)
    c.until(JOB, "a", condition("Complete"), show=STATUS)
    suspend(c, True)
    c.settle(1.6)
    c.get(JOB, "a", show=STATUS)
    suspend(c, False)


@script(
    "A suspended Job can fail by its limit, but is not complete before it goes on.", ["5.3", "5.7"]
)
def end_of_suspended(c: Dialogue) -> None:
    start(c, idle_job("f", backoffLimit=0), 1)
    end(c, "f", failed(1))
    suspend(c, True, "f")
    c.until(JOB, "f", condition("Failed"), show=STATUS)
    start(c, idle_job("s", backoffLimit=0), 1)
    end(c, "s", succeeded())
    suspend(c, True, "s")
    c.until(JOB, "s", present("status.conditions"), show=STATUS)


@script("The template of a Job that was suspended takes effect on its new pods.", ["5.1", "5.7"])
def template_of_suspended(c: Dialogue) -> None:
    start(c, idle_job("a"), 1)
    suspend(c, True)
    c.until(JOB, "a", condition("Suspended") & has("status.terminating", 0), show=STATUS)
    template: dict[str, Any] = {
        "metadata": {"labels": {"queue": "x"}, "annotations": {"queue": "y"}},
        "spec": {
            "nodeSelector": {"pool": "z"},
            "tolerations": [{"key": "k", "operator": "Exists"}],
        },
    }
    c.patch(JOB, "a", {"spec": {"template": template}}, show=["spec.template.metadata.annotations"])
    suspend(c, False)
    c.until(JOB, "a", has("status.active", 1), show=STATUS)
    show = ["metadata.labels", "metadata.annotations", "spec.nodeSelector", "spec.tolerations"]
    c.list(POD, show=show)
    template["spec"]["nodeSelector"] = {"pool": "w"}
    c.patch(JOB, "a", {"spec": {"template": template}}, show=["spec.template"])
