"""Parts of the simulated cluster that worlds use whose programs run outside of it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from clusters.simulated.access.rules import Rules
from clusters.simulated.access.users import AUTHENTICATED, User, service_account, user_of
from clusters.simulated.custom_resources.conversion import of_definitions
from clusters.simulated.loop import MAX_STEPS, LivelockError, Loop, OutsideError, SimulationError
from clusters.simulated.serve.answering import answer_one
from clusters.simulated.serve.requests import Call
from clusters.simulated.serve.routing import route
from tests.simulated_api.cluster import NAMESPACE, Cluster, config_map
from vocabulary.history import OutgoingCall, Write
from vocabulary.kinds import CONFIG_MAP, Kind
from vocabulary.requests import Create, Delete, Get, List, Patch, Update

REVIEW = Kind(
    "authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", namespaced=False
)


class Outside:
    """Programs outside that settle at once, and note it."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int]] = []

    def settle(self, deadline_us: int) -> None:
        self.told.append(("settle", deadline_us))

    def moved(self, now_us: int) -> None:
        self.told.append(("moved", now_us))


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def test_programs_outside_settle_before_each_step_and_hear_of_each_move() -> None:
    loop = Loop(1)
    loop.outside = outside = Outside()
    began_us, seen = loop.now_us, []
    for after_us in (5, 7):
        loop.call_later(after_us, lambda: seen.append(loop.now_us - began_us))
    loop.run_for(10)
    assert seen == [5, 7]
    end_us = began_us + 10
    assert outside.told == [
        ("settle", end_us),
        ("moved", began_us + 5),
        ("settle", end_us),
        ("moved", began_us + 7),
        ("settle", end_us),
        ("moved", end_us),
    ]
    outside.told.clear()
    assert loop.run_until(lambda: True, end_us + 1)
    assert outside.told == [("settle", end_us + 1)]


def test_a_step_has_no_time_before_now_though_others_moved_it() -> None:
    loop = Loop(1)
    seen: list[int] = []
    began_us = loop.now_us
    loop.call_later(5, lambda: seen.append(loop.now_us - began_us))
    loop.went_on(began_us + 8)
    loop.run_for(10)
    assert (seen, loop.elapsed_us) == ([8], 18)
    loop.go_on(began_us + 3)
    assert loop.elapsed_us == 18
    loop.go_on(began_us + 30)
    assert loop.elapsed_us == 30


def test_a_timer_runs_once_at_the_latest_when_it_is_asked_to() -> None:
    loop, seen = Loop(1), []
    timer = loop.call_later(5, seen.append, 1)
    timer.run()
    timer.run()
    loop.run_for(10)
    assert seen == [1]


def test_the_last_moment_before_the_next_timer_leaves_out_the_cancelled() -> None:
    loop = Loop(1)
    first, _ = loop.call_later(5, print), loop.call_later(9, print)
    now_us = loop.now_us
    assert loop.last_us_before_next(now_us + 100) == now_us + 4
    assert loop.last_us_before_next(now_us + 3) == now_us + 3
    first.cancel()
    assert loop.last_us_before_next(now_us + 100) == now_us + 8
    loop.run_for(20)
    assert loop.last_us_before_next(now_us + 100) == now_us + 100


def test_housekeeping_leaves_a_loop_quiet() -> None:
    loop = Loop(1)
    loop.call_later(5, print, background=True)
    assert loop.is_quiet()
    timer = loop.call_later(9, print)
    now_us = loop.now_us
    quiet = (loop.is_quiet(), loop.is_quiet(now_us + 8), loop.is_quiet(now_us + 9))
    assert quiet == (False, True, False)
    timer.cancel()
    assert loop.is_quiet()


def test_a_span_of_less_than_none_is_none() -> None:
    loop, seen = Loop(1), []
    loop.call_later(-5, lambda: seen.append(loop.elapsed_us))
    loop.call_at(loop.now_us - 7, lambda: seen.append(loop.elapsed_us))
    loop.run_for(1)
    assert seen == [0, 0]


def test_work_without_an_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_STEPS > 100_000
    monkeypatch.setattr("clusters.simulated.loop.MAX_STEPS", 10)
    loop = Loop(1)

    def again() -> None:
        loop.call_later(0, again)

    for number in range(10):
        loop.call_later(number, int)
    loop.run_for(20)
    loop.call_later(1, again)
    with pytest.raises(LivelockError):
        loop.run_for(20)


@pytest.mark.parametrize("error", [OutsideError("x"), MemoryError()])
def test_an_error_that_is_no_mistake_of_a_callback_is_raised_as_it_is(error: Exception) -> None:
    def fail(*_: Any) -> None:
        raise error

    loop = Loop(1)
    loop.call_later(0, fail)
    with pytest.raises(type(error)):
        loop.run_for(1)


