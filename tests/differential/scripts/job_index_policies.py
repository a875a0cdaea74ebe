"""Indexed Jobs whose pods end as a script wants it: limits, policies, duplicates, names."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, count, has, present
from tests.differential.script import script
from tests.differential.scripts.injection import (
    INDEX,
    STATUS,
    delete_pod,
    end,
    failed,
    idle_job,
    pods_of,
    start,
    succeeded,
)
from tests.differential.scripts.manifests import PAST, job
from vocabulary.kinds import JOB, POD

ANNOTATED = ["metadata.annotations", "metadata.finalizers", "status.phase"]


def indexed(pods: int, **spec: Any) -> dict[str, Any]:
    fields = {"completions": pods, "parallelism": pods, **spec}
    return idle_job("a", completionMode="Indexed", **fields)


def success(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"successPolicy": {"rules": list(rules)}}


@script("Each index has its own retries.", ["5.4", "5.6"])
def retries_of_each_index(c: Dialogue) -> None:
    start(c, indexed(2, backoffLimitPerIndex=1), 2)
    end(c, "a", failed(1), index=0)
    end(c, "a", failed(1), index=1)
    c.until(JOB, "a", has("status.failed", 2) & has("status.active", 2), show=STATUS)
    c.settle(1.6)
    c.list(POD, show=ANNOTATED)
    end(c, "a", failed(1), index=1)
    c.until(JOB, "a", has("status.failedIndexes", "1") & has("status.failed", 3), show=STATUS)
    end(c, "a", succeeded(), index=0)
    c.until(JOB, "a", condition("Failed"), show=STATUS)
    c.list(POD, show=ANNOTATED)


@script("As many indexes may fail as the maximum says, and no more.", ["5.2", "5.6"])
def max_failed_indexes_reached(c: Dialogue) -> None:
    start(c, indexed(4, backoffLimitPerIndex=0, maxFailedIndexes=1), 4)
    end(c, "a", failed(1), index=2)
    c.until(JOB, "a", has("status.failedIndexes", "2") & has("status.failed", 1), show=STATUS)
    end(c, "a", succeeded(), index=3)
    c.until(JOB, "a", has("status.completedIndexes", "3"), show=STATUS)
    end(c, "a", failed(1), index=0)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("The common limit takes precedence over failed indexes.", ["5.3", "5.6"])
def common_limit_before_indexes(c: Dialogue) -> None:
    start(c, indexed(2, backoffLimit=0, backoffLimitPerIndex=0, maxFailedIndexes=0), 2)
    end(c, "a", failed(1), index=0)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("Too many failed indexes take precedence over the last index having ended.", ["5.3", "5.6"])
def max_failed_before_all_ended(c: Dialogue) -> None:
    start(c, indexed(2, backoffLimitPerIndex=0, maxFailedIndexes=0), 2)
    end(c, "a", succeeded(), index=0)
    end(c, "a", failed(1), index=1)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("Failed indexes take precedence over a success policy that is met.", ["5.3", "5.6"])
def failed_indexes_before_success(c: Dialogue) -> None:
    spec = success({"succeededCount": 1})
    start(c, indexed(2, backoffLimitPerIndex=0, **spec), 2)
    end(c, "a", succeeded(), index=0)
    end(c, "a", failed(1), index=1)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script(
    "A success policy can be met by indexes, by a count, or by a count of some.", ["5.2", "5.6"]
)
def success_rules(c: Dialogue) -> None:
    spec = success(
        {"succeededIndexes": "0-1"},
        {"succeededIndexes": "1-3", "succeededCount": 2},
        {"succeededCount": 4},
    )
    start(c, indexed(5, **spec), 5)
    end(c, "a", succeeded(), index=4)
    end(c, "a", succeeded(), index=0)
    end(c, "a", succeeded(), index=3)
    c.until(JOB, "a", has("status.succeeded", 3), show=STATUS)
    end(c, "a", succeeded(), index=2)
    c.until(JOB, "a", condition("Complete"), show=STATUS)


@script("The first rule that is met is reported.", ["5.2", "5.6"])
def success_rules_in_order(c: Dialogue) -> None:
    spec = success({"succeededCount": 3}, {"succeededCount": 2}, {"succeededIndexes": "0"})
    start(c, indexed(4, **spec), 4)
    end(c, "a", succeeded(), index=0)
    end(c, "a", succeeded(), index=1)
    c.until(JOB, "a", condition("Complete"), show=STATUS)


@script("Once a success policy is met, failures do not matter any more.", ["5.2", "5.6"])
def failures_after_success(c: Dialogue) -> None:
    spec = success({"succeededIndexes": "0"})
    start(c, indexed(2, backoffLimit=0, **spec), 2)
    other = pods_of(c, "a", 1)[0]["metadata"]["name"]
    held = ["batch.kubernetes.io/job-tracking", "tests.assay.dev/hold"]
    c.patch(POD, other, {"metadata": {"finalizers": held}}, show=["metadata.finalizers"])
    end(c, "a", succeeded(), index=0)
    wanted = condition("SuccessCriteriaMet") & has("status.terminating", 1)
    c.until(JOB, "a", wanted, show=STATUS)
    c.patch(POD, other, {"status": failed(1)}, subresource="status", show=["status.phase"])
    c.until(JOB, "a", condition("Complete"), show=STATUS)


@script("A success policy that all indexes satisfy at once is still the reason.", ["5.2", "5.6"])
def success_by_all(c: Dialogue) -> None:
    spec = success({"succeededCount": 2})
    start(c, indexed(2, **spec), 2)
    end(c, "a", succeeded(), index=0)
    end(c, "a", succeeded(), index=1)
    c.until(JOB, "a", condition("Complete"), show=STATUS)


@script("All indexes may succeed before a success policy is met.", ["5.2", "5.6"])
def success_without_policy_met(c: Dialogue) -> None:
    spec = success({"succeededIndexes": "0", "succeededCount": 1})
    start(c, indexed(1, **spec), 1)
    end(c, "a", succeeded(), index=0)
    c.until(JOB, "a", condition("Complete"), show=STATUS)


@script("The lowest indexes start first, and one that is retried before later ones.", ["5.6"])
def order_of_indexes(c: Dialogue) -> None:
    start(c, indexed(5, parallelism=2, backoffLimit=5), 2)
    c.list(POD, show=["spec.hostname"])
    end(c, "a", failed(1), index=0)
    c.until(JOB, "a", has("status.failed", 1) & has("status.active", 2), show=STATUS)
    c.settle(1.6)
    c.list(POD, show=["spec.hostname", "status.phase"])
    end(c, "a", succeeded(), index=1)
    c.until(JOB, "a", has("status.succeeded", 1) & has("status.active", 2), show=STATUS)
    c.settle(1.6)
    c.list(POD, show=["spec.hostname", "status.phase"])


@script("Of two pods for one index the worse one is deleted.", ["5.6"])
def duplicate_index(c: Dialogue) -> None:
    start(c, indexed(1), 1)
    mine = c.peek(POD, "job-name=a")[0]
    end(c, "a", {"phase": "Running"}, index=0)
    owner = mine["metadata"]["ownerReferences"]
    stray = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "stray",
            "labels": mine["metadata"]["labels"],
            "annotations": mine["metadata"]["annotations"],
            "ownerReferences": owner,
            "finalizers": ["batch.kubernetes.io/job-tracking"],
        },
        "spec": {
            "schedulerName": "nobody",
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "example.org/main"}],
        },
    }
    c.create(stray, show=["metadata.name"])
    c.until_gone(POD, "stray")
    c.settle(1.6)
    c.until(JOB, "a", has("status.active", 1), show=STATUS)


@script("A pod of an index that the Job does not have is deleted.", ["5.6"])
def foreign_index(c: Dialogue) -> None:
    start(c, indexed(2), 2)
    pod = pods_of(c, "a", 1)[0]["metadata"]["name"]
    body = {"metadata": {"annotations": {INDEX: "7"}}}
    c.patch(POD, pod, body, show=["metadata.annotations"])
    c.settle(2.5)
    c.until(JOB, "a", has("status.active", 2), show=STATUS)
    c.until_listed(POD, count(2), show=["metadata.annotations", "spec.hostname"])


@script("A deleted pod counts against the retries of its index.", ["5.4", "5.6"])
def deleted_index(c: Dialogue) -> None:
    spec = {"completionMode": "Indexed", "completions": 2, "parallelism": 2}
    body = job("a", {"finished_at": PAST}, **spec, backoffLimitPerIndex=1)
    c.create(body, show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 2), show=STATUS)
    for failures in (1, 2):
        delete_pod(c, pods_of(c, "a", 0)[0]["metadata"]["name"])
        active = 3 - failures
        wanted = has("status.failed", failures) & has("status.ready", active)
        c.until(JOB, "a", wanted & has("status.terminating", 0), within=60, show=STATUS)
        c.list(POD, show=["metadata.annotations", "metadata.finalizers"])


@script("An index that shrinking takes away keeps no success, and growing starts anew.", ["5.6"])
def elastic_successes(c: Dialogue) -> None:
    start(c, indexed(4), 4)
    end(c, "a", succeeded(), index=3)
    end(c, "a", succeeded(), index=0)
    c.until(JOB, "a", has("status.completedIndexes", "0,3"), show=STATUS)
    smaller = {"spec": {"completions": 2, "parallelism": 2}}
    c.patch(JOB, "a", smaller, show=["spec.completions"])
    c.until(JOB, "a", has("status.active", 1) & has("status.terminating", 0), show=STATUS)
    larger = {"spec": {"completions": 3, "parallelism": 3}}
    c.patch(JOB, "a", larger, show=["spec.completions"])
    c.until(JOB, "a", has("status.active", 2), show=STATUS)
    c.settle(1.6)
    c.list(POD, show=["spec.hostname", "status.phase"])


@script("Pods of a long name are named and called by a part of it.", ["5.6"])
def long_names(c: Dialogue) -> None:
    name = "n" * 55
    body = indexed(2, pod={"subdomain": "svc", "setHostnameAsFQDN": True})
    body["metadata"]["name"] = name
    c.create(body, show=["metadata.name"])
    c.until(JOB, name, has("status.active", 2), show=["status.active"])
    c.list(POD, show=["metadata.generateName", "spec.hostname", "spec.subdomain"])
    body["metadata"]["name"] = "n" * 62
    c.create(body, show=["metadata.name"])


@script("A variable and a host name that a template sets itself.", ["5.6"])
def own_index_variable(c: Dialogue) -> None:
    variable = {"name": "JOB_COMPLETION_INDEX", "value": "mine"}
    main = {"name": "main", "image": "example.org/main"}
    pod = {
        "hostname": "own",
        "initContainers": [{**main, "name": "init"}],
        "containers": [{**main, "env": [variable]}, {**main, "name": "side"}],
    }
    start(c, indexed(1, pod=pod), 1)
    show = ["spec.hostname", "spec.containers", "spec.initContainers"]
    c.list(POD, show=show)
    c.get(JOB, "a", show=["spec.template.spec.hostname"])


@script("A success and a failure of the same index: the success counts.", ["5.6"])
def success_after_index_failure(c: Dialogue) -> None:
    start(c, indexed(1, backoffLimitPerIndex=2), 1)
    end(c, "a", failed(1), index=0)
    c.until(JOB, "a", has("status.failed", 1) & has("status.active", 1), show=STATUS)
    end(c, "a", succeeded(), index=0)
    c.until(JOB, "a", condition("Complete"), show=STATUS)
    c.list(POD, show=ANNOTATED)


@script("A retry of an index waits for its own back-off, others do not.", ["5.4", "5.6"])
def back_off_of_index(c: Dialogue) -> None:
    start(c, indexed(3, parallelism=2, backoffLimitPerIndex=3), 2)
    end(c, "a", {"phase": "Failed"}, index=0)
    c.until(JOB, "a", has("status.active", 2), show=["status.active"])
    c.settle(1.6)
    c.get(JOB, "a", show=STATUS)
    c.list(POD, show=["spec.hostname", *ANNOTATED])
    end(c, "a", succeeded(), index=1)
    c.until(JOB, "a", present("status.failed"), within=40, show=STATUS)
    c.until(JOB, "a", has("status.active", 2), within=40, show=STATUS)
