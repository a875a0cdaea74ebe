"""Indexed Jobs: one pod per index, failures per index, success policies."""

from __future__ import annotations

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, has
from tests.differential.script import script
from tests.differential.scripts.injection import (
    MERGE,
    TRACKING,
    end,
    failed,
    idle_job,
    pods_of,
    start,
    succeeded,
)
from tests.differential.scripts.job_failure import in_codes
from tests.differential.scripts.manifests import PAST, SUCCEEDS, fails, job
from vocabulary.kinds import JOB, POD

STATUS = ["status"]
INDEXED = {"completionMode": "Indexed"}


def _annotate_index(c: Dialogue, index: int, values: dict[str, str]) -> None:
    """Change how the running pod of an index behaves."""
    selector = f"batch.kubernetes.io/job-completion-index={index}"
    found = c.list(POD, labels=selector, show=["spec.hostname"]).items
    alive = [pod for pod in found if pod["status"]["phase"] in ("Pending", "Running")]
    body = {
        "metadata": {"annotations": {f"assay.dev/{key}": value for key, value in values.items()}}
    }
    path = POD.path(c.namespace, alive[0]["metadata"]["name"])
    c.raw(
        "PATCH",
        path,
        body,
        content_type="application/merge-patch+json",
        label=f"change index {index}",
        show=["status.phase"],
    )


@script(
    "Each index has its pod, with its name, host name, label, annotation and variable.", ["5.6"]
)
def indexed_pods(c: Dialogue) -> None:
    c.create(job("a", **INDEXED, completions=2, parallelism=2), show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 2), show=STATUS)
    c.list(POD)


@script("Succeeded indexes are recorded in compressed form.", ["5.6"])
def completed_indexes(c: Dialogue) -> None:
    c.create(job("a", **INDEXED, completions=6, parallelism=6), show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 6), show=STATUS)
    for index in (0, 2, 3, 4):
        _annotate_index(c, index, {"exit": "0"})
    c.until(JOB, "a", has("status.succeeded", 4), show=STATUS)
    for index in (1, 5):
        _annotate_index(c, index, {"exit": "0"})
    c.until(JOB, "a", condition("Complete"), show=STATUS)


@script("An index that has used up its own retries fails, the others continue.", ["5.4", "5.6"])
def failures_per_index(c: Dialogue) -> None:
    c.create(
        job(
            "a",
            {"finished_at": PAST},
            **INDEXED,
            completions=2,
            parallelism=2,
            backoffLimitPerIndex=0,
        ),
        show=["spec.backoffLimit", "spec.backoffLimitPerIndex"],
    )
    c.until(JOB, "a", has("status.ready", 2), show=STATUS)
    c.list(POD, show=["metadata.annotations", "metadata.labels"])
    _annotate_index(c, 1, {"exit": "1"})
    c.until(JOB, "a", has("status.failedIndexes", "1") & has("status.failed", 1), show=STATUS)
    _annotate_index(c, 0, {"exit": "0"})
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("An index is retried with its failures counted on its pods.", ["5.4", "5.6"])
def retries_per_index(c: Dialogue) -> None:
    c.create(
        job("a", fails(), **INDEXED, completions=1, backoffLimitPerIndex=1), show=["metadata.name"]
    )
    c.until(JOB, "a", condition("Failed"), within=60, show=STATUS)
    c.list(
        POD, show=["metadata.annotations", "metadata.labels", "metadata.finalizers", "status.phase"]
    )


@script("Too many failed indexes fail the Job immediately.", ["5.2", "5.6"])
def max_failed_indexes(c: Dialogue) -> None:
    c.create(
        job(
            "a",
            {"finished_at": PAST},
            **INDEXED,
            completions=3,
            parallelism=3,
            backoffLimitPerIndex=0,
            maxFailedIndexes=0,
        ),
        show=["metadata.name"],
    )
    c.until(JOB, "a", has("status.ready", 3), show=STATUS)
    _annotate_index(c, 2, {"exit": "1"})
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("The rule FailIndex fails an index without further retries.", ["5.5", "5.6"])
def rule_fail_index(c: Dialogue) -> None:
    c.create(
        job(
            "a",
            fails(42),
            **INDEXED,
            completions=1,
            backoffLimitPerIndex=3,
            podFailurePolicy={"rules": [in_codes("FailIndex", 42)]},
        ),
        show=["metadata.name"],
    )
    c.until(JOB, "a", condition("Failed"), show=STATUS)
    c.list(POD, show=["metadata.annotations", "status.phase"])


