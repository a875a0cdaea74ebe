"""The proxy's effects on requests and watches, with a minimal upstream server."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pytest

from chaos.ground import Break, Delay, Freeze, NoAnswer, Refuse, RequestRule, Slow, WatchRule
from conformance.suites.appwrapper.api import APPWRAPPER
from conformance.worlds.control_plane.http_requests import parse_request
from conformance.worlds.control_plane.proxy import Proxy
from vocabulary.clock import SECOND
from vocabulary.kinds import JOB, POD
from vocabulary.requests import Create, Delete, DeleteCollection, Get, List, Patch, Update

from .upstream import Upstream

PODS = "/api/v1/namespaces/run-0/pods"
WATCH = f"{PODS}?watch=true&resourceVersion=5"


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    made = Upstream()
    yield made
    made.stop()


@pytest.fixture
def proxy(upstream: Upstream) -> Iterator[Proxy]:
    made = Proxy("operator", upstream.url)
    made.start()
    yield made
    made.stop()


def ask(proxy: Proxy, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(proxy.url).port or 0, timeout=10)
    connection.request(method, path, None if body is None else json.dumps(body))
    response = connection.getresponse()
    answer = json.loads(response.read() or b"null")
    connection.close()
    return response.status, answer


def eventually(condition: Callable[[], bool]) -> None:
    """Wait for what takes milliseconds, longer than any machine makes it take."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "a minute passed in vain"
        time.sleep(0.01)


class Watch:
    """A client's watch: the events that have reached it."""

    def __init__(self, proxy: Proxy) -> None:
        port = urlsplit(proxy.url).port or 0
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        self.connection.request("GET", WATCH)
        self.events: list[tuple[float, Any]] = []
        self.ended = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        response = self.connection.getresponse()
        while line := response.readline():
            self.events.append((time.monotonic(), json.loads(line)))
        self.ended.set()

    def wait_for(self, count: int) -> list[Any]:
        eventually(lambda: len(self.events) >= count)
        return [event["object"].get("metadata", event["object"]) for _, event in self.events]


def test_what_no_rule_matches_passes_both_ways(proxy: Proxy, upstream: Upstream) -> None:
    assert ask(proxy, "POST", PODS, {"kind": "Pod"}) == (200, {"kind": "Pod"})
    assert upstream.heard == [("POST", PODS)]


def _is_closed(upstream: Upstream, times: int) -> bool:
    return upstream.closed == times


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
def test_a_write_after_the_server_has_closed_an_idle_connection_passes(method: str) -> None:
    upstream = Upstream(idle_seconds=0.1)
    proxy = Proxy("operator", upstream.url)
    proxy.start()
    port = urlsplit(proxy.url).port or 0
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    for times in (1, 2):
        client.request(method, PODS, "{}")
        response = client.getresponse()
        assert (response.status, response.read()) == (200, b"{}")
        eventually(partial(_is_closed, upstream, times))
    client.close()
    proxy.stop()
    upstream.stop()


def test_a_refused_request_never_reaches_the_server(proxy: Proxy, upstream: Upstream) -> None:
    proxy.rules.add(RequestRule(Refuse(500, "InternalError", "chaos"), verbs=("create",)))
    status, answer = ask(proxy, "POST", PODS, {"kind": "Pod"})
    assert (status, answer["reason"], answer["kind"]) == (500, "InternalError", "Status")
    assert upstream.heard == []
    assert ask(proxy, "POST", PODS, {"kind": "Pod"})[0] == 200, "the rule was for one request"


