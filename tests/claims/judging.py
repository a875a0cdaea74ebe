"""Evaluate one claim on one story."""

from __future__ import annotations

from conformance import claims
from conformance.norm.claim import CLAIMS
from conformance.norm.verdict import Outcome, Verdict
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


def entered(story: Story, phase: str, time: int = 1) -> int:
    """The position at which the AppWrapper entered a phase for the n-th time."""
    spans = [span for span in story.history.appwrappers[0].spans if span.phase == phase]
    return spans[time - 1].begin.n


def created(story: Story, key: str, time: int = 1) -> int:
    """The position at which an object of that `Kind/name` was created for the n-th time."""
    kind, _, name = key.partition("/")
    found = [
        track.created.n
        for track in story.history.tracks.values()
        if track.name == name and track.kind.partition(".")[0] == kind
    ]
    return found[time - 1]


def last(story: Story) -> int:
    """The position of the last entry."""
    return len(story.entries) - 1
