"""The operator as a state machine: caches, tickets, retries, timers, crashes, an orderly end."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_controller.runtime.caches import Caches
from reference_controller.runtime.controller import Key, key_of
from reference_controller.runtime.operator import MIN_REQUEUE_US, Operator
from reference_controller.runtime.work_queue import BASE_BACKOFF_US
from vocabulary.clock import SECOND, Micros
from vocabulary.errors import ApiError, no_answer, not_found
from vocabulary.kinds import CONFIG_MAP, NODE, SECRET, Kind
from vocabulary.objects import Object
from vocabulary.requests import Create, Get, List, Reconcile, Request, Update

from .toy import SOURCE_LABEL, CopyController, Server, config_map, settle

SOURCE = config_map("a", {"k": "1"}, **{SOURCE_LABEL: "yes"})


class Scripted:
    """A controller whose reconcile is a function of the test."""

    name = "scripted"

    def __init__(self, reconcile: Callable[[Key, Micros], Reconcile], *watches: Kind) -> None:
        self.watches = watches or (CONFIG_MAP,)
        self.reconcile = reconcile

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        return (key_of(obj),)


def started(controller: Scripted, *names: str, workers: int = 1) -> Operator:
    operator = Operator((controller,), workers=workers)
    for kind in operator.watches:
        operator.replace(kind, [config_map(name, {}) for name in names], 0)
        names = ()
    return operator


def copying() -> tuple[Operator, Server]:
    server = Server()
    server.handle(Create(CONFIG_MAP, SOURCE, "ns", "a"))
    operator = Operator((CopyController(),))
    server.list_into(operator, 0)
    server.events.clear()
    return operator, server


def test_what_differs_from_the_desired_state_is_written_and_then_nothing_more() -> None:
    operator, server = copying()
    sent = settle(operator, server)
    assert [type(request) for request in sent] == [Create]
    assert server.objects[CONFIG_MAP, "ns", "a-copy"]["data"] == {"k": "1"}
    changed = {**server.objects[CONFIG_MAP, "ns", "a"], "data": {"k": "2"}}
    server.handle(Update(CONFIG_MAP, changed))
    assert [type(request) for request in settle(operator, server)] == [Update]
    assert operator.is_idle
    assert operator.wake_at_us() is None


def test_nothing_is_reconciled_before_every_watched_kind_was_listed_once() -> None:
    def reconcile(key: Key, now_us: Micros) -> Reconcile:
        yield Get(SECRET, *key)
        return None

    operator = Operator((Scripted(reconcile, CONFIG_MAP, NODE),))
    operator.replace(CONFIG_MAP, [SOURCE], 0)
    assert operator.poll(0) is None
    operator.replace(NODE, [], 0)
    assert operator.poll(0) is not None


def test_reads_of_watched_kinds_never_leave_unless_they_are_live() -> None:
    answers: list[object] = []

    def reconcile(key: Key, now_us: Micros) -> Reconcile:
        answers.append((yield Get(CONFIG_MAP, *key)))
        answers.append(tuple((yield List(CONFIG_MAP)).items))
        answers.append((yield Get(CONFIG_MAP, *key, live=True)))
        answers.append((yield Get(SECRET, *key)))
        answers.append((yield List(CONFIG_MAP, live=True)))
        return None

    operator = started(Scripted(reconcile), "a")
    left: list[Request] = []
    while (pending := operator.poll(0)) is not None:
        left.append(pending.request)
        operator.answer(pending.ticket, {"from": "server"}, 0)
    key = Key("ns", "a")
    assert left == [
        Get(CONFIG_MAP, *key, live=True),
        Get(SECRET, *key),
        List(CONFIG_MAP, live=True),
    ]
    assert answers[0] == config_map("a", {})
    assert answers[1] == (config_map("a", {}),)
    assert answers[2:] == [{"from": "server"}] * 3


def reading_a_secret(answers: list[object]) -> Operator:
    """It has one key, which reads a Secret at every reconcile."""

    def reconcile(key: Key, now_us: Micros) -> Reconcile:
        try:
            answers.append((yield Get(SECRET, *key)))
        except ApiError as error:
            answers.append(error.code)
        return None

    return started(Scripted(reconcile), "a")


def answer_all(operator: Operator, reply: Object | ApiError) -> int:
    """Give every request the same reply; returns how many there were."""
    count = 0
    while (pending := operator.poll(0)) is not None:
        operator.answer(pending.ticket, reply, 0)
        count += 1
    return count


def test_a_kind_is_watched_from_the_first_object_on_that_a_reconcile_read() -> None:
    answers: list[object] = []
    operator = reading_a_secret(answers)
    secret = config_map("a", {"k": "1"})
    assert answer_all(operator, secret) == 1
    assert list(operator.unwatched) == [SECRET]
    operator.replace(SECRET, [secret], 0)
    assert answer_all(operator, secret) == 0
    operator.deliver(SECRET, "DELETED", secret, 0)
    assert answer_all(operator, secret) == 0
    assert answers == [secret, secret, 404]
    assert list(operator.unwatched) == [SECRET]


def test_what_was_deleted_before_the_first_list_of_its_kind_is_noticed_with_that_list() -> None:
    answers: list[object] = []
    operator = reading_a_secret(answers)
    secret = config_map("a", {})
    answer_all(operator, secret)
    operator.replace(SECRET, [], 0)
    assert answer_all(operator, secret) == 0
    assert answers == [secret, 404]


def test_reads_of_a_kind_that_may_not_be_listed_stay_live_and_hold_nothing_up() -> None:
    answers: list[object] = []
    operator = reading_a_secret(answers)
    secret = config_map("a", {})
    answer_all(operator, secret)
    operator.deliver(CONFIG_MAP, "MODIFIED", config_map("a", {"k": "2"}), 0)
    assert answer_all(operator, secret) == 1
    assert operator.is_synced
    assert list(operator.unwatched) == [SECRET]


def test_a_kind_of_which_nothing_was_found_is_not_watched() -> None:
    operator = reading_a_secret([])
    answer_all(operator, not_found(SECRET, "a"))
    assert not operator.unwatched


def test_a_cached_read_of_an_absent_object_is_a_404_thrown_into_the_reconcile() -> None:
    caught: list[ApiError] = []

    def reconcile(key: Key, now_us: Micros) -> Reconcile:
        try:
            yield Get(CONFIG_MAP, "ns", "absent")
        except ApiError as error:
            caught.append(error)
        return None

    started(Scripted(reconcile), "a").poll(0)
    assert [error.is_not_found for error in caught] == [True]


def test_a_malformed_selector_is_a_400_thrown_into_the_reconcile() -> None:
    def reconcile(key: Key, now_us: Micros) -> Reconcile:
        yield List(CONFIG_MAP, label_selector="a=b,,")
        return None

    operator = started(Scripted(reconcile), "a")
    assert operator.poll(0) is None
    assert not operator.crashes
    assert operator.work_due_us() == BASE_BACKOFF_US


def test_a_refused_write_is_tried_again_after_a_backoff_that_grows() -> None:
    operator, server = copying()
    now_us, waits_us = 0, []
    for _ in range(4):
        server.refusals.append(no_answer("connection refused"))
        settle(operator, server, now_us)
        due_us = operator.work_due_us()
        assert due_us is not None
        waits_us.append(due_us - now_us)
        now_us = due_us
    assert waits_us == [BASE_BACKOFF_US * factor for factor in (1, 2, 4, 8)]
    settle(operator, server, now_us)
    assert (CONFIG_MAP, "ns", "a-copy") in server.objects
    assert operator.work_due_us() is None


def test_a_bug_in_one_reconcile_is_kept_for_the_record_and_holds_up_no_other_key() -> None:
    done: list[str] = []

    def reconcile(key: Key, now_us: Micros) -> Reconcile:
        if key.name == "broken":
            raise ZeroDivisionError("a bug")
        yield Get(CONFIG_MAP, *key)
        done.append(key.name)
        return None

    operator = started(Scripted(reconcile), "broken", "sound")
    assert operator.poll(0) is None
    assert done == ["sound"]
    assert [str(error) for error in operator.crashes] == ["a bug"]
    assert operator.work_due_us() == BASE_BACKOFF_US


def test_a_reconcile_that_wants_to_come_back_now_cannot_stop_time() -> None:
    times: list[Micros] = []

    def reconcile(key: Key, now_us: Micros) -> Reconcile:
        times.append(now_us)
        if len(times) > 1:
            pytest.fail("came back at the same instant")
        yield Get(CONFIG_MAP, *key)
        return now_us

    operator = started(Scripted(reconcile), "a")
    assert operator.poll(7) is None
    assert times == [7]
    assert operator.wake_at_us() == 7 + MIN_REQUEUE_US


def test_workers_run_side_by_side_but_never_two_on_one_key() -> None:
    def reconcile(key: Key, now_us: Micros) -> Reconcile:
        yield Get(SECRET, *key)
        yield Get(SECRET, *key)
        return None

    operator = started(Scripted(reconcile), "a", "b", "c", workers=2)
    first, second = operator.poll(0), operator.poll(0)
    assert first is not None and second is not None
    assert operator.poll(0) is None, "both workers are busy"
    for _ in range(3):
        operator.deliver(CONFIG_MAP, "MODIFIED", config_map("a", {}), 0)
    operator.answer(first.ticket, {}, 0)
    third = operator.poll(0)
    assert third is not None and third.request == Get(SECRET, "ns", "a"), "its second request"
    operator.answer(third.ticket, {}, 0)
    fourth = operator.poll(0)
    assert fourth is not None and fourth.request == Get(SECRET, "ns", "c")


def test_while_all_workers_wait_no_timer_asks_to_be_polled() -> None:
    def reconcile(key: Key, now_us: Micros) -> Reconcile:
        yield Get(SECRET, *key)
        return now_us + SECOND

    operator = started(Scripted(reconcile), "a", "b")
    first = operator.poll(0)
    assert first is not None
    operator.answer(first.ticket, {}, 0)
    second = operator.poll(5)
    assert second is not None and second.request == Get(SECRET, "ns", "b")
    assert operator.wake_at_us() is None, "a driver would spin from the timer of a on"
    operator.answer(second.ticket, {}, 2 * SECOND)
    assert operator.wake_at_us() == SECOND
    third = operator.poll(2 * SECOND)
    assert third is not None and third.request == Get(SECRET, "ns", "a")


@given(st.data())
def test_however_replies_are_delayed_no_key_has_two_workers_and_every_event_is_seen(
    data: st.DataObject,
) -> None:
    busy: set[Key] = set()
    seen_rv: dict[str, int] = {}
    written_rv: dict[str, int] = {}

    def reconcile(key: Key, now_us: Micros) -> Reconcile:
        assert key not in busy
        busy.add(key)
        obj = yield Get(CONFIG_MAP, *key)
        yield Get(SECRET, *key)
        seen_rv[key.name] = max(seen_rv.get(key.name, 0), int(obj["data"]["rv"]))
        busy.discard(key)
        return None

    operator = started(Scripted(reconcile), workers=3)
    tickets: list[int] = []
    for rv in range(1, data.draw(st.integers(1, 40))):
        name = data.draw(st.sampled_from("abcd"))
        written_rv[name] = rv
        operator.deliver(CONFIG_MAP, "MODIFIED", config_map(name, {"rv": str(rv)}), rv)
        while (pending := operator.poll(rv)) is not None:
            tickets.append(pending.ticket)
        while tickets and data.draw(st.booleans()):
            operator.answer(tickets.pop(data.draw(st.integers(0, len(tickets) - 1))), {}, rv)
    while True:
        while (pending := operator.poll(1000)) is not None:
            tickets.append(pending.ticket)
        if not tickets:
            break
        operator.answer(tickets.pop(0), {}, 1000)
    assert not operator.crashes
    assert seen_rv == written_rv


@pytest.mark.parametrize("crash_after", range(3))
def test_a_new_operator_completes_what_a_killed_one_began(crash_after: int) -> None:
    operator, server = copying()
    for _ in range(crash_after):
        pending = operator.poll(0)
        if pending is not None:
            server.handle(pending.request)  # carried out, but the reply is lost with the process
    successor = Operator((CopyController(),))
    server.list_into(successor, 0)
    server.events.clear()
    settle(successor, server)
    assert server.objects[CONFIG_MAP, "ns", "a-copy"]["data"] == {"k": "1"}


def test_a_relist_brings_back_what_a_lost_watch_missed() -> None:
    operator, server = copying()
    settle(operator, server)
    del server.objects[CONFIG_MAP, "ns", "a-copy"]  # and no watch event tells
    assert settle(operator, server) == []
    server.list_into(operator, 0)
    assert [type(request) for request in settle(operator, server)] == [Create]


def test_a_resync_looks_at_every_object_again_after_its_period() -> None:
    reconciled: list[tuple[str, Micros]] = []

    def reconcile(key: Key, now_us: Micros) -> Reconcile:
        reconciled.append((key.name, now_us))
        yield Get(CONFIG_MAP, *key)
        return None

    operator = Operator((Scripted(reconcile),), resync_us=10 * SECOND)
    operator.replace(CONFIG_MAP, [config_map("a", {}), config_map("b", {})], 0)
    assert operator.poll(0) is None
    assert operator.wake_at_us() == 10 * SECOND
    assert operator.work_due_us() is None, "a resync is housekeeping, not work"
    assert operator.poll(10 * SECOND) is None
    assert reconciled == [("a", 0), ("b", 0), ("a", 10 * SECOND), ("b", 10 * SECOND)]


def test_an_orderly_end_sends_nothing_new_and_waits_for_what_is_in_flight() -> None:
    progress: list[str] = []

    def reconcile(key: Key, now_us: Micros) -> Reconcile:
        yield Get(SECRET, *key)
        progress.append("went on")
        yield Get(SECRET, *key)
        return None

    operator = started(Scripted(reconcile), "a", "b")
    pending = operator.poll(0)
    assert pending is not None
    operator.stop(0)
    assert operator.poll(0) is None
    assert not operator.is_stopped
    operator.answer(pending.ticket, {}, 0)
    assert operator.is_stopped
    assert operator.poll(0) is None
    assert progress == []
