"""Several controllers in one operator: shared caches, and a queue with workers for each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from reference_controller.runtime.caches import Caches, Change
from reference_controller.runtime.controller import Key, key_of
from reference_controller.runtime.leader_election import LeaderElection, LeaseSettings
from reference_controller.runtime.operator import Operator
from reference_controller.runtime.work_queue import BASE_BACKOFF_US
from vocabulary.clock import MILLISECOND, SECOND, Micros
from vocabulary.errors import no_answer
from vocabulary.kinds import CONFIG_MAP, LEASE, NODE, SECRET, Kind
from vocabulary.objects import Object
from vocabulary.requests import Get, List, Reconcile

from .toy import Server, config_map, settle


class Reader:
    """Reads one object of a kind for each key, live if requested, and records its actions."""

    def __init__(
        self, name: str, *watches: Kind, reads: Kind = NODE, live: bool = True, breaks: str = ""
    ) -> None:
        self.name = name
        self.watches = watches
        self.heard: list[tuple[str, str]] = []
        self.done: list[str] = []
        self._reads = reads
        self._live = live
        self._breaks = breaks

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        self.heard.append((str(kind), key_of(obj).name))
        return (key_of(obj),)

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        yield Get(self._reads, *key, live=self._live)
        if key.name == self._breaks:
            raise ZeroDivisionError("a bug")
        self.done.append(key.name)
        return None


class Endings:
    """An observer of reconciles."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, str]] = []

    def changed(self, kind: Kind, change: Change) -> None:
        pass

    def reconciled(self, controller: str, key: Key, outcome: str, *rest: Any) -> None:
        self.seen.append((controller, key.name, outcome))

    def leadership_changed(self, leads: bool) -> None:
        pass


def maps(*names: str) -> list[Object]:
    return [config_map(name, {}) for name in names]


def taken(operator: Operator, now_us: Micros = 0) -> list[tuple[int, str]]:
    """Tickets and names of all requests that leave now."""
    found = []
    while (pending := operator.poll(now_us)) is not None:
        assert isinstance(pending.request, Get)
        found.append((pending.ticket, f"{pending.request.kind} {pending.request.name}"))
    return found


def answer_all(operator: Operator, now_us: Micros = 0) -> list[str]:
    """Answer every request at one instant; returns what was asked for, in order."""
    asked = []
    while sent := taken(operator, now_us):
        for ticket, name in sent:
            asked.append(name)
            operator.answer(ticket, {}, now_us)
    return asked


def test_one_list_and_watch_of_a_kind_feeds_all_controllers_that_watch_it_and_no_other() -> None:
    one, two = Reader("one", CONFIG_MAP, SECRET), Reader("two", NODE, CONFIG_MAP)
    operator = Operator((one, two))
    assert operator.watches == (CONFIG_MAP, SECRET, NODE)
    operator.replace(CONFIG_MAP, maps("a"), 0)
    operator.replace(SECRET, maps("s"), 0)
    assert taken(operator) == [], "a kind that the other one watches is not listed yet"
    operator.replace(NODE, [], 0)
    answer_all(operator)
    operator.deliver(CONFIG_MAP, "MODIFIED", config_map("a", {"k": "1"}), 0)
    answer_all(operator)
    assert one.heard == [("ConfigMap", "a"), ("Secret", "s"), ("ConfigMap", "a")]
    assert two.heard == [("ConfigMap", "a"), ("ConfigMap", "a")]
    assert (one.done, two.done) == (["a", "s", "a"], ["a", "a"])


def test_queues_take_turns_key_by_key_however_long_one_of_them_is() -> None:
    one, two = Reader("one", CONFIG_MAP, reads=NODE), Reader("two", SECRET, reads=SECRET)
    operator = Operator((one, two), workers=9)
    operator.replace(CONFIG_MAP, maps("a", "b", "c", "d"), 0)
    operator.replace(SECRET, maps("x", "y"), 0)
    sent = [name for _, name in taken(operator)]
    assert sent == ["Node a", "Secret x", "Node b", "Secret y", "Node c", "Node d"]


def test_workers_of_one_controller_that_all_wait_hold_up_no_other() -> None:
    one, two = Reader("one", CONFIG_MAP, reads=NODE), Reader("two", CONFIG_MAP, reads=SECRET)
    operator = Operator((one, two), workers=1, concurrency={"two": 3})
    operator.replace(CONFIG_MAP, maps("a", "b", "c", "d"), 0)
    first, *others = taken(operator)
    assert first[1] == "Node a"
    assert [name for _, name in others] == ["Secret a", "Secret b", "Secret c"]
    assert (operator.queue_depth("one"), operator.queue_depth("two")) == (3, 1)
    operator.answer(others[0][0], {}, 0)
    assert [name for _, name in taken(operator)] == ["Secret d"]
    operator.deliver(CONFIG_MAP, "MODIFIED", config_map("a", {}), 0)
    assert [name for _, name in taken(operator)] == [], "no worker of either is free"


def test_a_bug_in_one_controller_costs_the_other_neither_keys_nor_time() -> None:
    endings = Endings()
    one, two = Reader("one", CONFIG_MAP, breaks="b"), Reader("two", CONFIG_MAP)
    operator = Operator((one, two), observer=endings)
    operator.replace(CONFIG_MAP, maps("a", "b", "c"), 0)
    answer_all(operator)
    assert (one.done, two.done) == (["a", "c"], ["a", "b", "c"])
    assert [str(error) for error in operator.crashes] == ["a bug"]
    assert ("one", "b", "crashed") in endings.seen
    assert ("two", "b", "done") in endings.seen
    assert operator.wake_at_us() == BASE_BACKOFF_US
    assert answer_all(operator, BASE_BACKOFF_US) == ["Node b"], "of the one that failed alone"


