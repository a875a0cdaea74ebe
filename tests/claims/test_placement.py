"""Claims about Autopilot: where pods go, what is injected, and when a workload migrates."""

from __future__ import annotations

import pytest

from conformance.norm.verdict import Outcome
from conformance.suites.appwrapper.settings import DEFAULT_CONFIG
from tests.claims.judging import (
    assert_fails,
    assert_passes,
    assert_unarmed,
    last,
    verdict_of,
)
from tests.claims.stories import (
    PAUSE,
    SOON,
    attempt,
    begin,
    cleared,
    first_pod,
    gpu_pod,
    migrated,
    retried,
    started,
    tagged,
)
from tests.claims.story import Story
from tests.claims.templates import avoids, job, pod
from vocabulary.objects import get_path, with_path

FOO = {
    "autopilot": {
        "resourceTaints": {
            "example.com/foo": [
                {"key": "example.com/health", "value": "BAD", "effect": "NoExecute"}
            ]
        }
    }
}


def foo_pod(affinity: bool = True) -> dict[str, object]:
    template = pod("a-0")
    container = {"name": "main", "resources": {"requests": {"example.com/foo": 1}}}
    spec: dict[str, object] = {"containers": [container]}
    if affinity:
        spec["affinity"] = avoids("BAD", key="example.com/health")
    return {**template, "spec": spec}


def test_a_pod_on_a_node_that_was_tagged_before_is_a_violation() -> None:
    story = Story(gpu_pod())
    story.node("n0", **{"autopilot.ibm.com/gpuhealth": "ERR"})
    story.node("n1")
    begin(story)
    story.at(SOON).resumes()
    story.makes()
    wrong = story.at(1).binds("a-0", "n0")
    assert_fails("AW-001", story, at=wrong)


def test_a_pod_on_the_other_node_is_right() -> None:
    story = Story(gpu_pod())
    story.node("n0", **{"autopilot.ibm.com/gpuhealth": "ERR"})
    story.node("n1")
    begin(story)
    story.at(SOON).resumes()
    story.makes()
    story.at(1).binds("a-0", "n1")
    assert_passes("AW-001", story)


def test_a_tag_that_comes_after_the_pod_was_created_is_nobodys_fault() -> None:
    story = Story(gpu_pod())
    story.node("n0")
    begin(story)
    story.at(SOON).resumes()
    story.makes()
    story.tags("ERR")
    story.binds("a-0", "n0")
    assert_unarmed("AW-001", story)


def test_without_tagged_nodes_no_claim_about_avoiding_them_is_armed() -> None:
    for claim in ("AW-001", "AW-002", "AW-033", "AW-043", "AW-090", "AW-091", "AW-092", "AW-093"):
        assert_unarmed(claim, retried())


def test_a_workload_that_stays_on_an_evicted_node_is_a_violation() -> None:
    story = Story(gpu_pod())
    story.node("n0")
    attempt(begin(story), SOON)
    story.at(30).tags("EVICT")
    story.at(200).ends()
    for claim in ("AW-002", "AW-033", "AW-043"):
        assert_fails(claim, story, at=last(story))


@pytest.mark.parametrize("restart_policy", ["", "Always"], ids=["init-container", "sidecar"])
def test_a_sidecar_uses_its_gpu_while_the_pod_runs_and_an_init_container_may_not(
    restart_policy: str,
) -> None:
    init = {**gpu_pod()["spec"]["containers"][0], "name": "prepare"}
    if restart_policy:
        init["restartPolicy"] = restart_policy
    story = Story(pod("a-0", initContainers=[init], affinity=avoids("ERR", "EVICT")))
    story.node("n0")
    attempt(begin(story), SOON)
    story.at(30).tags("EVICT")
    story.at(200).ends()
    for claim in ("AW-002", "AW-033", "AW-043"):
        if restart_policy:
            assert_fails(claim, story, at=last(story))
        else:
            assert_unarmed(claim, story)


