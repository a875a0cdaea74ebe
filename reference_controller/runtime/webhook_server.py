"""HTTPS for webhooks: POST /mutate and /validate, AdmissionReview v1 both ways, and /convert,
ConversionReview v1.

All kinds share the paths: a review names the kind of its object.
"""

from __future__ import annotations

import socket
import ssl
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Final

from reference_controller.runtime import conversion_review
from reference_controller.runtime.admission_review import Phase, ReviewError, Webhooks, review
from reference_controller.runtime.conversion_review import Convert
from reference_controller.runtime.logs import LOG, fields
from reference_controller.runtime.options import OptionsError
from reference_controller.runtime.server_thread import OwnThreadServer, ServerThread

MAX_BODY_BYTES: Final = 8 * 1024**2
"""API servers accept objects of about 1.5 MB; a review holds two of them."""
CLIENT_TIMEOUT_SECONDS: Final = 15.0
"""API servers give a webhook 10 s by default; a slower client has given up."""

_PHASES: Final[dict[str, Phase]] = {"/mutate": "mutate", "/validate": "validate"}
_CONVERT: Final = "/convert"


class WebhookServer(ServerThread):
    """Listens from its construction on; serves between `start` and `stop`."""

    def __init__(
        self,
        host: str,
        port: int,
        certificate: Path,
        key: Path,
        webhooks: Webhooks,
        convert: Convert | None = None,
    ) -> None:
        """Port 0 takes any free one. Raises OptionsError for unusable files or ports."""
        try:
            server = _Server((host, port), certificate, key, webhooks, convert)
        except ssl.SSLError as error:
            raise OptionsError(
                f"webhook_certificate {certificate}, webhook_key {key}: {error}; "
                "both must be PEM and belong together"
            ) from error
        except OSError as error:
            raise OptionsError(f"webhook_port {port} on {host}: {error}") from error
        super().__init__(server, "webhook")
        self.paths = server.paths


class _Server(OwnThreadServer):
    def __init__(
        self,
        address: tuple[str, int],
        certificate: Path,
        key: Path,
        webhooks: Webhooks,
        convert: Convert | None,
    ) -> None:
        self._webhooks = webhooks
        self._convert = convert
        self.paths = (*_PHASES, *((_CONVERT,) if convert else ()))
        self._files = (certificate, key)
        self._loaded_ns = self._changed_ns()
        self._context = self._load()
        super().__init__(address, _Handler)

    def review(self, path: str, body: bytes) -> bytes:
        """The answer to a review that was sent to one of the paths; raises ReviewError."""
        if path == _CONVERT and self._convert is not None:
            return conversion_review.review(body, self._convert)
        return review(body, self._webhooks, _PHASES[path])

    def get_request(self) -> tuple[socket.socket, object]:
        """The TLS handshake is left to the connection's own thread: a silent client blocks
        no other."""
        self._reload_certificate()
        connection, address = super().get_request()
        secured = self._context.wrap_socket(
            connection, server_side=True, do_handshake_on_connect=False
        )
        return secured, address

    def handle_error(self, request: object, client_address: tuple[str, int]) -> None:
        del request
        details = fields(client=client_address[0], error=sys.exc_info()[1])
        LOG.warning("webhook connection failed", extra=details)

    def _reload_certificate(self) -> None:
        """Take up a renewed certificate: those of a cluster last for weeks.

        One that cannot be used, perhaps because its key is still being written, changes
        nothing: the one before it goes on to be shown, until the files change again.
        """
        changed_ns = self._changed_ns()
        if changed_ns == self._loaded_ns:
            return
        self._loaded_ns = changed_ns
        try:
            self._context = self._load()
        except OSError as error:
            LOG.warning("renewed webhook certificate is unusable", extra=fields(error=error))
        else:
            LOG.info("webhook certificate loaded anew")

    def _load(self) -> ssl.SSLContext:
        """A context of its own for each certificate: a failure leaves half of one behind.

        Raises OSError; ssl.SSLError is one.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(*self._files)
        return context

    def _changed_ns(self) -> tuple[int, ...]:
        """The time of each file's last change; 0 while there is none."""
        return tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in self._files)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = CLIENT_TIMEOUT_SECONDS
    server: _Server

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        if path not in self.server.paths:
            served = f"serves {' and '.join(self.server.paths)}\n"
            self._answer(HTTPStatus.NOT_FOUND, served.encode())
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MAX_BODY_BYTES:
            self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, b"needs a Content-Length <= 8 MiB\n")
            return
        body = self.rfile.read(int(length))
        try:
            answer = self.server.review(path, body)
        except ReviewError as error:
            self._answer(HTTPStatus.BAD_REQUEST, f"{error}\n".encode())
        except Exception:  # noqa: BLE001 - the API server must hear that its webhook failed
            LOG.exception("review failed", extra=fields(path=path))
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, b"the webhook failed; see its log\n")
        else:
            self._answer(HTTPStatus.OK, answer, "application/json")

    def _answer(
        self, status: HTTPStatus, body: bytes, content_type: str = "text/plain; charset=utf-8"
    ) -> None:
        if status is not HTTPStatus.OK:
            self.close_connection = True  # what is left of the body was not read
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        LOG.debug(format % args, extra=fields(server="webhook"))
