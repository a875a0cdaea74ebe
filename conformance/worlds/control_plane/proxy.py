"""What lies between an operator and the API server: a proxy on loopback, and chaos on it.

The operator's kubeconfig names the proxy. Each request passes the same places as in the
simulation and meets the same rules, so one plan does the same on both. Watches pass line by
line: an event can be held back, delayed, or the watch broken off with 410 Gone.
"""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from chaos.connection_rules import ConnectionRules
from chaos.ground import Break, Freeze, NoAnswer, Refuse, Rule, Slow, WatchRule
from chaos.happening import Happening, Place
from chaos.injector import Injector
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.kinds import KNOWN_KINDS, Kind
from vocabulary.requests import (
    WRITES,
    Create,
    Delete,
    DeleteCollection,
    Get,
    List,
    Patch,
    Request,
    Update,
    verb_of,
)

_BY_RESOURCE: Final = {(kind.group, kind.plural): kind for kind in KNOWN_KINDS}
_HOP_HEADERS: Final = frozenset(
    ("connection", "transfer-encoding", "keep-alive", "host", "content-length", "accept-encoding")
)
UPSTREAM_SECONDS: Final = 60.0
GONE: Final = (
    b'{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure",'
    b'"reason":"Expired","code":410,"message":"too old resource version"}}\n'
)


