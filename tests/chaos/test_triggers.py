"""Triggers are due exactly when they say: places, criteria, fields, counts, combinations."""

from __future__ import annotations

from typing import Any

import pytest

from chaos.happening import Follower, Happening, Place
from chaos.trigger import trigger_from_data
from chaos.trigger_set import TriggerSet
from vocabulary.clock import SECOND
from vocabulary.history import Write

NAMES = frozenset({"running", "first_pod"})
NAMED = {
    "running": trigger_from_data(
        {"after": "commit", "kind": "AppWrapper", "field": {"status.phase": "Running"}}, "", NAMES
    ),
    "first_pod": trigger_from_data({"after": "commit", "kind": "Pod"}, "", NAMES),
}


def happening(**changes: Any) -> Happening:
    base: dict[str, Any] = {
        "place": Place.AFTER_COMMIT,
        "actor": "operator",
        "verb": "update",
        "kind": "AppWrapper.workload.codeflare.dev",
        "namespace": "test",
        "name": "a",
        "event": "MODIFIED",
    }
    return Happening(**{**base, **changes})


def pod_event(event: str = "ADDED", name: str = "a-0", **changes: Any) -> Happening:
    actor = changes.pop("actor", "job-controller")
    return happening(actor=actor, verb="create", kind="Pod", name=name, event=event, **changes)


def in_phase(before: str | None, after: str | None) -> Happening:
    def wrapped(phase: str | None) -> dict[str, Any]:
        return {"status": {} if phase is None else {"phase": phase}}

    return happening(object=wrapped(after), old=wrapped(before))


def watching(when: Any) -> TriggerSet:
    triggers = TriggerSet(NAMED, ("operator",))
    triggers.watch("it", trigger_from_data(when, "when", NAMES), 0)
    return triggers


def is_due(when: Any, *happenings: Happening) -> bool:
    triggers = watching(when)
    return any(triggers.observe(each, 0) for each in happenings)


MATCHING = [
    ({"after": "commit"}, happening()),
    ({"after": "commit", "by": "operator"}, happening()),
    ({"after": "commit", "by": "kubelet/*"}, happening(actor="kubelet/n0")),
    ({"after": "commit", "by": "operator*"}, happening(actor="operator/1")),
    ({"after": "commit", "verb": "update"}, happening()),
    ({"after": "commit", "verb": ["patch", "update"]}, happening()),
    ({"after": "commit", "kind": "AppWrapper"}, happening()),
    ({"after": "commit", "kind": "Job"}, happening(kind="Job.batch")),
    ({"after": "commit", "kind": "Job.batch"}, happening(kind="Job.batch")),
    ({"after": "commit", "name": "a"}, happening()),
    ({"after": "commit", "name": "a-*"}, happening(name="a-17")),
    ({"after": "commit", "event": "updated"}, happening()),
    ({"after": "commit", "event": "created"}, happening(event="ADDED")),
    ({"after": "commit", "event": "deleted"}, happening(event="DELETED")),
    ({"after": "commit", "subresource": "status"}, happening(subresource="status")),
    ({"after": "commit", "subresource": ""}, happening()),
    ({"after": "commit", "labels": "x=y"}, happening(object={"metadata": {"labels": {"x": "y"}}})),
    ({"after": "commit", "outcome": "refused"}, happening(code=409, event="")),
    ({"after": "commit", "outcome": "any"}, happening(code=409, event="")),
    ({"after": "commit", "outcome": "any"}, happening()),
    ({"before": "commit"}, happening(place=Place.BEFORE_COMMIT)),
    ({"before": "reply"}, happening(place=Place.BEFORE_REPLY)),
    ({"after": "reply"}, happening(place=Place.AFTER_REPLY)),
    ({"before": "delivery", "to": "operator"}, happening(place=Place.BEFORE_DELIVERY)),
    ({"after": "delivery", "event": "updated"}, happening(place=Place.AFTER_DELIVERY)),
    ("running", in_phase("Resuming", "Running")),
]