@script("A success policy ends a Job when enough has succeeded.", ["5.2", "5.6"])
def success_policy(c: Dialogue) -> None:
    first = c.create(
        job(
            "a",
            **INDEXED,
            completions=3,
            parallelism=3,
            successPolicy={"rules": [{"succeededIndexes": "0,2", "succeededCount": 1}]},
        ),
        show=["spec.successPolicy"],
    )
    c.until(JOB, "a", has("status.ready", 3), show=STATUS)
    _annotate_index(c, 1, {"exit": "0"})
    c.until(JOB, "a", has("status.succeeded", 1), show=STATUS)
    _annotate_index(c, 2, {"exit": "0"})
    c.until(JOB, "a", condition("Complete"), show=STATUS)
    c.watch(
        JOB,
        condition("Complete"),
        name="a",
        since=first.revision,
        distinct=True,
        show=["status.conditions"],
    )
    c.list(POD, show=["status.phase", "metadata.labels"])


@script("An indexed Job retries within the common limit.", ["5.4", "5.6"])
def indexed_common_limit(c: Dialogue) -> None:
    c.create(
        job("a", fails(), **INDEXED, completions=2, parallelism=1, backoffLimit=1),
        show=["metadata.name"],
    )
    c.until(JOB, "a", condition("Failed"), within=60, show=STATUS)


@script("An indexed Job that shrinks deletes the pods of the indexes it has lost.", ["5.1", "5.6"])
def elastic_indexed_pods(c: Dialogue) -> None:
    c.create(job("a", **INDEXED, completions=3, parallelism=3), show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 3), show=STATUS)
    c.patch(JOB, "a", {"spec": {"completions": 1, "parallelism": 1}}, show=["spec.completions"])
    c.until(JOB, "a", has("status.active", 1) & has("status.terminating", 0), show=STATUS)
    c.list(POD, show=["spec.hostname", "status.phase"])
    _annotate_index(c, 0, {"exit": "0"})
    c.until(JOB, "a", condition("Complete"), show=STATUS)


@script("Every index of an indexed Job has to succeed.", ["5.6"])
def indexed_completes(c: Dialogue) -> None:
    c.create(job("a", SUCCEEDS, **INDEXED, completions=3, parallelism=1), show=["metadata.name"])
    c.until(JOB, "a", condition("Complete"), show=STATUS)


@script("Pods beyond the completions of a Job that shrinks are not counted.", ["5.6"])
def shrunk_indexes(c: Dialogue) -> None:
    spec = {"completionMode": "Indexed", "completions": 4, "parallelism": 4}
    start(c, idle_job("a", **spec), 4)
    held = {"metadata": {"finalizers": [TRACKING, "example.org/held"]}}
    names = {index: pods_of(c, "a", index)[0]["metadata"]["name"] for index in range(4)}
    for index in (2, 3):
        path = POD.path(c.namespace, names[index])
        c.raw("PATCH", path, held, content_type=MERGE, label=f"hold {index}", show=["kind"])
    c.patch(JOB, "a", {"spec": {"completions": 2, "parallelism": 2}}, show=["spec.completions"])
    shrunk = has("status.active", 2) & has("status.terminating", 2)
    c.until(JOB, "a", shrunk, show=["status"])
    for index, status in ((2, failed()), (3, succeeded())):
        path = POD.path(c.namespace, names[index], "status")
        body = {"status": status}
        c.raw("PATCH", path, body, content_type=MERGE, label=f"end {index}", show=["status.phase"])
    ended = has("status.active", 2) & has("status.terminating", 0)
    c.until(JOB, "a", ended, show=["status"])
    free = {"metadata": {"finalizers": None}}
    for index in (2, 3):
        path = POD.path(c.namespace, names[index])
        c.raw("PATCH", path, free, content_type=MERGE, label=f"free {index}", show=["kind"])
    for index in (0, 1):
        end(c, "a", succeeded(), index=index)
    c.until(JOB, "a", condition("Complete"), show=["status"])


@script("A rule that names no index is met by none.", ["5.6"])
def no_index_of_success(c: Dialogue) -> None:
    rules = [{"succeededIndexes": ""}, {"succeededIndexes": "1", "succeededCount": 1}]
    spec = {"completionMode": "Indexed", "completions": 3, "parallelism": 3}
    start(c, idle_job("a", **spec, successPolicy={"rules": rules}), 3)
    end(c, "a", succeeded(), index=0)
    c.until(JOB, "a", has("status.succeeded", 1), show=["status"])
    end(c, "a", succeeded(), index=1)
    c.until(JOB, "a", condition("SuccessCriteriaMet"), show=["status.succeeded"])
    c.until(JOB, "a", condition("Complete"), show=["status"])
