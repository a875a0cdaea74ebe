"""JobSets that the reference refuses, each with the field at fault."""

from __future__ import annotations

from typing import Any

import pytest

from reference_controller.jobset.admission import mutate, validate
from reference_controller.runtime.admission_review import UserInfo
from tests.reference_jobset.driver import replicated_job
from vocabulary.errors import ApiError

USER = UserInfo("somebody")
LONG = "a" * 58
COORDINATORS: dict[str, tuple[dict[str, Any], str]] = {
    "no such replicated job": ({"replicatedJob": "c"}, "spec.coordinator.replicatedJob"),
    "no such Job": ({"replicatedJob": "a", "jobIndex": 2}, "spec.coordinator.jobIndex"),
    "no such pod": ({"replicatedJob": "a", "podIndex": 3}, "spec.coordinator.podIndex"),
    "a negative index": ({"replicatedJob": "a", "podIndex": -1}, "spec.coordinator.podIndex"),
    "pods without index": ({"replicatedJob": "b"}, "spec.coordinator.replicatedJob"),
}


def submitted(**spec: Any) -> None:
    """Submit a JobSet with the replicated jobs a and b, the pods of b without an index."""
    jobs = [replicated_job("a", replicas=2), replicated_job("b")]
    jobs[0]["template"]["spec"] |= {"parallelism": 3, "completions": 3}
    jobs[1]["template"]["spec"] |= {"completionMode": "NonIndexed"}
    job_set = {"metadata": {"name": "js"}, "spec": {"replicatedJobs": jobs, **spec}}
    validate("CREATE", mutate("CREATE", job_set, None, USER), None, USER)


def test_a_coordinator_within_its_bounds_is_admitted() -> None:
    submitted(coordinator={"replicatedJob": "a", "jobIndex": 1, "podIndex": 2})


@pytest.mark.parametrize(("coordinator", "field"), COORDINATORS.values(), ids=COORDINATORS)
def test_a_coordinator_that_cannot_be_is_refused(coordinator: dict[str, Any], field: str) -> None:
    with pytest.raises(ApiError) as refused:
        submitted(coordinator=coordinator)
    assert [each["field"] for each in refused.value.details["causes"]] == [field]


def test_a_coordinator_whose_address_is_too_long_for_a_label_is_refused() -> None:
    with pytest.raises(ApiError, match="up to 63 characters"):
        submitted(coordinator={"replicatedJob": "a"}, network={"subdomain": LONG})


@pytest.mark.parametrize("subdomain", ["Not_Valid", "a.b", "a" * 64])
def test_a_subdomain_that_names_no_service_is_refused(subdomain: str) -> None:
    with pytest.raises(ApiError) as refused:
        submitted(network={"subdomain": subdomain})
    assert [each["field"] for each in refused.value.details["causes"]] == ["spec.network.subdomain"]


def test_an_update_with_a_field_that_is_not_implemented_is_refused() -> None:
    old = {"metadata": {"name": "js"}, "spec": {"replicatedJobs": [replicated_job("a")]}}
    new = {**old, "spec": {**old["spec"], "volumeClaimPolicies": []}}
    with pytest.raises(ApiError, match="volumeClaimPolicies: is not implemented"):
        validate("UPDATE", new, old, USER)


@pytest.mark.parametrize("written", [{"metadata": {}}, {"template": {"spec": {"volumes": None}}}])
def test_an_update_that_writes_out_what_was_absent_changes_nothing(written: dict[str, Any]) -> None:
    """So do clients with types of their own, such as Kueue."""
    old = {"metadata": {"name": "js"}, "spec": {"replicatedJobs": [replicated_job("a")]}}
    job = replicated_job("a")
    spec = job["template"]["spec"]
    if "template" in written:
        spec["template"]["spec"] |= written["template"]["spec"]
    else:
        job["template"] |= written
    validate("UPDATE", {**old, "spec": {"replicatedJobs": [job]}}, old, USER)


def test_a_message_pattern_that_is_no_expression_is_refused() -> None:
    def with_patterns(*patterns: str) -> dict[str, Any]:
        rule = {"action": "FailJobSet", "onJobFailureMessagePatterns": [*patterns]}
        return {"maxRestarts": 1, "rules": [rule]}

    submitted(failurePolicy=with_patterns("exit code [0-9]+ ", ""))
    with pytest.raises(ApiError, match=r"'\(' is no regular expression of RE2") as refused:
        submitted(failurePolicy=with_patterns("a", "("))
    path = "spec.failurePolicy.rules[0].onJobFailureMessagePatterns"
    assert [each["field"] for each in refused.value.details["causes"]] == [path]
