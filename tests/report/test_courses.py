"""The operator's changes beside those of the undisturbed run."""

from __future__ import annotations

import msgspec
import pytest

from conformance.report.end_diff import Step, courses
from conformance.report.run_result import RunResult
from tests.explore.planted import explored, planted

__all__ = ["planted"]

CREATED = "operator/workload/created"


def disturbed(operator: str, sort: str, wanted: str) -> RunResult:
    """The run of an exploration whose variant has those words, and a history."""
    suite, _ = explored(operator, sort, sample=0)
    return next(run for run in suite.runs if wanted in run.variant and run.entries)


@pytest.mark.usefixtures("planted")
def test_the_first_change_that_only_one_run_has_is_marked() -> None:
    run = disturbed("planted/mutant:never-forgives", "edits", "a-web spec.replicas")
    steps = courses(run)
    first = next(step for step in steps if step.tone)
    assert first == Step("", "Deployment.apps default/a-web: spec.replicas 2", "at")
    before = steps[steps.index(first) - 1]
    assert before.undisturbed == before.here != ""
    (after,) = (step for step in steps if step.tone == "other")
    assert "status.phase Degraded" in after.here


@pytest.mark.usefixtures("planted")
def test_a_change_that_comes_earlier_in_the_other_run_is_no_difference() -> None:
    run = disturbed("planted/mutant:never-forgives", "edits", "a-web spec.replicas")
    assert isinstance(run.header.counterpart, msgspec.Struct)
    here = [step.here for step in courses(run) if step.here]
    turned = msgspec.structs.replace(run.header.counterpart, course=tuple(reversed(here)))
    header = msgspec.structs.replace(run.header, counterpart=turned)
    tones = {step.tone for step in courses(msgspec.structs.replace(run, header=header))}
    assert "moved" in tones


@pytest.mark.usefixtures("planted")
def test_an_undisturbed_run_has_no_other_course() -> None:
    suite, _ = explored("planted", "slow", sample=1)
    (run,) = (run for run in suite.runs if run.scenario == CREATED and not run.variant)
    assert courses(run) == []
