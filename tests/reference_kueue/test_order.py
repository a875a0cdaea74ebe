"""The order of queues: total, independent of the order of insertion, stable."""

from __future__ import annotations

import random
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from reference_controller.kueue.books import Books
from reference_controller.kueue.config import Requeuing
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Workload
from reference_controller.runtime.controller import Key
from tests.reference_kueue.made import workload

_MAIN = Key("default", "main")
_STATES = st.sampled_from(
    ({}, {"Evicted": ("True", "PodsReadyTimeout", 7)}, {"Evicted": ("True", "Preempted", 7)})
)


@st.composite
def _workloads(draw: st.DrawFn) -> list[Workload]:
    count = draw(st.integers(1, 8))
    return [
        workload(
            f"w{n}",
            priority=draw(st.integers(-1, 1)),
            created_s=draw(st.integers(0, 9)),
            conditions=draw(_STATES),
        )
        for n in range(count)
    ]


def _books(timestamp: str) -> Books:
    rules = Rules()
    rank = partial(rules.rank, requeuing=Requeuing(timestamp=timestamp))
    return Books(rules.waits, rank, rules.held)


def _drained(books: Books) -> list[str]:
    """The uids in the order of the queue."""
    found: list[str] = []
    while (head := books.head((_MAIN,), set())) is not None:
        found.append(head.uid)
        books.set_aside(head.key)
    return found


@given(_workloads(), st.sampled_from(("Eviction", "Creation")), st.randoms(use_true_random=False))
def test_the_order_of_insertion_changes_nothing(
    workloads: list[Workload], timestamp: str, draw: random.Random
) -> None:
    one, other = _books(timestamp), _books(timestamp)
    for each in workloads:
        one.take(each)
    for each in draw.sample(workloads, len(workloads)):
        other.take(each)
    assert _drained(one) == _drained(other)


@given(_workloads(), st.sampled_from(("Eviction", "Creation")))
def test_no_two_have_the_same_place(workloads: list[Workload], timestamp: str) -> None:
    rank = partial(Rules().rank, requeuing=Requeuing(timestamp=timestamp))
    assert len({rank(each) for each in workloads}) == len(workloads)


@given(_workloads(), st.data())
def test_one_that_leaves_moves_no_other(workloads: list[Workload], data: st.DataObject) -> None:
    books, gone = _books("Eviction"), data.draw(st.sampled_from(workloads))
    for each in workloads:
        books.take(each)
    before = _drained(books)
    books.revive()
    books.drop(gone.key)
    assert _drained(books) == [uid for uid in before if uid != gone.uid]


def test_priority_comes_before_time_and_time_before_uid() -> None:
    books = _books("Eviction")
    timed_out = {"Evicted": ("True", "PodsReadyTimeout", 7)}
    for each in (
        workload("z", created_s=1),
        workload("y", created_s=1),
        workload("late", created_s=2, priority=1),
        workload("back", created_s=0, conditions=timed_out),
    ):
        books.take(each)
    assert _drained(books) == ["late", "y", "z", "back"]


def test_one_written_to_while_set_aside_stays_there() -> None:
    books = _books("Eviction")
    books.take(workload("a"))
    books.set_aside(workload("a").key)
    waits = {"QuotaReserved": ("False", "Pending", 1)}
    books.take(workload("a", conditions=waits, version=2))
    assert books.head((_MAIN,), set()) is None
    books.take(workload("a", priority=1, version=3))
    assert books.head((_MAIN,), set()) is not None


def test_others_are_looked_at_again_once_one_begins_to_give_its_quota_back() -> None:
    books = _books("Eviction")
    books.take(workload("a", holds="main"))
    books.take(workload("a", holds="main", version=2))
    assert not books.freed
    evicted = {"Evicted": ("True", "Preempted", 1)}
    books.take(workload("a", holds="main", conditions=evicted, version=3))
    assert books.freed == {"main"}


def test_an_answer_that_comes_after_the_end_of_its_workload_brings_nothing_back() -> None:
    books, seen = _books("Eviction"), workload("w")
    books.take(seen)
    books.take_answer(seen)
    assert _drained(books) == [seen.uid]
    books.drop(seen.key)
    books.take_answer(seen)
    assert _drained(books) == []
