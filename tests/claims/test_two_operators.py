"""Two operators at once that nothing elects between: what neither can prevent decides nothing."""

from __future__ import annotations

from conformance.norm.claim import CLAIMS
from conformance.norm.verdict import Outcome
from tests.claims.judging import assert_fails, assert_passes, verdict_of
from tests.claims.stories import started
from tests.claims.story import Story

SECOND = "appwrapper/1"
HIT = ("AW-014", "INV-1")


def doubled() -> Story:
    """A second operator acts beside the first from t=20 on."""
    story = started()
    story.at(20).process("started", SECOND)
    return story


def ended(story: Story) -> Story:
    """The first operator ends the attempt at t=30."""
    story.at(30).suspends()
    story.enters("Suspending", DeletingResources="True")
    story.deletes("Pod/a-0", gone=True)
    story.at(30.02).enters("Suspended", ResourcesDeployed="False", QuotaReserved="False")
    return story


def assert_undecided(story: Story) -> None:
    for claim in HIT:
        assert "1 undecided by decision A20" in assert_passes(claim, story).because


def test_what_one_had_under_way_while_the_other_ended_the_attempt_decides_nothing() -> None:
    story = ended(doubled())
    story.at(30.05).makes(by=SECOND)
    assert_undecided(story)


def test_nor_does_it_where_it_was_answered_late() -> None:
    story = doubled()
    story.fault("injected", {"slow_api": {"by": "15s"}})
    ended(story).at(40).makes(by=SECOND)
    assert_undecided(story)


def test_nor_does_it_where_the_operator_stood_still_in_between() -> None:
    story = doubled()
    story.at(25).process("paused", SECOND)
    ended(story).at(900).process("resumed", SECOND)
    story.at(900.01).makes(by=SECOND)
    assert_undecided(story)


def test_nor_does_what_is_left_of_it_then() -> None:
    story = ended(doubled())
    story.at(30.05).makes(by=SECOND)
    story.at(31).shows(ResourcesDeployed="True")
    story.at(32).shows(ResourcesDeployed="False")
    assert "2 undecided by decision A20" in assert_passes("AW-014", story).because


def test_but_a_claim_that_does_not_cite_the_decision_is_judged_as_ever() -> None:
    story = doubled()
    ended(story)
    story.at(30.05).makes(by=SECOND)
    story.at(31).finalizer(present=False)
    for claim in HIT:
        assert_passes(claim, story)
    assert not CLAIMS["INV-7"].cites("A20")
    assert verdict_of("INV-7", story).outcome is Outcome.FAILED


def test_but_who_ended_the_attempt_himself_knows_that() -> None:
    story = ended(doubled())
    wrong = story.at(30.05).makes()
    for claim in HIT:
        assert_fails(claim, story, at=wrong)


def test_and_who_had_the_time_to_hear_of_it_has_no_excuse() -> None:
    story = ended(doubled())
    wrong = story.at(40).makes(by=SECOND)
    for claim in HIT:
        assert_fails(claim, story, at=wrong)


def test_nor_who_came_when_the_attempt_had_ended() -> None:
    story = ended(started())
    story.at(30.03).process("started", SECOND)
    wrong = story.at(30.05).makes(by=SECOND)
    for claim in HIT:
        assert_fails(claim, story, at=wrong)


def test_nor_one_of_two_that_an_election_keeps_apart() -> None:
    story = ended(started())
    wrong = story.at(30.05).makes(by=SECOND)
    for claim in HIT:
        assert_fails(claim, story, at=wrong)


def test_and_what_has_nothing_to_do_with_it_is_judged_as_ever() -> None:
    story = ended(doubled())
    story.at(30.05).makes(by=SECOND)
    story.at(40).shows(QuotaReserved="True")
    wrong = story.at(41).enters("Running")
    assert_fails("INV-6", story, at=wrong)
