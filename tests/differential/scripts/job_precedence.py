"""Several causes of a Job's end in one sync: the order in which they count.

A change of the spec makes the controller look at the Job immediately, pods' events are gathered
first. So a pod that ends just before a deadline is set is seen together with it.
"""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, has
from tests.differential.script import script
from tests.differential.scripts.injection import (
    STATUS,
    TRACKING,
    end,
    failed,
    idle_job,
    pods_of,
    start,
    succeeded,
)
from tests.differential.scripts.job_failure import in_codes
from vocabulary.kinds import JOB, POD

INDEXED = {"completionMode": "Indexed"}


def parallel(pods: int, **spec: Any) -> dict[str, Any]:
    return idle_job("a", completions=pods, parallelism=pods, **spec)


def _deadline_now(c: Dialogue) -> None:
    """Set a deadline that has passed already."""
    c.settle(0.2)
    body = {"spec": {"activeDeadlineSeconds": 1}}
    c.patch(JOB, "a", body, show=["spec.activeDeadlineSeconds"])


def _hold(c: Dialogue, pod: str) -> None:
    """Keep a pod after its deletion, so that the Job has to wait for it."""
    held = [TRACKING, "tests.assay.dev/hold"]
    c.patch(POD, pod, {"metadata": {"finalizers": held}}, show=["metadata.finalizers"])


@script("The back-off limit takes precedence over the deadline.", ["5.3"])
def limit_before_deadline(c: Dialogue) -> None:
    start(c, parallel(2, backoffLimit=0), 2)
    end(c, "a", failed(1))
    _deadline_now(c)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A rule that fails the Job takes precedence over the deadline.", ["5.3", "5.5"])
def rule_before_deadline(c: Dialogue) -> None:
    policy = {"podFailurePolicy": {"rules": [in_codes("FailJob", 42)]}}
    start(c, parallel(2, **policy), 2)
    end(c, "a", failed(42))
    _deadline_now(c)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("The deadline takes precedence over failed indexes.", ["5.3", "5.6"])
def deadline_before_indexes(c: Dialogue) -> None:
    start(c, parallel(2, **INDEXED, backoffLimitPerIndex=0, maxFailedIndexes=0), 2)
    end(c, "a", failed(1), index=0)
    _deadline_now(c)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("The deadline takes precedence over a success policy that is met.", ["5.3", "5.6"])
def deadline_before_success_policy(c: Dialogue) -> None:
    success = {"successPolicy": {"rules": [{"succeededCount": 1}]}}
    start(c, parallel(2, **INDEXED, **success), 2)
    end(c, "a", succeeded(), index=0)
    _deadline_now(c)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("The deadline takes precedence over the last success.", ["5.3"])
def deadline_before_completion(c: Dialogue) -> None:
    start(c, parallel(1), 1)
    end(c, "a", succeeded())
    _deadline_now(c)
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A success policy takes precedence over the completion of all indexes.", ["5.3", "5.6"])
def success_policy_before_completion(c: Dialogue) -> None:
    success = {"successPolicy": {"rules": [{"succeededIndexes": "0-1", "succeededCount": 2}]}}
    start(c, parallel(2, **INDEXED, **success), 2)
    end(c, "a", succeeded(), index=0)
    end(c, "a", succeeded(), index=1)
    c.until(JOB, "a", condition("Complete"), show=STATUS)


