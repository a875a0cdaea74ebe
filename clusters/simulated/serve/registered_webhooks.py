"""Admission webhooks that clients register, called over HTTPS as a real API server does.

While a webhook is called, the cluster serves other requests: a webhook may read and write. The
webhook of a Service is called at the address that `assay serve --service` gives for it, since no
pod of a simulated cluster listens.
"""

from __future__ import annotations

import base64
import http.client
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from clusters.simulated.admission_webhooks import MUTATING, VALIDATING, AdmissionWebhooks
from clusters.simulated.api_server import ApiServer
from clusters.simulated.builtin.webhook_configurations import (
    MUTATING_CONFIGURATION,
    VALIDATING_CONFIGURATION,
    WebhookConfigurationStrategy,
)
from clusters.simulated.store import Change
from vocabulary.objects import Object

Address: TypeAlias = tuple[str, int]
Services: TypeAlias = Mapping[tuple[str, str], Address]
"""Where the webhooks of Services listen, by namespace and name."""
_KINDS: Final = {MUTATING: MUTATING_CONFIGURATION, VALIDATING: VALIDATING_CONFIGURATION}
_MAX_RESPONSE_BYTES: Final = 3 * 1024 * 1024
_CONVERSION_SECONDS: Final = 30
_HEADERS: Final = {"Content-Type": "application/json", "Accept": "application/json, */*"}
_REDIRECTS: Final = frozenset((307, 308))
"""Those upon which a request is sent again as it is."""
_MOST_REDIRECTS: Final = 10


class RegisteredWebhooks:
    """The webhooks of a served cluster, in step with their stored configurations."""

    def __init__(self, api: ApiServer, lock: threading.RLock, services: Services) -> None:
        self._api = api
        self._lock = lock
        self._services = services
        self._called = AdmissionWebhooks(api, (), self._exchange)
        for kind in _KINDS.values():
            api.serve_kind(WebhookConfigurationStrategy(kind))
        api.store.watch(self._changed, frozenset(map(str, _KINDS.values())))

    def convert(self, definition: Object, review: bytes) -> bytes:
        """Call the webhook for conversions of a definition.

        Reads convert objects, too, so the cluster stands still meanwhile.
        """
        webhook = definition["spec"]["conversion"]["webhook"]
        return _Call(webhook["clientConfig"], _CONVERSION_SECONDS, self._services).post(review)

    def _changed(self, change: Change) -> None:  # noqa: ARG002 - a Watcher's
        """Call no webhooks for a request without any being registered."""
        api, before = self._api, self._called
        configurations = [each for kind in _KINDS.values() for each in api.store.of_kind(str(kind))]
        self._called = webhooks = AdmissionWebhooks(api, configurations, self._exchange)
        # In new lists: requests may be at their webhooks.
        mutating = [hook for hook in api.admission.mutating if hook != before.mutate]
        validating = [hook for hook in api.admission.validating if hook != before.validate]
        if configurations:
            mutating.append(webhooks.mutate)
            validating.append(webhooks.validate)
        api.admission.mutating, api.admission.validating = mutating, validating

    def _exchange(self, webhook: Object, review: bytes) -> bytes:
        seconds = webhook["timeoutSeconds"]
        call = _Call(webhook["clientConfig"], seconds, self._services)
        return self._unlocked(partial(call.post, review), call, seconds)

    def _unlocked(self, post: Callable[[], bytes], call: _Call, seconds: int) -> bytes:
        """The result of a call, while others may have the lock: a condition gives all of it away,
        however often this thread has acquired it."""
        ended = threading.Condition(self._lock)
        results: list[bytes | Exception] = []

        def run() -> None:
            result: bytes | Exception
            try:
                result = post()
            except (OSError, http.client.HTTPException) as error:
                result = error
            with ended:
                results.append(result)
                ended.notify()

        threading.Thread(target=run, name="webhook", daemon=True).start()
        if not ended.wait_for(lambda: results, seconds):
            raise call.failed("context deadline exceeded")
        (result,) = results
        if isinstance(result, Exception):
            raise result
        return result


class _Target(NamedTuple):
    address: Address | None
    """None: no `--service` gives one."""
    host: str
    """The name in its certificate."""
    port: int
    path: str


class _Call:
    """One request to a webhook; its errors are those of a real server."""

    def __init__(self, client: Object, seconds: int, services: Services) -> None:
        self._client = client
        self._seconds = seconds
        self._services = services

    @cached_property
    def _target(self) -> _Target:
        service = self._client.get("service")
        if service:
            name, namespace = service["name"], service["namespace"]
            address = self._services.get((namespace, name))
            host, port = f"{name}.{namespace}.svc", service.get("port") or 443
            return _Target(address, host, port, service.get("path") or "/")
        parts = urlsplit(self._client["url"])
        host, port = parts.hostname or "", parts.port or 443
        return _Target((host, port), host, port, parts.path or "/")

    def failed(self, because: str) -> OSError:
        """The error of a call without a response."""
        target = self._target
        place = f"{target.host}:{target.port}{target.path}?timeout={self._seconds}s"
        return OSError(f'Post "https://{place}": {because}')

    def post(self, review: bytes) -> bytes:
        """The body of the response; raises OSError without one."""
        target = self._target
        if target.address is None:
            service = f"{self._client['service']['namespace']}/{self._client['service']['name']}"
            raise self.failed(
                f'service "{service}" is not reached from the simulated cluster; give its address: '
                f"assay serve --service {service}=127.0.0.1:PORT"
            )
        path = f"{target.path}?timeout={self._seconds}s"
        try:
            for _ in range(_MOST_REDIRECTS):
                response, body = self._exchange(target.address, path, review)
                # Go's multiplexer sends who asks for `//path`, as envtest does, to `/path`.
                location = response.headers.get("Location", "")
                if response.status not in _REDIRECTS or not location.startswith("/"):
                    break
                path = location
        except ssl.SSLCertVerificationError as error:
            because = f"tls: failed to verify certificate: x509: {error.verify_message}"
            raise self.failed(because) from error
        except ConnectionRefusedError as error:
            host, port = target.address
            raise self.failed(f"dial tcp {host}:{port}: connect: connection refused") from error
        except TimeoutError as error:
            raise self.failed("context deadline exceeded") from error
        except (http.client.RemoteDisconnected, http.client.IncompleteRead) as error:
            raise self.failed("EOF") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            # The last one for a host or path that no request line can hold.
            raise self.failed(getattr(error, "strerror", None) or str(error)) from error
        if response.status == 404:
            raise OSError("the server could not find the requested resource")
        if not 200 <= response.status < 300:
            text = body[:2048].decode(errors="replace").strip() or "unknown"
            raise OSError(
                f'an error on the server ("{text}") has prevented the request from succeeding'
            )
        return body

    def _exchange(
        self, address: Address, path: str, review: bytes
    ) -> tuple[http.client.HTTPResponse, bytes]:
        connection = http.client.HTTPConnection(self._target.host, self._target.port)
        try:
            reached = socket.create_connection(address, self._seconds)
            connection.sock = self._trusting().wrap_socket(
                reached, server_hostname=self._target.host
            )
            connection.request("POST", path, review, _HEADERS)
            response = connection.getresponse()
            return response, response.read(_MAX_RESPONSE_BYTES)
        finally:
            connection.close()

    def _trusting(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # Go trusts what is in the bundle itself: envtest writes the webhook's own certificate.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        bundle = self._client.get("caBundle")
        if bundle:
            context.load_verify_locations(
                cadata=base64.b64decode(bundle).decode("ascii", "replace")
            )
        else:
            context.load_default_certs()
        return context
