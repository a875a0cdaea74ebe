"""Repeated runs: their number by campaign, and the first difference of those that differ."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec
import pytest

from conformance.running import workers
from conformance.running.counted_campaigns import Tally
from conformance.running.run_options import RunOptions
from conformance.running.suite import run_suite
from conformance.running.workers import Task, run_task
from tests.report.sample_run import failing_run
from vocabulary.history import Entry, Write

SCENARIO = "appwrapper/deletion/slow-pods-hold-their-quota"
OPTIONS = RunOptions(jobs=1, rerun=True, shrink=False)


def test_the_runs_of_each_campaign_are_repeated_and_counted_apart() -> None:
    options = replace(OPTIONS, crash_points=True, random_plans=3)
    suite = run_suite([SCENARIO], options, lambda _: None)
    tried, existing = suite.crash_points
    assert tried == existing > 0
    same = "gave the same history byte for byte when repeated"
    assert [note for note in suite.notes if same in note] == [
        f"fault-free runs: 1 of 1 {same}",
        f"crash points: {tried} of {tried} {same}",
        f"random plans: 3 of 3 {same}",
    ]
    assert (suite.rerun, suite.mismatches) == (1 + tried + 3, 0)


@pytest.fixture
def unrepeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run has a seed of its own."""
    once = workers.run_one
    seeds = random.Random(1)

    def run_one(scenario: object, under_test: object, _: int, *rest: object) -> object:
        return once(scenario, under_test, seeds.randrange(1000), *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(workers, "run_one", run_one)


@pytest.mark.usefixtures("unrepeatable")
def test_another_history_is_told_and_counted() -> None:
    suite = run_suite([SCENARIO], OPTIONS, lambda _: None)
    assert (suite.rerun, suite.mismatches) == (1, 1)
    counted, told = suite.notes
    assert counted.startswith("fault-free runs: 0 of 1 gave the same history")
    assert told.startswith(f"{SCENARIO} produced a different history: the header differs in seed (")


def changed(entries: Sequence[Entry], change: Callable[[Write], Write]) -> tuple[Entry, ...]:
    """The entries, with a change to the last write of an object."""
    n = max(n for n, e in enumerate(entries) if isinstance(e, Write) and e.event == "MODIFIED")
    write = entries[n]
    assert isinstance(write, Write)
    return (*entries[:n], change(write), *entries[n + 1 :])


def later(write: Write) -> Write:
    return msgspec.structs.replace(write, t=write.t + 2_000, actor="somebody")


def repeated(
    monkeypatch: pytest.MonkeyPatch, first: Sequence[Entry], second: Sequence[Entry]
) -> str:
    """The difference that is found between two runs with these histories."""
    results = [msgspec.structs.replace(failing_run(), entries=each) for each in (first, second)]
    monkeypatch.setattr(workers, "run_one", lambda *_: results.pop(0))
    result = run_task(Task(SCENARIO, "reference", 1, twice=True))
    assert result.repeated is not None
    return result.repeated


def test_the_first_entry_that_differs_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = failing_run().entries
    told = repeated(monkeypatch, entries, changed(entries, later))
    write = next(e for e, other in zip(entries, changed(entries, later), strict=True) if e != other)
    assert isinstance(write, Write)
    assert told.startswith(f"entry {write.n} was “t=")
    assert f"{write.kind.lower()}/{write.name} " in told
    assert f"by {write.actor}”, then “t=" in told
    assert "by somebody”; they differ in " in told
    assert f"t ({write.t} → {write.t + 2_000})" in told
    assert f"actor ({write.actor} → somebody)" in told


@pytest.mark.parametrize("longer", ["first", "second"])
def test_a_history_that_goes_on_is_told(monkeypatch: pytest.MonkeyPatch, longer: str) -> None:
    entries = failing_run().entries
    pair = [entries, entries[:-1]] if longer == "first" else [entries[:-1], entries]
    told = repeated(monkeypatch, *pair)
    assert told.startswith(f"entry {entries[-1].n}, “t=")
    assert told.endswith(f", is in the {longer} history alone")


def test_the_same_bytes_are_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = failing_run().entries
    assert repeated(monkeypatch, entries, entries) == ""


def test_runs_that_were_not_repeated_are_not_counted() -> None:
    lost = failing_run()
    same, other = (msgspec.structs.replace(lost, repeated=each) for each in ("", "entry 3 …"))
    assert not list(Tally([lost]).repeated_in_words("crash points"))
    variant = msgspec.structs.replace(other, variant="random plan 1 of 3")
    assert list(Tally([lost, same, variant]).repeated_in_words("random plans")) == [
        "random plans: 1 of 2 gave the same history byte for byte when repeated",
        f"{lost.scenario} [random plan 1 of 3] produced a different history: entry 3 …",
    ]
