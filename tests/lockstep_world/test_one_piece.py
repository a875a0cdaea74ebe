"""Writes that must reach a program in one piece: it would act on the first half alone."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path
from typing import cast

import pytest

from conformance.worlds.lockstep.http_connection import HttpConnection
from conformance.worlds.lockstep.webhook_exchange import UnansweredError, https_exchange
from vocabulary.certificates import Authority

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class _Written:
    """A socket that keeps what is written to it, piece by piece."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def setsockopt(self, *_: int) -> None:
        """It has no options."""

    def settimeout(self, _: float) -> None:
        """It never waits."""

    def sendall(self, data: bytes) -> None:
        self.pieces.append(data)


class _Webhook:
    """A webhook of one connection. It works in `settle` only, as a program in lock-step does."""

    def __init__(self, folder: Path) -> None:
        issued = Authority.create("test").issue_server("webhook", ("127.0.0.1",))
        (folder / "crt").write_bytes(issued.certificate)
        (folder / "key").write_bytes(issued.key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "crt", folder / "key")
        self._arrived, self._leaves = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._arrived, self._leaves, server_side=True)
        self._accepted: socket.socket | None = None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.is_silent = False
        self.told: list[bytes] = []
        """The requests, each as it was read."""

    def connect(self) -> socket.socket:
        client = socket.create_connection(self.listener.getsockname())
        self._accepted, _ = self.listener.accept()
        self._accepted.setblocking(False)
        return client

    def settle(self) -> None:
        assert self._accepted is not None
        try:
            self._arrived.write(self._accepted.recv(1 << 16))
        except BlockingIOError:
            return
        try:
            self._tls.do_handshake()
            self.told.append(self._tls.read(1 << 16))
            if not self.is_silent:
                self._tls.write(ANSWER)
        except ssl.SSLWantReadError:
            pass
        self._accepted.sendall(self._leaves.read())

    def close(self) -> None:
        self.listener.close()
        if self._accepted is not None:
            self._accepted.close()


def test_the_last_event_of_a_watch_and_its_end() -> None:
    written = _Written()
    connection = HttpConnection(cast(socket.socket, written), lambda _connection, _call: None, 1)
    connection.end_stream({"type": "ERROR"})
    assert written.pieces == [b'11\r\n{"type":"ERROR"}\n\r\n0\r\n\r\n']


def test_the_head_and_the_body_of_a_review(tmp_path: Path) -> None:
    webhook = _Webhook(tmp_path)
    exchange = https_exchange(webhook.connect, webhook.settle, lambda: False)
    assert exchange("/validate", b"[1]") == b"{}"
    assert exchange("/validate", b"[2]") == b"{}"
    webhook.close()
    first, second = webhook.told
    assert first.startswith(b"POST /validate HTTP/1.1\r\n")
    assert first.endswith(b"\r\n\r\n[1]")
    assert second.endswith(b"\r\n\r\n[2]")


def test_a_webhook_that_has_nothing_to_do_and_does_not_answer(tmp_path: Path) -> None:
    webhook = _Webhook(tmp_path)
    webhook.is_silent = True
    with pytest.raises(UnansweredError):
        https_exchange(webhook.connect, webhook.settle, lambda: False)("/validate", b"{}")
    webhook.close()
