"""Plain HTTP for probes and Prometheus: /healthz, /readyz, /metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import NamedTuple, TypeAlias

from reference_controller.runtime.logs import LOG, fields
from reference_controller.runtime.options import OptionsError
from reference_controller.runtime.server_thread import OwnThreadServer, ServerThread


class Page(NamedTuple):
    """An answer: status, body, content type."""

    status: HTTPStatus
    body: bytes
    content_type: str = "text/plain; charset=utf-8"


Pages: TypeAlias = Mapping[str, Callable[[], Page]]


def probe(problem: str) -> Page:
    """The answer to a probe: 200 ok, or 503 and the problem."""
    if problem:
        return Page(HTTPStatus.SERVICE_UNAVAILABLE, f"{problem}\n".encode())
    return Page(HTTPStatus.OK, b"ok")


class Endpoints(ServerThread):
    """A few pages on one port; listens from its construction on, serves after `start`."""

    def __init__(self, host: str, port: int, pages: Pages) -> None:
        """Port 0 takes any free one. Raises OptionsError if the port cannot be had."""
        try:
            server = _Server((host, port), pages)
        except OSError as error:
            raise OptionsError(f"port {port} on {host}: {error}; choose another one") from error
        super().__init__(server, f"endpoints-{server.server_port}")


class _Server(OwnThreadServer):
    def __init__(self, address: tuple[str, int], pages: Pages) -> None:
        self.pages = pages
        super().__init__(address, _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 10.0

    def do_GET(self) -> None:
        build = self.server.pages.get(self.path.partition("?")[0])
        if build is None:
            page = Page(HTTPStatus.NOT_FOUND, " ".join(self.server.pages).encode() + b"\n")
        else:
            page = build()
        self.send_response(page.status)
        self.send_header("Content-Type", page.content_type)
        self.send_header("Content-Length", str(len(page.body)))
        self.end_headers()
        self.wfile.write(page.body)

    def log_message(self, format: str, *args: object) -> None:
        LOG.debug(format % args, extra=fields(server="endpoints"))
