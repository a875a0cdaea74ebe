"""Tests that take long are begun first and shared evenly: xdist's own scheduler hands them out."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from xdist.scheduler.worksteal import WorkStealingScheduling

from tests.order import evenly, in_shares, sizes

WORKERS = 6
LONG = {f"long-{number}": seconds for number, seconds in enumerate([30.0, 5.0, 60.0, 10.0] * 30)}
SHORT = {f"short-{number}": 0.1 for number in range(4_000)}
SECONDS = {**LONG, **SHORT}


class Worker:
    """An xdist worker: it begins a test when it has the next one, or will get none."""

    def __init__(self, world: Handout, number: int) -> None:
        self.gateway = SimpleNamespace(id=f"gw{number}")
        self.shutting_down = False
        self._world = world
        self._queue: list[int] = []
        self._next: int | None = None
        self._is_busy = False

    def send_runtest_some(self, indices: Sequence[int]) -> None:
        self._world.given.append(len(indices))
        self._queue += indices
        self._go_on()

    def shutdown(self) -> None:
        self.shutting_down = True
        self._go_on()

    def send_steal(self, indices: Sequence[int]) -> None:
        """All of them, or none if the worker has begun with any."""
        given = list(indices) if set(indices) <= set(self._queue) else []
        self._queue = [index for index in self._queue if index not in given]
        self._world.later(0, lambda: self._world.give_back(self, given))

    def _go_on(self) -> None:
        if self._next is None and self._queue:
            self._next = self._queue.pop(0)
        if self._is_busy or self._next is None or not (self._queue or self.shutting_down):
            return
        running, self._next = self._next, self._queue.pop(0) if self._queue else None
        self._is_busy = True
        self._world.begin(self, running)

    def is_through(self) -> None:
        self._is_busy = False
        self._go_on()


class Handout:
    """Tests handed out by the scheduler that `--dist worksteal` uses, in virtual time."""

    def __init__(self, tests: Sequence[str], seconds: Mapping[str, float], workers: int) -> None:
        config: Any = SimpleNamespace(getvalue=lambda _: [f"{workers}*popen"])
        self.scheduler: Any = WorkStealingScheduling(config)
        self.given: list[int] = []
        """The number of tests of each worker, those of the beginning first."""
        self.begun: dict[str, float] = {}
        self._tests = tests
        self._seconds = seconds
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0
        for number in range(workers):
            worker = Worker(self, number)
            self.scheduler.add_node(worker)
            self.scheduler.add_node_collection(worker, tests)
        self.now = 0.0
        """At last, when the last test has ended."""
        self.scheduler.schedule()
        while self._events:
            self.now, _, event = heapq.heappop(self._events)
            event()

    def later(self, seconds: float, event: Callable[[], None]) -> None:
        self._number += 1
        heapq.heappush(self._events, (self.now + seconds, self._number, event))

    def begin(self, worker: Worker, index: int) -> None:
        test = self._tests[index]
        assert test not in self.begun
        self.begun[test] = self.now
        self.later(self._seconds[test], lambda: self._end(worker, index))

    def give_back(self, worker: Worker, indices: Sequence[int]) -> None:
        self.scheduler.remove_pending_tests_from_node(worker, indices)

    def _end(self, worker: Worker, index: int) -> None:
        self.scheduler.mark_test_complete(worker, index)
        worker.is_through()


def handed_out(tests: Sequence[str]) -> Handout:
    handout = Handout(tests, SECONDS, WORKERS)
    assert handout.begun.keys() == SECONDS.keys()
    return handout


def ordered(tests: Sequence[str]) -> list[str]:
    return in_shares(tests, lambda test: LONG.get(test, 0.0), WORKERS)


def test_every_test_is_handed_out_once_and_short_ones_keep_their_order() -> None:
    mixed = [*SHORT, *LONG]
    found = ordered(mixed)
    assert sorted(found) == sorted(mixed)
    assert [test for test in found if test in SHORT] == list(SHORT)
    assert [test for test in found if test in LONG] == list(LONG)


def test_no_worker_is_left_with_long_tests_when_all_others_are_through() -> None:
    best = sum(SECONDS.values()) / WORKERS
    assert handed_out(ordered([*SHORT, *LONG])).now < 1.05 * best
    # What it mends: all long ones first are all with the first worker.
    assert handed_out([*LONG, *SHORT]).now > 1.1 * best


def test_long_tests_are_begun_before_any_worker_turns_to_the_short_ones() -> None:
    handout = handed_out(ordered([*SHORT, *LONG]))
    last = max(handout.begun[test] for test in LONG)
    assert last < sum(LONG.values()) / WORKERS


@pytest.mark.parametrize("long", [0, 1, 5, 100])
@pytest.mark.parametrize("short", [0, 3, 50])
def test_few_tests_of_one_kind_are_all_there(long: int, short: int) -> None:
    tests = list(range(long + short))
    found = in_shares(tests, lambda test: float(test < long) * 10, WORKERS)
    assert sorted(found) == tests


def test_stretches_are_as_even_as_their_order_allows() -> None:
    seconds = [90.0, 10.0, 10.0, 10.0, 40.0, 50.0]
    numbers = range(len(seconds))
    assert evenly(numbers, lambda n: seconds[n], 3) == [[0], [1, 2, 3, 4], [5]]
    assert evenly([], lambda n: 1.0, 3) == []


def test_shares_have_the_sizes_that_xdist_gives_them() -> None:
    handout = Handout([f"short-{number}" for number in range(20)], SECONDS, WORKERS)
    assert handout.given[:WORKERS] == list(sizes(20, WORKERS))
