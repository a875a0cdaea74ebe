"""A webhook of scripts, as an API server calls it."""

from __future__ import annotations

import base64
import json
import ssl
import tempfile
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.differential.exchange import Reviewer
from vocabulary.certificates import Authority


def answered(review: bytes, answer: Reviewer) -> bytes:
    """The response to an AdmissionReview; the answer's `review` replaces parts of it."""
    decoded = json.loads(review)
    request: dict[str, Any] = decoded["request"]
    given = dict(answer(request))
    replaced = given.pop("review", {})
    response = {"uid": request["uid"], **given}
    return json.dumps({**decoded, "request": None, "response": response, **replaced}).encode()


class WebhookServer:
    """Listens on loopback until it is closed."""

    def __init__(self, answer: Reviewer) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = answered(self.rfile.read(int(self.headers["Content-Length"])), answer)
                # The server hangs up if the request that is reviewed has no time left.
                with suppress(OSError):
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        authority = Authority.create("differential")
        issued = authority.issue_server("differential", ("127.0.0.1",))
        self._authority = authority.pair.certificate
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.NamedTemporaryFile() as pem:
            Path(pem.name).write_bytes(issued.key + issued.certificate)
            context.load_cert_chain(pem.name)
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    @property
    def client_config(self) -> dict[str, str]:
        return {
            "url": f"https://127.0.0.1:{self._http.server_address[1]}/",
            "caBundle": base64.b64encode(self._authority).decode(),
        }

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
