"""Each story convicts its wrong controller, at the moment that it tells of, and no other one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from chaos.plan import Plan, load_plan
from chaos.story import Contradiction, Story
from conformance import suite
from conformance.cli.exit_code import ExitCode
from conformance.cli.story import departures_of, verdict_of
from conformance.implementations.ours import with_role
from conformance.norm.verdict import Outcome
from conformance.profiles.choosing import simulated
from conformance.profiles.program import ProgramMissingError
from conformance.report.run_result import RunResult
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from tests.cli.command import assay
from vocabulary.clock import SECOND
from vocabulary.implementations import by_role

SUITES = Path(suite.__file__).parent / "suites"
STORIES = sorted(SUITES.glob("*/stories/*.yaml"))


def told(plan: Plan) -> Story:
    assert plan.story is not None
    return plan.story


def run(plan: Plan, implementation: str, edition: str = "") -> RunResult:
    scenario = SCENARIOS[plan.scenario]
    named = with_role(implementation, scenario.roles, simulated)
    under_test = {
        role: simulated(name, role) for role, name in by_role(named, scenario.roles).items()
    }
    judged = replace(plan, edition=edition or plan.edition)
    return run_one(scenario, under_test, plan.seed, judged)


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_the_wrong_controller_is_convicted_and_the_right_one_acquitted(path: Path) -> None:
    plan = load_plan(path)
    wrong, right = run(plan, plan.implementation), run(plan, told(plan).right)
    assert list(departures_of(told(plan), wrong, right)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "release", "edition"),
    [(path, *each) for path in STORIES for each in told(load_plan(path)).released.items()],
)
def test_a_release_that_has_the_bug_is_convicted(path: Path, release: str, edition: str) -> None:
    plan = load_plan(path)
    try:
        found = run(plan, release, edition)
    except ProgramMissingError as missing:
        pytest.skip(str(missing))
    assert verdict_of(found, told(plan).claim).outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("changed", "departure"),
    [
        (
            lambda story: replace(story, contradiction=Contradiction(at=SECOND, shows="gone")),
            "it should do so at 1s: gone",
        ),
        (
            lambda story: replace(story, claim="QL-016"),
            "the wrong controller should violate QL-016",
        ),
        (
            lambda story: replace(story, right="mutant:deleted-jobs-are-gone"),
            "the right controller should keep QL-003",
        ),
    ],
)
def test_what_is_not_as_told_is_said(
    changed: Callable[[Story], Story],
    departure: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plan = load_plan(SUITES / "quota/stories/released-while-the-owner-is-deleted.yaml")
    path = tmp_path / "story.yaml"
    path.write_text(replace(plan, story=changed(told(plan))).to_yaml())
    ended = assay(monkeypatch, capsys, "replay", path)
    assert f"not as told: {departure}" in ended.out
    assert ended.code == ExitCode.VIOLATED


def test_a_story_is_replayed_with_another_controller_as_any_plan(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = SUITES / "quota/stories/released-while-the-owner-is-deleted.yaml"
    ended = assay(monkeypatch, capsys, "replay", path, "--implementation", "reference")
    assert "as the story tells" not in ended.out
    assert ended.code == ExitCode.CONFORMANT
