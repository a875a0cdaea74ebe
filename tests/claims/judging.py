"""What tests say of one claim on one story."""

from __future__ import annotations

from conformance import claims
from conformance.claim import CLAIMS
from conformance.verdict import Outcome, Verdict
from tests.claims.story import Story


def verdict_of(claim: str, story: Story) -> Verdict:
    """The claim's verdict on the story so far."""
    claims.load()
    judge = CLAIMS[claim].judge
    assert judge is not None
    return judge(story.history)


def assert_passes(claim: str, story: Story) -> Verdict:
    """The claim was armed, and held."""
    verdict = verdict_of(claim, story)
    assert verdict.outcome is Outcome.PASSED, verdict.because
    assert verdict.armed > 0
    return verdict


def assert_fails(claim: str, story: Story, at: int) -> Verdict:
    """The claim was contradicted, first at exactly that position."""
    verdict = verdict_of(claim, story)
    assert verdict.outcome is Outcome.FAILED, verdict.because
    assert verdict.violations[0].at == at, verdict.because
    assert at in verdict.violations[0].evidence
    assert verdict.because.endswith("."), "an explanation is a sentence"
    return verdict


def assert_unarmed(claim: str, story: Story) -> Verdict:
    """The claim's precondition did not occur, or what became of it was not seen."""
    verdict = verdict_of(claim, story)
    assert verdict.outcome is Outcome.INCONCLUSIVE, verdict.because
    assert verdict.armed == 0
    return verdict
