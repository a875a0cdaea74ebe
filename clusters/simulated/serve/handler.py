"""The HTTP side of one connection."""

from __future__ import annotations

import io
import re
import threading
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from email import errors
from http.server import BaseHTTPRequestHandler
from typing import Any, Final, Protocol
from urllib.parse import SplitResult, parse_qsl, urlsplit

import msgspec

from clusters.simulated.access.users import ANONYMOUS, UNAUTHENTICATED, User
from clusters.simulated.flow_control import Flow, flow_of
from clusters.simulated.mistakes import SimulationError
from clusters.simulated.reading import method_not_allowed
from clusters.simulated.serve import connections, events
from clusters.simulated.serve.answering import (
    CLOCK,
    JSON,
    OPEN_PATHS,
    Served,
    answer_list,
    answer_log,
    answer_one,
    document,
    event_renderer,
    media_type_of,
)
from clusters.simulated.serve.bodies import Body
from clusters.simulated.serve.connections import Arriving, ConnectionServer, HangUps
from clusters.simulated.serve.impersonation import attributes_of, impersonated, wanted_user
from clusters.simulated.serve.pod_logs import LOG
from clusters.simulated.serve.requests import (
    Call,
    in_json,
    watch_request,
)
from clusters.simulated.serve.response_headers import FLOW_HEADERS, retry_after, warnings
from clusters.simulated.serve.routing import PlainTextError, Route, route
from clusters.simulated.serve.streaming import (
    AT_ONCE,
    DEFAULT_TIMEOUT_SECONDS,
    DELIVERY_SECONDS,
    Stream,
)
from clusters.simulated.serve.traffic import Gate, HungUpError
from clusters.simulated.watches import EventType
from vocabulary.errors import ApiError
from vocabulary.objects import Object

_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TARGET: Final = re.compile(r"\*|(?:https?:/)?/(?:[^%?]|%[0-9A-Fa-f]{2})*(?:\?.*)?")
_CONTINUES: Final = "100-continue"
_NO_HEADERS: Final = (errors.InvalidHeaderDefect, errors.MissingHeaderBodySeparatorDefect)
_CONTROL: Final = re.compile(r"[\0-\x08\n-\x1f\x7f]")
_PAIR: Final = re.compile(r"(?:[^%;]|%[0-9A-Fa-f]{2})*")
_encode: Final = msgspec.json.Encoder().encode


class Listening(Served, Protocol):
    """The served cluster, as far as a connection needs it."""

    @property
    def stopped(self) -> threading.Event: ...

    @property
    def hang_ups(self) -> HangUps: ...

    @property
    def failure(self) -> Exception | None: ...

    @property
    def gate(self) -> Gate | None: ...

    def fail(self, error: Exception) -> None: ...

    def authenticate(self, authorization: str) -> str | User: ...


class HttpServer(ConnectionServer):
    """Listens for the clients of one served cluster."""

    served: Listening

    def __init__(self, address: tuple[str, int], connections: int) -> None:
        super().__init__(address, HttpHandler, RefusingHandler, connections)


def _health(served: Listening) -> tuple[str, int]:
    return ("ok", 200) if served.failure is None else (_broken(served.failure), 500)


def _broken(failure: Exception) -> str:
    return f"Internal error: this simulated cluster has failed, by a bug of Assay: {failure}"


def _parameters(query: str) -> dict[str, str]:
    """The first value of each parameter; pairs that Go cannot read are passed over."""
    pairs = "&".join(pair for pair in query.split("&") if _PAIR.fullmatch(pair))
    return dict(reversed(parse_qsl(pairs, keep_blank_values=True)))


def _split(target: str) -> SplitResult:
    try:
        return urlsplit(target)
    except ValueError as error:
        raise ApiError(400, "BadRequest", f"the path is malformed: {error}") from error


