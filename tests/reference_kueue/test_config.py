"""The configuration: what is refused names its key, and the strategies of release (KQ-205)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from reference_controller.kueue.config import KueueConfig
from reference_controller.kueue.rules import Rules
from reference_controller.runtime.options import ConfigError

APP_WRAPPER = "workload.codeflare.dev/appwrapper"
NO_VALUES = [{"key": "a", "operator": "In"}]
WHERE = "integrations.quotaReleaseStrategy"


def strategies(of: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"integrations": {"quotaReleaseStrategy": of}, **more}


def requeuing(**settings: Any) -> dict[str, Any]:
    return {"waitForPodsReady": {"requeuingStrategy": settings}}


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
        ({"waitForPodsReady": {"timeout": 5}}, "timeout: '5' is not a Go duration"),
        (requeuing(backoffFactor=math.inf), "backoffFactor: inf is no number from 1 on"),
        ({"managedJobsNamespaceSelector": {"matchLabels": 5}}, "got `int` - at `.*matchLabels"),
        (
            {"managedJobsNamespaceSelector": {"matchExpressions": [{"key": "a"}]}},
            "missing required field `operator`",
        ),
        (
            {
                "managedJobsNamespaceSelector": {
                    "matchExpressions": [{"key": "a", "operator": "In"}]
                }
            },
            "In and NotIn have values",
        ),
        (
            {"waitForPodsReady": {"requeueingStrategy": {"timestamp": "Eviction"}}},
            "waitForPodsReady.requeueingStrategy: unknown key; write requeuingStrategy",
        ),
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


@pytest.mark.parametrize("settings", [{}, {"backoffFactor": 1000}, {"backoffMaxSeconds": 10**15}])
@pytest.mark.parametrize("count", [5, 77, 2**31 - 1])
def test_a_back_off_ends_within_the_times_of_the_api(settings: Any, count: int) -> None:
    config = KueueConfig.from_data(requeuing(**settings)).requeuing
    rules = Rules()
    back_off_us = rules.back_off_us(count, config, 0.5)
    assert rules.back_off_us(count - 1, config, 0.5) <= back_off_us
    assert rules.requeued(count, 0, back_off_us)["requeueAt"] < "2070-01-01T00:00:00Z"
