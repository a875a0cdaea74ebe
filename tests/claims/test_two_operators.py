"""Two operators at once that nothing elects between: what neither can prevent decides nothing."""

from __future__ import annotations

from tests.claims.judging import assert_fails, assert_passes
from tests.claims.stories import exhausted
from tests.claims.story import Story

SECOND = "operator/1"


def beside(story: Story) -> Story:
    """From here on a second operator acts as well."""
    story.at(100).fault("injected", {"double_operator": {}})
    return story


def test_what_one_creates_after_the_other_ended_the_attempt_decides_nothing() -> None:
    story = beside(exhausted(0))
    story.at(200).makes(by=SECOND)
    for claim in ("AW-014", "INV-1"):
        verdict = assert_passes(claim, story)
        assert "1 undecided" in verdict.because


def test_nor_does_what_follows_from_it() -> None:
    story = beside(exhausted(0))
    story.at(200).makes(by=SECOND)
    story.at(201).shows(ResourcesDeployed="True")
    story.at(202).shows(ResourcesDeployed="False")
    assert "undecided" in assert_passes("INV-1", story).because


def test_but_who_ended_the_attempt_himself_knows_that() -> None:
    story = beside(exhausted(0))
    wrong = story.at(200).makes()
    for claim in ("AW-014", "INV-1"):
        assert_fails(claim, story, at=wrong)


def test_and_one_of_two_that_an_election_keeps_apart_has_no_excuse() -> None:
    story = exhausted(0)
    wrong = story.at(200).makes(by=SECOND)
    for claim in ("AW-014", "INV-1"):
        assert_fails(claim, story, at=wrong)


def test_and_what_was_wrong_before_stays_so() -> None:
    story = beside(exhausted(0))
    wrong = story.at(150).makes()
    story.at(200).makes(by=SECOND)
    assert_fails("INV-1", story, at=wrong)
