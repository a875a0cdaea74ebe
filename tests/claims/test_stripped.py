"""AppWrappers whose finalizer another actor removed: no operator could hold these."""

from __future__ import annotations

import pytest

from conformance.norm.verdict import Outcome
from tests.claims.judging import assert_fails, verdict_of
from tests.claims.stories import started
from tests.claims.story import Story
from tests.claims.watched import watched
from vocabulary.objects import with_path

CLAIMS = ("AW-013", "AW-014", "AW-015", "INV-2", "MLB-023")


def stripped(by: str = "user", *, waits: float, is_down: bool = True) -> Story:
    """The finalizer is taken away at t=20, and the AppWrapper deleted so much later."""
    story = started()
    if is_down:
        story.at(15).process("killed", "appwrapper")
    story.at(20).changes(with_path(story.stored["AppWrapper/a"], "metadata.finalizers", []), by=by)
    story.at(20 + waits).deletes("AppWrapper/a", by="user", gone=True)
    return story


@pytest.mark.parametrize("claim", CLAIMS)
def test_one_that_was_deleted_while_the_operator_was_down_decides_nothing(claim: str) -> None:
    verdict = verdict_of(claim, stripped(waits=600))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "somebody else took away the finalizer" in verdict.because


@pytest.mark.parametrize("claim", CLAIMS)
def test_one_that_was_deleted_before_it_could_be_put_back_decides_nothing(claim: str) -> None:
    assert verdict_of(claim, stripped(waits=0.5, is_down=False)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("claim", CLAIMS)
def test_an_operator_that_had_the_time_to_put_it_back_has_no_excuse(claim: str) -> None:
    assert verdict_of(claim, stripped(waits=60, is_down=False)).outcome is Outcome.FAILED


@pytest.mark.parametrize("claim", CLAIMS)
def test_an_operator_that_took_its_own_finalizer_off_has_no_excuse(claim: str) -> None:
    story = stripped("appwrapper", waits=0.5, is_down=False)
    assert verdict_of(claim, story).outcome is Outcome.FAILED


@pytest.mark.parametrize("claim", CLAIMS)
def test_one_that_was_being_deleted_is_gone_with_its_finalizer(claim: str) -> None:
    story = started()
    story.at(20).deletes("AppWrapper/a", by="user")
    story.at(20.5).vanishes("AppWrapper/a", by="user")
    assert verdict_of(claim, story).outcome is Outcome.INCONCLUSIVE


def without_requests(story: Story) -> Story:
    """The same, with unknown writers."""
    header, entries = watched((story.header, story.entries), complete=True)
    story.header, story.entries = header, list(entries)
    return story


@pytest.mark.parametrize("claim", ("AW-013", "AW-014", "INV-2"))
def test_where_nobody_knows_who_took_the_finalizer_its_loss_decides_nothing(claim: str) -> None:
    story = without_requests(stripped(waits=0.5))
    assert verdict_of(claim, story).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("claim", ("AW-035", "AW-045", "AW-057"))
def test_one_that_is_gone_at_once_need_not_react_to_an_external_deletion(claim: str) -> None:
    story = started()
    story.at(19.9).deletes("Pod/a-0", by="user")
    story.at(20).changes(
        with_path(story.stored["AppWrapper/a"], "metadata.finalizers", []), by="user"
    )
    story.deletes("AppWrapper/a", by="user", gone=True)
    story.at(600).ends()
    assert verdict_of(claim, story).outcome is Outcome.INCONCLUSIVE


def deleted_at_once(by: str) -> Story:
    """The AppWrapper is gone with the write that takes the finalizer off, while its pod runs."""
    story = started()
    story.at(20).deletes("AppWrapper/a", by=by, gone=True)
    return story


def test_components_that_are_there_when_somebody_strips_what_is_being_deleted_are_excused() -> None:
    assert verdict_of("INV-7", deleted_at_once("user")).outcome is Outcome.PASSED


def test_components_that_are_there_when_the_operator_lets_go_are_not() -> None:
    story = deleted_at_once("appwrapper")
    assert_fails("INV-7", story, at=len(story.entries) - 1)