NOT_MATCHING = [
    ({"after": "commit"}, happening(place=Place.BEFORE_COMMIT)),
    ({"after": "commit"}, happening(place=Place.AFTER_REPLY)),
    ({"after": "commit"}, happening(code=409, event="")),
    ({"after": "commit", "outcome": "refused"}, happening()),
    ({"after": "commit", "by": "operator"}, happening(actor="operator/1")),
    ({"after": "commit", "by": "oper"}, happening()),
    ({"after": "commit", "verb": "patch"}, happening()),
    ({"after": "commit", "kind": "Pod"}, happening()),
    ({"after": "commit", "kind": "Job"}, happening(kind="JobSet.jobset.x-k8s.io")),
    ({"after": "commit", "name": "a"}, happening(name="a-0")),
    ({"after": "commit", "name": "b-*"}, happening(name="a-0")),
    ({"after": "commit", "event": "updated"}, happening(event="")),
    ({"after": "commit", "subresource": ""}, happening(subresource="status")),
    ({"after": "commit", "labels": "x=y"}, happening(object={"metadata": {}})),
    ({"after": "commit", "labels": "x=y"}, happening(object=None)),
    ({"before": "commit", "labels": "x=y"}, happening(place=Place.BEFORE_COMMIT, object=[{}])),
    ({"before": "delivery", "to": "operator"}, happening(place=Place.BEFORE_DELIVERY, actor="x")),
    ("running", in_phase("Running", "Running")),
]


@pytest.mark.parametrize(("when", "fact"), MATCHING, ids=str)
def test_an_event_trigger_is_due_at_what_fits_it(when, fact):
    assert is_due(when, fact)


@pytest.mark.parametrize(("when", "fact"), NOT_MATCHING, ids=str)
def test_an_event_trigger_is_not_due_at_what_does_not_fit_it(when, fact):
    assert not is_due(when, fact)


CONDITIONS = [{"type": "Unhealthy", "status": "True"}, {"type": "PodsReady", "status": "False"}]

FIELD_CHANGES = [
    ({"status.phase": "Running"}, {"phase": "Resuming"}, {"phase": "Running"}, True),
    ({"status.phase": "Running"}, {"phase": "Running"}, {"phase": "Running"}, False),
    ({"status.phase": "Running"}, {"phase": "Running"}, {"phase": "Failed"}, False),
    ({"status.phase": ["Resuming", "Running"]}, {"phase": "Resuming"}, {"phase": "Running"}, True),
    ({"status.phase": ["Failed", "Running"]}, {"phase": "Resuming"}, {"phase": "Running"}, False),
    ({"status.phase": ["*", "*"]}, {"phase": "Resuming"}, {"phase": "Running"}, True),
    ({"status.phase": ["*", "*"]}, {"phase": "Running"}, {"phase": "Running"}, False),
    ({"status.phase": ["Running", "*"]}, {"phase": "Running"}, {}, True),
    ({"status.phase": ["Running", None]}, {"phase": "Running"}, {}, True),
    ({"status.phase": [None, "Running"]}, {}, {"phase": "Running"}, True),
    ({"status.phase": [None, "Running"]}, {"phase": ""}, {"phase": "Running"}, False),
    ({"status.resettingCount": 2}, {"resettingCount": 1}, {"resettingCount": 2}, True),
    ({"status.active": [1, 0]}, {"active": 1}, {"active": 0}, True),
    ({"status.conditions[Unhealthy].status": True}, {}, {"conditions": CONDITIONS}, True),
    ({"status.conditions[PodsReady].status": "True"}, {}, {"conditions": CONDITIONS}, False),
    ({"status.conditions[Missing].status": "True"}, {}, {"conditions": CONDITIONS}, False),
    ({"status.conditions[Unhealthy].status": True, "status.phase": "x"}, {}, {"phase": "x"}, False),
    ({"status.phase.deeper": "x"}, {"phase": "a"}, {"phase": "b"}, False),
]