def test_timers_of_equal_keys_are_those_of_each_controller() -> None:
    class Wakes(Reader):
        def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
            yield from super().reconcile(key, now_us)
            return now_us + (SECOND if self.name == "one" else 3 * SECOND)

    one, two = Wakes("one", CONFIG_MAP, reads=NODE), Wakes("two", CONFIG_MAP, reads=SECRET)
    operator = Operator((one, two))
    operator.replace(CONFIG_MAP, maps("a"), 0)
    sent: list[tuple[Micros, str]] = []
    now_us: Micros = 0
    while now_us <= 3 * SECOND:
        sent += [(now_us // SECOND, name) for name in answer_all(operator, now_us)]
        due_us = operator.work_due_us()
        assert due_us is not None
        now_us = due_us
    nodes = [(second, "Node a") for second in (0, 1, 2, 3)]
    assert sorted(sent) == sorted([*nodes, (0, "Secret a"), (3, "Secret a")])


def test_a_controller_hears_of_a_kind_from_its_first_read_in_the_others_cache_on() -> None:
    one = Reader("one", CONFIG_MAP, reads=SECRET, live=False)
    two = Reader("two", SECRET)
    operator = Operator((one, two))
    operator.replace(CONFIG_MAP, [], 0)
    operator.replace(SECRET, maps("a"), 0)
    operator.deliver(SECRET, "MODIFIED", config_map("a", {}), 0)
    assert one.heard == []
    operator.deliver(CONFIG_MAP, "ADDED", config_map("a", {}), 0)
    assert answer_all(operator) == ["Node a"], "the read of the Secret is answered from the cache"
    operator.deliver(SECRET, "MODIFIED", config_map("a", {}), 0)
    assert one.heard == [("ConfigMap", "a"), ("Secret", "a")]
    assert not operator.unwatched
    assert ("ConfigMap", "a") not in two.heard


def test_a_kind_that_one_controller_comes_to_watch_is_not_fed_to_the_other() -> None:
    one = Reader("one", CONFIG_MAP, reads=SECRET, live=False)
    two = Reader("two", CONFIG_MAP)
    operator = Operator((one, two))
    operator.replace(CONFIG_MAP, maps("a"), 0)
    assert answer_all(operator) == ["Secret a", "Node a"]
    assert list(operator.unwatched) == [SECRET]
    operator.replace(SECRET, maps("a", "b"), 0)
    answer_all(operator)
    assert ("Secret", "b") in one.heard
    assert two.heard == [("ConfigMap", "a")]


class Lists(Reader):
    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        yield List(SECRET)
        self.done.append(key.name)
        return None


def test_a_list_of_a_kind_that_the_other_watches_does_not_leave() -> None:
    one = Lists("one", CONFIG_MAP)
    operator = Operator((one, Reader("two", SECRET)))
    operator.replace(CONFIG_MAP, maps("a"), 0)
    operator.replace(SECRET, [], 0)
    assert taken(operator) == []
    assert one.done == ["a"]
    operator.deliver(SECRET, "ADDED", config_map("b", {}), 0)
    assert ("Secret", "b") in one.heard


def test_one_election_decides_for_all_controllers() -> None:
    server = Server()
    one, two = Reader("one", CONFIG_MAP), Reader("two", CONFIG_MAP, reads=SECRET)
    election = LeaderElection(LeaseSettings("ns", "operator", "a"))
    operator = Operator((one, two), election=election)
    operator.replace(CONFIG_MAP, maps("a", "b"), 0)
    server.objects[NODE, "ns", "a"] = server.objects[SECRET, "ns", "a"] = {}
    server.objects[NODE, "ns", "b"] = server.objects[SECRET, "ns", "b"] = {}
    settle(operator, server)
    assert (one.done, two.done) == (["a", "b"], ["a", "b"])
    assert [key for key in server.objects if key[0] == LEASE] == [(LEASE, "ns", "operator")]
    operator.deliver(CONFIG_MAP, "MODIFIED", config_map("a", {}), 0)
    in_flight = taken(operator)
    late_us = 11 * SECOND  # nothing was renewed in time
    renewal = operator.poll(late_us)
    assert renewal is not None and renewal.request.kind == LEASE
    assert not operator.leads
    for ticket, _ in in_flight:
        operator.answer(ticket, {}, late_us)
    assert (one.done, two.done) == (["a", "b"], ["a", "b"]), "both were cut off"
    operator.answer(renewal.ticket, no_answer("lost"), late_us)
    settle(operator, server, late_us + 3 * SECOND)
    assert operator.leads
    assert (one.done, two.done) == (["a", "b"] * 2, ["a", "b"] * 2), "both look at everything"


def test_controllers_of_one_operator_need_names_of_their_own() -> None:
    with pytest.raises(AssertionError, match="names of their own"):
        Operator((Reader("same", CONFIG_MAP), Reader("same", SECRET)))


def test_each_controllers_clock_is_that_of_the_operator() -> None:
    class Clocked(Reader):
        def use_clock(self, clock: Any) -> None:
            self.clock = clock

    both = Clocked("one", CONFIG_MAP), Clocked("two", CONFIG_MAP)
    operator = Operator(both)
    operator.poll(7 * MILLISECOND)
    assert [one.clock() for one in both] == [7 * MILLISECOND] * 2
