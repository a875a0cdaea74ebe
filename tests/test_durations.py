"""Durations of tests are known in the next run, and nowhere else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.durations import LONG_SECONDS, USUAL_SECONDS, Durations


class Cache(dict[str, Any]):
    """Like pytest's, in memory."""

    def set(self, key: str, value: object) -> None:
        self[key] = value


def a_run(cache: Cache | None, *, is_worker: bool = False) -> Durations:
    config: Any = SimpleNamespace() if cache is None else SimpleNamespace(cache=cache)
    if is_worker:
        config.workerinput = {}
    return Durations(config)


def item(name: str, *, waits: bool = False) -> Any:
    return SimpleNamespace(nodeid=name, get_closest_marker=lambda _: object() if waits else None)


def report(name: str, seconds: float) -> Any:
    return SimpleNamespace(nodeid=name, duration=seconds)


def test_what_a_test_took_with_its_set_up_is_known_in_the_next_run() -> None:
    cache = Cache()
    first = a_run(cache)
    for seconds in (LONG_SECONDS, 1.5, 0.5):
        first.pytest_runtest_logreport(report("a", seconds))
    first.pytest_runtest_logreport(report("b", LONG_SECONDS / 2))
    first.pytest_sessionfinish()
    second = a_run(cache)
    assert second.seconds(item("a")) == LONG_SECONDS + 2
    assert second.seconds(item("b")) == 0
    assert second.seconds(item("b", waits=True)) == LONG_SECONDS / 2


def test_a_test_that_was_never_timed_counts_only_if_it_waits() -> None:
    for never in (a_run(Cache()), a_run(None)):
        never.pytest_sessionfinish()
        assert never.seconds(item("a", waits=True)) == USUAL_SECONDS
        assert never.seconds(item("a")) == 0


def test_what_was_not_run_stays_known_and_workers_write_nothing() -> None:
    cache = Cache()
    for name, is_worker in (("a", False), ("b", False), ("c", True)):
        run = a_run(cache, is_worker=is_worker)
        run.pytest_runtest_logreport(report(name, 60.0))
        run.pytest_sessionfinish()
    assert [a_run(cache).seconds(item(name)) for name in "abc"] == [60.0, 60.0, 0]


def test_a_session_that_ends_later_and_timed_nothing_forgets_nothing() -> None:
    cache = Cache()
    sessions = [a_run(cache) for _ in range(3)]
    for run, name in zip(sessions, "ab", strict=False):
        run.pytest_runtest_logreport(report(name, 60.0))
    for run in sessions:
        run.pytest_sessionfinish()
    assert [a_run(cache).seconds(item(name)) for name in "ab"] == [60.0, 60.0]
