"""Rules of a pod failure policy, seen with pods that end as a script wants it."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, has, present
from tests.differential.script import script
from tests.differential.scripts.injection import (
    STATUS,
    TRACKING,
    container_status,
    delete_pod,
    end,
    failed,
    idle_job,
    start,
    succeeded,
    terminated,
)
from tests.differential.scripts.job_failure import in_codes
from vocabulary.kinds import JOB, POD

INDEXED = {"completionMode": "Indexed"}
COUNTED = ["status.conditions", "status.failed", "status.active"]
ANNOTATED = ["metadata.annotations", "metadata.finalizers", "status.phase"]


def on_condition(action: str, *types: str, **fields: str) -> dict[str, Any]:
    return {"action": action, "onPodConditions": [{"type": type_, **fields} for type_ in types]}


def rules(*every: dict[str, Any]) -> dict[str, Any]:
    return {"podFailurePolicy": {"rules": list(every)}}


def said(type_: str, status: str = "True") -> dict[str, Any]:
    return {"conditions": [{"type": type_, "status": status}]}


def two_containers(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    return {"phase": "Failed", "containerStatuses": [first, second]}


TWO = {
    "containers": [
        {"name": "main", "image": "example.org/main"},
        {"name": "side", "image": "example.org/side"},
    ]
}


@script("The first rule that matches decides, later ones do not.", ["5.5"])
def first_rule_decides(c: Dialogue) -> None:
    ignored = rules(in_codes("Ignore", 3), in_codes("FailJob", 3, 4))
    start(c, idle_job("a", backoffLimit=0, **ignored), 1)
    end(c, "a", failed(3))
    c.until(JOB, "a", has("status.uncountedTerminatedPods", {}) & has("status.active", 1))
    c.settle(1.6)
    c.get(JOB, "a", show=COUNTED)
    end(c, "a", failed(4))
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A rule with NotIn does not match a code in its list.", ["5.5"])
def rule_not_in(c: Dialogue) -> None:
    rule = {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [1, 2]}}
    start(c, idle_job("a", backoffLimit=5, **rules(rule)), 1)
    end(c, "a", failed(2))
    c.until(JOB, "a", has("status.failed", 1) & has("status.active", 1), show=COUNTED)
    end(c, "a", failed(3))
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("Containers that succeeded or never ended are no match for a rule on codes.", ["5.5"])
def rule_skips_containers(c: Dialogue) -> None:
    rule = {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [1]}}
    running = container_status("side", {"running": {"startedAt": "2020-01-01T00:00:00Z"}})
    start(c, idle_job("a", backoffLimit=5, pod=TWO, **rules(rule)), 1)
    end(c, "a", two_containers(terminated("main", 0), running))
    c.until(JOB, "a", has("status.failed", 1) & has("status.active", 1), show=COUNTED)
    end(c, "a", {"phase": "Failed"})
    c.until(JOB, "a", has("status.failed", 2) & has("status.active", 1), show=COUNTED)
    end(c, "a", two_containers(terminated("main", 1), terminated("side", 9)))
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A rule that names a container looks at no other.", ["5.5"])
def rule_by_container(c: Dialogue) -> None:
    rule = in_codes("FailJob", 7, containerName="side")
    start(c, idle_job("a", backoffLimit=5, pod=TWO, **rules(rule)), 1)
    end(c, "a", two_containers(terminated("main", 7), terminated("side", 8)))
    c.until(JOB, "a", has("status.failed", 1) & has("status.active", 1), show=COUNTED)
    end(c, "a", two_containers(terminated("main", 8), terminated("side", 7)))
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("Of several containers that match, the first one is reported.", ["5.2", "5.5"])
def rule_reports_first(c: Dialogue) -> None:
    start(c, idle_job("a", pod=TWO, **rules(in_codes("FailJob", 7, 8))), 1)
    end(c, "a", two_containers(terminated("side", 8), terminated("main", 7)))
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A rule on codes also sees init containers, after the others.", ["5.5"])
def rule_on_init_containers(c: Dialogue) -> None:
    init = {"initContainers": [{"name": "init", "image": "example.org/init"}]}
    start(c, idle_job("a", pod=init, **rules(in_codes("FailJob", 7))), 1)
    waiting = container_status("main", {"waiting": {"reason": "PodInitializing"}})
    status = {"initContainerStatuses": [terminated("init", 7)], "containerStatuses": [waiting]}
    end(c, "a", {"phase": "Failed", **status})
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A rule on conditions matches by type and status, True unless it says otherwise.", ["5.5"])
def rule_on_conditions(c: Dialogue) -> None:
    policy = rules(
        on_condition("FailJob", "ConfigIssue"),
        on_condition("Ignore", "Good", status="False"),
    )
    start(c, idle_job("a", backoffLimit=5, **policy), 1)
    end(c, "a", failed(1, **said("ConfigIssue", "False")))
    c.until(JOB, "a", has("status.failed", 1) & has("status.active", 1), show=COUNTED)
    end(c, "a", failed(1, **said("Good", "False")))
    c.settle(2.5)
    c.until(JOB, "a", has("status.failed", 1) & has("status.active", 1), show=COUNTED)
    end(c, "a", failed(1, **said("Good", "Unknown")))
    c.until(JOB, "a", has("status.failed", 2) & has("status.active", 1), show=COUNTED)
    end(c, "a", failed(1, **said("ConfigIssue")))
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("Any of a rule's conditions suffices, and the pod's first one is reported.", ["5.2", "5.5"])
def rule_any_condition(c: Dialogue) -> None:
    policy = rules(on_condition("FailJob", "First", "Second", "Third"))
    start(c, idle_job("a", **policy), 1)
    entries = [
        {"type": "Other", "status": "True"},
        {"type": "Third", "status": "True"},
        {"type": "Second", "status": "True"},
    ]
    end(c, "a", failed(1, conditions=entries))
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A pod of a lost node, whose containers never ended, matches by its condition.", ["5.5"])
def rule_for_lost_node(c: Dialogue) -> None:
    policy = rules(in_codes("FailJob", 137, 143), on_condition("Ignore", "DisruptionTarget"))
    start(c, idle_job("a", backoffLimit=0, **policy), 1)
    running = container_status("main", {"running": {"startedAt": "2020-01-01T00:00:00Z"}})
    lost = {"phase": "Failed", "containerStatuses": [running], **said("DisruptionTarget")}
    end(c, "a", lost)
    c.settle(2.5)
    c.until(JOB, "a", has("status.active", 1) & has("status.failed", None), show=COUNTED)


@script("A pod that was disrupted, and exits with a fatal code, fails the Job.", ["5.5"])
def rule_for_killed_container(c: Dialogue) -> None:
    policy = rules(in_codes("FailJob", 137), on_condition("Ignore", "DisruptionTarget"))
    start(c, idle_job("a", backoffLimit=0, **policy), 1)
    end(c, "a", failed(137, **said("DisruptionTarget")))
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script(
    "Once a rule fails the Job, its other pods are stopped and count as failed.", ["5.2", "5.5"]
)
def rule_stops_others(c: Dialogue) -> None:
    policy = rules(in_codes("FailJob", 42))
    first = start_parallel(c, 3, **policy)
    end(c, "a", failed(42))
    c.until(JOB, "a", condition("Failed"), show=STATUS)
    c.watch(
        JOB,
        condition("Failed"),
        name="a",
        since=first,
        distinct=True,
        show=["status.conditions"],
    )
    c.list(POD, show=["status.phase", "metadata.finalizers"])


def start_parallel(c: Dialogue, pods: int, **spec: Any) -> str:
    """A Job of so many pods at once; answers its first revision."""
    start(c, idle_job("a", completions=pods, parallelism=pods, **spec), pods)
    return c.get(JOB, "a", show=["status.active"]).revision


@script("Of two fatal pods at the same moment only one is reported.", ["5.2", "5.5"])
def rule_two_fatal_pods(c: Dialogue) -> None:
    policy = rules(in_codes("FailJob", 42))
    start_parallel(c, 2, **policy)
    end(c, "a", failed(42))
    end(c, "a", failed(42))
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A fatal pod takes precedence over another's failed index.", ["5.3", "5.5", "5.6"])
def rule_before_index_limits(c: Dialogue) -> None:
    policy = rules(in_codes("FailIndex", 41), in_codes("FailJob", 42))
    start_parallel(c, 3, **INDEXED, backoffLimitPerIndex=0, maxFailedIndexes=0, **policy)
    end(c, "a", failed(41), index=0)
    end(c, "a", failed(42), index=1)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("An index can fail by a rule while others go on.", ["5.5", "5.6"])
def rule_fails_one_index(c: Dialogue) -> None:
    policy = rules(in_codes("FailIndex", 41))
    start_parallel(c, 2, **INDEXED, backoffLimitPerIndex=3, **policy)
    end(c, "a", failed(41), index=1)
    c.until(JOB, "a", has("status.failedIndexes", "1") & has("status.failed", 1), show=STATUS)
    end(c, "a", failed(1), index=0)
    c.until(JOB, "a", has("status.failed", 2) & has("status.active", 1), show=STATUS)
    end(c, "a", succeeded(), index=0)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("Ignored failures of an index are counted apart from those that matter.", ["5.5", "5.6"])
def rule_ignores_in_index(c: Dialogue) -> None:
    policy = rules(in_codes("Ignore", 7))
    start_parallel(c, 1, **INDEXED, backoffLimitPerIndex=1, **policy)
    for code, failures in ((7, None), (1, 1), (7, 1)):
        end(c, "a", failed(code), index=0)
        c.settle(1.6)
        c.until(JOB, "a", has("status.failed", failures) & has("status.active", 1), show=STATUS)
        c.list(POD, show=ANNOTATED)
    end(c, "a", failed(1), index=0)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A fatal pod takes precedence over a success policy that is met.", ["5.3", "5.5", "5.6"])
def rule_before_success(c: Dialogue) -> None:
    success = {"successPolicy": {"rules": [{"succeededCount": 1}]}}
    start_parallel(c, 3, **INDEXED, **success, **rules(in_codes("FailJob", 42)))
    end(c, "a", succeeded(), index=0)
    end(c, "a", failed(42), index=1)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script(
    "With a policy, a deleted pod is replaced after it has ended, and counts then.", ["5.4", "5.5"]
)
def rule_and_deleted_pod(c: Dialogue) -> None:
    policy = rules(in_codes("FailJob", 42))
    start_parallel(c, 1, backoffLimit=2, **policy)
    pod = end(c, "a", {"phase": "Running"})
    held = [TRACKING, "tests.assay.dev/hold"]
    c.patch(POD, pod, {"metadata": {"finalizers": held}}, show=["metadata.finalizers"])
    delete_pod(c, pod)
    c.until(JOB, "a", has("status.terminating", 1), show=STATUS)
    c.patch(
        POD,
        pod,
        {"status": failed(1)},
        subresource="status",
        show=["status.phase"],
    )
    c.until(JOB, "a", present("status.failed") & has("status.active", 1), show=STATUS)
