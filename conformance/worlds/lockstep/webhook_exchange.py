"""Calls to the webhooks that a program serves, over HTTPS.

The Service in front of them is left out: the program is called at its port on loopback.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Callable
from typing import Final, TypeAlias

TIMEOUT_SECONDS: Final = 10.0
Exchange: TypeAlias = Callable[[str, bytes], bytes]
"""(path, review) → the body of the response; raises OSError or HTTPException."""


def https_exchange(connect: Callable[[], socket.socket]) -> Exchange:
    """Calls the program that `connect` leads to, over one connection for as long as that lasts.

    Its certificate is not verified: it is the harness's own.
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
            try:
                if not is_kept:
                    connected = connect()
                    connected.settimeout(TIMEOUT_SECONDS)
                    # Head and body are written one after the other; the body would wait 40 ms.
                    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    connection.sock = context.wrap_socket(connected)
                connection.request("POST", path, review, headers)
                answer = connection.getresponse()
                body = answer.read()
            except (OSError, http.client.HTTPException):
                connection.close()
                if not is_kept:
                    raise
                continue
            kept.append(connection)
            return body
        raise AssertionError("unreachable")

    return exchange
