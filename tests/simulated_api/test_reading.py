"""Reading: selectors, pages of one moment, watches that miss nothing."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusters.simulated.watches import Watch, WatchRequest
from tests.simulated_api.cluster import WIDGET, Cluster, config_map, pod, widget
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP, EVENT, JOB, NODE, POD, Kind
from vocabulary.objects import Object
from vocabulary.requests import Delete, Get, List, ObjectList
from vocabulary.selectors import parse_selector


class TestSelectors:
    def test_a_list_is_in_order_of_names_whatever_the_order_of_creation(
        self, cluster: Cluster
    ) -> None:
        for name in ("b", "c", "a"):
            cluster.create(config_map(name), CONFIG_MAP)
        assert cluster.names(CONFIG_MAP) == ["a", "b", "c"]

    def test_fields_select_by_equality_and_inequality(self, cluster: Cluster) -> None:
        cluster.create(pod("a", nodeName="n0"), POD)
        cluster.create(pod("b", nodeName="n1"), POD)
        cluster.create(pod("c"), POD)
        assert cluster.names(POD, field_selector="spec.nodeName=n0") == ["a"]
        assert cluster.names(POD, field_selector="spec.nodeName!=n0") == ["b", "c"]
        both = "status.phase==Pending,metadata.name=b"
        assert cluster.names(POD, field_selector=both) == ["b"]

    def test_labels_and_fields_select_together(self, cluster: Cluster) -> None:
        cluster.create(pod("a", labels={"x": "1"}, nodeName="n0"), POD)
        cluster.create(pod("b", labels={"x": "1"}), POD)
        chosen = cluster.names(POD, label_selector="x=1", field_selector="spec.nodeName=n0")
        assert chosen == ["a"]

    @pytest.mark.parametrize(
        ("kind", "field", "text"),
        [
            (POD, "spec.image=x", "field label not supported: spec.image"),
            (JOB, "status.active=1", "field label not supported: status.active"),
            (CONFIG_MAP, "data.a=1", '"data.a" is not a known field selector: only'),
            (POD, "status.phase", "invalid selector: 'status.phase'; can't understand"),
        ],
    )
    def test_fields_that_cannot_be_selected_are_refused(
        self, cluster: Cluster, kind: Kind, field: str, text: str
    ) -> None:
        error = cluster.refused(List(kind, "default", field_selector=field))
        assert error.code == 400
        assert text in error.message

    def test_each_kind_offers_its_own_fields(self, cluster: Cluster) -> None:
        cluster.create({"metadata": {"name": "n0"}, "spec": {"unschedulable": True}}, NODE)
        listed: ObjectList = cluster.user(List(NODE, field_selector="spec.unschedulable=true"))
        assert len(listed.items) == 1
        event = {
            "metadata": {"name": "e", "namespace": "default"},
            "involvedObject": {"kind": "Pod", "name": "p"},
        }
        cluster.create(event, EVENT)
        assert cluster.names(EVENT, field_selector="involvedObject.name=p") == ["e"]

    def test_a_malformed_label_selector_is_refused(self, cluster: Cluster) -> None:
        assert cluster.refused(List(POD, "default", label_selector="a in")).code == 400

    @given(
        st.lists(
            st.dictionaries(st.sampled_from("xyz"), st.sampled_from(["1", "2", ""]), max_size=3),
            max_size=6,
        ),
        st.sampled_from(
            ["x=1", "x==2", "x=", "x=1,y=2", "x!=1", "x,y=1", "!x", "x in (1,2)", "y notin (1)"]
        ),
    )
    def test_the_label_index_finds_exactly_what_the_selector_chooses(
        self, labels: list[dict[str, str]], selector: str
    ) -> None:
        cluster = Cluster()
        for number, own in enumerate(labels):
            cluster.create(config_map(f"c{number}", labels=own), CONFIG_MAP)
        chooses = parse_selector(selector)
        expected = [f"c{number}" for number, own in enumerate(labels) if chooses(own)]
        assert cluster.names(CONFIG_MAP, label_selector=selector) == expected

    def test_the_label_index_follows_changes_and_deletions(self, cluster: Cluster) -> None:
        for name in ("a", "b", "c"):
            cluster.create(config_map(name, labels={"x": "1"}), CONFIG_MAP)
        cluster.patch(CONFIG_MAP, "a", {"metadata": {"labels": {"x": "2"}}})
        cluster.delete(CONFIG_MAP, "b")
        assert cluster.names(CONFIG_MAP, label_selector="x=1") == ["c"]
        assert cluster.names(CONFIG_MAP, label_selector="x=2") == ["a"]


class TestPages:
    def pages(self, cluster: Cluster, between: Callable[[], Any], **how: Any) -> list[list[str]]:
        pages: list[list[str]] = []
        token = ""
        while True:
            request = List(CONFIG_MAP, "default", limit=2, continue_=token, **how)
            listed: ObjectList = cluster.user(request)
            pages.append([obj["metadata"]["name"] for obj in listed.items])
            token = listed.continue_
            if not token:
                return pages
            between()

    def test_all_pages_show_the_moment_of_the_first(self, cluster: Cluster) -> None:
        for name in "abcde":
            cluster.create(config_map(name), CONFIG_MAP)
        names = iter("xyz")

        def disturb() -> None:
            cluster.create(config_map(next(names)), CONFIG_MAP)
            if cluster.get(CONFIG_MAP, "d"):
                cluster.delete(CONFIG_MAP, "d")
                cluster.patch(CONFIG_MAP, "e", {"data": {"key": "changed"}})

        assert self.pages(cluster, disturb) == [["a", "b"], ["c", "d"], ["e"]]

    def test_a_page_says_how_many_are_left_unless_selectors_hide_it(self, cluster: Cluster) -> None:
        for name in "abc":
            cluster.create(config_map(name, labels={"x": "1"}), CONFIG_MAP)
        plain: ObjectList = cluster.user(List(CONFIG_MAP, "default", limit=1))
        assert plain.remaining_item_count == 2
        chosen: ObjectList = cluster.user(List(CONFIG_MAP, "default", "x=1", limit=1))
        assert chosen.remaining_item_count is None
        assert chosen.continue_

    @pytest.mark.parametrize("limit", [0, -1, -10])
    def test_without_a_positive_limit_there_is_one_page(self, cluster: Cluster, limit: int) -> None:
        for name in "ab":
            cluster.create(config_map(name), CONFIG_MAP)
        listed: ObjectList = cluster.user(List(CONFIG_MAP, "default", limit=limit))
        assert len(listed.items) == 2
        assert not listed.continue_

    def test_a_page_of_a_forgotten_moment_is_gone(self, cluster: Cluster) -> None:
        for name in "abc":
            cluster.create(config_map(name), CONFIG_MAP)
        first: ObjectList = cluster.user(List(CONFIG_MAP, "default", limit=1))
        cluster.create(config_map("d"), CONFIG_MAP)
        cluster.store.compact()
        error = cluster.refused(List(CONFIG_MAP, "default", limit=1, continue_=first.continue_))
        assert (error.code, error.reason) == (410, "Expired")
        assert "You can start a new list without the continue parameter, or use" in error.message

    def test_the_token_of_an_expired_one_continues_with_the_present_state(
        self, cluster: Cluster
    ) -> None:
        for name in "abcd":
            cluster.create(config_map(name), CONFIG_MAP)
        first: ObjectList = cluster.user(List(CONFIG_MAP, "default", limit=2))
        cluster.create(config_map("bb"), CONFIG_MAP)
        cluster.user(Delete(CONFIG_MAP, "default", "c"))
        cluster.store.compact()
        expired = cluster.refused(List(CONFIG_MAP, "default", limit=1, continue_=first.continue_))
        token = expired.to_status()["metadata"]["continue"]
        second: ObjectList = cluster.user(List(CONFIG_MAP, "default", limit=1, continue_=token))
        assert second.resource_version == str(cluster.store.revision)
        assert second.remaining_item_count == 1
        cluster.create(config_map("e"), CONFIG_MAP)
        third: ObjectList = cluster.user(
            List(CONFIG_MAP, "default", limit=1, continue_=second.continue_)
        )
        names = [obj["metadata"]["name"] for page in (second, third) for obj in page.items]
        assert (names, third.continue_) == (["bb", "d"], "")

    @pytest.mark.parametrize(
        "token",
        [
            "%%%",
            "bm90IGpzb24",
            base64.urlsafe_b64encode(b'{"v":"v9"}').decode(),
            base64.urlsafe_b64encode(b"[" * 99_999).decode(),
        ],
        ids=("no base64", "no JSON", "another version", "nested without end"),
    )
    def test_a_token_that_is_none_is_refused(self, cluster: Cluster, token: str) -> None:
        error = cluster.refused(List(CONFIG_MAP, "default", continue_=token))
        assert error.code == 400
        assert error.message.startswith("invalid continue token: continue key is not valid")


class Seen:
    """The events that one watch has delivered."""

    def __init__(self, cluster: Cluster, **request: Any) -> None:
        self.events: list[tuple[str, Object]] = []
        self.watch: Watch = cluster.api.watch(
            WatchRequest(CONFIG_MAP, **request), lambda event, obj: self.events.append((event, obj))
        )
        self.watch.start()

    def take(self) -> list[tuple[str, str]]:
        taken = [(event, obj["metadata"].get("name", "")) for event, obj in self.events]
        self.events.clear()
        return taken


class TestWatches:
    def test_a_watch_without_a_version_begins_with_what_there_is(self, cluster: Cluster) -> None:
        cluster.create(config_map("b"), CONFIG_MAP)
        cluster.create(config_map("a"), CONFIG_MAP)
        seen = Seen(cluster)
        assert seen.take() == [("ADDED", "a"), ("ADDED", "b")]

    def test_a_watch_from_a_version_replays_what_came_after_it(self, cluster: Cluster) -> None:
        cluster.create(config_map("a"), CONFIG_MAP)
        since = str(cluster.store.revision)
        cluster.patch(CONFIG_MAP, "a", {"data": {"key": "new"}})
        cluster.create(pod(), POD)
        cluster.delete(CONFIG_MAP, "a")
        seen = Seen(cluster, resource_version=since)
        assert seen.take() == [("MODIFIED", "a"), ("DELETED", "a")]

    def test_events_come_in_order_and_end_with_the_watch(self, cluster: Cluster) -> None:
        seen = Seen(cluster)
        cluster.create(config_map("a"), CONFIG_MAP)
        cluster.delete(CONFIG_MAP, "a")
        assert seen.take() == [("ADDED", "a"), ("DELETED", "a")]
        seen.watch.stop()
        cluster.create(config_map("b"), CONFIG_MAP)
        assert seen.take() == []

    def test_a_deleted_event_carries_the_version_of_the_deletion(self, cluster: Cluster) -> None:
        seen = Seen(cluster)
        cluster.create(config_map("a"), CONFIG_MAP)
        cluster.delete(CONFIG_MAP, "a")
        assert seen.events[-1][1]["metadata"]["resourceVersion"] == str(cluster.store.revision)

    def test_for_a_selective_watch_objects_come_and_go_as_they_match(
        self, cluster: Cluster
    ) -> None:
        seen = Seen(cluster, label_selector="x=1")
        cluster.create(config_map("a"), CONFIG_MAP)
        assert seen.take() == []
        for value in ("1", "1", "2", "1"):
            body = {"metadata": {"labels": {"x": value}}, "data": {"n": str(len(seen.events))}}
            cluster.patch(CONFIG_MAP, "a", body)
        cluster.delete(CONFIG_MAP, "a")
        assert seen.take() == [
            ("ADDED", "a"),
            ("MODIFIED", "a"),
            ("DELETED", "a"),
            ("ADDED", "a"),
            ("DELETED", "a"),
        ]

    def test_a_watch_from_a_forgotten_version_ends_with_an_error(self, cluster: Cluster) -> None:
        cluster.create(config_map("a"), CONFIG_MAP)
        since = cluster.store.revision
        cluster.create(config_map("b"), CONFIG_MAP)
        cluster.store.compact()
        seen = Seen(cluster, resource_version=str(since))
        ((event, status),) = seen.events
        assert event == "ERROR"
        assert (status["code"], status["reason"]) == (410, "Expired")
        assert status["message"] == f"too old resource version: {since} ({since + 1})"
        cluster.create(config_map("c"), CONFIG_MAP)
        assert len(seen.events) == 1

    def test_a_bookmark_says_up_to_where_all_was_seen(self, cluster: Cluster) -> None:
        seen = Seen(cluster, initial_events=True)
        event, bookmark = seen.events[0]
        assert event == "BOOKMARK"
        assert bookmark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        cluster.create(pod(), POD)
        seen.watch.bookmark()
        version = seen.events[-1][1]["metadata"]["resourceVersion"]
        assert version == str(cluster.store.revision)

    @pytest.mark.parametrize(
        ("version", "because"),
        [("x", "invalid syntax"), ("-1", "invalid syntax"), (str(2**64), "value out of range")],
    )
    def test_a_version_that_is_no_number_of_64_bits_is_refused(
        self, cluster: Cluster, version: str, because: str
    ) -> None:
        refusal = f'resourceVersion: Invalid value: "{version}": .*{because}'
        with pytest.raises(ApiError, match=refusal):
            Seen(cluster, resource_version=version)

    def test_a_watch_of_one_namespace_hears_of_no_other(self, cluster: Cluster) -> None:
        seen = Seen(cluster, namespace="kube-system")
        cluster.create(config_map("a"), CONFIG_MAP)
        assert seen.take() == []


def test_a_missing_object_and_a_missing_kind_are_told_apart(cluster: Cluster) -> None:
    missing = cluster.refused(Get(WIDGET, "default", "w"))
    assert missing.message == "the server could not find the requested resource"
    cluster.install_widgets()
    missing = cluster.refused(Get(WIDGET, "default", "w"))
    assert missing.message == 'widgets.test.assay.dev "w" not found'
    cluster.create(widget(), WIDGET)
    assert cluster.user(Get(WIDGET, "default", "w"))["spec"]["size"] == 1
