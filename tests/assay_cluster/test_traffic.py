"""Virtual time goes on in step with clients: what counts as being at work."""

from __future__ import annotations

import threading
import time

import pytest

from clusters.simulated.serve.traffic import Traffic, UnsettledError
from vocabulary.clock import HOUR, MINUTE, SECOND
from vocabulary.durations import parse_span


def test_a_request_an_event_and_busy_programs_hold_time_up() -> None:
    traffic = Traffic()
    with traffic.request(), pytest.raises(UnsettledError, match="1 requests are being answered"):
        traffic.settle(0.01, patience_s=0.05)
    traffic.queued()
    assert traffic.has_news
    with pytest.raises(UnsettledError, match="1 watch events wait for their clients"):
        traffic.settle(0.01, patience_s=0.05)
    traffic.written()
    with pytest.raises(UnsettledError, match="operator is computing"):
        traffic.settle(0.01, lambda: "operator is computing", patience_s=0.05)
    traffic.settle(0.01)
    assert not traffic.has_news


def test_a_request_that_a_fault_holds_waits_for_virtual_time_alone() -> None:
    traffic = Traffic()
    with traffic.request():
        traffic.hold()
        traffic.settle(0.01)
        traffic.let_go()
        assert traffic.has_news
        with pytest.raises(UnsettledError):
            traffic.settle(0.01, patience_s=0.05)


def test_patience_does_not_count_while_programs_wait_for_a_processor() -> None:
    """A program on a busy machine may need minutes until its first request."""
    traffic = Traffic()
    began_s = time.monotonic()

    def busy() -> str:
        return "operator has sent no request" if time.monotonic() - began_s < 4 else ""

    traffic.settle(0.01, busy, 2.5, time.monotonic)
    with pytest.raises(UnsettledError):
        traffic.settle(0.01, lambda: "operator is computing", 0.3, time.monotonic)


def test_each_request_begins_the_quiet_anew() -> None:
    traffic = Traffic()
    looks: list[int] = []

    def look() -> str:
        looks.append(len(looks))
        if len(looks) < 20:
            with traffic.request():
                pass
        return ""

    traffic.settle(0.02, look)
    assert len(looks) > 20


def test_settling_ends_while_another_thread_waits() -> None:
    traffic = Traffic()
    go_on = threading.Event()

    def ask() -> None:
        with traffic.request():
            traffic.hold()
            go_on.wait(30)
            traffic.let_go()

    thread = threading.Thread(target=ask)
    thread.start()
    traffic.settle(0.02)
    go_on.set()
    thread.join(30)
    traffic.settle(0.02)
    assert traffic.has_news is False


@pytest.mark.parametrize(
    ("text", "span_us"),
    [
        ("7d", 7 * 24 * HOUR),
        ("1d12h", 36 * HOUR),
        ("0", 0),
        ("90s", 90 * SECOND),
        ("1d30m", 24 * HOUR + 30 * MINUTE),
    ],
)
def test_spans_may_begin_with_days(text: str, span_us: int) -> None:
    assert parse_span(text) == span_us


@pytest.mark.parametrize("text", ["", "7", "-1s", "1d-1s", "1w", "1d2d", "7 d", "d"])
def test_other_spans_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="7d"):
        parse_span(text)
