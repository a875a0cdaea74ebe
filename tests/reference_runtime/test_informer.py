"""An informer against a scripted API server: where it resumes, when it lists anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from reference_controller.runtime.connection import Connection
from reference_controller.runtime.informer import Informer
from vocabulary.errors import ApiError, no_answer
from vocabulary.kinds import CONFIG_MAP, NODE, Kind
from vocabulary.objects import Object, name_of
from vocabulary.requests import List, ObjectList

Event = tuple[str, dict[str, Any]]


def versioned(name: str, revision: int) -> dict[str, Any]:
    return {"metadata": {"namespace": "ns", "name": name, "resourceVersion": str(revision)}}


def bookmark(revision: int) -> Event:
    return "BOOKMARK", {"metadata": {"resourceVersion": str(revision)}}


class Script:
    """Answers lists and watches in turn; an ApiError in the place of an answer is raised."""

    def __init__(self, *answers: ObjectList | list[Event | ApiError] | ApiError) -> None:
        self.answers = list(answers)
        self.calls: list[str] = []
        self.seen: list[Any] = []
        self.informer = Informer(
            cast(Connection, self), CONFIG_MAP, "ns", self.replace, self.deliver
        )

    def handle(self, request: List) -> ObjectList:
        self.calls.append(f"list {request.continue_}".strip())
        answer = self._next()
        assert isinstance(answer, ObjectList)
        return answer

    def open_watch(self, kind: Kind, namespace: str, revision: str, seconds: int) -> Stream:
        assert 0 < seconds < 600
        self.calls.append(f"watch {revision}")
        answer = self._next()
        assert isinstance(answer, list)
        return Stream(answer)

    def replace(self, kind: Kind, objects: tuple[Object, ...], revision: str) -> None:
        self.seen.append([name_of(obj) for obj in objects])

    def deliver(self, kind: Kind, event: str, obj: Object) -> None:
        self.seen.append((event, name_of(obj)))

    def run(self) -> Script:
        self.informer.run()
        return self

    def _next(self) -> Any:
        answer = self.answers.pop(0)
        if not self.answers:
            self.informer.stop()
        if isinstance(answer, ApiError):
            raise answer
        return answer


class Stream:
    def __init__(self, events: list[Event | ApiError]) -> None:
        self._events = events

    def __iter__(self) -> Iterator[Event]:
        for event in self._events:
            if isinstance(event, ApiError):
                raise event
            yield event

    def close(self) -> None:
        pass


LISTED = ObjectList((versioned("a", 3),), "7")


def test_a_watch_that_ends_is_resumed_from_the_last_event_or_bookmark() -> None:
    script = Script(LISTED, [("ADDED", versioned("b", 8))], [bookmark(20)], []).run()
    assert script.calls == ["list", "watch 7", "watch 8", "watch 20"]
    assert script.seen == [["a"], ("ADDED", "b")]


def test_a_watch_that_breaks_is_resumed_without_a_list() -> None:
    broken: list[Event | ApiError] = [("MODIFIED", versioned("a", 9)), no_answer("reset")]
    script = Script(LISTED, broken, no_answer("refused"), []).run()
    assert script.calls == ["list", "watch 7", "watch 9", "watch 9"]


def test_a_revision_that_is_too_old_makes_it_list_anew() -> None:
    too_old = ApiError(410, "Expired", "too old resource version")
    script = Script(LISTED, too_old, LISTED, []).run()
    assert script.calls == ["list", "watch 7", "list", "watch 7"]


def test_an_error_event_of_410_makes_it_list_anew() -> None:
    gone: Event = ("ERROR", {"code": 410, "reason": "Expired", "message": "too old"})
    script = Script(LISTED, [("DELETED", versioned("a", 8)), gone], LISTED, []).run()
    assert script.calls == ["list", "watch 7", "list", "watch 7"]
    assert script.seen == [["a"], ("DELETED", "a"), ["a"]]


def test_an_event_of_an_unknown_type_is_not_taken_for_a_change() -> None:
    script = Script(LISTED, [("GOSSIP", versioned("a", 8))], []).run()
    assert script.calls == ["list", "watch 7", "watch 7"]
    assert script.seen == [["a"]]


def test_a_failed_list_is_tried_again_and_never_taken_for_an_empty_one() -> None:
    script = Script(no_answer("refused"), ApiError(403, "Forbidden", "no"), LISTED).run()
    assert script.calls == ["list", "list", "list"]
    assert script.seen == [["a"]]


def test_a_kind_that_is_not_served_is_empty_until_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reference_controller.runtime.informer.NOT_SERVED_SECONDS", 0.001)
    unknown = ApiError(404, "NotFound", "the server could not find the requested resource")
    script = Script(unknown, unknown, LISTED, []).run()
    assert script.calls == ["list", "list", "list", "watch 7"]
    assert script.seen == [[], ["a"]]


def test_pages_of_a_list_are_joined_before_the_cache_sees_them() -> None:
    first = ObjectList((versioned("a", 3),), "7", continue_="page-2")
    second = ObjectList((versioned("b", 4),), "7")
    script = Script(first, second, []).run()
    assert script.calls == ["list", "list page-2", "watch 7"]
    assert script.seen == [["a", "b"]]


def test_a_page_that_expired_makes_it_list_from_the_beginning() -> None:
    first = ObjectList((versioned("a", 3),), "7", continue_="page-2")
    script = Script(first, ApiError(410, "Expired", "continue token"), LISTED).run()
    assert script.calls == ["list", "list page-2", "list"]
    assert script.seen == [["a"]]


def test_a_cluster_scoped_kind_is_watched_whole_even_by_an_operator_of_one_namespace() -> None:
    asked: list[str] = []

    class Recording(Script):
        def handle(self, request: List) -> ObjectList:
            asked.append(request.namespace)
            return super().handle(request)

    script = Recording(LISTED)
    script.informer = Informer(cast(Connection, script), NODE, "ns", script.replace, script.deliver)
    script.run()
    assert asked == [""]


def test_a_kind_is_listed_as_the_server_serves_it_and_told_as_it_was_asked_for() -> None:
    guessed = Kind("example.org", "v1", "Fish", "fishes")
    asked: list[tuple[str, str]] = []
    told: list[Kind] = []

    class Recording(Script):
        def handle(self, request: List) -> ObjectList:
            asked.append((request.kind.plural, request.namespace))
            return super().handle(request)

        def replace(self, kind: Kind, objects: tuple[Object, ...], revision: str) -> None:
            told.append(kind)

    script = Recording(LISTED)
    script.informer = Informer(
        cast(Connection, script),
        guessed,
        "ns",
        script.replace,
        script.deliver,
        lambda kind: Kind(kind.group, kind.version, kind.kind, "fish", namespaced=False),
    )
    script.run()
    assert asked == [("fish", "")]
    assert told == [guessed]
