"""Indexed Jobs, back-off limits per index, success policies (section 5.6)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from clusters.simulated.controllers.workloads.job.indexes import format_indexes, parse_indexes
from clusters.simulated.controllers.workloads.job.success_policy import matched_rule
from tests.simulated_controllers.lab import Lab, job
from vocabulary.clock import SECOND
from vocabulary.kinds import POD
from vocabulary.objects import annotations_of, condition, get_path, labels_of, name_of

INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED = "batch.kubernetes.io/job-index-ignored-failure-count"


def indexed(behaviour: str = "", pods: int = 3, **spec: Any) -> dict[str, Any]:
    return job(behaviour=behaviour, pods=pods, completionMode="Indexed", **spec)


def of_index(lab: Lab, index: int) -> list[Any]:
    return [pod for pod in lab.pods if labels_of(pod)[INDEX] == str(index)]


@pytest.mark.parametrize(
    ("indexes", "text"),
    [
        ((), ""),
        ((1,), "1"),
        ((1, 2), "1,2"),
        ((1, 2, 3), "1-3"),
        ((1, 3, 4, 5, 7), "1,3-5,7"),
        ((0, 1, 4, 5, 6), "0,1,4-6"),
    ],
)
def test_5_6_indexes_are_compressed_as_in_the_api(indexes: tuple[int, ...], text: str) -> None:
    assert format_indexes(indexes) == text
    assert parse_indexes(text, 10) == frozenset(indexes)


def test_5_6_indexes_beyond_the_completions_and_what_is_no_index_are_skipped() -> None:
    assert parse_indexes("1,3-9,x,12", 5) == frozenset({1, 3, 4})


def test_5_6_every_index_gets_one_pod_with_annotation_label_and_hostname() -> None:
    lab = Lab()
    lab.create(indexed())
    lab.run(2)
    for index in range(3):
        (pod,) = of_index(lab, index)
        assert annotations_of(pod)[INDEX] == str(index)
        assert pod["spec"]["hostname"] == f"j-{index}"
        assert name_of(pod).startswith(f"j-{index}-")
        (variable,) = pod["spec"]["containers"][0]["env"]
        assert variable["name"] == "JOB_COMPLETION_INDEX"


def test_5_6_completed_indexes_are_shown_and_end_the_job() -> None:
    lab = Lab()
    lab.create(indexed("run 5s, exit 0", pods=4))
    lab.run(2)
    lab.annotate(name_of(of_index(lab, 2)[0]), {"assay.dev/run-for": "60s"})
    lab.run(15)
    assert lab.job_status()["completedIndexes"] == "0,1,3"
    lab.run(60)
    assert lab.job_status()["completedIndexes"] == "0-3"
    assert "Complete" in lab.conditions(lab.job())


def test_5_6_of_two_pods_with_one_index_the_better_is_kept() -> None:
    lab = Lab()
    lab.create(indexed(pods=1))
    lab.run(2)
    (first,) = lab.pods
    twin = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            **{key: first["metadata"][key] for key in ("labels", "annotations", "namespace")},
            "name": "twin",
            "finalizers": first["metadata"]["finalizers"],
            "ownerReferences": first["metadata"]["ownerReferences"],
        },
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]},
    }
    twin["metadata"]["annotations"] = {**twin["metadata"]["annotations"], "assay.dev/hold": "init"}
    lab.create(twin)
    lab.run(10)
    assert [name_of(pod) for pod in lab.pods] == [name_of(first)]


def test_5_6_per_index_other_indexes_go_on_when_one_has_failed() -> None:
    lab = Lab()
    lab.create(indexed("run 100s, exit 0", backoffLimitPerIndex=1))
    for _ in range(2):
        lab.run(15)
        alive = [pod for pod in of_index(lab, 1) if get_path(pod, "status.phase") == "Running"]
        lab.annotate(name_of(alive[0]), {"assay.dev/exit": "1", "assay.dev/run-for": None})
    lab.run(10)
    status = lab.job_status()
    assert status["failedIndexes"] == "1"
    assert status["active"] == 2
    assert "Failed" not in lab.conditions(lab.job())
    lab.run(120)
    assert lab.job_status()["completedIndexes"] == "0,2"
    entry = condition(lab.job(), "Failed")
    assert entry is not None
    assert (entry["reason"], entry["message"]) == ("FailedIndexes", "Job has failed indexes")


def test_5_6_the_failure_count_of_an_index_is_carried_on_by_its_pods() -> None:
    lab = Lab()
    lab.create(indexed("exit 1", pods=1, backoffLimitPerIndex=3))
    lab.run(120)
    counts = [
        annotations_of(entry.object or {})[FAILURES] for entry in lab.writes(POD, event="ADDED")
    ]
    assert counts == ["0", "1", "2", "3"]


def test_5_4_per_index_the_back_off_survives_a_restart_of_the_controller() -> None:
    lab = Lab()
    lab.create(indexed("exit 1", pods=1, backoffLimitPerIndex=5))
    lab.until(lambda: len(lab.writes(POD, event="ADDED")) == 3)
    lab.run(5)
    lab.processes.kill("job-controller")
    lab.processes.start("job-controller")
    created = [entry.t for entry in lab.writes(POD, event="ADDED")]
    lab.until(lambda: len(lab.writes(POD, event="ADDED")) == 4)
    gap = lab.writes(POD, event="ADDED")[-1].t - created[-1]
    assert 39 * SECOND <= gap <= 42 * SECOND


def test_5_6_ignored_failures_of_an_index_are_carried_apart() -> None:
    rules = {"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [7]}}]}
    lab = Lab()
    lab.create(indexed("exit 7", pods=1, backoffLimitPerIndex=0, podFailurePolicy=rules))
    lab.run(45)
    seen = [annotations_of(entry.object or {}) for entry in lab.writes(POD, event="ADDED")]
    assert [entry[FAILURES] for entry in seen] == ["0"] * len(seen)
    assert [entry.get(IGNORED, "") for entry in seen[:3]] == ["", "1", "2"]


def test_5_5_fail_index_fails_the_index_at_once() -> None:
    rules = {"rules": [{"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [9]}}]}
    lab = Lab()
    lab.create(indexed(backoffLimitPerIndex=5, podFailurePolicy=rules))
    lab.run(5)
    lab.annotate(name_of(of_index(lab, 0)[0]), {"assay.dev/exit": "9"})
    lab.run(5)
    assert lab.job_status()["failedIndexes"] == "0"
    assert Counter(labels_of(pod)[INDEX] for pod in lab.pods)["0"] == 1


def test_5_6_too_many_failed_indexes_fail_the_job_at_once() -> None:
    lab = Lab()
    lab.create(indexed(pods=4, backoffLimitPerIndex=0, maxFailedIndexes=1))
    lab.run(5)
    for index in (0, 1):
        lab.annotate(name_of(of_index(lab, index)[0]), {"assay.dev/exit": "1"})
    lab.run(10)
    entry = condition(lab.job(), "Failed")
    assert entry is not None
    assert (entry["reason"], entry["message"]) == (
        "MaxFailedIndexesExceeded",
        "Job has exceeded the specified maximal number of failed indexes",
    )


def test_5_6_a_success_policy_ends_the_job_before_all_indexes_have_succeeded() -> None:
    lab = Lab()
    lab.create(indexed(pods=3, successPolicy={"rules": [{"succeededIndexes": "0"}]}))
    lab.run(5)
    lab.annotate(name_of(of_index(lab, 0)[0]), {"assay.dev/exit": "0"})
    lab.run(10)
    entry = condition(lab.job(), "Complete")
    assert entry is not None
    assert (entry["reason"], entry["message"]) == ("SuccessPolicy", "Matched rules at index 0")
    assert "failed" not in lab.job_status()
    assert [get_path(pod, "status.phase") for pod in lab.pods] == ["Succeeded"]


@pytest.mark.parametrize(
    ("rule", "matches"),
    [
        ({"succeededIndexes": "0-2"}, False),
        ({"succeededIndexes": "0-2", "succeededCount": 2}, True),
        ({"succeededIndexes": "2,3", "succeededCount": 1}, False),
        ({"succeededCount": 2}, True),
        ({"succeededCount": 3}, False),
    ],
)
def test_5_6_success_rules_match_by_indexes_and_counts(rule: Any, matches: bool) -> None:
    found = matched_rule({"rules": [rule]}, 4, frozenset({0, 1}))
    assert (found == 0) == matches
