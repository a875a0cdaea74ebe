"""Claims about marks of nodes that are switched off, and about marks that only discourage."""

from __future__ import annotations

from typing import Any

from tests.claims.judging import assert_fails, assert_passes, assert_unarmed
from tests.claims.stories import gpu_pod, started
from tests.claims.story import Story
from tests.claims.templates import GPU_HEALTH, pod

OFF = ({"autopilot": None}, {"autopilot": {"injectAntiAffinities": False}})


def test_a_pod_that_is_steered_though_nothing_is_to_be_injected_is_a_violation() -> None:
    for parameters in OFF:
        story = Story(pod("a-0", gpus=1), parameters=parameters)
        story.submitted()
        wrong = story.creates(labelled(story, gpu_pod("a-0")), by="appwrapper")
        assert_fails("AW-110", story, at=wrong)


def test_where_nothing_is_to_be_injected_pods_keep_what_their_user_wrote() -> None:
    for parameters in OFF:
        assert_passes("AW-110", started(gpu_pod(), parameters=parameters))
        assert_passes("AW-110", started(pod("a-0", gpus=1), parameters=parameters))
    assert_unarmed("AW-110", started(gpu_pod()))


def labelled(story: Story, obj: dict[str, Any]) -> dict[str, Any]:
    """The object as the operator creates it for its AppWrapper."""
    labels = {"workload.codeflare.dev/appwrapper": "a"}
    owners = [story.owner("AppWrapper/a")]
    return {**obj, "metadata": {**obj["metadata"], "labels": labels, "ownerReferences": owners}}


def discouraged(*weights: int, required: bool = False, configured: int = 7) -> Story:
    """A pod that prefers nodes without the mark so strongly, one term for each weight."""
    taint = {"key": GPU_HEALTH, "value": "WARN", "effect": "PreferNoSchedule"}
    section: dict[str, Any] = {"resourceTaints": {"nvidia.com/gpu": [taint]}}
    if configured:
        section["preferNoScheduleWeight"] = configured
    term = {"matchExpressions": [{"key": GPU_HEALTH, "operator": "NotIn", "values": ["WARN"]}]}
    preferred = [{"weight": weight, "preference": term} for weight in weights]
    affinity: dict[str, Any] = {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
    if required:
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [term]}
    steered = pod("a-0", gpus=1, affinity={"nodeAffinity": affinity})
    return started(steered, parameters={"autopilot": section})


def fails(story: Story) -> None:
    assert_fails("AW-111", story, at=story.history.by_kind["Pod"][0].created.n)


def test_a_pod_prefers_nodes_without_marks_that_discourage_once_and_as_configured() -> None:
    assert_passes("AW-111", discouraged(7))
    assert_passes("AW-111", discouraged(50, configured=0))
    fails(discouraged(8))
    fails(discouraged(7, 7))
    fails(discouraged())


def test_a_mark_that_discourages_is_not_required_to_be_avoided() -> None:
    fails(discouraged(7, required=True))
    fails(discouraged(required=True, configured=0))
