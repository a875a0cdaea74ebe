"""The guide's way: at each pause of the run, the checker's table is what the ledger holds."""

from __future__ import annotations

import importlib.machinery
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest

from conformance.history import History
from conformance.implementations.ours import implementations
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.suites.kueue.view.standing import Standing
from mlbatch_tools.cluster_checker.printed import lines
from tests.tools.test_cluster_checker import GUIDE_LINES

from .conftest import Assay

SCENARIO = SCENARIOS["mlbatch/guide/two-teams-share-a-cluster"]
SCRIPT = Path(__file__).parents[2] / "ci" / "guide-ledger"


@pytest.fixture(scope="module")
def ledger() -> ModuleType:
    """`ci/guide-ledger`, which compares the same on histories of other clusters."""
    loader = importlib.machinery.SourceFileLoader("guide_ledger", str(SCRIPT))
    module = ModuleType(loader.name)
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def history() -> History:
    run = run_one(SCENARIO, implementations("reference", SCENARIO.roles), 1729)
    assert not run.error
    return History(run.header, run.entries)


def test_the_checkers_table_is_the_ledger(history: History, ledger: ModuleType) -> None:
    positions = list(ledger.pauses(history))
    assert len(positions) > 5
    assert [found for n in positions for found in ledger.differences(history, n)] == []


def test_a_table_that_is_not_the_ledgers_is_told(
    history: History, ledger: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(standing: Standing, queue: str, what: tuple[str, str]) -> Fraction:
        del queue, what
        return Fraction(len(standing.queues))

    monkeypatch.setattr(Standing, "held", wrong)
    assert all(ledger.differences(history, n) for n in ledger.pauses(history))


def test_the_guides_table_comes_out(history: History, ledger: ModuleType) -> None:
    seen = (ledger.seen(history, n) for n in ledger.pauses(history))
    tables = [list(lines(each, "guide")) for each in seen]
    printed = [
        [" ".join(line.replace("run-", "").split()) for line in table if line] for table in tables
    ]
    assert GUIDE_LINES in [table[: len(GUIDE_LINES)] for table in printed]


def test_what_cannot_be_used_is_not_lent(history: History, ledger: ModuleType) -> None:
    tables = [ledger.seen(history, n) for n in ledger.pauses(history)]
    assert all(each.quota == each.schedulable for each in tables)
    assert {(each.unschedulable, each.slack_lendable) for each in tables} == {(0, 8), (8, 0)}


def test_mutants_of_the_suite_are_those_that_its_scenarios_kill(assay: Assay) -> None:
    listed = assay("mutants", "mlbatch", "--list")
    *rows, count = listed.stdout.splitlines()
    kills = {each.kills for each in SCENARIOS.values() if each.suite == "mlbatch"} - {""}
    assert {row.split()[0] for row in rows} == kills
    assert count == f"{len(kills)} mutants"
    unknown = assay("mutants", "mlbatc")
    assert unknown.returncode == 2
    assert "did you mean mlbatch?" in unknown.stderr
