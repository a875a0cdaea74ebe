"""The readiness of a program, and the words for the lack of it."""

from __future__ import annotations

import socket

import pytest

from conformance.worlds.lockstep.health_probe import HealthProbe


def nothing_listens() -> socket.socket:
    raise ConnectionRefusedError


def test_nothing_listens() -> None:
    probe = HealthProbe(nothing_listens, "/readyz", lambda: None)
    probe.ask()
    assert not probe.is_ready()
    assert probe.answered == "nothing listens where process.readyPath, /readyz, is asked for"


@pytest.mark.parametrize(
    ("answer", "is_ready", "told"),
    [
        (None, False, "/readyz is not answered"),
        (b"", False, "/readyz is answered with 'nothing'"),
        (b"HTTP/1.1 500 Oh\r\n\r\n", False, "/readyz is answered with 'HTTP/1.1 500 Oh'"),
        (b"HTTP/1.1 200 OK\r\n\r\n", True, "/readyz is answered with 'HTTP/1.1 200 OK'"),
    ],
)
def test_what_it_answers(answer: bytes | None, is_ready: bool, told: str) -> None:
    ours, theirs = socket.socketpair()
    probe = HealthProbe(lambda: ours, "/readyz", lambda: None)
    probe.ask()
    with theirs:
        if answer is not None:
            theirs.recv(4096)
            theirs.sendall(answer)
            theirs.shutdown(socket.SHUT_WR)
        assert probe.is_ready() == is_ready
    assert probe.answered == told
    probe.close()
