"""Jobs: defaults, validation, what may be changed, and who looks after them."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, exists, has, present
from tests.differential.script import script
from tests.differential.scripts.manifests import SUCCEEDS, fails, job
from vocabulary.kinds import JOB, POD

SPEC = ["spec"]
MANAGED = {"managedBy": "example.org/external", "suspend": True}


@script("A Job's defaults depend on the given fields.", ["5.1"])
def job_defaults(c: Dialogue) -> None:
    show = ["metadata.labels", "spec", "metadata.generation"]
    rule: dict[str, Any] = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}}
    c.create(job("a", **MANAGED), show=show)
    c.create(job("b", parallelism=3, **MANAGED), show=show)
    c.create(job("c", completions=3, **MANAGED), show=show)
    c.create(job("d", podFailurePolicy={"rules": [rule]}, **MANAGED), show=show)
    c.create(
        job("e", completionMode="Indexed", completions=2, backoffLimitPerIndex=1, **MANAGED),
        show=show,
    )
    c.create(job("f", managedBy="kubernetes.io/job-controller", suspend=True), show=show)
    rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
    c.create(job("g", podFailurePolicy={"rules": [rule]}, **MANAGED), show=show)


@script("An invalid Job is rejected, each error with its field.", ["5.1"])
def job_validation(c: Dialogue) -> None:
    for fields in (
        {
            "parallelism": -1,
            "completions": -1,
            "backoffLimit": -1,
            "activeDeadlineSeconds": -1,
            "ttlSecondsAfterFinished": -1,
        },
        {"completionMode": "Indexed"},
        {"completionMode": "Sideways", "completions": 1},
        {"completionMode": "Indexed", "completions": 5, "parallelism": 100_001},
        {"managedBy": "nodomain"},
        {"managedBy": f"example.org/{'a' * 60}"},
        {"podReplacementPolicy": "Never"},
        {"backoffLimitPerIndex": 1},
        {"maxFailedIndexes": 1, "completionMode": "Indexed", "completions": 3},
        {
            "completionMode": "Indexed",
            "completions": 3,
            "backoffLimitPerIndex": 1,
            "maxFailedIndexes": 4,
        },
        {"completionMode": "Indexed", "completions": 100_001, "backoffLimitPerIndex": 1},
        {
            "completionMode": "Indexed",
            "completions": 100_001,
            "backoffLimitPerIndex": 1,
            "maxFailedIndexes": 10_001,
            "parallelism": 10_001,
        },
        {
            "completionMode": "Indexed",
            "completions": 3,
            "backoffLimitPerIndex": -1,
            "maxFailedIndexes": -1,
        },
        {"successPolicy": {"rules": [{"succeededCount": 1}]}},
        {"manualSelector": True},
        {"selector": {"matchLabels": {"a": "b"}}},
    ):
        c.create(job("a", **fields), dry_run=True, show=["metadata.name"])
    c.create(job("a", pod={"restartPolicy": "Always"}), dry_run=True)
    c.create(job("a", pod={"restartPolicy": None}), dry_run=True)
    c.create(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "a"},
            "spec": {"template": {"spec": {}}},
        },
        dry_run=True,
    )
    c.create(
        job(
            "a",
            completionMode="Indexed",
            completions=3,
            backoffLimitPerIndex=1,
            pod={"restartPolicy": "OnFailure"},
        ),
        dry_run=True,
    )


@script("An invalid pod failure policy is rejected, each error with its field.", ["5.1", "5.5"])
def failure_policy_validation(c: Dialogue) -> None:
    codes = {"operator": "In", "values": [1]}
    for rule in (
        {"action": "FailJob"},
        {
            "action": "FailJob",
            "onExitCodes": codes,
            "onPodConditions": [{"type": "DisruptionTarget"}],
        },
        {"action": "Explode", "onExitCodes": codes},
        {"action": "FailIndex", "onExitCodes": codes},
        {"action": "Count", "onExitCodes": {"operator": "In", "values": [0]}},
        {"action": "Count", "onExitCodes": {"operator": "NotIn", "values": [0]}},
        {"action": "Count", "onExitCodes": {"operator": "Like", "values": [1]}},
        {"action": "Count", "onExitCodes": {"operator": "In", "values": [3, 1, 1]}},
        {"action": "Count", "onExitCodes": {"operator": "In", "values": []}},
        {"action": "Count", "onExitCodes": {"operator": "In", "values": [-1, 256]}},
        {"action": "Count", "onExitCodes": {**codes, "containerName": "absent"}},
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "Maybe"}]},
        {"action": "Ignore", "onPodConditions": [{"type": "bad type"}]},
    ):
        c.create(
            job("a", podFailurePolicy={"rules": [rule]}),
            dry_run=True,
            show=["spec.podFailurePolicy"],
        )
    rule = {"action": "Count", "onExitCodes": codes}
    c.create(
        job("a", podFailurePolicy={"rules": [rule] * 21}), dry_run=True, show=["metadata.name"]
    )
    c.create(
        job("a", podFailurePolicy={"rules": [rule]}, podReplacementPolicy="TerminatingOrFailed"),
        dry_run=True,
    )
    c.create(
        job("a", podFailurePolicy={"rules": [rule]}, pod={"restartPolicy": "OnFailure"}),
        dry_run=True,
    )


@script("An invalid success policy is rejected, each error with its field.", ["5.1", "5.6"])
def success_policy_validation(c: Dialogue) -> None:
    rules: Any
    for rules in (
        [],
        [{}],
        [{"succeededCount": 0}],
        [{"succeededCount": 4}],
        [{"succeededIndexes": "0,5"}],
        [{"succeededIndexes": "2-1"}],
        [{"succeededIndexes": "0,0"}],
        [{"succeededIndexes": "x"}],
        [{"succeededIndexes": "0-1", "succeededCount": 3}],
        [{"succeededCount": 1}] * 21,
    ):
        spec = {"completionMode": "Indexed", "completions": 3, "successPolicy": {"rules": rules}}
        c.create(job("a", **spec), dry_run=True, show=["metadata.name"])


@script("Mutable and immutable fields of a running Job.", ["5.1"])
def job_mutability(c: Dialogue) -> None:
    c.create(
        job("a", managedBy="example.org/external", completions=3, parallelism=2),
        show=["metadata.name"],
    )
    show = [
        "spec.parallelism",
        "spec.suspend",
        "spec.backoffLimit",
        "spec.activeDeadlineSeconds",
        "spec.ttlSecondsAfterFinished",
        "metadata.generation",
    ]
    for spec in (
        {"parallelism": 3},
        {"backoffLimit": 3},
        {"activeDeadlineSeconds": 100},
        {"activeDeadlineSeconds": 50},
        {"activeDeadlineSeconds": 200},
        {"ttlSecondsAfterFinished": 5},
        {"suspend": True},
        {"suspend": False},
        {"completions": 4},
        {"completionMode": "Indexed"},
        {"managedBy": "example.org/other"},
        {"managedBy": None},
        {"podReplacementPolicy": "Failed"},
        {"selector": {"matchLabels": {"x": "y"}}},
        {"template": {"spec": {"priorityClassName": "x"}}},
        {"template": {"metadata": {"labels": {"x": "y"}}}},
        {"template": {"spec": {"nodeSelector": {"x": "y"}}}},
        {"backoffLimitPerIndex": 1},
        {"parallelism": -1},
    ):
        c.patch(JOB, "a", {"spec": spec}, show=show)


@script(
    "The pods' scheduling can be changed while a Job is suspended and was never started.", ["5.1"]
)
def suspended_template(c: Dialogue) -> None:
    c.create(job("a", **MANAGED), show=["metadata.name"])
    show = ["spec.template", "metadata.generation"]
    template = {
        "metadata": {"labels": {"x": "y"}, "annotations": {"x": "y"}},
        "spec": {
            "nodeSelector": {"x": "y"},
            "tolerations": [{"key": "k", "operator": "Exists"}],
            "schedulingGates": [{"name": "example.org/gate"}],
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "x", "operator": "Exists"}]}
                        ]
                    }
                }
            },
        },
    }
    c.patch(JOB, "a", {"spec": {"template": template}}, show=show)
    suspended = {
        "type": "Suspended",
        "status": "True",
        "lastTransitionTime": "2020-01-01T00:00:00Z",
    }
    c.patch(
        JOB, "a", {"status": {"conditions": [suspended]}}, subresource="status", show=["status"]
    )
    c.patch(JOB, "a", {"spec": {"template": template}}, show=show)
    c.patch(
        JOB, "a", {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 5}}}}, show=show
    )
    c.patch(
        JOB,
        "a",
        {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "other"}]}}}},
        show=show,
    )
    c.patch(
        JOB, "a", {"spec": {"template": {"spec": {"nodeSelector": None}}}, "status": {}}, show=show
    )
    c.patch(
        JOB,
        "a",
        {"status": {"startTime": "2020-01-01T00:00:00Z"}},
        subresource="status",
        show=["status"],
    )
    c.patch(JOB, "a", {"spec": {"template": {"spec": {"nodeSelector": {"z": "z"}}}}}, show=show)


@script("The completions of an indexed Job follow its parallelism.", ["5.1", "5.6"])
def elastic_indexed(c: Dialogue) -> None:
    c.create(
        job(
            "a",
            managedBy="example.org/external",
            completionMode="Indexed",
            completions=2,
            parallelism=2,
        ),
        show=["metadata.name"],
    )
    show = ["spec.completions", "spec.parallelism", "metadata.generation"]
    c.patch(JOB, "a", {"spec": {"completions": 3, "parallelism": 3}}, show=show)
    c.patch(JOB, "a", {"spec": {"completions": 4}}, show=show)
    c.patch(JOB, "a", {"spec": {"parallelism": 1}}, show=show)
    c.patch(JOB, "a", {"spec": {"completions": 1}}, show=show)


@script("A Job that another controller manages is ignored.", ["5.7"])
def managed_by_others(c: Dialogue) -> None:
    c.create(job("a", managedBy="example.org/external"), show=["spec.managedBy", "status"])
    c.create(
        job("ours", SUCCEEDS, managedBy="kubernetes.io/job-controller"), show=["spec.managedBy"]
    )
    c.until(JOB, "ours", condition("Complete"), show=["status"])
    c.stays(JOB, "a", has("status", {}), for_seconds=0.5, show=["status", "metadata.finalizers"])
    c.list(POD, labels="job-name=a")


@script("A Job runs its pod to the end and completes in two steps.", ["5.2"])
def job_completes(c: Dialogue) -> None:
    first = c.create(job("a", SUCCEEDS))
    c.until(JOB, "a", condition("Complete"))
    c.watch(
        JOB,
        condition("Complete"),
        name="a",
        since=first.revision,
        distinct=True,
        show=[
            "status.conditions",
            "status.active",
            "status.succeeded",
            "status.uncountedTerminatedPods",
        ],
    )
    c.list(POD)


@script("A pod of a Job carries its labels, its owner and its tracking finalizer.", ["5.1", "5.8"])
def pods_of_a_job(c: Dialogue) -> None:
    c.create(job("a"), show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 1), show=["status"])
    c.list(POD)


@script("Parallel pods run together, and the rest follows.", ["5.4"])
def parallel_completions(c: Dialogue) -> None:
    c.create(job("a", SUCCEEDS, completions=5, parallelism=2), show=["metadata.name"])
    c.until(JOB, "a", condition("Complete"), show=["status"])
    c.list(POD, show=["status.phase", "metadata.finalizers", "metadata.generateName"])


@script("Without completions the first success ends a Job of several pods.", ["5.1"])
def work_queue(c: Dialogue) -> None:
    c.create(job("a", parallelism=2), show=["spec.completions", "spec.parallelism"])
    c.until(JOB, "a", has("status.ready", 2), show=["status"])
    for item in c.list(POD, show=["metadata.generateName"]).items:
        path = POD.path(c.namespace, item["metadata"]["name"])
        body = {"metadata": {"annotations": {"assay.dev/exit": "0"}}}
        c.raw(
            "PATCH",
            path,
            body,
            content_type="application/merge-patch+json",
            label="let it end",
            show=["metadata.annotations"],
        )
    c.until(JOB, "a", condition("Complete"), show=["status"])


@script("Parallelism zero runs nothing, and more of it runs more.", ["5.1"])
def parallelism_changes(c: Dialogue) -> None:
    c.create(job("a", parallelism=0, completions=3), show=["spec.parallelism"])
    c.until(JOB, "a", present("status.startTime"), show=["status"])
    c.patch(JOB, "a", {"spec": {"parallelism": 2}}, show=["spec.parallelism"])
    c.until(JOB, "a", has("status.ready", 2), show=["status"])
    c.patch(JOB, "a", {"spec": {"parallelism": 1}}, show=["spec.parallelism"])
    c.until(JOB, "a", has("status.active", 1) & has("status.terminating", 0), show=["status"])
    c.patch(JOB, "a", {"spec": {"parallelism": 5}}, show=["spec.parallelism"])
    c.until(JOB, "a", has("status.ready", 3), show=["status"])


@script("A finished Job is deleted when its TTL expires.", ["5.1"])
def time_to_live(c: Dialogue) -> None:
    c.create(job("a", SUCCEEDS, ttlSecondsAfterFinished=0), show=["spec.ttlSecondsAfterFinished"])
    c.until_gone(JOB, "a")
    c.create(
        job("b", fails(), backoffLimit=0, ttlSecondsAfterFinished=2),
        show=["spec.ttlSecondsAfterFinished"],
    )
    c.until(JOB, "b", condition("Failed"), show=["status.failed"])
    c.until_gone(JOB, "b")
    c.create(job("c", SUCCEEDS), show=["spec.ttlSecondsAfterFinished"])
    c.until(JOB, "c", condition("Complete"), show=["status.succeeded"])
    c.stays(JOB, "c", exists, for_seconds=1, show=["status.succeeded"])