@pytest.mark.parametrize(("field", "old", "new", "expected"), FIELD_CHANGES)
def test_a_field_trigger_compares_what_was_stored_before_and_after(field, old, new, expected):
    fact = happening(object={"status": new}, old={"status": old})
    assert is_due({"after": "commit", "field": field}, fact) is expected


def test_a_field_of_a_new_object_goes_from_nothing_to_its_value():
    when = {"after": "commit", "field": {"status.phase": [None, "Running"]}}
    assert is_due(when, happening(object={"status": {"phase": "Running"}}, event="ADDED"))


def test_a_field_of_a_deleted_object_does_not_change():
    when = {"after": "commit", "field": {"status.phase": ["*", "*"]}}
    gone = happening(object={"status": {"phase": "b"}}, old={"status": {}}, event="DELETED")
    assert not is_due(when, gone)


def test_before_the_commit_a_patch_changes_only_the_fields_it_names():
    when = {"before": "commit", "field": {"spec.suspend": ["*", "*"]}}
    old = {"spec": {"suspend": False}}
    silent = happening(place=Place.BEFORE_COMMIT, verb="patch", object={"metadata": {}}, old=old)
    naming = silent._replace(object={"spec": {"suspend": True}})
    assert not is_due(when, silent)
    assert is_due(when, naming)


def test_an_event_trigger_is_due_at_the_occurrence_asked_for_and_only_once():
    triggers = watching({"after": "commit", "kind": "Pod", "occurrence": 3})
    due = [triggers.observe(pod_event(), 0) for _ in range(6)]
    assert due == [[], [], ["it"], [], [], []]


def test_what_does_not_fit_is_not_counted():
    triggers = watching({"after": "commit", "kind": "Pod", "name": "a-1", "occurrence": 2})
    names = ["a-1", "a-0", "a-0", "a-1"]
    assert [bool(triggers.observe(pod_event(name=name), 0)) for name in names] == [
        False,
        False,
        False,
        True,
    ]


def test_a_time_is_due_when_it_is_reached_and_only_once():
    triggers = watching({"at": "12s"})
    assert triggers.next_due_us() == 12 * SECOND
    assert triggers.advance(12 * SECOND - 1) == []
    assert triggers.advance(12 * SECOND) == ["it"]
    assert triggers.advance(99 * SECOND) == [] and triggers.next_due_us() is None


def test_a_delay_counts_from_the_event():
    triggers = watching({"after": "commit", "kind": "Pod", "delay": "5s"})
    assert triggers.observe(pod_event(), 3 * SECOND) == []
    assert triggers.next_due_us() == 8 * SECOND
    assert triggers.advance(8 * SECOND) == ["it"]


def test_all_is_due_when_its_last_part_is_in_any_order():
    triggers = watching({"all": ["running", "first_pod", {"at": "10s"}]})
    assert triggers.observe(pod_event(), 0) == []
    assert triggers.advance(10 * SECOND) == []
    assert triggers.observe(pod_event(), 11) == []
    assert triggers.observe(in_phase("", "Running"), 12) == ["it"]


def test_any_is_due_at_its_first_part_and_then_listens_no_more():
    triggers = watching({"any": ["running", "first_pod", {"at": "10s"}]})
    assert triggers.observe(pod_event(), 0) == ["it"]
    assert triggers.next_due_us() is None
    assert triggers.observe(in_phase("", "Running"), 1) == []
    assert not triggers.listens(Place.AFTER_COMMIT)


def test_two_parts_of_any_that_fit_the_same_event_make_it_due_once():
    triggers = watching({"any": ["first_pod", {"after": "commit"}]})
    assert triggers.observe(pod_event(), 0) == ["it"]
    assert triggers.observe(pod_event(), 0) == []


def test_then_looks_out_for_each_part_only_after_the_one_before():
    triggers = watching({"then": ["running", "first_pod"]})
    assert triggers.observe(pod_event(), 0) == []
    assert triggers.observe(in_phase("", "Running"), 1) == []
    assert triggers.observe(pod_event(), 2) == ["it"]


