"""Calls of a program to others than the API server: names that it resolves, and connections.

The patched `net` package leads both to the harness: a connection begins as an HTTP CONNECT, and a
query of the resolver is a DNS message on a connection to the cluster's DNS server. Services are
resolved as in a cluster. What listens behind them or in pods is declared by the operator's profile;
other connections are refused. The API server's proxy leads to the same answers.
"""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final
from urllib.parse import unquote

from clusters.go_time.lockstep_patches import DNS_SERVER
from clusters.simulated.api_server import ApiServer
from clusters.simulated.controllers.endpoints.desired import selects
from clusters.simulated.controllers.workloads.pods import is_ready
from clusters.simulated.recorder import Recorder
from clusters.simulated.serve.requests import Call
from clusters.simulated.store import Key
from conformance.implementations.under_test import DeclaredAnswer
from vocabulary import requests as rq
from vocabulary.clock import Micros
from vocabulary.errors import ApiError, not_found
from vocabulary.kinds import POD, SERVICE
from vocabulary.objects import Object, labels_of, name_of, namespace_of

CONNECTED: Final = 200
REFUSED: Final = 502
_NOT_FOUND: Final = 404
_A: Final = 1
_AAAA: Final = 28
_RESPONSE: Final = 0x8580
"""The flags of an authoritative response of a server that asks others, too."""
_NO_SUCH_NAME: Final = 3
_MALFORMED: Final = _RESPONSE | 1
_TTL_SECONDS: Final = 30
_PROXY_PATH: Final = re.compile("/api/v1/namespaces/([^/]+)/(pods|services)/([^/]+)/proxy(/.*)?")
_TARGET: Final = re.compile("(?:https?:(?=[^:]*:))?([^:]+)(?::([^:]*))?")
"""NAME, NAME:PORT or SCHEME:NAME:PORT."""
_VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Outgoing:
    """Those of one process. An answer that repeats the last one is not recorded again."""

    def __init__(
        self,
        process: str,
        namespace: str,
        api: ApiServer,
        recorder: Recorder,
        declared: Callable[[], Sequence[DeclaredAnswer]] = tuple,
    ) -> None:
        """`declared` returns the answers that hold now."""
        self._declared = declared
        self._process = process
        self._namespace = namespace
        self._api = api
        self._recorder = recorder
        self._answers: dict[tuple[str, str], str] = {}
        self._failed = ""
        self._failed_us: Micros = 0

    def began(self) -> None:
        """Forget the calls of the last incarnation."""
        self._answers.clear()

    def failed_since(self, since_us: Micros) -> str:
        """The last call that failed after that time, in words; empty if there was none."""
        return self._failed if self._failed_us > since_us else ""

    def connect(self, address: str, now_us: Micros) -> int:
        """The code of the response to a CONNECT."""
        if address == DNS_SERVER:
            return CONNECTED
        if any(self._declared_for(address)):
            return CONNECTED
        self._record("tcp", address, "connection refused", now_us, failed=True)
        return REFUSED

    def answer(self, address: str, call: Call, now_us: Micros) -> tuple[int, str]:
        """The status and the body of the response to a request to that address."""
        found = list(self._declared_for(address))
        name = found[0][0] if found else address
        fitting = (each for _, each in found if fnmatchcase(call.path, each.path))
        answer = next(fitting, None)
        status, body = (_NOT_FOUND, "") if answer is None else (answer.status, answer.body)
        asked = f"{call.method} http://{name}{call.path}"
        self._record("http", asked, str(status), now_us, failed=status >= 500)
        return status, body

    def proxied(self, call: Call, actor: str, now_us: Micros) -> tuple[int, str] | None:
        """The same for a request to the API server's proxy; None if it is none.

        Raises the proxy's own errors: 403, 404, and 503 if nothing listens.
        """
        found = _PROXY_PATH.fullmatch(call.path)
        if found is None:
            return None
        namespace, plural, target, path = map(unquote, found.groups("/"))
        kind = POD if plural == POD.plural else SERVICE
        parts = _TARGET.fullmatch(target)
        if parts is None:
            raise ApiError(400, "BadRequest", f'invalid {kind.kind.lower()} request "{target}"')
        name, port = parts.groups("")
        self._api.access.authorize(
            rq.Get(kind, namespace, name, subresource="proxy"),
            actor,
            _VERBS.get(call.method, "get"),
        )
        obj = self._api.store.get(Key(str(kind), namespace, name))
        if obj is None:
            raise not_found(kind, name)
        address = _pod_address(obj, port) if kind == POD else self._service_address(obj, port)
        if self.connect(address, now_us) == REFUSED:
            raise _unavailable(
                f"error trying to reach service: dial tcp {address}: connect: connection refused"
            )
        beyond = Call(call.method, path, call.query, call.headers, call.body)
        return self.answer(address, beyond, now_us)

    def _service_address(self, service: Object, port: str) -> str:
        """The address of a ready pod, at the Service's port of that name or number."""
        name, ports = name_of(service), service["spec"].get("ports") or ()
        numbers = {each.get("name", ""): each["port"] for each in ports}
        numbers |= {str(each["port"]): each["port"] for each in ports}
        if port not in numbers and port.isdecimal():
            raise _unavailable(f'no service port {port} found for service "{name}"')
        reached = sorted(self._reached(service))
        if port not in numbers or not reached:
            raise _unavailable(f'no endpoints available for service "{name}"')
        return f"{reached[0]}:{numbers[port]}"

    def _declared_for(self, address: str) -> Iterator[tuple[str, DeclaredAnswer]]:
        """The answers of the Services at an address, each with `NAME.NAMESPACE:PORT`."""
        host, _, port = address.rpartition(":")
        for each in self._declared():
            for service in self._api.store.of_kind(str(SERVICE)):
                name = f"{name_of(service)}.{namespace_of(service)}:{port}"
                if fnmatchcase(name, each.service) and host in self._reached(service):
                    yield name, each

    def _reached(self, service: Object) -> set[str]:
        """The addresses at which a Service's ready pods are reached."""
        pods = self._api.store.of_kind(str(POD), namespace_of(service))
        ready = [pod for pod in pods if selects(service, labels_of(pod)) and is_ready(pod)]
        own = {str(pod["status"].get("podIP")) for pod in ready}
        return {*own, str(service["spec"].get("clusterIP"))} if ready else set()

    def resolve(self, message: bytes, now_us: Micros) -> bytes:
        """The response to a DNS query, both with their length before them, as over TCP."""
        query = message[2:]
        try:
            name, end = _name_in(query)
            (type_,) = struct.unpack_from(">H", query, end)
        except (IndexError, struct.error):
            response = query[:2].ljust(2, b"\0") + struct.pack(">5H", _MALFORMED, 0, 0, 0, 0)
            return struct.pack(">H", len(response)) + response
        found = list(self._addresses(name))
        if type_ != _AAAA:  # which is asked for beside the other type
            self._record("dns", name, ", ".join(found) or "no such host", now_us, failed=not found)
        answers = found if type_ == _A else []
        flags = _RESPONSE | (0 if found else _NO_SUCH_NAME)
        response = (
            query[:2] + struct.pack(">5H", flags, 1, len(answers), 0, 0) + query[12 : end + 4]
        )
        for address in answers:
            # The name is that of the question, at byte 12.
            response += struct.pack(">HHHIH", 0xC00C, _A, 1, _TTL_SECONDS, 4)
            response += socket.inet_aton(address)
        return struct.pack(">H", len(response)) + response

    def _record(self, protocol: str, to: str, answer: str, now_us: Micros, *, failed: bool) -> None:
        if failed:
            self._failed, self._failed_us = f"{self._process} to {to} ({answer})", now_us
        if self._answers.get((protocol, to)) != answer:
            self._answers[protocol, to] = answer
            self._recorder.call(self._process, protocol, to, answer)

    def _addresses(self, name: str) -> Iterator[str]:
        """`[pod.]service[.namespace[.svc[.cluster.local]]]`."""
        labels = name.removesuffix(".cluster.local").removesuffix(".svc").split(".")
        *pod_name, service_name, namespace = labels if labels[1:] else (*labels, self._namespace)
        service = self._api.store.get(Key(str(SERVICE), namespace, service_name))
        if service is None:
            return
        spec = service["spec"]
        address = spec.get("clusterIP", "None")
        if address != "None":
            yield from () if pod_name else (address,)
            return
        for pod in self._api.store.of_kind(str(POD), namespace):
            at = (pod.get("status") or {}).get("podIP")
            if not at or not selects(service, labels_of(pod)):
                continue
            is_shown = is_ready(pod) or spec.get("publishNotReadyAddresses")
            if is_shown and (not pod_name or pod_name == [pod["spec"].get("hostname")]):
                yield at


def _unavailable(because: str) -> ApiError:
    return ApiError(503, "ServiceUnavailable", because)


def _pod_address(pod: Object, port: str) -> str:
    """The address of a pod, at the first port that it declares if none is named."""
    declared: list[dict[str, Any]] = [
        each for container in pod["spec"]["containers"] for each in container.get("ports") or ()
    ]
    number = port or next((str(each["containerPort"]) for each in declared), "80")
    return f"{(pod.get('status') or {}).get('podIP', '')}:{number}"


def _name_in(query: bytes) -> tuple[str, int]:
    """The name in the question of a DNS message, and where it ends."""
    labels, at = [], 12
    while size := query[at]:
        labels.append(query[at + 1 : at + 1 + size].decode("latin-1"))
        at += 1 + size
    return ".".join(labels).lower(), at + 1