def test_a_migration_that_comes_back_to_the_node_is_a_violation() -> None:
    story = migrated(to="n0")
    assert_fails("AW-001", story, at=entered_bound(story))
    assert_fails("AW-093", story, at=entered_bound(story))
    verdict = assert_fails("AW-002", story, at=last(story))
    assert any(violation.at == entered_bound(story) for violation in verdict.violations)


def test_a_pod_without_the_stanza_is_a_violation() -> None:
    story = started(pod("a-0", gpus=1))
    made = story.history.appwrappers[0].pods[0].created.n
    for claim in ("AW-086", "AW-087", "AW-089"):
        assert_fails(claim, story, at=made)


def test_a_stanza_with_other_values_is_a_violation() -> None:
    story = started(gpu_pod(values=("EVICT",)))
    made = story.history.appwrappers[0].pods[0].created.n
    for claim in ("AW-086", "AW-089"):
        verdict = assert_fails(claim, story, at=made)
        assert "NotIn ['EVICT'], expected ['ERR', 'EVICT']" in verdict.because
    assert_passes("AW-087", story)


def test_a_stanza_that_a_users_term_does_not_have_is_a_violation() -> None:
    affinity = avoids("ERR", "EVICT")
    required = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    required["nodeSelectorTerms"].append({"matchExpressions": [{"key": "zone"}]})
    story = started(pod("a-0", gpus=1, affinity=affinity))
    made = story.history.appwrappers[0].pods[0].created.n
    for claim in ("AW-087", "AW-089"):
        assert_fails(claim, story, at=made)


def test_an_expression_of_the_user_is_neither_the_stanza_nor_in_its_way() -> None:
    story = begin(Story(pod("a-0", gpus=1, affinity=avoids("ERR"))))
    story.at(SOON).resumes()
    terms = "nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    both = [
        expression
        for affinity in (avoids("ERR"), avoids("ERR", "EVICT"))
        for term in get_path(affinity, terms)
        for expression in term["matchExpressions"]
    ]
    story.makes(spec__affinity=with_path({}, terms, [{"matchExpressions": both}]))
    for claim in ("AW-086", "AW-089"):
        assert_passes(claim, story)
    alone = started(pod("a-0", gpus=1, affinity=avoids("ERR")))
    made = alone.history.appwrappers[0].pods[0].created.n
    for claim in ("AW-086", "AW-089"):
        assert_fails(claim, alone, at=made)


@pytest.mark.parametrize("gpus", [0, "0"])
def test_a_stanza_on_a_pod_that_requests_none_is_a_violation(gpus: int | str) -> None:
    story = begin(Story(pod("a-0", gpus=gpus)))
    story.at(SOON).resumes()
    wrong = story.makes(spec__affinity=avoids("ERR", "EVICT"))
    assert_fails("AW-088", story, at=wrong)


def test_an_affinity_that_the_user_wrote_himself_is_not_injected() -> None:
    story = started(pod("a-0", affinity=avoids("ERR", "EVICT")))
    assert_unarmed("AW-088", story)


def test_without_injection_no_claim_about_it_is_armed() -> None:
    story = started(gpu_pod(), parameters={"autopilot": {"injectAntiAffinities": False}})
    for claim in ("AW-001", "AW-086", "AW-087", "AW-088", "AW-089"):
        assert_unarmed(claim, story)


def test_a_reset_for_a_tag_that_only_keeps_new_pods_off_is_a_violation() -> None:
    story = tagged("ERR")
    story.entries.pop()
    wrong = story.enters("Resetting", Unhealthy="True")
    assert_fails("AW-090", story, at=wrong)


def test_a_reset_of_pods_that_do_not_use_what_is_tagged_is_a_violation() -> None:
    story = tagged("EVICT", pod("a-0"))
    story.entries.pop()
    story.at(91).mark("step")
    assert_passes("AW-091", story)
    wrong = story.enters("Resetting", Unhealthy="True")
    assert_fails("AW-091", story, at=wrong)


