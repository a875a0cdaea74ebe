"""Awaited states, with descriptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.differential.exchange import Answer, Event
from vocabulary.objects import condition_status, get_path, is_terminating

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Predicate:
    """A predicate on a response's body, with its description."""

    text: str
    of_body: Callable[[Object], bool]
    code: int = 200

    def holds(self, answer: Answer) -> bool:
        return answer.code == self.code and self.of_body(answer.body)

    def holds_for(self, events: Sequence[Event]) -> bool:
        """For a watch: the predicate holds for the last event's object."""
        return bool(events) and self.of_body(events[-1]["object"])

    def __and__(self, other: Predicate) -> Predicate:
        return Predicate(
            f"{self.text} and {other.text}",
            lambda body: self.of_body(body) and other.of_body(body),
        )


@dataclass(frozen=True)
class OfEvents(Predicate):
    """A test of all the events of a watch."""

    of_events: Callable[[Sequence[Event]], bool] = bool

    def holds_for(self, events: Sequence[Event]) -> bool:
        return self.of_events(events)


gone = Predicate("it is gone", lambda body: True, code=404)
exists = Predicate("it exists", lambda body: True)
terminating = Predicate("it is terminating", is_terminating)


def has(path: str, value: Any) -> Predicate:
    """A field has a value; None: the field is absent."""
    return Predicate(f"{path} is {value}", lambda body: get_path(body, path) == value)


def present(path: str) -> Predicate:
    return Predicate(f"{path} is set", lambda body: get_path(body, path) is not None)


def phase(value: str) -> Predicate:
    return has("status.phase", value)


def condition(type_: str, status: str = "True") -> Predicate:
    text = f"{type_} is {status}"
    return Predicate(text, lambda body: condition_status(body, type_) == status)


def count(number: int, of_item: Predicate | None = None) -> Predicate:
    """A list has so many items, all of which are so."""
    text = f"there are {number}" + (f", {of_item.text}" if of_item else "")
    return Predicate(
        text,
        lambda body: (
            len(body["items"]) == number
            and all(of_item is None or of_item.of_body(item) for item in body["items"])
        ),
    )


def how_many(number: int, of_item: Predicate) -> Predicate:
    """The predicate holds for so many items of a list."""
    return Predicate(
        f"{number} of them: {of_item.text}",
        lambda body: sum(of_item.of_body(item) for item in body["items"]) == number,
    )


def events(number: int) -> Predicate:
    """A watch has reported so many events."""
    return OfEvents(
        f"{number} events came", lambda body: False, of_events=lambda all_: len(all_) >= number
    )


def event(type_: str) -> Predicate:
    """A watch's last event is of a type."""
    return OfEvents(
        f"an event {type_}",
        lambda body: False,
        of_events=lambda all_: bool(all_) and all_[-1]["type"] == type_,
    )
