"""Asks a program whether it is ready, without waiting in real time."""

from __future__ import annotations

import socket
from collections.abc import Callable
from errno import EADDRINUSE

from clusters.control_plane.ports import LOOPBACK

_MOST_BYTES = 4096


class HealthProbe:
    """One request after the other, each answered while virtual time goes on."""

    def __init__(
        self, connect: Callable[[], socket.socket], path: str, settle: Callable[[], None]
    ) -> None:
        """`connect` raises OSError at once if there is no listener; `settle` lets the program do
        what it has to do."""
        self._connect = connect
        self._settle = settle
        self._path = path
        self._request = (
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
        )
        self._asked: socket.socket | None = None
        self._answer = b""
        self.answered = f"nothing listens where process.readyPath, {path}, is asked for"
        """The last answer, in words."""

    def ask(self) -> None:
        """Send a request if none is under way; without a listener, nothing happens."""
        if self._asked is not None:
            return
        try:
            connection = self._connect()
        except OSError:
            return
        self._asked, self._answer = connection, b""
        self.answered = f"{self._path} is not answered"
        # It accepts the connection before the request arrives, not at the same time.
        self._settle()
        try:
            connection.sendall(self._request)
        except OSError:
            self.close()
            return
        connection.setblocking(False)
        self._settle()

    def is_ready(self) -> bool:
        """True if the answer has come, and says so."""
        connection = self._asked
        if connection is None:
            return False
        try:
            while part := connection.recv(_MOST_BYTES):
                self._answer += part
        except BlockingIOError:
            return False
        except OSError:
            self._answer = b""
        self.close()
        self._settle()
        status = self._answer.partition(b"\r\n")[0].decode("latin-1")
        self.answered = f"{self._path} is answered with {status or 'nothing'!r}"
        return self._answer.startswith(b"HTTP/1.1 200 ")

    def close(self) -> None:
        if self._asked is not None:
            self._asked.close()
            self._asked = None


def listens(port: int) -> bool:
    """True if a program of this network listens on the port. It is not asked, and takes no
    notice: the port cannot be had."""
    with socket.socket() as own:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # else ended connections count
        try:
            own.bind((LOOPBACK, port))
        except OSError as error:
            return error.errno == EADDRINUSE
    return False
