"""Manifests of scenarios: what other readers of YAML take silently is refused with its line.

JS-077 is about the norm's manifests of stories 1 to 4, which no API server is ever sent as they
stand.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.manifests.files import load_manifests
from conformance.suites.jobset import scenarios
from reference_controller.jobset.admission import mutate, validate
from reference_controller.runtime.admission_review import UserInfo
from vocabulary.errors import ApiError
from vocabulary.safe_yaml import YamlError

FOLDER = Path(scenarios.__file__).parent
USER = UserInfo("somebody")
SECOND_IMAGES = {"story1": 35, "story2": 26, "story3": 35, "story4": 30}
"""By story, the line of the second image in its manifest."""


def _without_first_image(story: str, tmp_path: Path) -> Path:
    text = (FOLDER / f"{story}_as_written.yaml").read_text()
    path = tmp_path / f"{story}.yaml"
    path.write_text(re.sub(r"^ +image: .*\n", "", text, count=1, flags=re.MULTILINE))
    return path


def _submitted(path: Path) -> None:
    (made,) = load_manifests(path)
    validate("CREATE", mutate("CREATE", made, None, USER), None, USER)


@pytest.mark.parametrize(("story", "line"), SECOND_IMAGES.items())
def test_a_key_that_occurs_twice_is_refused_with_the_line_of_the_second(
    story: str, line: int
) -> None:
    path = FOLDER / f"{story}_as_written.yaml"
    with pytest.raises(YamlError) as refused:
        load_manifests(path)
    assert str(refused.value) == (
        f"{path}:{line}:15: key 'image' occurs twice in one mapping; keep one of them"
    )


@pytest.mark.parametrize("story", ["story1", "story2", "story3"])
def test_these_stories_are_admitted_without_the_first_of_their_images(
    story: str, tmp_path: Path
) -> None:
    _submitted(_without_first_image(story, tmp_path))


def test_story_four_is_refused_without_its_first_image_for_what_it_targets(tmp_path: Path) -> None:
    path = _without_first_image("story4", tmp_path)
    assert load_manifests(path) == load_manifests(FOLDER / "story4_with_one_image.yaml")
    with pytest.raises(ApiError, match="there is no replicated job 'parameter-server'"):
        _submitted(path)


@pytest.mark.parametrize("story", ["story1", "story3"])
def test_the_manifests_of_scenarios_are_these_with_the_second_image(
    story: str, tmp_path: Path
) -> None:
    assert load_manifests(_without_first_image(story, tmp_path)) == load_manifests(
        FOLDER / f"{story}.yaml"
    )


def test_what_a_scenario_changes_in_its_manifest_is_not_in_the_next_ones() -> None:
    path = FOLDER / "story4.yaml"
    (changed,) = load_manifests(path)
    changed["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] = 77
    (next_one,) = load_manifests(path)
    assert next_one["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] != 77


def test_a_placeholder_without_quotes_is_refused_with_its_line(tmp_path: Path) -> None:
    text = (FOLDER / "future1_as_written.yaml").read_text()
    path = tmp_path / "future1.yaml"
    path.write_text(text.replace('"{{topologyDomain}}"', "{{topologyDomain}}"))
    with pytest.raises(YamlError, match=r"future1\.yaml:9:\d+: key .* is not text"):
        load_manifests(path)


def test_the_first_future_story_is_refused_for_its_topology_and_its_resources() -> None:
    with pytest.raises(ApiError) as refused:
        _submitted(FOLDER / "future1_as_written.yaml")
    assert [each["field"] for each in (refused.value.details or {})["causes"]] == [
        "metadata.annotations[alpha.jobset.sigs.k8s.io/exclusive-topology]",
        "spec.replicatedJobs[1].template.spec.template.spec.resources.limits[nvidia.com/gpu]",
    ]
