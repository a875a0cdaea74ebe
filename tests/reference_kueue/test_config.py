"""The configuration: what is refused names its key, and the strategies of release (KQ-205)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from reference_controller.kueue.config import KueueConfig
from reference_controller.runtime.options import ConfigError

APP_WRAPPER = "workload.codeflare.dev/appwrapper"
WHERE = "integrations.quotaReleaseStrategy"


def strategies(of: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"integrations": {"quotaReleaseStrategy": of}, **more}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (strategies({"batch/jobs": "OnTerminal"}), f"{WHERE}.batch/jobs: unknown key"),
        (strategies({"batch/job": "OnTerminating"}), rf"{WHERE}\[batch/job\]: 'OnTerminating'"),
        (
            strategies({"jobset.x-k8s.io/jobset": "OnTerminal"}),
            "jobset.x-k8s.io/jobset does not support OnTerminal; batch/job, pod do",
        ),
        (
            strategies(
                {"workload.codeflare.dev/appwrapper": "OnTerminal"}, quotaHeldUntilTerminal=True
            ),
            "workload.codeflare.dev/appwrapper does not support OnTerminal",
        ),
        (
            strategies({"kubeflow.org/pytorchjob": "OnTerminal"}),
            "kubeflow.org/pytorchjob does not support OnTerminal",
        ),
        ({"featureGates": {"QuotaRelease": True}}, "featureGates.QuotaRelease: unknown key"),
        ({"featureGates": {"QuotaReleaseStrategy": "on"}}, "'on' is not true or false"),
        (strategies({"pod": None}), rf"{WHERE}\[pod\]: None"),
        ({"manageJobsWithoutQueueName": 1}, "manageJobsWithoutQueueName: 1"),
        (
            {"managedJobsNamespaceSelector": {"matchLabel": {}}},
            "managedJobsNamespaceSelector.matchLabel: unknown key",
        ),
    ],
)
def test_what_is_wrong_is_refused_by_name(data: Mapping[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        KueueConfig.from_data(data)


def test_job_sets_are_held_until_terminal_by_a_key_of_our_own() -> None:
    asked = {"jobset.x-k8s.io/jobset": "OnTerminal"}
    config = KueueConfig.from_data(strategies(asked, quotaHeldUntilTerminal=True))
    assert config.release == asked


def test_without_its_gate_no_strategy_is_in_force() -> None:
    off = {"featureGates": {"QuotaReleaseStrategy": False}}
    assert KueueConfig.from_data(strategies({"batch/job": "OnTerminal"}, **off)).release == {}


def test_the_strategy_wins_over_the_gate_that_it_replaces() -> None:
    old = {"featureGates": {"FastQuotaReleaseInPodIntegration": False}}
    assert KueueConfig.from_data(old).release == {"pod": "OnTerminal"}
    config = KueueConfig.from_data(strategies({"pod": "OnQuotaReleased"}, **old))
    assert config.release == {"pod": "OnQuotaReleased"}


def test_jobs_without_a_queue_are_managed_in_the_namespaces_that_are_selected() -> None:
    team = {"matchLabels": {"team": "a"}}
    data = {"manageJobsWithoutQueueName": True, "managedJobsNamespaceSelector": team}
    config = KueueConfig.from_data(data)
    assert config.manages({"team": "a"})
    assert not config.manages({"team": "b"})
    assert KueueConfig.from_data({"manageJobsWithoutQueueName": True}).manages({})
    assert not KueueConfig.from_data({}).manages({})