def test_then_never_takes_one_event_for_two_of_its_parts():
    triggers = watching({"then": ["first_pod", "first_pod"]})
    assert triggers.observe(pod_event(), 0) == []
    assert triggers.observe(pod_event(), 1) == ["it"]


def test_combinations_nest():
    triggers = watching({"then": ["running", {"any": [{"all": ["first_pod"]}, {"at": "1h"}]}]})
    triggers.observe(in_phase("", "Running"), 1)
    assert triggers.observe(pod_event(), 2) == ["it"]


def test_triggers_that_are_due_at_once_come_in_the_order_they_were_watched():
    triggers = TriggerSet(NAMED, ("operator",))
    for token in ("b", "a", "c"):
        triggers.watch(token, NAMED["first_pod"], 0)
    assert triggers.observe(pod_event(), 0) == ["b", "a", "c"]


def test_a_place_nobody_waits_for_is_not_listened_to():
    triggers = watching({"after": "commit", "kind": "Pod"})
    assert triggers.listens(Place.AFTER_COMMIT)
    assert not any(triggers.listens(place) for place in Place if place != Place.AFTER_COMMIT)
    triggers.forget()
    assert not triggers.listens(Place.AFTER_COMMIT)


@pytest.mark.parametrize(
    ("when", "text"),
    [
        ({"at": "1m30s"}, "at 90s"),
        (
            {"before": "commit", "by": "operator", "verb": "update", "kind": "Pod"},
            "before the first update of Pod by operator is committed",
        ),
        (
            {"after": "commit", "kind": "AppWrapper", "name": "a", "occurrence": 2, "delay": "3s"},
            "3s after the 2nd write of AppWrapper a is committed",
        ),
        (
            {"after": "commit", "field": {"status.phase": ["Running", None]}, "event": "updated"},
            "after the first change that takes status.phase from Running to nothing is committed",
        ),
        (
            {"after": "commit", "outcome": "refused", "verb": ["create", "patch"]},
            "after the first refused create or patch is answered",
        ),
        ({"before": "reply", "occurrence": 3}, "before the reply to the 3rd write arrives"),
        ({"after": "reply", "occurrence": 11}, "after the reply to the 11th write arrived"),
        (
            {"before": "delivery", "to": "operator", "kind": "Pod", "event": "deleted"},
            "before operator hears of the first removal of Pod",
        ),
        (
            {"after": "delivery", "labels": "x=y", "occurrence": 21},
            "after a watcher heard of the 21st write with labels x=y",
        ),
        (
            {"after": "commit", "subresource": "status", "name": "x"},
            "after the first write of the status of an object x is committed",
        ),
        ({"all": ["running", {"at": "1s"}]}, "once all of these: when running; at 1s"),
        ({"any": ["running", {"at": "1s"}]}, "at the first of these: when running; at 1s"),
        ({"then": ["running", {"at": "1s"}]}, "when running, and then at 1s"),
    ],
)
def test_a_trigger_describes_itself_in_english_and_reads_back(when, text):
    trigger = trigger_from_data(when, "when", NAMES)
    assert trigger.describe() == text
    assert trigger_from_data(trigger.to_data(), "when", NAMES) == trigger


def test_a_follower_knows_what_was_stored_before_each_write():
    follower = Follower()

    def write(n: int, event: Any, obj: Any) -> Write:
        return Write(n=n, t=0, actor="u", verb="x", kind="Pod", name="p", event=event, object=obj)

    first = follower.committed(write(0, "ADDED", {"v": 1}))
    refused = follower.committed(write(1, "", None))
    second = follower.committed(write(2, "MODIFIED", {"v": 2}))
    gone = follower.committed(write(3, "DELETED", {"v": 2}))
    again = follower.committed(write(4, "ADDED", {"v": 3}))
    assert [each.old for each in (first, refused, second, gone, again)] == [
        None,
        {"v": 1},
        {"v": 1},
        {"v": 2},
        None,
    ]
    assert second.place is Place.AFTER_COMMIT and second.event == "MODIFIED"