class HttpHandler(BaseHTTPRequestHandler):
    """Reads requests from one connection and writes the responses."""

    protocol_version = default_request_version = "HTTP/1.1"
    error_content_type = "text/plain; charset=utf-8"
    error_message_format = "%(code)d %(message)s"
    server: HttpServer
    _flow: Flow | None = None
    # Headers and body are two segments: the second would wait for a delayed acknowledgement, 40 ms.
    disable_nagle_algorithm = True
    idle_seconds = connections.REQUEST_SECONDS
    """The time until the first request has to have begun."""

    def setup(self) -> None:
        super().setup()
        self._arriving = Arriving(self.connection)
        self.rfile = self._requests = io.BufferedReader(self._arriving)

    def handle_one_request(self) -> None:
        """Wait for a request, at most as long as it may take to arrive."""
        self._arriving.allow(self.idle_seconds)
        try:
            begun = self._requests.peek(1)
        except TimeoutError:
            begun = b""
        if not begun:
            self.close_connection = True
            return
        self._arriving.allow(min(self.idle_seconds, connections.REQUEST_SECONDS))
        super().handle_one_request()

    def parse_request(self) -> bool:
        # The base class takes a line without a version for one of HTTP/0.9.
        if len(self.raw_requestline.split(b" ")) != 3 or len(self.raw_requestline.split()) != 3:
            self.requestline, self.command = "", ""
            self.request_version = self.protocol_version
        elif not super().parse_request():
            return False
        elif self.headers.get("Expect", _CONTINUES).lower() != _CONTINUES:
            self.close_connection = True
            self.send_error(417)
            return False
        elif self._is_well_formed():
            return True
        self.close_connection = True
        self.send_error(400)
        return False

    def _is_well_formed(self) -> bool:
        """False for what Go's server refuses before it looks at the request."""
        hosts = self.headers.get_all("Host") or []
        is_one_host = len(hosts) == 1 or (not hosts and self.request_version == "HTTP/1.0")
        return (
            is_one_host
            and not any(isinstance(each, _NO_HEADERS) for each in self.headers.defects)
            and _TOKEN.fullmatch(self.command) is not None
            and (self.command == "CONNECT" or _TARGET.fullmatch(self.path) is not None)
            and all(
                _TOKEN.fullmatch(name) and not _CONTROL.search(value)
                for name, value in self.headers.items()
            )
        )

    def __getattr__(self, name: str) -> Any:
        # The base class calls `do_` and the method, whatever that is.
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def log_message(self, format: str, *args: Any) -> None:
        """Do nothing: requests are in the history, and the terminal stays quiet."""

    def end_headers(self) -> None:
        if self._flow is not None:
            for name, value in zip(FLOW_HEADERS, self._flow, strict=True):
                self.send_header(name, value)
        super().end_headers()

    def _classify(self, client: str | User, path: str, query: Mapping[str, str]) -> None:
        """Find the flow of a request, which its response names; logs of pods have none."""
        api = self.server.served.api
        asked = attributes_of(self.command, path, query)
        if not asked.resource.endswith(f"/{LOG}"):
            with self.server.served.lock:
                user = client if isinstance(client, User) else api.access.user(client)
                self._flow = flow_of(api.store, user, asked)

    def _serve(self) -> None:
        served = self.server.served
        call = None
        self._flow = None
        try:
            body = self._unread_body()
            parts = _split(self.path)
            if parts.path in OPEN_PATHS:
                self._classify(User(ANONYMOUS, (UNAUTHENTICATED,)), parts.path, {})
                self.close_connection = self.close_connection or not body.is_empty
                self._send_text(*_health(served))
                return
            # Authenticate before reading the body.
            client = self._authenticated(body)
            headers = {name.title(): value for name, value in reversed(self.headers.items())}
            query = _parameters(parts.query)
            client = self._impersonated(client, parts.path, query)
            self._classify(client, parts.path, query)
            call = Call(self.command, parts.path, query, headers, self._read(body))
            call = in_json(call)
            self.idle_seconds = connections.IDLE_SECONDS
            if served.failure is not None:
                raise served.failure
            with ExitStack() as on_way:
                on_way.enter_context(served.traffic.request())
                self._answer(call, client, served, on_way)
        except ApiError as error:
            told = call.warnings if call else ()
            self._send(error.code or 500, error.to_status(), told=told)
        except PlainTextError as refusal:
            self._send_text(refusal.text, refusal.code)
        except HungUpError:
            self.close_connection = True
        except OSError:
            raise  # the connection's
        except SimulationError as error:
            served.fail(error)
            self._send(500, ApiError(500, "InternalError", _broken(error)).to_status())
        except Exception as error:  # noqa: BLE001 - one request must not end the others' server
            traceback.print_exc()
            problem = ApiError(500, "InternalError", f"Internal error: {type(error).__name__}")
            self._send(500, problem.to_status())

    def _unread_body(self) -> Body:
        try:
            return Body(self.headers, self._requests)
        except (ApiError, PlainTextError):
            self.close_connection = True
            raise

    def _read(self, body: Body) -> bytes:
        try:
            return body.read()
        except ApiError:
            # The rest of it would be taken for the next request.
            self.close_connection = True
            raise

    def _authenticated(self, body: Body) -> str | User:
        """The authenticated client; 401 after draining the body of an unknown client."""
        try:
            return self.server.served.authenticate(self.headers.get("Authorization", ""))
        except ApiError:
            self.close_connection = True
            body.drop()
            raise

    def _impersonated(self, client: str | User, path: str, query: Mapping[str, str]) -> str | User:
        """The user that the headers name instead of the client; the client if they name none."""
        wanted = wanted_user(self.headers.items())
        if wanted is None:
            return client
        served = self.server.served
        with served.lock, served.api.access.acting(client) as actor:
            requestor = served.api.access.user(actor)
            asked = attributes_of(self.command, path, query)
            return impersonated(served.api, requestor, wanted, asked)

    def _answer(self, call: Call, client: str | User, served: Listening, on_way: ExitStack) -> None:
        """Answer a request; `on_way` is closed where it waits for other clients."""
        if call.path.rstrip("/") == CLOCK:
            on_way.close()
        found = document(call, served)
        if found is not None:
            if call.method != "GET" and call.path.rstrip("/") != CLOCK:
                raise method_not_allowed()
            self._send(200, found, media_type_of(found))
            return
        call, back = events.as_core(call)
        target = route(call.path, served.api.strategies, call.method)
        if call.method not in _METHODS:
            raise method_not_allowed()
        acting = served.api.access.acting
        if call.method == "GET" and (target.watch or (call.flag("watch") and not target.name)):
            self._watch(call, target, client, served, back, on_way)
        elif call.method == "GET" and target.subresource == LOG:
            with served.lock, acting(client) as actor:
                log = answer_log(call, target, actor, served)
            self._send_text(log)
        else:
            code, answer = self._carry_out(call, target, client, served)
            if call.method != "GET" and served.clock.mode == "real":
                # Whoever writes again at once finds that watches have told of the first write, as
                # on a real server, whose watches take a millisecond or two.
                served.traffic.await_delivery(DELIVERY_SECONDS)
            self._send(code, back(answer), told=call.warnings)

    def _carry_out(
        self, call: Call, target: Route, client: str | User, served: Listening
    ) -> tuple[int, Any]:
        def carry(call: Call) -> tuple[int, Any]:
            with served.lock, served.api.access.acting(client) as actor:
                if call.method == "GET" and not target.name:
                    return 200, answer_list(call, target, actor, served)
                return answer_one(call, target, actor, served)

        if served.gate is None:
            return carry(call)
        actor = client if isinstance(client, str) else client.name
        return served.gate.carry(actor, call, target, carry)

    def _watch(
        self,
        call: Call,
        target: Route,
        client: str | User,
        served: Listening,
        back: events.Back,
        on_way: ExitStack,
    ) -> None:
        stream = Stream(served.traffic)
        request = watch_request(call, target)
        render_core = event_renderer(call, target, served)

        def render(event: EventType, obj: Object) -> Any:
            return back(render_core(event, obj))

        with served.lock, served.api.access.acting(client) as actor:
            ruled = (
                None if served.gate is None else served.gate.watch(actor, target, stream.deliver)
            )
            deliver = stream.deliver if ruled is None else ruled.deliver
            watch = served.api.watch(request, deliver, actor)
            watch.start()
        on_way.close()
        lines = stream.lines(
            watch,
            render,
            lock=served.lock,
            stopped=served.stopped,
            timeout_seconds=call.integer("timeoutSeconds") or DEFAULT_TIMEOUT_SECONDS,
            bookmarks=call.flag("allowWatchBookmarks"),
            # Where time is virtual each event is an instant of its own.
            most=1 if served.clock.mode != "real" else AT_ONCE,
        )
        try:
            with served.hang_ups.noticed(self.connection, stream.end):
                self._send_stream(lines)
        finally:
            with served.lock:
                watch.stop()
                if ruled is not None:
                    ruled.end()
            stream.forget()

    def _send(self, code: int, body: Any, media_type: str = JSON, told: Sequence[str] = ()) -> None:
        data = _encode(body)
        self.connection.settimeout(connections.WRITE_SECONDS)
        self.send_response(code)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(data)))
        for text in warnings(told):
            # The base class writes headers in Latin-1.
            self.send_header("Warning", text.encode().decode("latin-1"))
        seconds = retry_after(body) if code >= 400 else ""
        if seconds:
            self.send_header("Retry-After", seconds)
        self._tell_of_the_end()
        self._end(data)

    def _end(self, data: bytes) -> None:
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _send_text(self, text: str, code: int = 200, retry_after: str = "") -> None:
        self.connection.settimeout(connections.WRITE_SECONDS)
        self.send_response(code)
        self.send_header("Content-Type", "text/plain")
        data = text.encode()
        self.send_header("Content-Length", str(len(data)))
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self._tell_of_the_end()
        self._end(data)

    def _tell_of_the_end(self) -> None:
        if self.close_connection:
            self.send_header("Connection", "close")

    def _send_stream(self, lines: Iterable[bytes]) -> None:
        """Write lines as they arrive, until the client hangs up or stops reading."""
        self.connection.settimeout(connections.WRITE_SECONDS)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            self.wfile.flush()
            for line in lines:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            self.close_connection = True


class RefusingHandler(HttpHandler):
    """Refuses the one request that it reads, in a real server's words."""

    idle_seconds = connections.REFUSAL_SECONDS

    def _serve(self) -> None:
        self.close_connection = True
        with suppress(ApiError, PlainTextError):
            self._unread_body().drop()
        self._send_text("Too many requests, please try again later.\n", 429, "1")