class Proxy:
    """One operator's way to the API server."""

    def __init__(self, actor: str, server: str, context: ssl.SSLContext) -> None:
        self.actor = actor
        self.rules = ConnectionRules(self._on_rule)
        self.injector: Injector | None = None
        self.lock = threading.RLock()
        """Held while rules and injector are asked: they are made for one thread."""
        self.rule_changed = threading.Condition()
        self.broken: dict[str, tuple[float, int]] = {}
        """Per kind: until when (monotonic seconds) lists are refused, and how often it broke."""
        address = urlsplit(server)
        self.upstream = (address.hostname or "", address.port or 443, context)
        self._server = _Server(("127.0.0.1", 0), self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, name=f"proxy-{actor}", daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def pass_by(self, place: Place, request: Request) -> None:
        """A write passes a place on its way: a fault may strike there."""
        with self.lock:
            if self.injector is None or not self.injector.listens(place):
                return
            self.injector.observe(
                Happening(
                    place=place,
                    actor=self.actor,
                    verb=verb_of(request),
                    kind=str(request.kind),
                    namespace=request.namespace,
                    name=getattr(request, "name", ""),
                    subresource=getattr(request, "subresource", ""),
                    object=getattr(request, "object", None) or getattr(request, "body", None),
                )
            )

    def is_frozen(self, kind: str) -> bool:
        """Whether watch events of a kind are held back."""
        return any(isinstance(e, Freeze) for e in self.rules.on_watch(self.actor, kind))

    def _on_rule(self, rule: Rule, holds: bool) -> None:
        if not isinstance(rule, WatchRule):
            return
        with self.rule_changed:
            if isinstance(rule.effect, Break) and holds:
                until = time.monotonic() + rule.effect.gap_us / SECOND
                kinds = [str(kind) for kind in KNOWN_KINDS if rule.matches(self.actor, str(kind))]
                for kind in kinds:
                    self.broken[kind] = (until, self.broken.get(kind, (0.0, 0))[1] + 1)
            self.rule_changed.notify_all()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], proxy: Proxy) -> None:
        self.proxy = proxy
        super().__init__(address, _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed in the middle of a request is what this proxy is for."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body leave together and at once: apart, they wait 40 ms for an ACK.
    wbufsize = 1 << 16
    disable_nagle_algorithm = True
    server: _Server
    _connection: http.client.HTTPSConnection | None = None

    def log_message(self, format: str, *args: object) -> None:
        """The audit log tells it better."""

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else b""
        request = parse_request(self.command, self.path, body)
        if request is None:
            self._forward(body)
        elif isinstance(request, List) and "watch" in parse_qs(urlsplit(self.path).query):
            self._watch(str(request.kind))
        else:
            self._pass_on(request, body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815  # http.server's

    def _pass_on(self, request: Request, body: bytes) -> None:
        proxy = self.server.proxy
        is_write = isinstance(request, WRITES)
        if is_write:
            proxy.pass_by(Place.BEFORE_COMMIT, request)
        with proxy.lock:
            effect = proxy.rules.meets(proxy.actor, request)
        gap = proxy.broken.get(str(request.kind), (0.0, 0))[0] - time.monotonic()
        if isinstance(request, List) and gap > 0:
            self._refuse(ApiError(503, "ServiceUnavailable", "the watch cache is rebuilt"))
            return
        match effect:
            case Refuse():
                self._refuse(ApiError(effect.code, effect.reason, effect.message))
                return
            case NoAnswer():
                if effect.reached:
                    self._exchange(body)
                time.sleep(min(effect.after_us / SECOND, UPSTREAM_SECONDS))
                self.close_connection = True
                return
            case Slow():
                time.sleep(effect.by_us / SECOND)
        status, headers, answer = self._exchange(body)
        if is_write:
            proxy.pass_by(Place.BEFORE_REPLY, request)
        self._reply(status, headers, answer)
        if is_write:
            proxy.pass_by(Place.AFTER_REPLY, request)

    def _forward(self, body: bytes) -> None:
        self._reply(*self._exchange(body))

    def _exchange(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        try:
            response = self._send(body, UPSTREAM_SECONDS)
            answer = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection = None
            refused = ApiError(503, "ServiceUnavailable", f"the API server is away: {error}")
            answer = json.dumps(refused.to_status()).encode()
            return 503, [("Content-Type", "application/json")], answer
        return response.status, response.getheaders(), answer

    def _send(self, body: bytes, timeout: float | None) -> http.client.HTTPResponse:
        host, port, context = self.server.proxy.upstream
        headers = {
            name: value for name, value in self.headers.items() if name.lower() not in _HOP_HEADERS
        }
        for is_last in (False, True):
            connection = self._connection
            if connection is None:
                connection = self._connection = http.client.HTTPSConnection(
                    host, port, timeout=timeout, context=context
                )
            try:
                connection.request(self.command, self.path, body or None, headers)
                return connection.getresponse()
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                connection.close()
                self._connection = None
                if is_last or self.command != "GET":
                    raise
        raise AssertionError("unreachable")

    def _reply(self, status: int, headers: list[tuple[str, str]], answer: bytes) -> None:
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in _HOP_HEADERS:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def _refuse(self, error: ApiError) -> None:
        answer = json.dumps(error.to_status()).encode()
        self._reply(error.code, [("Content-Type", "application/json")], answer)

    def _watch(self, kind: str) -> None:
        """Pass a watch on, line by line, as late as the rules say."""
        proxy = self.server.proxy
        breaks = proxy.broken.get(kind, (0.0, 0))[1]
        response = self._send(b"", None)
        if response.status != 200:
            self._reply(response.status, response.getheaders(), response.read())
            return
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        lines = _Lines(response)
        lines.start()
        try:
            while True:
                line = lines.next(lambda: proxy.broken.get(kind, (0.0, 0))[1] != breaks)
                if line is None:
                    break
                self._hold_back(kind, lines.arrived)
                if proxy.broken.get(kind, (0.0, 0))[1] != breaks:
                    self._chunk(GONE)
                    break
                self._chunk(line)
            else:
                return
            if proxy.broken.get(kind, (0.0, 0))[1] != breaks:
                self._chunk(GONE)
            self._chunk(b"")
        finally:
            response.close()
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _hold_back(self, kind: str, arrived: float) -> None:
        proxy = self.server.proxy
        with proxy.rule_changed:
            while True:
                late = proxy.rules.watch_delay_us(proxy.actor, kind) / SECOND
                left = arrived + late - time.monotonic()
                if proxy.is_frozen(kind):
                    proxy.rule_changed.wait(1.0)
                elif left > 0:
                    proxy.rule_changed.wait(left)
                else:
                    return

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()


class _Lines:
    """Reads the lines of a watch in a thread of its own, so that waiting can be interrupted."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response
        self._condition = threading.Condition()
        self._lines: list[tuple[float, bytes]] = []
        self._ended = False
        self.arrived = 0.0
        self._thread = threading.Thread(target=self._read, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def next(self, is_broken: Any) -> bytes | None:
        """The next line; None when the watch has ended, here or there."""
        with self._condition:
            while not self._lines:
                if self._ended or is_broken():
                    return None
                self._condition.wait(0.2)
            self.arrived, line = self._lines.pop(0)
            return line

    def _read(self) -> None:
        try:
            while line := self._response.readline():
                with self._condition:
                    self._lines.append((time.monotonic(), line))
                    self._condition.notify()
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            pass  # the stream was closed under us: it has ended, which is all there is to say
        with self._condition:
            self._ended = True
            self._condition.notify()


def parse_request(method: str, target: str, body: bytes) -> Request | None:
    """The request that an HTTP request is; None for discovery and the like."""
    parts = urlsplit(target).path.strip("/").split("/")
    if parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource = (*rest, "", "")[:3]
    kind = _BY_RESOURCE.get((group, plural)) or Kind(group, version, plural, plural)
    content: Any = json.loads(body) if body else {}
    match method:
        case "GET":
            if name:
                return Get(kind, namespace, name, live=True)
            return List(kind, namespace, live=True)
        case "POST":
            named = name or (content.get("metadata") or {}).get("name", "")
            return Create(kind, content, namespace, named, subresource)
        case "PUT":
            return Update(kind, content, subresource)
        case "PATCH":
            return Patch(kind, namespace, name, content, subresource=subresource)
        case "DELETE" if name:
            return Delete(kind, namespace, name)
        case "DELETE":
            return DeleteCollection(kind, namespace)
    return None
