"""A server with a thread of its own: bound at once, at work between `start` and `stop`."""

from __future__ import annotations

import threading
from http.server import ThreadingHTTPServer
from typing import Final

STOP_POLL_SECONDS: Final = 0.05
"""How often a server looks whether it is to stop: the longest that `stop` may take."""


class OwnThreadServer(ThreadingHTTPServer):
    """Listens on an address; each connection is served by a thread that ends with the process."""

    daemon_threads = True
    block_on_close = False


class ServerThread:
    """Starts and stops such a server."""

    def __init__(self, server: OwnThreadServer, name: str) -> None:
        self._server = server
        self._thread = threading.Thread(
            target=server.serve_forever, args=(STOP_POLL_SECONDS,), name=name, daemon=True
        )

    @property
    def port(self) -> int:
        """The port it listens on, also if any free one was asked for."""
        return self._server.server_port

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def stop(self) -> None:
        """Stop listening; requests under way are still answered."""
        self._server.shutdown()
        self._server.server_close()
