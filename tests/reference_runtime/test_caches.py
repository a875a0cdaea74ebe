"""Informer caches: what they hold, what a relist reports, how they answer reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_controller.runtime.cached_list import counted
from reference_controller.runtime.caches import KindCache, field, is_cacheable, label, owner_uid
from vocabulary.kinds import POD
from vocabulary.objects import Object, name_of
from vocabulary.requests import List
from vocabulary.selectors import parse_selector


def pod(name: str, *, uid: str = "", rv: int = 1, node: str = "", **labels: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "namespace": "ns",
        "name": name,
        "uid": uid or f"uid-{name}",
        "resourceVersion": str(rv),
        "labels": labels,
    }
    return {"metadata": metadata, "spec": {"nodeName": node} if node else {}}


def synced(*objects: Object) -> KindCache:
    cache = KindCache(POD)
    cache.replace(objects)
    return cache


def names(objects: Sequence[Object]) -> list[str]:
    return [name_of(obj) for obj in objects]


def test_a_relist_reports_what_vanished_meanwhile_as_deleted() -> None:
    a, b, b2 = pod("a"), pod("b"), pod("b", rv=2)
    cache = synced(a, b)
    assert cache.replace([b2]) == [(a, a), (b2, b)]
    assert cache.get("ns", "a") is None


def test_a_relist_reports_unchanged_objects_too_so_that_it_heals_a_missed_event() -> None:
    a = pod("a")
    assert synced(a).replace([a]) == [(a, a)]


def test_a_relist_that_finds_another_uid_under_the_name_reports_a_deletion_and_a_creation() -> None:
    first, second = pod("a", uid="1"), pod("a", uid="2")
    assert synced(first).replace([second]) == [(first, first), (second, None)]


def test_a_deletion_that_the_cache_never_saw_created_reports_no_old_state() -> None:
    gone = pod("a")
    assert synced().apply("DELETED", gone) == (gone, None)


def test_an_index_built_late_follows_every_later_change() -> None:
    cache = synced(pod("a", job="x"), pod("b", job="y"))
    assert names(cache.by(label("job"), "x")) == ["a"]
    cache.apply("MODIFIED", pod("b", job="x"))
    cache.apply("ADDED", pod("c", job="x"))
    cache.apply("DELETED", pod("a", job="x"))
    assert names(cache.by(label("job"), "x")) == ["b", "c"]
    assert cache.by(label("job"), "y") == ()
    cache.replace([pod("d", job="y")])
    assert cache.by(label("job"), "x") == ()
    assert names(cache.by(label("job"), "y")) == ["d"]


def test_dependents_are_found_by_the_uid_of_their_owner() -> None:
    owned = pod("a")
    owned["metadata"]["ownerReferences"] = [{"uid": "1"}, {"uid": "2"}]
    cache = synced(owned, pod("b"))
    assert names(cache.by(owner_uid, "2")) == ["a"]
    assert cache.by(owner_uid, "3") == ()


def test_lists_are_ordered_by_namespace_and_name_whatever_the_order_of_events() -> None:
    cache = synced(pod("c"), pod("a"), pod("b"))
    assert names(cache.answer(List(POD)).items) == ["a", "b", "c"]
    assert not cache.answer(List(POD, "elsewhere")).items


def test_a_cached_list_understands_field_selectors_on_equality() -> None:
    cache = synced(pod("a", node="n1"), pod("b", node="n2", x="1"), pod("c", node="n2"))
    assert names(cache.answer(List(POD, field_selector="spec.nodeName=n2")).items) == ["b", "c"]
    both = List(POD, label_selector="x=1", field_selector="spec.nodeName=n2")
    assert names(cache.answer(both).items) == ["b"]
    assert names(cache.by(field("spec.nodeName"), "n1")) == ["a"]


@pytest.mark.parametrize(
    "request_",
    [
        List(POD, live=True),
        List(POD, limit=1),
        List(POD, continue_="token"),
        List(POD, resource_version="1"),
        List(POD, field_selector="status.phase!=Running"),
    ],
)
def test_what_only_the_server_can_answer_is_not_answered_from_a_cache(request_: List) -> None:
    assert not is_cacheable(request_)


@given(
    st.lists(st.fixed_dictionaries({}, optional={k: st.sampled_from("xyz") for k in "ab"})),
    st.sampled_from(["", "a=x", "a==x", "a!=x", "a=x,b=y", "a in (x,y)", "!a", "b,a=z", "a=x,b"]),
)
def test_a_list_through_an_index_chooses_what_the_selector_chooses(
    all_labels: list[dict[str, str]], selector: str
) -> None:
    cache = synced(*(pod(f"{i:03}", **labels) for i, labels in enumerate(all_labels)))
    chosen = names(cache.answer(List(POD, label_selector=selector)).items)
    chooses = parse_selector(selector)
    assert chosen == [f"{i:03}" for i, labels in enumerate(all_labels) if chooses(labels)]


def test_a_cached_list_shows_what_the_cache_held_when_it_answered() -> None:
    cache = synced(pod("a", job="x"), pod("b", job="x"))
    by_event = cache.answer(List(POD, label_selector="job=x"))
    cache.apply("DELETED", pod("a", job="x"))
    by_relist = cache.answer(List(POD, label_selector="job=x"))
    cache.replace([pod("c", job="x")])
    assert names(by_event.items) == ["a", "b"]
    assert counted(by_event.items, node_of) == [(pod("a", job="x"), 2)]
    assert names(by_relist.items) == ["b"]


def node_of(obj: Object) -> str:
    return str(obj["spec"].get("nodeName"))


EVENTS = st.tuples(
    st.sampled_from(["ADDED", "MODIFIED", "DELETED"]),
    st.sampled_from("abcd"),
    st.sampled_from(["n1", "n2"]),
    st.sampled_from("xy"),
)


@given(st.lists(EVENTS))
def test_an_index_counts_objects_by_their_traits_as_going_through_them_does(
    events: list[tuple[str, str, str, str]],
) -> None:
    cache = synced()
    request = List(POD, "ns", label_selector="job=x")
    for event, name, node, job in events:
        cache.apply(event, pod(name, node=node, job=job))
        by_index = counted(cache.answer(request).items, node_of)
        one_by_one = counted(tuple(cache.answer(request).items), node_of)
        assert sorted((node_of(obj), count) for obj, count in by_index) == sorted(
            (node_of(obj), count) for obj, count in one_by_one
        )
