"""podFailurePolicy of Jobs (section 5.5)."""

from __future__ import annotations

from typing import Any

from clusters.simulated.controllers.workloads.job.failure_policy import match_policy
from tests.simulated_controllers.lab import Lab, job
from vocabulary.kinds import POD
from vocabulary.objects import condition, name_of


def on_codes(action: str, operator: str, *values: int, container: str = "") -> dict[str, Any]:
    codes: dict[str, Any] = {"operator": operator, "values": list(values)}
    if container:
        codes["containerName"] = container
    return {"action": action, "onExitCodes": codes}


def on_condition(action: str, type_: str = "DisruptionTarget") -> dict[str, Any]:
    return {"action": action, "onPodConditions": [{"type": type_, "status": "True"}]}


def policy(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"podFailurePolicy": {"rules": list(rules)}}


def failed_pod(**codes: int) -> dict[str, Any]:
    statuses = [
        {"name": name, "state": {"terminated": {"exitCode": code}}} for name, code in codes.items()
    ]
    return {
        "metadata": {"name": "p", "namespace": "n"},
        "status": {"phase": "Failed", "containerStatuses": statuses, "conditions": []},
    }


def test_5_5_the_first_matching_rule_decides() -> None:
    rules = policy(on_codes("Ignore", "In", 3), on_codes("FailJob", "In", 3, 4))
    assert match_policy(rules["podFailurePolicy"], failed_pod(a=3)).action == "Ignore"
    assert match_policy(rules["podFailurePolicy"], failed_pod(a=4)).action == "FailJob"
    assert match_policy(rules["podFailurePolicy"], failed_pod(a=5)).action == "Count"


def test_5_5_exit_code_zero_never_matches_not_even_not_in() -> None:
    rules = policy(on_codes("FailJob", "NotIn", 3))["podFailurePolicy"]
    assert match_policy(rules, failed_pod(a=0)).action == "Count"
    assert match_policy(rules, failed_pod(a=0, b=7)).action == "FailJob"


def test_5_5_a_rule_may_name_the_container_whose_code_counts() -> None:
    rules = policy(on_codes("FailJob", "In", 3, container="b"))["podFailurePolicy"]
    assert match_policy(rules, failed_pod(a=3, b=1)).action == "Count"
    assert match_policy(rules, failed_pod(a=1, b=3)).action == "FailJob"


def test_5_5_init_containers_are_looked_at_after_the_others() -> None:
    pod = failed_pod(a=1)
    pod["status"]["initContainerStatuses"] = [
        {"name": "i", "state": {"terminated": {"exitCode": 9}}}
    ]
    rules = policy(on_codes("FailJob", "In", 9))["podFailurePolicy"]
    assert match_policy(rules, pod).fail_job == (
        "Container i for pod n/p failed with exit code 9 matching FailJob rule at index 0"
    )


def test_5_5_a_rule_with_an_unknown_action_is_skipped() -> None:
    rules = policy(on_codes("Explode", "In", 3), on_codes("Ignore", "In", 3))["podFailurePolicy"]
    assert match_policy(rules, failed_pod(a=3)).action == "Ignore"


def test_5_5_fail_job_ends_the_job_at_once_with_the_exact_message() -> None:
    lab = Lab()
    lab.create(job(behaviour="exit 42", backoffLimit=6, **policy(on_codes("FailJob", "In", 42))))
    lab.run(5)
    (pod,) = lab.pods
    entry = condition(lab.job(), "Failed")
    assert entry is not None
    assert entry["reason"] == "PodFailurePolicy"
    assert entry["message"] == (
        f"Container main for pod default/{name_of(pod)} failed with exit code 42 matching "
        "FailJob rule at index 0"
    )


def test_5_3_the_failure_policy_ranks_before_a_back_off_limit_of_zero() -> None:
    lab = Lab()
    lab.create(job(behaviour="exit 42", backoffLimit=0, **policy(on_codes("FailJob", "In", 42))))
    lab.run(5)
    assert lab.conditions(lab.job())["Failed"] == ("True", "PodFailurePolicy")


def test_5_5_ignored_failures_are_replaced_after_the_back_off_and_not_counted() -> None:
    lab = Lab()
    lab.create(job(behaviour="exit 7", backoffLimit=0, **policy(on_codes("Ignore", "In", 7))))
    lab.run(45)
    assert len(lab.writes(POD, event="ADDED")) == 3
    assert "failed" not in lab.job_status()
    assert "Failed" not in lab.conditions(lab.job())


def test_5_5_a_disruption_can_be_ignored_by_its_condition() -> None:
    lab = Lab(nodes=2)
    lab.create(job(backoffLimit=0, **policy(on_condition("Ignore"))))
    lab.run(5)
    node = lab.pods[0]["spec"]["nodeName"]
    lab.taint(node, {"key": "k", "effect": "NoExecute"})
    lab.run(60)
    assert "Failed" not in lab.conditions(lab.job())
    assert lab.job_status()["active"] == 1
    assert lab.pods[0]["spec"]["nodeName"] != node


def test_5_5_fail_job_by_condition_names_the_condition() -> None:
    lab = Lab(nodes=1)
    lab.create(job(**policy(on_condition("FailJob"))))
    lab.run(5)
    name = name_of(lab.pods[0])
    lab.taint("n0", {"key": "k", "effect": "NoExecute"})
    lab.run(10)
    entry = condition(lab.job(), "Failed")
    assert entry is not None
    assert entry["message"] == (
        f"Pod default/{name} has condition DisruptionTarget matching FailJob rule at index 0"
    )


def test_5_4_with_a_failure_policy_a_stopping_pod_is_neither_counted_nor_replaced() -> None:
    lab = Lab()
    rules = policy(on_codes("FailJob", "In", 42))
    lab.create(job(behaviour="stop 100s", **rules))
    lab.run(5)
    lab.delete(POD, name_of(lab.pods[0]))
    lab.run(60)
    assert len(lab.pods) == 1
    assert "failed" not in lab.job_status()
    lab.run(60)
    assert lab.job_status()["failed"] == 1
    assert lab.job_status()["active"] == 1