def test_a_reset_for_a_pod_that_does_not_run_yet_is_a_violation() -> None:
    story = tagged("EVICT", run=False)
    story.entries.pop()
    story.at(91).mark("step")
    assert_passes("AW-092", story)
    wrong = story.enters("Resetting", Unhealthy="True")
    assert_fails("AW-092", story, at=wrong)


def test_a_reset_when_warm_up_is_over_is_not_for_the_tag() -> None:
    """That it comes before the failure grace period is over is for AW-042."""
    story = tagged("EVICT", run=False)
    story.entries.pop()
    wrong = story.at(330).enters("Resetting", Unhealthy="True")
    assert verdict_of("AW-092", story).outcome is not Outcome.FAILED
    assert_fails("AW-042", story, at=wrong)


@pytest.mark.parametrize(("at", "may_be_for_the_pod"), [(60, False), (90.5, True)])
def test_a_reset_may_be_for_a_failed_pod_that_its_job_has_replaced(
    at: float, may_be_for_the_pod: bool
) -> None:
    """The source may be read so (A14), and then its grace period has to be over."""
    story = Story(job("a-job", gpus=1, affinity=avoids("ERR", "EVICT")))
    story.node("n0")
    story.node("n1")
    attempt(begin(story), SOON)
    story.at(30).becomes(first_pod(story), "Failed")
    story.spawns("Job/a-job", "a-job-again")
    story.runs("a-job-again", node="n1")
    story.at(50).tags("EVICT")
    wrong = story.at(at).enters("Resetting", Unhealthy="True")
    if may_be_for_the_pod:
        assert verdict_of("AW-092", story).outcome is not Outcome.FAILED
    else:
        assert_fails("AW-092", story, at=wrong)


def test_a_second_reset_for_the_same_tag_is_a_violation() -> None:
    story = migrated(to="n0")
    story.entries.pop()
    wrong = story.enters("Resetting")
    verdict = assert_fails("AW-093", story, at=entered_bound(story))
    assert any(violation.at == wrong for violation in verdict.violations)


def entered_bound(story: Story) -> int:
    """Put the pod of the second attempt on the tagged node."""
    pod_track = story.history.appwrappers[0].pods[-1]
    return next(
        version.n
        for version in pod_track.versions
        if (version.object or {})["spec"].get("nodeName")
    )


def test_a_configured_resource_that_is_ignored_is_a_violation() -> None:
    story = started(foo_pod(affinity=False), parameters=FOO)
    made = story.history.appwrappers[0].pods[0].created.n
    assert_fails("AW-085", story, at=made)


def test_the_default_taints_that_were_written_show_no_default() -> None:
    written = {"autopilot": DEFAULT_CONFIG["autopilot"]}
    story = started(pod("a-0", gpus=1), parameters=written)
    assert_unarmed("AW-086", story)
    assert_unarmed("AW-085", story)
    assert_fails("AW-087", story, at=story.history.appwrappers[0].pods[0].created.n)


def test_a_configured_resource_that_is_monitored_is_right() -> None:
    story = started(foo_pod(), parameters=FOO)
    assert_passes("AW-085", story)
    assert_unarmed("AW-086", story)
    assert_unarmed("AW-085", started(gpu_pod()))


def test_a_second_reset_for_a_tag_that_was_gone_in_between_is_none() -> None:
    story = Story(gpu_pod())
    story.node("n0")
    attempt(begin(story), SOON)
    story.at(30).tags("EVICT")
    story.at(30 + SOON).enters("Resetting", Unhealthy="True")
    gone = cleared(story, 31)
    story.at(gone + SOON).shows(ResourcesDeployed="False")
    attempt(story, gone + PAUSE + SOON, run=False)
    story.tags(None)
    story.runs("a-0")
    story.at(gone + PAUSE + 20).tags("EVICT")
    second = story.enters("Resetting", Unhealthy="True")
    found = verdict_of("AW-093", story.ends()).violations
    assert second not in [violation.at for violation in found]
