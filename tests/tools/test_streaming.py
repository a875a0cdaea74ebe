"""The events of a watch on their way to its client: in order, and together where they wait."""

from __future__ import annotations

import json
import threading
from typing import Any, cast

import pytest

from clusters.simulated.serve.streaming import Stream
from clusters.simulated.serve.traffic import Traffic
from clusters.simulated.watches import EventType, Watch
from vocabulary.objects import Object

EVENTS: tuple[tuple[EventType, Object], ...] = (
    ("ADDED", {"n": 1}),
    ("BOOKMARK", {"n": 2}),
    ("MODIFIED", {"n": 3}),
    ("DELETED", {"n": 4}),
)


def pieces(traffic: Traffic, most: int, *, ends: bool = True) -> list[list[dict[str, Any]]]:
    """The events of each piece that is written."""
    stream = Stream(traffic)
    for event, obj in EVENTS:
        stream.deliver(event, obj)
    if ends:
        stream.end()
    else:
        stream.deliver("ERROR", {"n": 5})
    found = stream.lines(
        cast(Watch, None),  # it is asked for bookmarks after a minute
        lambda event, obj: obj,
        lock=threading.RLock(),
        stopped=threading.Event(),
        timeout_seconds=600,
        bookmarks=False,
        most=most,
    )
    return [[json.loads(line) for line in piece.splitlines()] for piece in found]


def test_what_waits_is_written_at_once_and_in_order() -> None:
    (piece,) = pieces(Traffic(), most=64)
    assert [(each["type"], each["object"]["n"]) for each in piece] == [
        ("ADDED", 1),
        ("MODIFIED", 3),
        ("DELETED", 4),
    ]


@pytest.mark.parametrize(("most", "sizes"), [(1, [1, 1, 1]), (3, [2, 1])])
def test_no_piece_has_more_than_it_may(most: int, sizes: list[int]) -> None:
    assert [len(piece) for piece in pieces(Traffic(), most)] == sizes


def test_an_error_is_the_last() -> None:
    (piece,) = pieces(Traffic(), most=64, ends=False)
    assert piece[-1] == {"type": "ERROR", "object": {"n": 5}}


def test_all_that_is_written_is_no_longer_on_its_way() -> None:
    traffic = Traffic()
    pieces(traffic, most=64)
    traffic.settle(0.01, patience_s=5)
