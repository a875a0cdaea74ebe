"""Rules of pods: deletion order, completion, placement and resource requests."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.controllers.scheduling.node_affinity import (
    selects_node,
    tolerates,
    untolerated,
)
from clusters.simulated.controllers.scheduling.resources import pod_requests
from clusters.simulated.controllers.settings import Settings
from clusters.simulated.controllers.workloads.job.backoff import (
    BackoffRecord,
    finished_us,
    remaining_us,
)
from clusters.simulated.controllers.workloads.job.failure_policy import match_policy
from clusters.simulated.controllers.workloads.job.pods import for_removal
from clusters.simulated.controllers.workloads.pods import removal_rank
from vocabulary.clock import SECOND, parse_rfc3339

NOON = "2026-01-01T12:00:00Z"
LATER = "2026-01-01T12:00:10Z"


def pod(phase: str = "Running", node: str = "n0", **status: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "p", "namespace": "default", "creationTimestamp": NOON},
        "spec": {"nodeName": node} if node else {},
        "status": {"phase": phase, **status},
    }


def ready(value: str = "True", since: str = NOON) -> list[dict[str, Any]]:
    return [{"type": "Ready", "status": value, "lastTransitionTime": since}]


def restarted(*counts: int) -> list[dict[str, Any]]:
    return [{"name": f"c{at}", "restartCount": count} for at, count in enumerate(counts)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pod(node="", conditions=ready()), pod("Pending")),
        (pod("Pending", conditions=ready()), pod("Unknown")),
        (pod("Unknown", conditions=ready()), pod("Running")),
        (pod(conditions=ready("False"), containerStatuses=restarted(0)), pod(conditions=ready())),
        (pod(), pod(conditions=ready())),
        (
            pod(conditions=ready(since=LATER)),
            pod(conditions=ready(), containerStatuses=restarted(9)),
        ),
        (
            pod(conditions=ready(), containerStatuses=restarted(0, 5)),
            pod(conditions=ready(), containerStatuses=restarted(4, 4)),
        ),
        (pod(containerStatuses=restarted(1)), pod()),
    ],
)
def test_pods_that_are_worth_less_are_deleted_first(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    assert removal_rank(first) < removal_rank(second)


def test_readiness_in_the_past_is_worth_nothing() -> None:
    assert removal_rank(pod(conditions=ready("False"))) == removal_rank(pod())


def indexed(name: str, index: int | None, *, is_ready: bool = True) -> dict[str, Any]:
    found = pod(conditions=ready() if is_ready else [])
    found["metadata"]["name"] = name
    if index is not None:
        found["metadata"]["annotations"] = {"batch.kubernetes.io/job-completion-index": str(index)}
    return found


def removed(completion_mode: str, at_least: int, *pods: dict[str, Any]) -> list[str]:
    job = {"spec": {"completionMode": completion_mode, "completions": 3}}
    return [found["metadata"]["name"] for found in for_removal(job, list(pods), at_least)]


def test_a_job_removes_the_pods_that_are_worth_least() -> None:
    pods = [indexed("old", None), indexed("young", None), indexed("weak", None, is_ready=False)]
    assert removed("NonIndexed", 0, *pods) == []
    assert removed("NonIndexed", 1, *pods) == ["weak"]
    assert removed("NonIndexed", 2, *pods) == ["weak", "young"]


def test_an_indexed_job_removes_first_what_serves_no_index_of_its_own() -> None:
    pods = [
        indexed("first", 0, is_ready=False),
        indexed("better", 0),
        indexed("other", 1),
        indexed("weak", 2, is_ready=False),
    ]
    assert removed("Indexed", 0, *pods) == ["first"]
    assert removed("Indexed", 1, *pods) == ["first"]
    assert removed("Indexed", 2, *pods) == ["first", "weak"]
    assert removed("Indexed", 0, indexed("beyond", 3), indexed("last", 2)) == ["beyond"]
    assert removed("Indexed", 0, indexed("without", None), indexed("one", 1)) == ["without"]


def ended(*moments: str | None) -> list[dict[str, Any]]:
    return [
        {"state": {"terminated": {"exitCode": 1, "finishedAt": moment}} if moment else {}}
        for moment in moments
    ]


def deleted(grace: int | None) -> dict[str, Any]:
    found = pod("Failed")
    found["metadata"]["deletionTimestamp"] = LATER
    if grace is not None:
        found["metadata"]["deletionGracePeriodSeconds"] = grace
    return found


@pytest.mark.parametrize(
    ("found", "at"),
    [
        (pod("Failed", containerStatuses=ended(LATER)), 10),
        (pod("Failed", containerStatuses=ended(NOON, LATER)), 10),
        (pod("Failed", containerStatuses=ended(LATER), conditions=ready("False")), 10),
        (pod("Failed", containerStatuses=ended(LATER, None)), 0),
        (pod("Failed", containerStatuses=ended(NOON, None), conditions=ready("False", LATER)), 10),
        (pod("Failed", conditions=ready("False", LATER)), 10),
        (pod("Failed", conditions=ready("True", LATER)), 0),
        (deleted(None), 10),
        (deleted(3), 7),
        (pod("Failed"), 0),
    ],
)
def test_a_pod_ended_with_its_last_container_else_when_it_was_unready_else_deleted(
    found: dict[str, Any], at: int
) -> None:
    assert finished_us(found) == parse_rfc3339(NOON) + at * SECOND


def at(second: int) -> dict[str, Any]:
    return pod("Failed", containerStatuses=ended(f"2026-01-01T12:00:{second:02}Z"))


def test_a_success_sets_the_count_of_failures_back() -> None:
    noon = parse_rfc3339(NOON)
    record = BackoffRecord(2, noon)
    assert record.after([], []) is record
    assert record.after([], [at(7), at(5)]) == BackoffRecord(4, noon + 7 * SECOND)
    assert record.after([at(6)], []) == BackoffRecord()
    assert record.after([at(6), at(3)], [at(5)]) == BackoffRecord()
    assert record.after([at(3), at(6)], [at(9), at(5), at(7)]) == BackoffRecord(
        2, noon + 9 * SECOND
    )


def test_a_job_waits_twice_as_long_after_each_failure_up_to_a_limit() -> None:
    settings = Settings()
    base, most = settings.job_pod_backoff_us, settings.job_pod_backoff_limit_us
    assert (base, most) == (10 * SECOND, 600 * SECOND)
    waits = [remaining_us(settings, failures, 0, 0) // SECOND for failures in range(9)]
    assert waits == [0, 10, 20, 40, 80, 160, 320, 600, 600]
    assert remaining_us(settings, 100, 0, 0) == most
    assert remaining_us(settings, 1, 0, base - 1) == 1
    assert remaining_us(settings, 1, 0, base + 1) == 0


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"key": "k", "operator": "Exists"}, True),
        ({"key": "k", "value": "v"}, True),
        ({"key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute"}, True),
        ({"key": "k", "value": "w"}, False),
        ({"key": "k"}, False),
        ({"key": "l", "operator": "Exists"}, False),
        ({"key": "k", "operator": "Exists", "effect": "NoSchedule"}, False),
        ({"operator": "Exists"}, True),
        ({"operator": "Exists", "effect": "NoExecute"}, True),
        ({"key": "k", "operator": "Exists", "effect": ""}, True),
    ],
)
def test_a_toleration_tolerates_what_it_names(toleration: dict[str, Any], tolerated: bool) -> None:
    assert tolerates(toleration, {"key": "k", "value": "v", "effect": "NoExecute"}) is tolerated


def test_no_value_is_the_empty_value() -> None:
    bare = {"key": "k", "effect": "NoSchedule"}
    assert tolerates({"key": "k"}, bare)
    assert tolerates({"key": "k", "value": ""}, bare)
    assert tolerates({"key": "k"}, {**bare, "value": ""})


def test_the_first_taint_of_an_effect_that_is_not_tolerated_decides() -> None:
    taints = [
        {"key": "soft", "effect": "PreferNoSchedule"},
        {"key": "borne", "effect": "NoSchedule"},
        {"key": "hard", "effect": "NoExecute"},
    ]
    spec = {"tolerations": [{"key": "other"}, {"key": "borne", "operator": "Exists"}]}
    assert untolerated(spec, taints, ("NoSchedule", "NoExecute")) == taints[2]
    assert untolerated(spec, taints, ("NoSchedule",)) is None
    assert untolerated({}, taints, ("NoSchedule",)) == taints[1]


NODE = {"metadata": {"name": "n0", "labels": {"zone": "a", "gpus": "4"}}}


def required(*terms: dict[str, Any]) -> dict[str, Any]:
    wanted = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return {"affinity": {"nodeAffinity": wanted}}


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


IN_A = expression("zone", "In", "a", "b")
IN_C = expression("zone", "In", "c")
NAMED = expression("metadata.name", "In", "n0")
NAMED_OTHERWISE = expression("metadata.name", "NotIn", "n0")


@pytest.mark.parametrize(
    ("spec", "selected"),
    [
        ({}, True),
        ({"nodeSelector": {"zone": "a", "gpus": "4"}}, True),
        ({"nodeSelector": {"zone": "a", "gpus": "8"}}, False),
        ({"nodeSelector": {"missing": ""}}, False),
        ({"affinity": {"nodeAffinity": {}}}, True),
        ({"affinity": {"podAffinity": {}}}, True),
        (required({"matchExpressions": [IN_A]}), True),
        (required({"matchExpressions": [IN_C]}), False),
        (required({"matchExpressions": [IN_C]}, {"matchExpressions": [IN_A]}), True),
        (required({"matchExpressions": [IN_A, IN_C]}), False),
        (required({"matchFields": [NAMED]}), True),
        (required({"matchFields": [NAMED_OTHERWISE]}), False),
        (required({"matchExpressions": [IN_A], "matchFields": [NAMED_OTHERWISE]}), False),
        (required({"matchExpressions": [IN_C], "matchFields": [NAMED]}), False),
        (required({}), False),
        (required(), False),
        (required({"matchExpressions": [expression("gpus", "Gt", "3")]}), True),
        (required({"matchExpressions": [expression("gpus", "Gt", "4")]}), False),
        (required({"matchExpressions": [expression("gpus", "Lt", "5")]}), True),
        (required({"matchExpressions": [expression("zone", "Gt", "3")]}), False),
        (required({"matchExpressions": [expression("zone", "Exists")]}), True),
        (required({"matchExpressions": [expression("rack", "Exists")]}), False),
        (required({"matchExpressions": [expression("rack", "DoesNotExist")]}), True),
        (required({"matchExpressions": [expression("rack", "NotIn", "r1")]}), True),
        ({"nodeSelector": {"zone": "b"}, **required({"matchExpressions": [IN_A]})}, False),
    ],
)
def test_a_pod_chooses_nodes_by_all_that_it_requires(spec: dict[str, Any], selected: bool) -> None:
    assert selects_node(spec, NODE) is selected


def asks(cpu: str, memory: str | None = None, **more: Any) -> dict[str, Any]:
    requests = {"cpu": cpu} if memory is None else {"cpu": cpu, "memory": memory}
    return {"resources": {"requests": requests}, **more}


def test_a_pod_asks_for_its_containers_together() -> None:
    limited = {"resources": {"limits": {"cpu": "2", "memory": "1Ki"}, "requests": {"cpu": "1"}}}
    spec = {"containers": [asks("500m", "1Ki"), limited, {}, asks("0.0001")]}
    assert pod_requests(spec) == {"cpu": 1501, "memory": 2048}


def test_init_containers_need_their_room_one_after_the_other() -> None:
    spec = {"containers": [asks("1"), asks("1")], "initContainers": [asks("3"), asks("1", "1Ki")]}
    assert pod_requests(spec) == {"cpu": 3000, "memory": 1024}
    assert pod_requests({**spec, "initContainers": [asks("1")]}) == {"cpu": 2000}


def test_sidecars_run_beside_all_that_come_after_them() -> None:
    sidecar = asks("1", restartPolicy="Always")
    before = {"containers": [asks("1")], "initContainers": [asks("4"), sidecar]}
    assert pod_requests(before) == {"cpu": 4000}
    after = {"containers": [asks("1")], "initContainers": [sidecar, asks("4")]}
    assert pod_requests(after) == {"cpu": 5000}
    assert pod_requests({**after, "overhead": {"cpu": "250m", "memory": "1"}}) == {
        "cpu": 5250,
        "memory": 1,
    }


def failed_with(code: int, name: str = "main", **status: Any) -> dict[str, Any]:
    state = {"terminated": {"exitCode": code}}
    return pod("Failed", containerStatuses=[{"name": name, "state": state}], **status)


def on_codes(operator: str, *values: int, action: str = "FailJob", **more: Any) -> dict[str, Any]:
    codes = {"operator": operator, "values": list(values), **more}
    return {"action": action, "onExitCodes": codes}


def on_condition(type_: str, action: str = "Ignore", **more: str) -> dict[str, Any]:
    return {"action": action, "onPodConditions": [{"type": type_, **more}]}


@pytest.mark.parametrize(
    ("rules", "found", "action"),
    [
        ([], failed_with(1), "Count"),
        ([on_codes("In", 1)], failed_with(1), "FailJob"),
        ([on_codes("In", 2)], failed_with(1), "Count"),
        ([on_codes("NotIn", 2)], failed_with(1), "FailJob"),
        ([on_codes("NotIn", 1)], failed_with(1), "Count"),
        ([on_codes("NotIn", 1)], failed_with(0), "Count"),
        ([on_codes("In", 1, containerName="main")], failed_with(1), "FailJob"),
        ([on_codes("In", 1, containerName="other")], failed_with(1), "Count"),
        ([on_codes("In", 1, action="FailIndex"), on_codes("In", 1)], failed_with(1), "FailIndex"),
        ([on_codes("In", 1, action="Count"), on_codes("In", 1)], failed_with(1), "Count"),
        (
            [on_condition("DisruptionTarget")],
            failed_with(1, conditions=[{"type": "DisruptionTarget", "status": "True"}]),
            "Ignore",
        ),
        (
            [on_condition("DisruptionTarget")],
            failed_with(1, conditions=[{"type": "DisruptionTarget", "status": "False"}]),
            "Count",
        ),
        (
            [on_condition("DisruptionTarget", status="False")],
            failed_with(1, conditions=[{"type": "DisruptionTarget", "status": "False"}]),
            "Ignore",
        ),
        (
            [on_condition("Other"), on_codes("In", 1)],
            failed_with(1, conditions=[{"type": "DisruptionTarget", "status": "True"}]),
            "FailJob",
        ),
    ],
)
def test_the_first_rule_that_fits_says_what_a_failed_pod_means(
    rules: list[dict[str, Any]], found: dict[str, Any], action: str
) -> None:
    match = match_policy({"rules": rules}, found)
    assert match.action == action
    assert match.counts == (action != "Ignore")
    assert bool(match.fail_job) == (action == "FailJob")


def test_a_job_that_a_rule_fails_says_which_container_and_which_rule() -> None:
    rules = [on_codes("In", 9), on_codes("In", 3)]
    found = pod(
        "Failed", initContainerStatuses=failed_with(3, "init")["status"]["containerStatuses"]
    )
    assert match_policy({"rules": rules}, found).fail_job == (
        "Container init for pod default/p failed with exit code 3 matching FailJob rule at index 1"
    )
