"""One HTTP connection of a program: requests as they arrive, responses as they are written."""

from __future__ import annotations

import http
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import httptools
import msgspec

from clusters.simulated.serve.requests import Call
from clusters.simulated.serve.response_headers import retry_after, warnings

CONNECT: Final = "CONNECT"
TUNNELLED: Final = "TUNNELLED"
"""The method of a call that is a piece of what is sent through the connection after a CONNECT."""
_CHUNK_BYTES: Final = 1 << 18
_SEND_SECONDS: Final = 30.0
_encode: Final = msgspec.json.Encoder().encode


def _line(body: Any) -> bytes:
    line = _encode(body) + b"\n"
    return b"%x\r\n%s\r\n" % (len(line), line)


class HttpConnection:
    """Parses requests and writes responses; the client sends one request at a time."""

    def __init__(
        self,
        accepted: socket.socket,
        on_call: Callable[[HttpConnection, Call], None],
        number: int,
    ) -> None:
        """`number` tells it from others of the client, in the order in which they began."""
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        accepted.settimeout(_SEND_SECONDS)
        self._socket = accepted
        self._on_call = on_call
        self.number = number
        self._parser = httptools.HttpRequestParser(self)
        self._target = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._is_tunnel = False
        self.leads_to = ""
        """The address of the other machine that the client believes to talk to; empty: none."""
        self.is_open = True
        self.is_amid_request = False
        """True while the client is sending one: it may wait for what it has sent to be read."""

    def fileno(self) -> int:
        return self._socket.fileno()

    def receive(self) -> bool:
        """Read what has arrived; False if the client has hung up."""
        try:
            data = self._socket.recv(_CHUNK_BYTES, socket.MSG_DONTWAIT)
            if data and self._is_tunnel:
                self._on_call(self, Call(TUNNELLED, "", {}, {}, data))
            elif data:
                self._parser.feed_data(data)
        except BlockingIOError:
            return True
        except httptools.HttpParserUpgrade:
            self._is_tunnel = self._parser.get_method().decode() == CONNECT
            return self._is_tunnel
        except (OSError, httptools.HttpParserError):
            return False
        return bool(data)

    def lead_to(self, address: str) -> None:
        """Read what follows a CONNECT as requests to another machine."""
        self.leads_to = address
        self._is_tunnel = False
        self._parser = httptools.HttpRequestParser(self)

    def hang_up(self) -> None:
        """End the connection towards the client; `close` follows when it has noticed."""
        self.is_open = False
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.is_open = False
        self._socket.close()

    def respond(
        self,
        code: int,
        body: Any,
        media_type: str = "application/json",
        told: Sequence[str] = (),
    ) -> None:
        """Write a response in JSON; text is written as it is. `told` are its warnings."""
        data = body.encode() if isinstance(body, str) else _encode(body)
        media_type = "text/plain" if isinstance(body, str) else media_type
        more = "".join(f"Warning: {text}\r\n" for text in warnings(told))
        seconds = retry_after(body) if code >= 400 else ""
        if seconds:
            more += f"Retry-After: {seconds}\r\n"
        head = (
            f"HTTP/1.1 {code} {http.HTTPStatus(code).phrase}\r\n{more}"
            f"Content-Type: {media_type}\r\nContent-Length: {len(data)}\r\n\r\n"
        )
        self.send(head.encode() + data)

    def begin_stream(self) -> None:
        """Write the head of a response whose lines follow."""
        self.send(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )

    def write_line(self, body: Any) -> None:
        self.send(_line(body))

    def end_stream(self, last: Any = None) -> None:
        """Write the last line, if there is one, and the end.

        In one piece: a client that has read the line before the end is there closes the
        connection, which it would have used again otherwise.
        """
        line = b"" if last is None else _line(last)
        self.send(line + b"0\r\n\r\n")

    def send(self, data: bytes) -> None:
        if self.is_open:
            try:
                self._socket.sendall(data)
            except OSError:  # the client is gone, which its end of the connection tells too
                self.is_open = False

    # What the parser calls.

    def on_message_begin(self) -> None:
        self.is_amid_request = True
        self._target, self._headers, self._body = b"", {}, []

    def on_url(self, part: bytes) -> None:
        self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").title()] = value.decode("latin-1")

    def on_body(self, part: bytes) -> None:
        self._body.append(part)

    def on_message_complete(self) -> None:
        self.is_amid_request = False
        parts = urlsplit(self._target.decode("latin-1"))
        call = Call(
            self._parser.get_method().decode("ascii"),
            parts.path,
            dict(parse_qsl(parts.query, keep_blank_values=True)),
            self._headers,
            b"".join(self._body),
        )
        self._on_call(self, call)
