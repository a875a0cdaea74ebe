"""The guide's way: at each pause of the run, the checker's table is what the ledger holds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from conformance.history import History
from conformance.implementation import implementations
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.suites.kueue.view import KueueHistory
from mlbatch_tools.cluster_checker.printed import lines
from mlbatch_tools.cluster_checker.report import ClusterReport, report
from tests.tools.test_cluster_checker import GUIDE_LINES
from vocabulary.clock import SECOND

from .conftest import Assay

SCENARIO = SCENARIOS["mlbatch/guide/two-teams-share-a-cluster"]
SLACK = "run-slack-cluster-queue"
CONFIG = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "appwrapper-operator-config", "namespace": "appwrapper-system"},
    "data": {"config.yaml": f"appwrapper:\n  slackQueueName: {SLACK}\n"},
}
KINDS = {"Node", "ClusterQueue", "LocalQueue", "Workload", "Pod", "Namespace", "AppWrapper"}


@pytest.fixture(scope="module")
def history() -> History:
    run = run_one(SCENARIO, implementations("reference", SCENARIO.roles), 1729)
    assert not run.error
    return History(run.header, run.entries)


def pauses(history: History) -> Iterator[int]:
    """The positions after which nothing was written for two seconds."""
    writes = [each for track in history.tracks.values() for each in track.versions]
    for before, after in pairwise(sorted(writes, key=lambda each: each.n)):
        if after.t - before.t >= 2 * SECOND and before.t > 0:
            yield before.n


def seen(history: History, n: int) -> ClusterReport:
    """The checker's report on the objects that stand after a position."""
    tracks = (each for each in history.tracks.values() if each.kind.partition(".")[0] in KINDS)
    return report([CONFIG, *(each.at(n) for each in tracks if each.exists_at(n))])


def test_the_checkers_table_is_the_ledger(history: History) -> None:
    queues = KueueHistory(history).queues
    positions = list(pauses(history))
    assert len(positions) > 5
    for n in positions:
        standing, table = queues.at(n), seen(history, n)
        assert {row.name for row in table.queues} == set(standing.queues) - {SLACK}
        for row in table.queues:
            what = ("run-default", "nvidia.com/gpu")
            held = standing.held(row.name, what)
            assert (n, row.usage) == (n, held)
            assert row.borrowed == max(0, held - row.quota)
        assert table.quota == table.schedulable


def test_the_guides_table_comes_out(history: History) -> None:
    tables = [list(lines(seen(history, n), "guide")) for n in pauses(history)]
    printed = [
        [" ".join(line.replace("run-", "").split()) for line in table if line] for table in tables
    ]
    assert GUIDE_LINES in [table[: len(GUIDE_LINES)] for table in printed]


def test_what_cannot_be_used_is_not_lent(history: History) -> None:
    tables = [seen(history, n) for n in pauses(history)]
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
