"""Claims about what a workload is said to have come to, and how kubectl shows it."""

from __future__ import annotations

from tests.claims.judging import (
    assert_fails,
    assert_passes,
    assert_unarmed,
    entered,
)
from tests.claims.stories import SOON, attempt, begin, gpu_pod, started
from tests.claims.story import Story
from tests.claims.templates import config_map, job, pod


def crd(*columns: str) -> dict[str, object]:
    printed = [{"name": name, "type": "string", "jsonPath": ".status"} for name in columns]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "appwrappers.workload.codeflare.dev"},
        "spec": {"versions": [{"name": "v1beta2", "additionalPrinterColumns": printed}]},
    }


def test_printer_columns_in_order_are_right_and_others_may_follow() -> None:
    story = Story()
    story.creates(
        crd("Status", "Quota Reserved", "Resources Deployed", "Unhealthy", "Age"), by="harness"
    )
    assert_passes("MLB-040", story)


def test_a_missing_printer_column_is_a_violation() -> None:
    story = Story()
    wrong = story.creates(crd("Status", "Quota Reserved", "Unhealthy"), by="harness")
    assert_fails("MLB-040", story, at=wrong)
    assert_unarmed("MLB-040", started())


def test_success_while_a_pod_still_runs_is_a_violation() -> None:
    story = started(pod("a-0"), pod("a-1"))
    story.at(100).becomes("a-0", "Succeeded")
    wrong = story.at(100.1).enters("Succeeded", QuotaReserved="False")
    verdict = assert_fails("MLB-041", story, at=wrong)
    assert "pod/a-1 (Running) has not ended" in verdict.because


def test_success_of_a_job_that_wants_more_completions_is_a_violation() -> None:
    template = job("a-job")
    template["spec"]["completions"] = 3
    story = started(template)
    name = story.history.appwrappers[0].pods[0].name
    story.at(100).becomes(name, "Succeeded")
    wrong = story.at(100.1).enters("Succeeded", QuotaReserved="False")
    assert_fails("MLB-041", story, at=wrong)


def test_success_of_a_workload_that_expects_no_pods_is_a_violation() -> None:
    story = started(config_map("a-config"))
    wrong = story.at(1.5).enters("Succeeded", QuotaReserved="False")
    assert_fails("MLB-041", story, at=wrong)
    assert entered(story, "Succeeded") == wrong


def test_failing_a_workload_that_could_be_migrated_is_a_violation() -> None:
    story = Story(gpu_pod())
    story.node("n0")
    attempt(begin(story), SOON)
    story.at(30).tags("EVICT")
    wrong = story.at(30.1).enters("Failed", Unhealthy="True")
    assert_fails("AW-002", story, at=wrong)
