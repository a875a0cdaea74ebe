"""A tiny API server for the proxy, with prepared responses and a record of requests."""

from __future__ import annotations

import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Upstream:
    """Answers lists and writes at once; watches get the lines put into `lines`, None ends."""

    def __init__(self, idle_seconds: float | None = None) -> None:
        """Connections without a request for so long are closed."""
        self.closed = 0
        self.heard: list[tuple[str, str]] = []
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = idle_seconds

            def finish(self) -> None:
                super().finish()
                outer.closed += 1

            def log_message(self, format: str, *args: object) -> None:
                pass

            def _answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length)
                outer.heard.append((self.command, self.path))
                if "watch=true" in self.path:
                    self._watch()
                    return
                answer = body or json.dumps({"items": []}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815

            def _watch(self) -> None:
                self.send_response(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                while (line := outer.lines.get()) is not None:
                    self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
                    self.wfile.flush()
                self.wfile.write(b"0\r\n\r\n")

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def tell(self, event: str, name: str) -> None:
        """Send one watch event."""
        line: dict[str, Any] = {"type": event, "object": {"metadata": {"name": name}}}
        self.lines.put(json.dumps(line).encode() + b"\n")

    def stop(self) -> None:
        self.lines.put(None)
        self._server.shutdown()
        self._server.server_close()