@pytest.mark.parametrize(("reached", "heard"), [(True, 1), (False, 0)])
def test_a_lost_reply_was_carried_out_and_a_lost_request_was_not(
    proxy: Proxy, upstream: Upstream, reached: bool, heard: int
) -> None:
    proxy.rules.add(RequestRule(NoAnswer(reached, SECOND // 10), verbs=("create",)))
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        ask(proxy, "POST", PODS, {"kind": "Pod"})
    assert len(upstream.heard) == heard


def test_a_slow_request_is_carried_out_at_once_and_answered_late(
    proxy: Proxy, upstream: Upstream
) -> None:
    proxy.rules.add(RequestRule(Slow(3 * SECOND), verbs=("create",)))
    client = threading.Thread(target=ask, args=(proxy, "POST", PODS, {"kind": "Pod"}))
    client.start()
    eventually(lambda: upstream.heard == [("POST", PODS)])
    assert client.is_alive(), "it was answered at once"
    client.join()


def test_a_delayed_watch_tells_each_event_that_much_later(proxy: Proxy, upstream: Upstream) -> None:
    proxy.rules.add(WatchRule(Delay(SECOND // 2), kind="Pod"))
    watch = Watch(proxy)
    began = time.monotonic()
    upstream.tell("ADDED", "a")
    upstream.tell("ADDED", "b")
    assert [event["name"] for event in watch.wait_for(2)] == ["a", "b"]
    assert watch.events[0][0] - began >= 0.5


def test_a_delay_of_other_kinds_does_not_concern_a_watch(proxy: Proxy, upstream: Upstream) -> None:
    proxy.rules.add(WatchRule(Delay(60 * SECOND), kind="Node"))
    watch = Watch(proxy)
    upstream.tell("ADDED", "a")
    assert len(watch.wait_for(1)) == 1


def test_a_frozen_watch_tells_nothing_until_it_thaws(proxy: Proxy, upstream: Upstream) -> None:
    freeze = WatchRule(Freeze())
    watch = Watch(proxy)
    upstream.tell("ADDED", "a")
    assert len(watch.wait_for(1)) == 1
    proxy.rules.add(freeze)
    upstream.tell("ADDED", "b")
    time.sleep(0.3)
    assert len(watch.events) == 1
    proxy.rules.remove(freeze)
    assert [event["name"] for event in watch.wait_for(2)] == ["a", "b"]


def test_a_list_out_of_a_frozen_cache_shows_the_moment_of_the_freeze(
    proxy: Proxy, upstream: Upstream
) -> None:
    proxy.revision = lambda: 42
    proxy.rules.add(WatchRule(Freeze()))
    proxy.revision = lambda: 99
    ask(proxy, "GET", f"{PODS}?limit=500&resourceVersion=0")
    ask(proxy, "GET", f"{PODS}?limit=500")
    past, present = (path for _, path in upstream.heard)
    assert "resourceVersion=42" in past
    assert "resourceVersionMatch=Exact" in past
    assert present == f"{PODS}?limit=500", "what bypasses the cache is current"


def test_a_broken_watch_ends_with_410_and_lists_fail_for_the_gap(
    proxy: Proxy, upstream: Upstream
) -> None:
    watch = Watch(proxy)
    upstream.tell("ADDED", "a")
    watch.wait_for(1)
    proxy.rules.add(WatchRule(Break(3 * SECOND)))
    assert watch.ended.wait(60)
    assert watch.events[-1][1]["object"]["code"] == 410
    assert ask(proxy, "GET", PODS)[0] == 503
    eventually(lambda: ask(proxy, "GET", PODS)[0] == 200)


def test_hanging_up_ends_watches_on_both_sides(proxy: Proxy, upstream: Upstream) -> None:
    watch = Watch(proxy)
    upstream.tell("ADDED", "a")
    watch.wait_for(1)
    proxy.hang_up()
    assert watch.ended.wait(60)


def test_requests_are_read_off_paths() -> None:
    appwrappers = "/apis/workload.codeflare.dev/v1beta2/namespaces/n/appwrappers"
    pod = {"metadata": {"name": "p"}}
    body = json.dumps(pod).encode()
    assert parse_request("GET", f"{PODS}/p", b"") == Get(POD, "run-0", "p", live=True)
    assert parse_request("GET", f"{PODS}?limit=5", b"") == List(POD, "run-0", live=True)
    assert parse_request("GET", "/api/v1/pods", b"") == List(POD, "", live=True)
    assert parse_request("POST", PODS, body) == Create(POD, pod, "run-0", "p")
    assert parse_request("DELETE", f"{PODS}/p", b"") == Delete(POD, "run-0", "p")
    assert parse_request("DELETE", PODS, b"") == DeleteCollection(POD, "run-0")
    assert parse_request("PUT", f"{appwrappers}/a/status", body) == Update(
        APPWRAPPER, pod, "status"
    )
    assert parse_request("PATCH", "/apis/batch/v1/namespaces/n/jobs/j", body) == Patch(
        JOB, "n", "j", pod
    )
    assert parse_request("GET", "/apis", b"") is None
    assert parse_request("GET", "/readyz", b"") is None
