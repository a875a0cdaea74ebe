"""Optimizations for campaigns of thousands of runs must not change their results."""

from __future__ import annotations

import gc
import pickle

import msgspec

from conformance.implementations.ours import implementation
from conformance.running.collecting import OBJECTS_PER_COLLECTION, collecting_seldom
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from tests.report.sample_run import passing_run
from vocabulary.history import Counterpart, history_digest


def test_a_result_that_comes_from_another_process_is_the_same() -> None:
    mutant = implementation("mutant:quota-released-on-failed", "appwrapper")
    scenario = SCENARIOS["appwrapper/deletion/slow-pods-hold-their-quota"]
    result = run_one(scenario, mutant, DEFAULT_SEED, variant="some variant")
    assert any(verdict.violations for verdict in result.verdicts)

    received = pickle.loads(pickle.dumps(result))  # noqa: S301  # our own bytes

    assert received == result
    assert all(
        type(one) is type(other)
        for one, other in zip(received.entries, result.entries, strict=True)
    )
    assert history_digest(received.header, received.entries) == history_digest(
        result.header, result.entries
    )


def test_garbage_is_collected_as_before_once_a_campaign_is_over() -> None:
    before = gc.get_threshold(), gc.get_freeze_count()

    with collecting_seldom():
        assert gc.get_threshold()[0] == OBJECTS_PER_COLLECTION
        assert gc.get_freeze_count() > before[1]

    assert (gc.get_threshold(), gc.get_freeze_count()) == before


def test_cycles_that_a_campaign_leaves_behind_are_found() -> None:
    class Node:
        alive = 0

        def __init__(self) -> None:
            self.itself = self
            Node.alive += 1

        def __del__(self) -> None:
            Node.alive -= 1

    with collecting_seldom():
        for _ in range(2 * OBJECTS_PER_COLLECTION):
            Node()

        assert Node.alive <= OBJECTS_PER_COLLECTION


def test_results_that_come_from_workers_share_the_run_that_they_are_compared_with() -> None:
    def received(end: str) -> Counterpart:
        """The counterpart of a result that a worker has sent."""
        undisturbed = Counterpart(
            scenario="s", sha256="digest", is_stable=True, end={"Site n/a": {"phase": end}}
        )
        run = passing_run()
        header = msgspec.structs.replace(run.header, counterpart=undisturbed)
        sent = pickle.dumps(msgspec.structs.replace(run, header=header))
        found: Counterpart = pickle.loads(sent).header.counterpart  # noqa: S301  # our own bytes
        assert found == undisturbed
        return found

    assert received("Ready") is received("Ready")
    received("Degraded")
