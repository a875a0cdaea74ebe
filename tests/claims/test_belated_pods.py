"""Pods made for owners that are gone (A19): they decide nothing where a claim cites that."""

from __future__ import annotations

from operator import itemgetter

import pytest

from conformance.norm import Judging, Obligations, undecided
from conformance.norm.claim import CLAIMS, Source
from conformance.suite import SuiteError
from conformance.suites.appwrapper.view import AppWrapperHistory, AppWrapperRun
from tests.claims.judging import assert_fails, assert_passes, verdict_of
from tests.claims.stories import started
from tests.claims.story import Story
from tests.claims.templates import job
from vocabulary.objects import with_path

CITING = ("AW-013", "AW-014", "AW-015", "INV-1", "INV-2", "AW-054")
REQUEST_SECONDS = 0.1
"""The default of histories without this header field."""


def suspended(before: float, after: float = 30.0, *, restarted: bool = False) -> Story:
    """A pod is made for a Job that is gone; so much later the operator says that nothing is left.

    `restarted`: the operator was down until the pod had been made, and starts in between.
    """
    story = started(job("a-job"))
    owner = story.owner("Job/a-job")
    (pod,) = (key for key in story.stored if key.startswith("Pod/"))
    made = {**story.stored[pod], "metadata": {**story.stored[pod]["metadata"], "name": "late"}}
    made["metadata"]["ownerReferences"] = [owner]
    story.at(20).suspends()
    story.at(20.1).enters("Suspending", DeletingResources="True")
    story.deletes("Job/a-job", gone=True)
    story.at(22).vanishes(pod)
    if restarted:
        story.at(23).process("killed", "appwrapper")
    story.at(after).creates(made, by="job-controller")
    if restarted:
        story.at(after + before / 2).process("started", "appwrapper")
    story.at(after + before).enters(
        "Suspended", ResourcesDeployed="False", QuotaReserved="False", DeletingResources="False"
    )
    story.at(after + before + 1).vanishes("Pod/late")
    return story


@pytest.mark.parametrize("claim", CITING)
def test_a_pod_within_one_request_of_the_write_decides_nothing(claim: str) -> None:
    verdict = verdict_of(claim, suspended(REQUEST_SECONDS / 2))
    assert "undecided by decision A19" in verdict.because or (
        verdict.because.startswith("Undecided by decision A19: ")
    )


@pytest.mark.parametrize("claim", CITING)
def test_an_earlier_one_is_a_violation(claim: str) -> None:
    story = suspended(2 * REQUEST_SECONDS)
    assert verdict_of(claim, story).violations


@pytest.mark.parametrize("claim", CITING)
def test_an_outage_is_no_excuse_for_an_operator_that_was_started_again(claim: str) -> None:
    story = suspended(1.0, restarted=True)
    assert verdict_of(claim, story).violations


def test_a_pod_that_comes_when_nothing_is_deployed_decides_nothing() -> None:
    story = suspended(REQUEST_SECONDS / 2)
    owner_gone = {**story.entries[-1].object}
    owner_gone["metadata"] = {**owner_gone["metadata"], "name": "later"}
    story.at(60).creates(owner_gone, by="job-controller")
    assert "decision A19" in assert_passes("INV-1", story).because


def failed(made_at: float, **pod: float) -> Story:
    """All is said to be gone at t=23; another pod that the Job made is gone at t=5001 only.

    `stripped`, `back`: when a user takes its label and its owner off, and puts the label back.
    """
    story = started(job("a-job"))
    owner = story.owner("Job/a-job")
    (key,) = (key for key in story.stored if key.startswith("Pod/"))
    made = {**story.stored[key], "metadata": {**story.stored[key]["metadata"], "name": "late"}}
    made["metadata"]["ownerReferences"] = [owner]

    def relabel(**labels: str) -> None:
        story.changes(with_path(story.stored["Pod/late"], "metadata.labels", labels), by="user")

    moments = {
        made_at: lambda: story.creates(made, by="job-controller"),
        20: lambda: story.enters("Failed", DeletingResources="True"),
        20.1: lambda: story.deletes("Job/a-job", gone=True),
        22: lambda: story.vanishes(key),
        23: lambda: story.enters("Failed", ResourcesDeployed="False", QuotaReserved="False"),
        5001: lambda: story.vanishes("Pod/late"),
    }
    if pod:
        moments[pod["stripped"]] = relabel
        moments[pod["back"]] = lambda: relabel(**made["metadata"]["labels"])
    for at, happens in sorted(moments.items(), key=itemgetter(0)):
        story.at(at)
        happens()
    return story.ends()


def test_a_pod_that_comes_when_all_is_gone_does_not_prolong_the_deletion() -> None:
    assert_passes("AW-007", failed(made_at=5000))
    assert verdict_of("AW-007", failed(made_at=19)).violations


@pytest.mark.parametrize("claim", ["AW-013", "AW-014", "AW-015", "INV-1", "INV-2"])
def test_a_pod_out_of_sight_when_all_was_said_to_be_gone_decides_nothing(claim: str) -> None:
    assert not verdict_of(claim, failed(made_at=19, stripped=21, back=24)).violations
    assert verdict_of(claim, failed(made_at=19, stripped=21, back=22.5)).violations


def test_a_pod_of_an_owner_that_still_stands_is_a_violation() -> None:
    story = started(job("a-job"))
    story.at(20).suspends()
    story.at(20.1).enters("Suspending", DeletingResources="True")
    story.at(30).spawns("Job/a-job", "late")
    wrong = story.at(30.01).enters("Suspended", ResourcesDeployed="False", QuotaReserved="False")
    assert_fails("AW-014", story, at=wrong)


def test_no_claim_is_undecided_by_a_decision_that_it_does_not_cite(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def excuses(view: AppWrapperHistory) -> Obligations:
        yield undecided(view.subjects[0].snapshots[0], "so it was decided", decision="A19")

    claim = CLAIMS["AW-005"]
    judging = Judging(AppWrapperHistory, AppWrapperRun)
    monkeypatch.setattr(claim, "judge", judging._judge(claim, excuses, "nothing", ()))
    assert "AW-005 does not cite all of A19" in verdict_of("AW-005", started()).error


def test_a_claim_outside_of_every_suite_is_refused() -> None:
    judging = Judging(AppWrapperHistory, AppWrapperRun)
    declare = judging.claim("AW-999", Source("a document", "a section", 1), armed_by="nothing")

    def belongs_to_no_suite(aw: AppWrapperRun) -> Obligations:
        """An AppWrapper MUST be in a suite."""
        return ()

    with pytest.raises(SuiteError, match="is in no suite's package; move it into"):
        declare(belongs_to_no_suite)
    assert "AW-999" not in CLAIMS
