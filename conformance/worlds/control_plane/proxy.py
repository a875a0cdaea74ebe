"""The connection between an operator and the API server: a proxy on loopback, with chaos rules.

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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, TypeAlias
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from chaos.connection_rules import ConnectionRules
from chaos.ground import Break, Freeze, NoAnswer, Refuse, Rule, Slow, WatchRule
from chaos.happening import Happening, Place
from chaos.injector import Injector
from clusters.control_plane.api import was_closed_by_server
from conformance.worlds.control_plane.commit_teller import CommitTeller, on_its_way
from conformance.worlds.control_plane.http_requests import (
    KindOf,
    in_json,
    known_kind,
    parse_request,
)
from conformance.worlds.control_plane.shown import EVERYTHING
from conformance.worlds.control_plane.watch_relay import WatchRelay
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.kinds import SECRET
from vocabulary.requests import WRITES, List, Request, verb_of

_HOP_HEADERS: Final = frozenset(
    ("connection", "transfer-encoding", "keep-alive", "host", "content-length", "accept-encoding")
)
_Answer: TypeAlias = tuple[int, list[tuple[str, str]], bytes]
"""Status, headers, body."""
UPSTREAM_SECONDS: Final = 60.0
FROM_CACHE: Final = "0"
"""The resourceVersion of a list that may come out of the watch cache: informers ask like that."""


class Proxy:
    """One operator's way to the API server."""

    def __init__(
        self,
        actor: str,
        server: str,
        context: ssl.SSLContext | None = None,
        kind_of: KindOf = known_kind,
    ) -> None:
        """`server` is the API server's URL; an https one needs the context that trusts it."""
        self.actor = actor
        self.kind_of = kind_of
        self.rules = ConnectionRules(self._on_rule)
        self.injector: Injector | None = None
        self.teller: CommitTeller | None = None
        """Both only while a plan is carried out."""
        self.followed: frozenset[str] | None = None
        """The kinds whose writes faults may strike at: those of the history. None: all."""
        self.keys: frozenset[str] = frozenset()
        """Secrets that hold the operator's own keys, which no history tells of."""
        self.shown = EVERYTHING
        """The part of the cluster that it shows."""
        self.token = ""
        """For an operator that sends none itself."""
        self.lives = 0
        """How many operators have ended that came this way."""
        self.lock = threading.RLock()
        """Held while rules and injector are asked: they are made for one thread."""
        self.revision: Callable[[], int] = lambda: 0
        """The newest revision of the API server's store that is known."""
        self.frozen: list[tuple[WatchRule, int]] = []
        """Rules in force that freeze informers, each with the revision at its moment."""
        self._gaps: list[tuple[WatchRule, float]] = []
        """Rules that break watches off, each with the time (monotonic seconds) until when the
        lists of its kinds are refused."""
        self._relays: set[WatchRelay] = set()
        address = urlsplit(server)
        self._upstream = (address.hostname or "", address.port)
        self._context = context
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
        """Nothing listens any more; it may never have been started."""
        if self._thread.ident is not None:
            self._server.shutdown()
        self._server.server_close()
        self.hang_up()

    def connect(self, timeout: float | None) -> http.client.HTTPConnection:
        """A new connection to the API server."""
        host, port = self._upstream
        if self._context is None:
            return http.client.HTTPConnection(host, port, timeout=timeout)
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=self._context)

    def follows(self, request: Request) -> bool:
        """True if a request is a write that the history tells of, if it arrives."""
        is_known = self.followed is None or str(request.kind) in self.followed
        is_key = request.kind == SECRET and getattr(request, "name", "") in self.keys
        return is_known and not is_key and isinstance(request, WRITES)

    def pass_by(self, request: Request) -> None:
        """A write is about to be carried out: a fault may strike there."""
        self.tell(
            Happening(
                place=Place.BEFORE_COMMIT,
                actor=self.actor,
                verb=verb_of(request),
                kind=str(request.kind),
                namespace=request.namespace,
                name=getattr(request, "name", ""),
                subresource=getattr(request, "subresource", ""),
                object=getattr(request, "object", None) or getattr(request, "body", None),
            )
        )

    def tell(self, happening: Happening) -> None:
        """Let the injector hear of it, if it waits for anything there."""
        with self.lock:
            if self.injector is not None and self.injector.listens(happening.place):
                self.injector.observe(happening)

    def frozen_revision(self, kind: str) -> int | None:
        """The revision that an informer of this kind sees for now; None if it is not frozen."""
        matching = (at for rule, at in self.frozen if rule.matches(self.actor, kind))
        return min(matching, default=None)

    def refuses_lists(self, kind: str) -> bool:
        """True if lists of a kind fail just now, because its watches were broken off."""
        now = time.monotonic()
        return any(until > now and rule.matches(self.actor, kind) for rule, until in self._gaps)

    def holding_back(self, kind: str) -> Callable[[float], float | None]:
        """How many seconds a watch event must still wait; None: until a rule changes."""

        def left(arrived: float) -> float | None:
            if self.frozen_revision(kind) is not None:
                return None
            late = self.rules.watch_delay_us(self.actor, kind) / SECOND
            return arrived + late - time.monotonic()

        return left

    @contextmanager
    def relaying(self, relay: WatchRelay) -> Iterator[None]:
        """Rules that come and go meanwhile reach this watch."""
        self._relays.add(relay)
        try:
            yield
        finally:
            self._relays.discard(relay)
            relay.close()

    def hang_up(self) -> None:
        """The operator is gone: end its watches, or they would go on for minutes."""
        self.lives += 1
        for relay in tuple(self._relays):
            relay.close()

    def _on_rule(self, rule: Rule, holds: bool) -> None:
        if not isinstance(rule, WatchRule):
            return
        if isinstance(rule.effect, Freeze):
            kept = [frozen for frozen in self.frozen if frozen[0] != rule]
            self.frozen = [*kept, (rule, self.revision())] if holds else kept
        if isinstance(rule.effect, Break) and holds:
            self._gaps.append((rule, time.monotonic() + rule.effect.gap_us / SECOND))
        for relay in tuple(self._relays):
            if not rule.matches(self.actor, relay.kind):
                continue
            if isinstance(rule.effect, Break):
                relay.break_off()
            else:
                relay.rule_changed()


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
    _connection: http.client.HTTPConnection | None = None

    def log_message(self, format: str, *args: object) -> None:
        """The audit log tells it better."""

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else b""
        proxy = self.server.proxy
        if self.command == "GET":
            self.path = proxy.shown.narrowed(self.path, proxy.kind_of)
        request = parse_request(self.command, self.path, body, proxy.kind_of)
        if request is None:
            self._forward(body)
        elif isinstance(request, List) and "watch" in parse_qs(urlsplit(self.path).query):
            self._watch(str(request.kind))
        else:
            self._pass_on(request, body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815  # http.server's

    def _pass_on(self, request: Request, body: bytes) -> None:
        proxy = self.server.proxy
        life = proxy.lives
        if proxy.follows(request):
            proxy.pass_by(request)
        with proxy.lock:
            effect = proxy.rules.meets(proxy.actor, request)
        if isinstance(request, List) and proxy.refuses_lists(str(request.kind)):
            self._refuse(ApiError(503, "ServiceUnavailable", "the watch cache is rebuilt"))
            return
        if isinstance(request, List):
            self._travel_back(str(request.kind))
        if self._is_orphaned(life):
            return
        match effect:
            case Refuse():
                self._refuse(ApiError(effect.code, effect.reason, effect.message))
                return
            case NoAnswer():
                if effect.reached:
                    self._carry(request, body)
                time.sleep(min(effect.after_us / SECOND, UPSTREAM_SECONDS))
                self.close_connection = True
                return
        (status, headers, answer), outcome = self._carry(request, body)
        if isinstance(effect, Slow):
            time.sleep(effect.by_us / SECOND)
        if outcome is not None:
            proxy.tell(outcome._replace(place=Place.BEFORE_REPLY))
        if self._is_orphaned(life):
            return
        if status == 200 and isinstance(request, List) and self._is_picked_over():
            answer = proxy.shown.listed(answer)
        self._reply(status, headers, answer)
        if outcome is not None:
            self.wfile.flush()
            proxy.tell(outcome._replace(place=Place.AFTER_REPLY))

    def _carry(self, request: Request, body: bytes) -> tuple[_Answer, Happening | None]:
        """Have it carried out; also what came of it, where a plan may wait for that."""
        proxy = self.server.proxy
        teller = proxy.teller
        if teller is None or not proxy.follows(request):
            return self._exchange(body), None
        with on_its_way(teller, proxy.lock, str(request.kind)):
            answer = self._exchange(body)
            with proxy.lock:
                return answer, teller.answered(proxy.actor, request, answer[0], answer[2])

    def _is_orphaned(self, life: int) -> bool:
        """True if the requesting operator was killed meanwhile, so that no response is needed."""
        self.close_connection |= life != self.server.proxy.lives
        return self.close_connection

    def _is_picked_over(self) -> bool:
        proxy = self.server.proxy
        return proxy.shown.picks(self.path, proxy.kind_of)

    def _travel_back(self, kind: str) -> None:
        """A list out of a frozen watch cache shows the past; one out of the store never does."""
        revision = self.server.proxy.frozen_revision(kind)
        target = urlsplit(self.path)
        query = dict(parse_qsl(target.query))
        if revision is not None and query.get("resourceVersion") == FROM_CACHE:
            query |= {"resourceVersion": str(revision), "resourceVersionMatch": "Exact"}
            self.path = target._replace(query=urlencode(query)).geturl()

    def _forward(self, body: bytes) -> None:
        self._reply(*self._exchange(body))

    def _exchange(self, body: bytes) -> _Answer:
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
        headers = {
            name: value for name, value in self.headers.items() if name.lower() not in _HOP_HEADERS
        }
        if "Accept" in headers:
            headers["Accept"] = in_json(headers["Accept"])
        if self.server.proxy.token:
            headers.setdefault("Authorization", f"Bearer {self.server.proxy.token}")
        for is_last in (False, True):
            connection = self._connection
            if connection is not None and was_closed_by_server(connection):
                connection.close()  # API servers do that after 90 s without a request
                connection = None
            if connection is None:
                connection = self._connection = self.server.proxy.connect(timeout)
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
        response = self._send(b"", None)
        if response.status != 200:
            self._reply(response.status, response.getheaders(), response.read())
            return
        assert self._connection is not None
        relay = WatchRelay(kind, response, self._connection, proxy.holding_back(kind))
        self._connection = None
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        relay.start()
        picks = self._is_picked_over()
        with proxy.relaying(relay):
            while (line := relay.next()) is not None:
                if not picks or proxy.shown.watched(line):
                    self._chunk(line)
            self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def finish(self) -> None:
        super().finish()
        if self._connection is not None:
            self._connection.close()
