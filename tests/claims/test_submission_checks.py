"""Claims about what is checked at submission, and about what Kueue says of pods."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.suites.appwrapper.api import APPWRAPPER
from tests.claims.judging import assert_fails, assert_passes, assert_unarmed
from tests.claims.stories import SOON, attempt, begin, started
from tests.claims.story import Story
from tests.claims.templates import pod

BARE = {"kind": "Pod", "apiVersion": "v1", "spec": {"containers": []}}
A_JOB = {"kind": "Job", "apiVersion": "batch/v1", "spec": {"template": {"spec": {}}}}


def submitted(*components: Mapping[str, object], code: int) -> Story:
    """A submission of these components that was refused with that code."""
    story = Story()
    asked = {"metadata": {"name": "a"}, "spec": {"components": list(components)}}
    story.refused("create", str(APPWRAPPER), "a", code, "user", submitted=asked)
    return story


FLAWED = [
    [{"template": {"kind": "AppWrapper", "apiVersion": "workload.codeflare.dev/v1beta2"}}],
    [{"template": {**BARE, "metadata": {"namespace": "elsewhere"}}}],
    [],
    [{"template": BARE}] * 9,
    [{"template": A_JOB, "podSets": [{"path": ""}]}],
    [{"template": A_JOB, "podSets": [{"path": "template.spec"}]}],
    [{"template": A_JOB, "podSets": [{"path": "template.spec.template[0]"}]}],
    [{"template": A_JOB, "podSets": [{"path": "template.spec.template", "replicas": 2}]}],
    [{"template": {**A_JOB, "spec": {**A_JOB["spec"], "parallelism": "1"}}}],
    [{"template": {**A_JOB, "spec": {}}}],
]


@pytest.mark.parametrize("components", FLAWED)
def test_a_flawed_submission_is_refused_and_not_merely_unanswered(
    components: list[Mapping[str, object]],
) -> None:
    assert_passes("MLB-074", submitted(*components, code=403))
    assert_unarmed("MLB-074", submitted(*components, code=500))


@pytest.mark.parametrize(
    "components",
    [
        [{"template": BARE}] * 8,
        [{"template": A_JOB, "podSets": [{"path": "template.spec.template"}]}],
        [{"template": {"kind": "ConfigMap", "apiVersion": "v1"}}, {"template": BARE}],
    ],
)
def test_a_refusal_of_what_is_sound_says_nothing_of_flaws(
    components: list[Mapping[str, object]],
) -> None:
    assert_unarmed("MLB-074", submitted(*components, code=403))


def test_a_flawed_appwrapper_that_was_admitted_is_a_violation() -> None:
    story = Story(*[pod(f"a-{number}") for number in range(9)])
    created = story.submitted()
    verdict = assert_fails("MLB-074", story, at=created)
    assert "it has 9 pod sets" in verdict.because


def test_a_template_that_changes_after_it_was_submitted_is_a_violation() -> None:
    story = started()
    obj = story.stored["AppWrapper/a"]
    changed = {**obj, "spec": {"components": [{"template": pod("b-0")}]}}
    wrong = story.at(20).changes(changed, by="user")
    verdict = assert_fails("MLB-075", story, at=wrong)
    assert "the templates of appwrapper/a" in verdict.because


def test_a_change_of_its_templates_is_to_be_refused_and_one_of_its_labels_is_not() -> None:
    story = started()
    obj = story.stored["AppWrapper/a"]
    story.refused("update", str(APPWRAPPER), "a", 403, "user", submitted=obj)
    assert_unarmed("MLB-075", story)
    changed = {**obj, "spec": {"components": [{"template": pod("b-0")}]}}
    story.refused("update", str(APPWRAPPER), "a", 403, "user", submitted=changed)
    assert_passes("MLB-075", story)


def placed(*infos: Mapping[str, object], **spec: object) -> Story:
    """A workload of one pod with that spec, for which podSetInfos say that."""
    story = begin(Story(pod("a-0", **spec)))
    obj = story.stored["AppWrapper/a"]
    component = {**obj["spec"]["components"][0], "podSetInfos": list(infos)}
    story.changes({**obj, "spec": {**obj["spec"], "components": [component]}}, by="user")
    return attempt(story, SOON)


def test_a_pod_that_is_not_placed_as_its_quota_says_is_a_violation() -> None:
    large = {"nodeSelector": {"pool": "large"}}
    assert_passes("MLB-076", placed(large, nodeSelector={"pool": "large", "os": "linux"}))
    wrong = placed(large, nodeSelector={"pool": "small"})
    created = wrong.history.by_kind["Pod"][0].created.n
    verdict = assert_fails("MLB-076", wrong, at=created)
    assert "'small' where the template says 'large'" in verdict.because


def test_pods_of_which_nothing_is_said_may_be_anywhere() -> None:
    assert_unarmed("MLB-076", started())
    assert_unarmed("MLB-076", placed({}))


@pytest.mark.parametrize("spec", [{}, {"components": []}], ids=str)
def test_pods_of_a_component_that_was_removed_may_be_anywhere(spec: dict[str, object]) -> None:
    story = placed({"nodeSelector": {"pool": "large"}}, nodeSelector={"pool": "small"})
    story.at(20).changes({**story.stored["AppWrapper/a"], "spec": spec}, by="user")
    assert_unarmed("MLB-076", story)