def test_a_mistake_of_a_callback_names_it() -> None:
    loop = Loop(1)
    loop.call_later(0, lambda: 1 // 0)
    with pytest.raises(SimulationError, match="ZeroDivisionError"):
        loop.run_for(1)


def test_requests_are_counted_for_those_who_are_counted(cluster: Cluster) -> None:
    access = cluster.api.access
    access.register_users({"operator": User("operator", (AUTHENTICATED,))})
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}]
    access.rbac.grant("operator", Rules(rules))
    access.counted = {"operator": Counter()}
    cluster.api.handle(Create(CONFIG_MAP, config_map("a")), "operator")
    for actor in ("operator", "operator", "user"):
        cluster.api.handle(Get(CONFIG_MAP, NAMESPACE, "a"), actor)
    cluster.api.handle(List(CONFIG_MAP, NAMESPACE), "operator")
    body = {"metadata": {"labels": {"a": "b"}}}
    cluster.api.handle(Patch(CONFIG_MAP, NAMESPACE, "a", body), "operator")
    assert access.counted["operator"] == {
        ("", "configmaps", "create"): 1,
        ("", "configmaps", "get"): 2,
        ("", "configmaps", "list"): 1,
        ("", "configmaps", "patch"): 1,
    }


def test_a_user_who_acts_under_a_known_name_gives_it_back(cluster: Cluster) -> None:
    access = cluster.api.access
    known = User("operator", (AUTHENTICATED,))
    access.register_users({"operator": known})
    other = User("operator", ("others",))
    with access.acting(other) as actor:
        assert access.user(actor) == other
    assert access.user("operator") == known
    stranger = User("stranger", ())
    with access.acting(stranger) as actor:
        assert access.user(actor) == stranger
    assert access.user(actor) != stranger


def test_the_name_of_a_service_account_tells_its_groups() -> None:
    name = "system:serviceaccount:team:worker"
    assert user_of(name, {}) == service_account("team", "worker")
    assert user_of(name, {name: User("x", ())}) == User("x", ())
    assert "system:masters" in user_of("worker", {}).groups
    assert User("", ()).to_info() == {}
    info = User("a", ("g",), "u", {"k": ("v",)}).to_info()
    assert info == {"username": "a", "uid": "u", "groups": ["g"], "extra": {"k": ["v"]}}


def test_reviews_and_subresources_refuse_what_they_are_not_for(cluster: Cluster) -> None:
    error = cluster.refused(Delete(REVIEW, "", "a"))
    assert (error.code, error.reason) == (405, "MethodNotAllowed")
    cluster.create(config_map("a"), CONFIG_MAP)
    error = cluster.refused(Patch(CONFIG_MAP, NAMESPACE, "a", {}, subresource="status"))
    assert error.code == 404


def test_what_is_not_to_be_recorded_is_not(cluster: Cluster) -> None:
    cluster.recorder.unrecorded.add((str(CONFIG_MAP), "b"))
    for name in ("a", "b", "c"):
        cluster.user(Create(CONFIG_MAP, config_map(name), NAMESPACE, name))
        cluster.user(Update(CONFIG_MAP, config_map(name) | {"data": {"k": "v"}}))
    written = [(entry.verb, entry.name) for entry in entries(cluster, Write)]
    assert written == [("create", "a"), ("update", "a"), ("create", "c"), ("update", "c")]


def entries(cluster: Cluster, kind: type[Any]) -> list[Any]:
    return [entry for entry in cluster.recorder.entries if isinstance(entry, kind)]


def test_a_call_to_another_machine_is_recorded(cluster: Cluster) -> None:
    cluster.recorder.call("operator", "tcp", "10.0.0.1:80", "refused")
    (found,) = entries(cluster, OutgoingCall)
    assert (found.process, found.protocol, found.to, found.answer) == (
        "operator",
        "tcp",
        "10.0.0.1:80",
        "refused",
    )


def test_conversions_go_to_the_program_of_their_definition() -> None:
    exchange = of_definitions(["a"], lambda *_: b"own", lambda *_: b"others'")
    answers = [exchange({"metadata": {"name": name}}, b"") for name in ("a", "b")]
    assert answers == [b"own", b"others'"]


def served(cluster: Cluster) -> Any:
    lock = threading.RLock()
    return SimpleNamespace(api=cluster.api, loop=cluster.loop, lock=lock, tells_managers=False)


def ask(
    cluster: Cluster, method: str, body: bytes = b"", query: dict[str, str] | None = None
) -> Any:
    path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/a"
    headers = {"Content-Type": "application/apply-patch+yaml"}
    call = Call(method, path, query or {}, headers, body)
    return answer_one(call, route(path, cluster.api.strategies), "user", served(cluster))[1]


def test_only_what_was_applied_tells_its_managers_where_responses_are_kept_small(
    cluster: Cluster,
) -> None:
    cluster.create(config_map("a"), CONFIG_MAP)
    assert "managedFields" not in ask(cluster, "GET")["metadata"]
    body = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"l":"w"}}'
    ask(cluster, "PATCH", body, {"fieldManager": "one"})
    managers = [each["manager"] for each in ask(cluster, "GET")["metadata"]["managedFields"]]
    assert sorted(managers) == ["one", "user"]
    cluster.delete(CONFIG_MAP, "a")
    cluster.create(config_map("a"), CONFIG_MAP)
    assert "managedFields" not in ask(cluster, "GET")["metadata"]


def test_a_watcher_of_the_store_is_left_out_once_it_stopped() -> None:
    cluster = Cluster()
    seen: list[str] = []
    stop: Callable[[], None] = cluster.store.watch(lambda change: seen.append(change.key.name))
    cluster.create(config_map("a"), CONFIG_MAP)
    stop()
    stop()
    cluster.create(config_map("b"), CONFIG_MAP)
    assert seen == ["a"]