@script("What a Job fails for is decided once: later causes change nothing.", ["5.2", "5.3"])
def reason_stays(c: Dialogue) -> None:
    policy = {"podFailurePolicy": {"rules": [in_codes("FailJob", 42)]}}
    start(c, parallel(2, backoffLimit=0, **policy), 2)
    names = sorted(item["metadata"]["name"] for item in pods_of(c, "a"))
    _hold(c, names[0])
    body = {"status": failed(1)}
    c.patch(POD, names[1], body, subresource="status", show=["status.phase"])
    wanted = condition("FailureTarget") & has("status.terminating", 1)
    c.until(JOB, "a", wanted, show=STATUS)
    body = {"status": failed(42)}
    c.patch(POD, names[0], body, subresource="status", show=["status.phase"])
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A Job that is failing can no longer be suspended.", ["5.2", "5.7"])
def failing_is_not_suspended(c: Dialogue) -> None:
    start(c, parallel(2, backoffLimit=0), 2)
    names = sorted(item["metadata"]["name"] for item in pods_of(c, "a"))
    _hold(c, names[0])
    body = {"status": failed(1)}
    c.patch(POD, names[1], body, subresource="status", show=["status.phase"])
    wanted = condition("FailureTarget") & has("status.terminating", 1)
    c.until(JOB, "a", wanted, show=STATUS)
    c.patch(JOB, "a", {"spec": {"suspend": True}}, show=["spec.suspend"])
    c.settle(1.6)
    c.get(JOB, "a", show=STATUS)
    c.patch(POD, names[0], {"metadata": {"finalizers": [TRACKING]}}, show=["status.phase"])
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A limit that is raised does not save a Job that is failing.", ["5.1", "5.2"])
def failing_is_final(c: Dialogue) -> None:
    start(c, parallel(2, backoffLimit=0), 2)
    names = sorted(item["metadata"]["name"] for item in pods_of(c, "a"))
    _hold(c, names[0])
    body = {"status": failed(1)}
    c.patch(POD, names[1], body, subresource="status", show=["status.phase"])
    wanted = condition("FailureTarget") & has("status.terminating", 1)
    c.until(JOB, "a", wanted, show=STATUS)
    c.patch(JOB, "a", {"spec": {"backoffLimit": 9}}, show=["spec.backoffLimit"])
    c.patch(POD, names[0], {"metadata": {"finalizers": [TRACKING]}}, show=["status.phase"])
    c.until(JOB, "a", condition("Failed"), show=STATUS)


@script("A success policy that is met ends a Job whose other pods stop slowly.", ["5.2", "5.6"])
def success_waits_for_pods(c: Dialogue) -> None:
    success = {"successPolicy": {"rules": [{"succeededIndexes": "0"}]}}
    start(c, parallel(2, **INDEXED, **success), 2)
    slow = pods_of(c, "a", 1)[0]["metadata"]["name"]
    _hold(c, slow)
    end(c, "a", succeeded(), index=0)
    wanted = condition("SuccessCriteriaMet") & has("status.terminating", 1)
    c.until(JOB, "a", wanted, show=STATUS)
    c.settle(1.6)
    c.get(JOB, "a", show=STATUS)
    c.patch(POD, slow, {"status": succeeded()}, subresource="status", show=["status.phase"])
    c.until(JOB, "a", condition("Complete"), show=STATUS)


@script("A template can be changed in the very request that resumes a Job.", ["5.1", "5.7"])
def template_changed_with_resume(c: Dialogue) -> None:
    c.create(idle_job("a", suspend=True), show=["spec.suspend"])
    c.until(JOB, "a", condition("Suspended"), show=STATUS)
    template = {
        "metadata": {"annotations": {"queue": "y"}},
        "spec": {"nodeSelector": {"pool": "z"}},
    }
    both = {"suspend": False, "template": template}
    c.patch(JOB, "a", {"spec": both}, show=["spec.suspend", "spec.template.metadata.annotations"])
    c.until(JOB, "a", has("status.active", 1), show=STATUS)
    c.list(POD, show=["metadata.annotations", "spec.nodeSelector"])
    template["spec"] = {"nodeSelector": {"pool": "w"}}
    both = {"suspend": True, "template": template}
    c.patch(JOB, "a", {"spec": both}, show=["spec.suspend"])
    c.patch(JOB, "a", {"spec": {"suspend": True}}, show=["spec.suspend"])
    c.patch(JOB, "a", {"spec": {"template": template}}, show=["spec.template.spec.nodeSelector"])
    c.until(JOB, "a", condition("Suspended") & has("status.terminating", 0), show=STATUS)
    c.patch(JOB, "a", {"spec": {"template": template}}, show=["spec.template.spec.nodeSelector"])
