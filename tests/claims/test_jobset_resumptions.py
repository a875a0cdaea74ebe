"""JS-104 on Jobs that are resumed after a queue has changed the pod template."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from conformance.norm.verdict import Outcome, Verdict
from conformance.running.runner import RunResult
from tests.claims.jobset_runs import judged_with, run_scenario, violated
from vocabulary.objects import Object

CLAIM = "JS-104"


@pytest.fixture(scope="module")
def run() -> RunResult:
    return run_scenario("suspension/queue-places-its-pods/at-rest")


def with_resumed(run: RunResult, change: Callable[[dict[str, Any]], None]) -> list[Verdict]:
    """The verdicts if Jobs that run have another pod template."""

    def changed(job: Object) -> Object:
        found = deepcopy(dict(job))
        if not found["spec"].get("suspend"):
            change(found["spec"]["template"])
        return found

    return judged_with(run, "Job.batch", changed)


def with_templates(run: RunResult, change: Callable[[dict[str, Any]], None]) -> list[Verdict]:
    """The verdicts if the JobSet's pod templates are others once it is resumed."""

    def changed(job_set: Object) -> Object:
        found = deepcopy(dict(job_set))
        if not found["spec"].get("suspend"):
            for each in found["spec"]["replicatedJobs"]:
                change(each["template"]["spec"]["template"])
        return found

    return judged_with(run, "JobSet", changed)


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("metadata", "labels"),
        ("metadata", "annotations"),
        ("spec", "nodeSelector"),
        ("spec", "tolerations"),
    ],
)
def test_a_job_that_is_resumed_without_what_a_queue_has_set_is_noticed(
    run: RunResult, path: str, key: str
) -> None:
    def without(template: dict[str, Any]) -> None:
        template[path] = {name: each for name, each in template[path].items() if name != key}

    because = violated(with_resumed(run, without))[CLAIM]
    assert "was resumed with" in because and f"{path}.{key}" in because


def test_a_gate_that_a_queue_has_set_is_not_left_out(run: RunResult) -> None:
    def gated(template: dict[str, Any]) -> None:
        template["spec"]["schedulingGates"] = [{"name": "example.com/gate"}]

    assert "spec.schedulingGates" in violated(with_templates(run, gated))[CLAIM]


def test_more_than_the_template_has_is_no_flaw(run: RunResult) -> None:
    def more(template: dict[str, Any]) -> None:
        template["metadata"]["labels"] = {**template["metadata"]["labels"], "of": "others"}
        template["spec"]["tolerations"] = [*template["spec"]["tolerations"], {"key": "other"}]

    assert CLAIM not in violated(with_resumed(run, more))


@pytest.mark.parametrize("empty", ["", None])
def test_fields_without_a_value_may_be_left_out(run: RunResult, empty: str | None) -> None:
    def with_empty_value(template: dict[str, Any]) -> None:
        template["spec"]["tolerations"] = [
            {**each, "value": empty} for each in template["spec"]["tolerations"]
        ]

    assert CLAIM not in violated(with_templates(run, with_empty_value))


def test_jobs_of_a_jobset_that_is_not_resumed_are_not_judged_by_its_template(
    run: RunResult,
) -> None:
    def suspended(job_set: Object) -> Object:
        found = deepcopy(dict(job_set))
        found["spec"]["suspend"] = True
        return found

    def armed(verdicts: list[Verdict]) -> int:
        (found,) = (each for each in verdicts if each.claim == CLAIM)
        assert found.outcome is Outcome.PASSED
        return found.armed

    assert armed(judged_with(run, "JobSet", suspended)) < armed(with_resumed(run, lambda _: None))
