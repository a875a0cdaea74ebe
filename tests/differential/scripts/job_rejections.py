"""Rejections of Jobs, and of changes to them, beyond the most common ones."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition
from tests.differential.script import script
from tests.differential.scripts.injection import idle_job
from tests.differential.scripts.manifests import job
from tests.differential.scripts.scheduling import REQUIRED, apart, app, near, term
from vocabulary.kinds import JOB

INDEXED = {"completionMode": "Indexed", "completions": 3}
CODES = {"operator": "In", "values": [1]}


def _rules(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"podFailurePolicy": {"rules": list(rules)}}


@script("The sizes of a pod failure policy are limited.", ["5.1", "5.5"])
def failure_policy_sizes(c: Dialogue) -> None:
    many = [{"type": f"Type{number}"} for number in range(21)]
    for policy in (
        {},
        {"podFailurePolicy": {}},
        _rules(),
        _rules({"action": "Ignore", "onPodConditions": many}),
        _rules({"action": "Ignore", "onPodConditions": many[:20]}),
        _rules({"action": "Count", "onExitCodes": {**CODES, "values": list(range(1, 257))}}),
        _rules({"action": "Count", "onExitCodes": {**CODES, "values": list(range(1, 256))}}),
        _rules({"action": "Count", "onExitCodes": {**CODES, "values": [1000, 2**31 - 1]}}),
        _rules({"action": "Count", "onExitCodes": {"values": [1]}}),
        _rules({"action": "Count", "onExitCodes": {}}),
        _rules({"action": "Count", "onExitCodes": CODES, "onPodConditions": []}),
        _rules({"action": "Count", "onPodConditions": []}),
        _rules({"onExitCodes": CODES}),
        _rules({"action": "Ignore", "onPodConditions": [{}]}),
        _rules({"action": "Ignore", "onPodConditions": [{"status": "True"}]}),
        _rules({"action": "Explode"}),
    ):
        c.create(job("a", **policy), dry_run=True, show=["spec.podReplacementPolicy"])


@script("A rule may name an init container, and one action needs limits by index.", ["5.1", "5.5"])
def failure_policy_names(c: Dialogue) -> None:
    pod = {"initContainers": [{"name": "init", "image": "example.org/init"}]}
    rule = {"action": "FailJob", "onExitCodes": {**CODES, "containerName": "init"}}
    show = ["spec.podFailurePolicy"]
    c.create(job("a", pod=pod, **_rules(rule)), dry_run=True, show=show)
    c.create(job("a", **_rules(rule)), dry_run=True, show=show)
    by_index = {"action": "FailIndex", "onExitCodes": CODES}
    spec = {**INDEXED, **_rules(by_index)}
    c.create(job("a", **spec), dry_run=True, show=show)
    c.create(job("a", **spec, backoffLimitPerIndex=0), dry_run=True, show=show)


@script(
    "A success policy names indexes that exist, and a count that can be reached.", ["5.1", "5.6"]
)
def success_policy_details(c: Dialogue) -> None:
    for rule in (
        {"succeededIndexes": ""},
        {"succeededIndexes": "0-2"},
        {"succeededIndexes": "0-3"},
        {"succeededIndexes": "0,2", "succeededCount": 2},
        {"succeededIndexes": "0,2", "succeededCount": 0},
        {"succeededIndexes": "2,0"},
        {"succeededIndexes": "0-1-2"},
        {"succeededIndexes": "-1"},
        {"succeededIndexes": "0,"},
        {"succeededIndexes": " 0"},
        {"succeededCount": -1},
        {"succeededCount": 3},
    ):
        spec = {**INDEXED, "successPolicy": {"rules": [rule]}}
        c.create(job("a", **spec), dry_run=True, show=["spec.successPolicy"])
    c.create(job("a", successPolicy={"rules": []}), dry_run=True, show=["spec.successPolicy"])
    c.create(job("a", **INDEXED, successPolicy={}), dry_run=True, show=["spec.successPolicy"])


@script("Limits by index need an indexed Job, and its completions bound them.", ["5.1", "5.6"])
def index_limits(c: Dialogue) -> None:
    for spec in (
        {"backoffLimitPerIndex": 0},
        {"maxFailedIndexes": 0},
        {**INDEXED, "backoffLimitPerIndex": 0, "maxFailedIndexes": 3},
        {**INDEXED, "backoffLimitPerIndex": 0, "maxFailedIndexes": 0},
        {"completionMode": "Indexed", "completions": 0, "backoffLimitPerIndex": 1},
        {"completionMode": "Indexed", "parallelism": 3, "backoffLimitPerIndex": 1},
        {"completionMode": "Indexed", "completions": 100_001},
        {
            "completionMode": "Indexed",
            "completions": 100_000,
            "parallelism": 100_000,
            "backoffLimitPerIndex": 1,
        },
        {
            "completionMode": "Indexed",
            "completions": 100_001,
            "parallelism": 10_000,
            "backoffLimitPerIndex": 1,
            "maxFailedIndexes": 10_000,
        },
    ):
        show = ["spec.backoffLimit", "spec.parallelism"]
        c.create(job("a", **spec), dry_run=True, show=show)


@script("The manager of a Job is named by domain and path.", ["5.1", "5.7"])
def managers(c: Dialogue) -> None:
    for name in (
        "",
        "example.org/",
        "/path",
        "example.org/a/b",
        "Example.org/a",
        "example.org/A_b",
        "kubernetes.io/job-controller",
        "example.org/" + "a" * 51,
        "example.org/" + "a" * 52,
    ):
        c.create(job("a", managedBy=name), dry_run=True, show=["spec.managedBy"])


@script("A selector of one's own has to match, and is not completed.", ["5.1"])
def own_selectors(c: Dialogue) -> None:
    own = {"matchLabels": {"app": "x"}}
    labelled = {"metadata": {"labels": {"app": "x"}}}
    show = ["spec.selector", "spec.template.metadata", "metadata.labels"]
    for selector, labels in ((own, labelled), (own, {}), ({}, labelled), (None, labelled)):
        body = job("a", manualSelector=True)
        if selector is not None:
            body["spec"]["selector"] = selector
        body["spec"]["template"] |= labels
        c.create(body, dry_run=True, show=show)
    body = job("a")
    body["spec"]["template"]["metadata"] = {"labels": {"job-name": "other"}}
    c.create(body, dry_run=True, show=show)
    body["spec"]["template"]["metadata"] = {"labels": {"job-name": "a", "app": "x"}}
    body["metadata"]["labels"] = {"mine": "y"}
    c.create(body, dry_run=True, show=["metadata.labels"])


@script("The affinity of a Job's pods is validated, and only that to nodes can change.", ["5.1"])
def affinity_of_jobs(c: Dialogue) -> None:
    show = ["spec.template.spec.affinity"]
    c.create(job("a", pod={"affinity": near({})}), dry_run=True, show=show)
    c.create(job("a", pod={"affinity": apart({})}), dry_run=True, show=show)
    keys = {"affinity": near(term(app("x"), matchLabelKeys=["version"]))}
    c.create(job("a", pod=keys), dry_run=True, show=show)
    body = idle_job("a", suspend=True, pod={"affinity": near(term(app("x")))})
    c.create(body, show=show)
    c.until(JOB, "a", condition("Suspended"), show=["status.conditions.0.type"])
    terms = [{"matchExpressions": [{"key": "pool", "operator": "Exists"}]}]
    to_nodes = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}
    for affinity in (to_nodes, near(term(app("y"))), apart(term(app("y"))), {"podAffinity": None}):
        c.patch(JOB, "a", {"spec": {"template": {"spec": {"affinity": affinity}}}}, show=show)
    c.patch(JOB, "a", {"spec": {"template": {"spec": {"affinity": None}}}}, show=show)


@script("The fields of a suspended Job's pods that can change, and those that cannot.", ["5.1"])
def suspended_pod_fields(c: Dialogue) -> None:
    c.create(idle_job("a", suspend=True), show=["metadata.generation"])
    c.until(JOB, "a", condition("Suspended"), show=["status.conditions.0.type"])
    main = {"name": "main", "image": "example.org/main"}
    for spec in (
        {"priorityClassName": "system-node-critical"},
        {"schedulerName": "other"},
        {"restartPolicy": "OnFailure"},
        {"containers": [{**main, "resources": {"requests": {"cpu": "1"}}}]},
        {"containers": [{**main, "env": [{"name": "A", "value": "b"}]}]},
        {"schedulingGates": [{"name": "example.org/gate"}]},
        {"nodeName": "n0"},
        {"tolerations": [{"key": "k", "operator": "Sometimes"}]},
        {"activeDeadlineSeconds": 5},
        {"topologySpreadConstraints": []},
    ):
        body = {"spec": {"template": {"spec": spec}}}
        c.patch(JOB, "a", body, show=["spec.template.spec", "metadata.generation"])
    for metadata in ({"labels": {"job-name": "b"}}, {"labels": {"x": "bad value"}}, {"name": "x"}):
        body = {"spec": {"template": {"metadata": metadata}}}
        c.patch(JOB, "a", body, show=["spec.template.metadata"])
