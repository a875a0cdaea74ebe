"""Calls to the webhooks that a program serves, over HTTPS.

The Service in front of them is left out: the program is called at its port on loopback.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

Exchange: TypeAlias = Callable[[str, bytes], bytes]
"""(path, review) → the body of the response; raises OSError or HTTPException."""
_CHUNK_BYTES: Final = 1 << 18


class UnansweredError(TimeoutError):
    """The program has not answered in time."""


def https_exchange(
    connect: Callable[[], socket.socket],
    settle: Callable[[], None],
    await_input: Callable[[], bool],
) -> Exchange:
    """Calls the program that `connect` leads to, over one connection for as long as that lasts.

    Whenever something has been written, `settle` lets the program do what it has to do: what it
    has read by then is no matter of chance. If it does not answer then, `await_input` lets it wait
    for a timer, say, and returns False once that takes too long. Its certificate is not verified:
    it is the harness's own.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    kept: list[http.client.HTTPConnection] = []

    def exchange(path: str, review: bytes) -> bytes:
        headers = {"Content-Type": "application/json"}
        for is_kept in (True, False):
            if is_kept and not kept:
                continue
            connection = kept.pop() if is_kept else http.client.HTTPConnection("webhook")
            connection.auto_open = 0
            try:
                if not is_kept:
                    stream = _Stream(connect(), context, settle, await_input)
                    connection.sock = cast(socket.socket, stream)
                    stream.begin()
                connection.request("POST", path, review, headers)
                answer = connection.getresponse()
                body = answer.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if not is_kept or isinstance(error, UnansweredError):
                    raise
                continue
            kept.append(connection)
            return body
        raise AssertionError("unreachable")

    return exchange


class _Stream:
    """A TLS connection, of which `http.client` needs this much of a socket."""

    def __init__(
        self,
        connected: socket.socket,
        context: ssl.SSLContext,
        settle: Callable[[], None],
        await_input: Callable[[], bool],
    ) -> None:
        self._socket = connected
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._settle = settle
        self._await_input = await_input
        self._arrived, self._leaves = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._arrived, self._leaves)
        self._request = b""

    def begin(self) -> None:
        """Shake hands. The end of that leaves together with the first request."""
        self._settle()  # it accepts the connection
        while True:
            try:
                return self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._turn()

    def sendall(self, data: bytes) -> None:
        """Write; it leaves, head and body together, once the answer is read."""
        self._request += data

    def read(self, most: int) -> bytes:
        """Empty at the end."""
        request, self._request = self._request, b""
        if request:
            self._tls.write(request)
        while True:
            try:
                return self._tls.read(most)
            except ssl.SSLWantReadError:
                self._turn()
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return b""

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self))

    def close(self) -> None:
        self._socket.close()

    def _turn(self) -> None:
        """Send what leaves, and receive what the program answers."""
        if self._leaves.pending:
            self._socket.sendall(self._leaves.read())
        while True:
            self._settle()
            try:
                data = self._socket.recv(_CHUNK_BYTES, socket.MSG_DONTWAIT)
            except BlockingIOError:
                if not self._await_input():
                    raise UnansweredError("no answer") from None
                continue
            break
        if data:
            self._arrived.write(data)
        else:
            self._arrived.write_eof()


class _Reader(io.RawIOBase):
    """Reads one response."""

    def __init__(self, stream: _Stream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
