"""How Jobs count failures, and how they fail."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, count, has
from tests.differential.script import script
from tests.differential.scripts.manifests import PAST, SUCCEEDS, fails, job
from vocabulary.kinds import JOB, POD

STATUS = ["status"]
PODS = [
    "metadata.generateName",
    "metadata.annotations",
    "metadata.labels",
    "metadata.finalizers",
    "status.phase",
    "status.conditions",
]


def in_codes(action: str, *codes: int, **fields: Any) -> dict[str, Any]:
    return {"action": action, "onExitCodes": {"operator": "In", "values": list(codes), **fields}}


@script("Without retries the first failed pod fails the Job, in two steps.", ["5.2", "5.4"])
def first_failure_fails(c: Dialogue) -> None:
    first = c.create(job("a", fails(3), backoffLimit=0))
    c.until(JOB, "a", condition("Failed"))
    c.watch(
        JOB,
        condition("Failed"),
        name="a",
        since=first.revision,
        distinct=True,
        show=["status.conditions", "status.failed"],
    )
    c.list(POD)


@script("A limit of two allows two retries, that is three failed pods.", ["5.4"])
def two_retries(c: Dialogue) -> None:
    c.create(job("a", fails(), backoffLimit=2), show=["spec.backoffLimit"])
    c.until(JOB, "a", condition("Failed"), within=90, show=STATUS)
    c.list(POD, show=PODS)


@script("Running pods are stopped before a Job has failed.", ["5.2", "5.3"])
def failing_waits_for_pods(c: Dialogue) -> None:
    c.create(
        job("a", {"stuck_terminating": "true"}, backoffLimit=0, completions=2, parallelism=2),
        show=["metadata.name"],
    )
    c.until(JOB, "a", has("status.ready", 2), show=STATUS)
    pods = sorted(item["metadata"]["name"] for item in c.list(POD, show=["status.phase"]).items)
    _annotate(c, pods[0], {"exit": "1", "finished-at": PAST})
    c.until(
        JOB,
        "a",
        condition("FailureTarget") & has("status.terminating", 1) & has("status.failed", 2),
        show=STATUS,
    )
    _annotate(c, pods[1], {"stuck-terminating": None})
    c.until(JOB, "a", condition("Failed"), show=STATUS)
    c.list(POD, show=["status.phase", "metadata.finalizers"])


def _annotate(c: Dialogue, pod: str, values: dict[str, str | None]) -> None:
    body = {
        "metadata": {"annotations": {f"assay.dev/{key}": value for key, value in values.items()}}
    }
    path = POD.path(c.namespace, pod)
    c.raw(
        "PATCH",
        path,
        body,
        content_type="application/merge-patch+json",
        label="change how a pod behaves",
        show=["status.phase"],
    )


@script("A deadline ends a Job and its running pods.", ["5.2", "5.3"])
def deadline(c: Dialogue) -> None:
    c.create(job("a", activeDeadlineSeconds=1), show=["spec.activeDeadlineSeconds"])
    c.until(JOB, "a", condition("Failed"), show=STATUS)
    c.list(POD, show=PODS)


@script("A pod that is deleted counts as failed, and is replaced.", ["5.4"])
def deleted_pod_counts(c: Dialogue) -> None:
    c.create(job("a", {"finished_at": PAST}), show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    name = c.list(POD, show=PODS).items[0]["metadata"]["name"]
    c.raw("DELETE", POD.path(c.namespace, name), label="delete the pod", show=["status.phase"])
    c.until(JOB, "a", has("status.failed", 1) & has("status.ready", 1), within=40, show=STATUS)
    c.list(POD, show=PODS)


@script("With replacement policy Failed a pod is replaced when it is gone, not before.", ["5.4"])
def replacement_policy_failed(c: Dialogue) -> None:
    c.create(
        job("a", {"stuck_terminating": "true", "finished_at": PAST}, podReplacementPolicy="Failed"),
        show=["spec.podReplacementPolicy"],
    )
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    name = c.list(POD, show=PODS).items[0]["metadata"]["name"]
    c.raw("DELETE", POD.path(c.namespace, name), label="delete the pod", show=["status.phase"])
    c.until(JOB, "a", has("status.terminating", 1), show=STATUS)
    c.stays(JOB, "a", has("status.terminating", 1), for_seconds=1.5, show=STATUS)
    _annotate(c, name, {"stuck-terminating": None})
    c.until(JOB, "a", has("status.failed", 1) & has("status.ready", 1), within=40, show=STATUS)


@script("With policy TerminatingOrFailed a terminating pod is replaced immediately.", ["5.4"])
def replacement_at_once(c: Dialogue) -> None:
    c.create(
        job("a", {"stuck_terminating": "true", "finished_at": PAST}),
        show=["spec.podReplacementPolicy"],
    )
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    name = c.list(POD, show=PODS).items[0]["metadata"]["name"]
    c.raw("DELETE", POD.path(c.namespace, name), label="delete the pod", show=["status.phase"])
    c.until(JOB, "a", has("status.terminating", 1) & has("status.ready", 1), within=60, show=STATUS)
    c.list(POD, show=["status.phase"])


@script("A pod whose containers restart in place fails the Job by its restarts.", ["5.4"])
def on_failure_restarts(c: Dialogue) -> None:
    behaviour = fails(1, restart_after="20ms")
    c.create(
        job("a", behaviour, backoffLimit=2, pod={"restartPolicy": "OnFailure"}),
        show=["spec.backoffLimit"],
    )
    c.until(JOB, "a", condition("Failed"), show=["status.conditions"])


@script(
    "The rule FailJob fails the Job immediately and reports the pod and the rule.",
    ["5.2", "5.3", "5.5"],
)
def rule_fail_job(c: Dialogue) -> None:
    c.create(
        job(
            "a",
            fails(42),
            podFailurePolicy={"rules": [in_codes("Ignore", 7), in_codes("FailJob", 40, 42)]},
        ),
        show=["spec.podFailurePolicy", "spec.podReplacementPolicy"],
    )
    c.until(JOB, "a", condition("Failed"), show=STATUS)
    c.list(POD, show=PODS)


@script("The rule FailJob takes precedence over the backoff limit.", ["5.3", "5.5"])
def rule_before_limit(c: Dialogue) -> None:
    c.create(
        job("a", fails(42), backoffLimit=0, podFailurePolicy={"rules": [in_codes("FailJob", 42)]}),
        show=["spec.backoffLimit"],
    )
    c.until(JOB, "a", condition("Failed"), show=STATUS)
    c.list(POD, show=["status.phase", "metadata.name"])


@script("The rule Ignore replaces the pod without counting it.", ["5.5"])
def rule_ignore(c: Dialogue) -> None:
    c.create(
        job("a", fails(7), backoffLimit=0, podFailurePolicy={"rules": [in_codes("Ignore", 7)]}),
        show=["spec.podFailurePolicy"],
    )
    c.stays(
        JOB,
        "a",
        has("status.conditions", None),
        for_seconds=2.5,
        show=["status.conditions", "status.failed"],
    )


@script("The rule Count, and no rule at all, count normally.", ["5.5"])
def rule_count(c: Dialogue) -> None:
    rules = [in_codes("Count", 9), in_codes("Ignore", 9)]
    c.create(
        job("a", fails(9), backoffLimit=1, podFailurePolicy={"rules": rules}),
        show=["spec.podFailurePolicy"],
    )
    c.create(
        job("b", fails(5), backoffLimit=1, podFailurePolicy={"rules": [in_codes("Ignore", 9)]}),
        show=["spec.podFailurePolicy"],
    )
    c.until(JOB, "a", condition("Failed"), within=60, show=STATUS)
    c.until(JOB, "b", condition("Failed"), within=60, show=STATUS)


@script("A rule can name a container, and NotIn matches every other code.", ["5.5"])
def rule_details(c: Dialogue) -> None:
    rule = {
        "action": "FailJob",
        "onExitCodes": {"operator": "NotIn", "values": [1, 2], "containerName": "main"},
    }
    c.create(job("a", fails(3), podFailurePolicy={"rules": [rule]}), show=["spec.podFailurePolicy"])
    c.until(JOB, "a", condition("Failed"), show=STATUS)
    c.list(POD, show=["status.phase", "metadata.name"])


@script("A rule on pod conditions sees a disruption.", ["5.2", "5.5"])
def rule_on_disruption(c: Dialogue) -> None:
    rule = {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget"}]}
    c.create(job("a", podFailurePolicy={"rules": [rule]}), show=["spec.podFailurePolicy"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    name = c.list(POD, show=PODS).items[0]["metadata"]["name"]
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    c.raw("POST", POD.path(c.namespace, name, "eviction"), body, label="evict the pod")
    c.until(JOB, "a", condition("Failed"), show=STATUS)
    c.list(POD, show=PODS)


@script("Retries and success: a success in between does not forgive the failures.", ["5.4"])
def failures_and_success(c: Dialogue) -> None:
    c.create(
        job("a", {"finished_at": PAST}, completions=1, backoffLimit=3), show=["spec.backoffLimit"]
    )
    for number in range(2):
        c.until(JOB, "a", has("status.ready", 1), within=60, show=STATUS)
        alive = [
            item
            for item in c.list(POD, show=["status.phase"]).items
            if item["status"]["phase"] == "Running"
        ]
        _annotate(c, alive[0]["metadata"]["name"], {"exit": "1"} if number == 0 else {"exit": "0"})
        wanted = has("status.failed", 1) if number == 0 else condition("Complete")
        c.until(JOB, "a", wanted, show=["status.failed", "status.succeeded"])
    c.until(JOB, "a", condition("Complete"), show=STATUS)


@script("Init containers run first and end before a Job's pod does.", ["5.5"])
def init_containers(c: Dialogue) -> None:
    c.create(
        job("a", SUCCEEDS, pod={"initContainers": [{"name": "init", "image": "example.org/init"}]}),
        show=["metadata.name"],
    )
    c.until(JOB, "a", condition("Complete"), show=STATUS)
    c.until_listed(POD, count(1), show=["status.initContainerStatuses", "status.phase"])
