"""Admission by the webhooks that a program serves: reviews go there over HTTPS.

The API server of a real cluster calls each webhook whose rules match, the mutating ones first. The
Service in front of them is left out: the program is called at its port on loopback.
"""

from __future__ import annotations

import base64
import http.client
import json
import socket
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from conformance.under_test import MUTATING, VALIDATING
from fixtures.simulated.patches.json_patch import apply_json_patch
from vocabulary import requests as rq
from vocabulary.errors import ApiError
from vocabulary.objects import Object, meta
from vocabulary.selectors import matches

TIMEOUT_SECONDS: Final = 10.0
Exchange = Callable[[str, bytes], bytes]
"""(path, review) → the answer's body; raises OSError or HTTPException."""


class WebhookCalls:
    """A hook of the simulated API server."""

    def __init__(
        self,
        configurations: Iterable[Object],
        exchange: Exchange,
        users: Mapping[str, Mapping[str, Any]],
    ) -> None:
        """`users` says as whom an actor is known, if not by its name."""
        found = list(configurations)
        self._mutating = list(_webhooks(found, MUTATING))
        self._validating = list(_webhooks(found, VALIDATING))
        self._exchange = exchange
        self._users = users
        self._reviews = 0

    def __call__(
        self, request: rq.Request, actor: str, new: dict[str, Any], old: Object | None
    ) -> dict[str, Any]:
        """The object as it is admitted; ApiError if it is not."""
        for webhook in self._mutating:
            if _concerns(webhook, request, new, old):
                answer = self._review(webhook, request, actor, new, old)
                if patch := answer.get("patch"):
                    new = apply_json_patch(new, json.loads(base64.b64decode(patch)))
        for webhook in self._validating:
            if _concerns(webhook, request, new, old):
                self._review(webhook, request, actor, new, old)
        return new

    def _review(
        self,
        webhook: Object,
        request: rq.Request,
        actor: str,
        new: Object,
        old: Object | None,
    ) -> Object:
        kind = request.kind
        self._reviews += 1
        uid = f"00000000-0000-4000-8000-{self._reviews:012x}"
        user = {"username": actor, "uid": f"uid-of-{actor}", "groups": ["system:authenticated"]}
        named = {"group": kind.group, "version": kind.version}
        review = {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {
                "uid": uid,
                "kind": {**named, "kind": kind.kind},
                "resource": {**named, "resource": kind.plural},
                "requestKind": {**named, "kind": kind.kind},
                "requestResource": {**named, "resource": kind.plural},
                "name": meta(new).get("name", ""),
                "namespace": meta(new).get("namespace", ""),
                "operation": _operation(request),
                "userInfo": {**user, **self._users.get(actor, {})},
                "object": new,
                "oldObject": old,
                "dryRun": bool(getattr(request, "dry_run", False)),
            },
        }
        name = webhook["name"]
        path = webhook["clientConfig"]["service"].get("path", "/")
        try:
            answer = json.loads(self._exchange(path, json.dumps(review).encode()))["response"]
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
            if webhook.get("failurePolicy", "Fail") == "Ignore":
                return {}
            message = f'failed calling webhook "{name}": failed to call webhook: {error}'
            raise ApiError(500, "InternalError", f"Internal error occurred: {message}") from error
        if not answer.get("allowed"):
            raise _denied(name, answer.get("status") or {})
        return dict(answer)


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


def _webhooks(configurations: Iterable[Object], kind: str) -> Iterator[Object]:
    for configuration in configurations:
        if configuration["kind"] == kind:
            yield from configuration["webhooks"]


def _operation(request: rq.Request) -> str:
    return "CREATE" if isinstance(request, rq.Create) else "UPDATE"


def _concerns(webhook: Object, request: rq.Request, new: Object, old: Object | None) -> bool:
    kind = request.kind
    subresource = getattr(request, "subresource", "")
    resource = f"{kind.plural}/{subresource}" if subresource else kind.plural
    by_rule = any(
        _operation(request) in rule["operations"] or "*" in rule["operations"]
        for rule in webhook.get("rules", ())
        if {kind.group, "*"} & set(rule["apiGroups"])
        and {kind.version, "*"} & set(rule["apiVersions"])
        and {resource, "*/*" if subresource else "*"} & set(rule["resources"])
    )
    selector = webhook.get("objectSelector")
    return by_rule and (
        not selector
        or any(matches(selector, meta(each).get("labels") or {}) for each in (new, old) if each)
    )


def _denied(name: str, status: Object) -> ApiError:
    said = status.get("message") or status.get("reason")
    told = f'admission webhook "{name}" denied the request'
    message = f"{told}: {said}" if said else f"{told} without explanation"
    code = status.get("code", 0)
    return ApiError(code if code >= 400 else 400, status.get("reason", ""), message)
