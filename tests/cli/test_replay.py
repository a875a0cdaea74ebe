"""`assay replay` says whether the history is the one that was recorded, and if not, why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from chaos.plan import Plan, load_plan
from chaos.recorded import Recorded
from conformance.cli.exit_code import ExitCode
from conformance.worlds.simulated import bounds
from tests.cli.command import Ended
from tests.cli.command import assay as run_assay
from tests.shrinking.noisy import SLOW_PODS

Assay = Callable[..., Ended]
PLAN = Path(".assay/aw-015.yaml")


@pytest.fixture
def assay(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Assay:
    """The command, in a folder with the report of a mutant."""
    monkeypatch.chdir(tmp_path)
    mutant = ("--implementation", "mutant:quota-released-on-failed")
    run_assay(monkeypatch, capsys, "run", SLOW_PODS, "-q", "-j", 1, "--no-shrink", *mutant)
    return lambda *arguments: run_assay(monkeypatch, capsys, *arguments)


def history_line(ended: Ended) -> str:
    (line,) = (line for line in ended.out.splitlines() if "sha256" in line)
    return line


def rewritten(change: Callable[[Plan], Plan]) -> str:
    """The digest that the plan tells, after the change was made to its file."""
    plan = change(load_plan(PLAN))
    PLAN.write_text(plan.to_yaml(), encoding="utf-8")
    return plan.recorded.sha256 if plan.recorded else ""


def test_a_plan_replays_the_history_that_it_tells_of(assay: Assay) -> None:
    told = rewritten(lambda plan: plan)
    assert history_line(assay("replay", PLAN)) == f"the same history as recorded (sha256 {told})"


def test_a_plan_says_which_controller_and_which_entry_decide(assay: Assay) -> None:
    out = assay("replay", PLAN, "--explain").out
    assert "The controller under test is mutant:quota-released-on-failed.\n" in out
    assert "\nDecisive: AW-015 at t=" in out
    assert "QuotaReserved True → False by appwrapper.\n" in out


def test_another_history_of_the_same_suite_comes_of_a_change(assay: Assay) -> None:
    told = rewritten(lambda plan: replace(plan, seed=plan.seed + 1))
    ended = assay("replay", PLAN)
    line = history_line(ended)
    assert line.startswith("not the history that was recorded: sha256 ")
    assert line.endswith(f"not {told}; the plan, or the code of Assay, was changed since")
    assert "\nrecorded and replayed: the header differs in seed (1729 → 1730)\n" in ended.out


def test_without_the_report_the_first_difference_is_not_known(assay: Assay) -> None:
    rewritten(lambda plan: replace(plan, seed=plan.seed + 1))
    Path(".assay/report.yaml").unlink()
    ended = assay("replay", PLAN)
    assert "the first difference is not known, since the recorded history is not in" in ended.out


def test_another_history_may_come_of_another_suite(assay: Assay) -> None:
    rewritten(lambda plan: replace(plan, recorded=Recorded("0" * 64, "0.0.1")))
    assert "; Assay 0.0.1 recorded it, this is " in history_line(assay("replay", PLAN))


def test_plans_of_before_are_replayed_without_comparing(assay: Assay) -> None:
    told = load_plan(PLAN).recorded
    assert told is not None
    rewritten(lambda plan: replace(plan, recorded=None))
    assert history_line(assay("replay", PLAN)) == (
        f"history: sha256 {told.sha256}; the plan does not tell which one was recorded"
    )


def test_a_run_that_is_too_long_for_assay_says_nothing_of_the_operator(
    assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_ENTRIES", 20)
    monkeypatch.setattr(bounds, "ENTRIES_PER_POD", 0)
    ended = assay("replay", PLAN, "--implementation", "reference")
    assert "the limit of Assay" in ended.out
    assert ended.code == ExitCode.ENVIRONMENT


def test_another_implementation_is_not_held_against_what_was_recorded(assay: Assay) -> None:
    line = history_line(assay("replay", PLAN, "--implementation", "reference"))
    assert "; that of mutant:quota-released-on-failed was recorded: sha256 " in line
