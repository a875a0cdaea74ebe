"""Passes TCP connections on: from an address of this machine to wherever a server listens."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Final, TypeAlias

Connect: TypeAlias = Callable[[], socket.socket]
"""Makes a new connection to the server; OSError if there is none."""
BACKLOG: Final = 64
CHUNK_BYTES: Final = 1 << 16


class Forwarder:
    """One listening address, and the connections that came in by it. Start and stop it at will."""

    def __init__(self, host: str, port: int, connect: Connect) -> None:
        self._address = (host, port)
        self._connect = connect
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._open: set[socket.socket] = set()

    def start(self) -> None:
        """Listen; nothing happens if it does already. OSError if another client does."""
        with self._lock:
            if self._listener is not None:
                return
            self._listener = socket.create_server(self._address, backlog=BACKLOG)
            accepting = threading.Thread(
                target=self._accept, args=(self._listener,), name="forwarder", daemon=True
            )
        accepting.start()

    def stop(self) -> None:
        """Stop listening, and close all connections."""
        with self._lock:
            listener, self._listener = self._listener, None
            cut_off, self._open = self._open, set()
        if listener is not None:
            _hang_up(listener)
            listener.close()
        for each in cut_off:
            _hang_up(each)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                caller, _ = listener.accept()
            except OSError:
                with self._lock:
                    if self._listener is listener:
                        continue  # that caller is lost, others are not
                return
            threading.Thread(
                target=self._serve, args=(listener, caller), name="forwarded", daemon=True
            ).start()

    def _serve(self, listener: socket.socket, caller: socket.socket) -> None:
        """Have both ends talk until either ends; without a server the caller is hung up on."""
        with caller, contextlib.suppress(OSError), self._connect() as server:
            with self._lock:
                if self._listener is not listener:
                    return
                self._open |= {caller, server}
            try:
                back = threading.Thread(
                    target=_pump, args=(server, caller), name="forwarded-back", daemon=True
                )
                back.start()
                _pump(caller, server)
                back.join()
            finally:
                with self._lock:
                    self._open -= {caller, server}


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Pass on what comes, and at its end hang up on both: HTTP ends both ways at once."""
    with contextlib.suppress(OSError):
        while data := source.recv(CHUNK_BYTES):
            target.sendall(data)
    _hang_up(source)
    _hang_up(target)


def _hang_up(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
