"""The laws of the work queue, against arbitrary histories of adds, timers and workers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from reference_controller.runtime.controller import Key
from reference_controller.runtime.work_queue import BASE_BACKOFF_US, MAX_BACKOFF_US, WorkQueue
from vocabulary.clock import MILLISECOND, SECOND

KEYS = tuple(Key("ns", name) for name in "abcd")
A, B, C, D = KEYS
keys = st.sampled_from(KEYS)
spans_us = st.integers(min_value=0, max_value=SECOND)


class QueueLaws(RuleBasedStateMachine):
    """A model that knows only what was asked for: `owed` keys must come out, others must not."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = WorkQueue()
        self.now_us = 0
        self.taken: list[Key] = []
        self.owed: set[Key] = set()
        self.timers: dict[Key, int] = {}

    @rule(key=keys)
    def add(self, key: Key) -> None:
        self.queue.add(key)
        self.owed.add(key)

    @rule(key=keys, span_us=spans_us)
    def add_later(self, key: Key, span_us: int) -> None:
        at_us = self.now_us + span_us
        self.queue.add_at(key, at_us)
        self.timers[key] = min(at_us, self.timers.get(key, at_us))

    @rule(span_us=spans_us)
    def let_time_pass(self, span_us: int) -> None:
        self.now_us += span_us

    @rule()
    def take(self) -> None:
        for key in [key for key, at_us in self.timers.items() if at_us <= self.now_us]:
            del self.timers[key]
            self.owed.add(key)
        key = self.queue.take(self.now_us)
        ready = self.owed - set(self.taken)
        assert (key is None) == (not ready), f"{ready} is ready, but {key} was handed out"
        if key is not None:
            assert key in ready, "handed out though a worker has it or nobody asked for it"
            self.taken.append(key)
            self.owed.discard(key)

    @precondition(lambda self: self.taken)
    @rule(data=st.data(), wake_in_us=st.none() | spans_us)
    def succeed(self, data: st.DataObject, wake_in_us: int | None) -> None:
        key = data.draw(st.sampled_from(self.taken))
        self.taken.remove(key)
        self.timers.pop(key, None)
        wake_at_us = None if wake_in_us is None else self.now_us + wake_in_us
        if wake_at_us is not None:
            self.timers[key] = wake_at_us
        self.queue.succeeded(key, wake_at_us)

    @precondition(lambda self: self.taken)
    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(self.taken))
        self.taken.remove(key)
        at_us = self.now_us + self.queue.failed(key, self.now_us)
        self.timers[key] = min(at_us, self.timers.get(key, at_us))

    @invariant()
    def the_next_timer_is_the_earliest_one(self) -> None:
        assert self.queue.next_due_us() == min(self.timers.values(), default=None)


TestQueueLaws = QueueLaws.TestCase


def test_keys_come_out_in_the_order_in_which_they_were_added() -> None:
    queue = WorkQueue()
    for key in (C, A, C, B, A):
        queue.add(key)
    assert [queue.take(0) for _ in range(4)] == [C, A, B, None]


def test_a_key_added_while_a_worker_has_it_comes_back_after_that_worker_is_done() -> None:
    queue = WorkQueue()
    queue.add(A)
    assert queue.take(0) == A
    queue.add(A)
    assert queue.take(0) is None, "two workers would have had one key"
    queue.succeeded(A, None)
    assert queue.take(0) == A


@given(st.integers(min_value=0, max_value=60))
def test_the_backoff_doubles_with_each_failure_up_to_its_cap(failures: int) -> None:
    queue = WorkQueue()
    span_us = now_us = 0
    for _ in range(failures + 1):
        queue.add(A)
        queue.take(now_us)
        span_us = queue.failed(A, now_us)
        now_us += span_us
    assert span_us == min(BASE_BACKOFF_US * 2**failures, MAX_BACKOFF_US)


def test_events_that_wake_a_failing_key_do_not_make_it_wait_longer() -> None:
    queue = WorkQueue()
    queue.add(A)
    queue.take(0)
    queue.failed(A, 0)
    for at_us in range(1, BASE_BACKOFF_US, MILLISECOND):
        queue.add(A)
        queue.take(at_us)
        assert queue.failed(A, at_us) == BASE_BACKOFF_US - at_us
    assert queue.take(BASE_BACKOFF_US) == A
    assert queue.failed(A, BASE_BACKOFF_US) == 2 * BASE_BACKOFF_US


def test_success_forgets_the_failures_of_that_key_only() -> None:
    queue = WorkQueue()
    for key in (A, B):
        queue.add(key)
        queue.take(0)
        queue.failed(key, 0)
    queue.take(10 * MILLISECOND)
    queue.succeeded(A, None)
    queue.add(A)
    assert queue.take(20 * MILLISECOND) == B
    assert queue.failed(B, 0) == 2 * BASE_BACKOFF_US
    assert queue.take(20 * MILLISECOND) == A
    assert queue.failed(A, 0) == BASE_BACKOFF_US


def test_what_the_last_success_asked_for_replaces_an_earlier_timer() -> None:
    queue = WorkQueue()
    queue.add(A)
    queue.add_at(A, 5 * SECOND)
    queue.take(0)
    queue.succeeded(A, 9 * SECOND)
    assert queue.take(5 * SECOND) is None
    assert queue.take(9 * SECOND) == A
