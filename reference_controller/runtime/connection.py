"""The way to one API server: the official client's configuration, TLS and authentication.

Its models are left out: deserialising into them is four fifths of the time of a list, and
everything here speaks plain dicts. Requests are never repeated at this level. A repeated
write is a second write, and whether that is right is for a reconcile to decide.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import urllib3
import yaml
from kubernetes import client, config
from kubernetes.config.incluster_config import InClusterConfigLoader
from kubernetes.config.kube_config import KUBE_CONFIG_DEFAULT_LOCATION
from urllib3.exceptions import HTTPError

from reference_controller.runtime import http_request
from reference_controller.runtime.http_request import HttpRequest
from reference_controller.runtime.options import OptionsError
from vocabulary.clock import SECOND, Micros
from vocabulary.errors import no_answer
from vocabulary.kinds import LEASE, Kind
from vocabulary.objects import Object
from vocabulary.requests import ObjectList, Request
from vocabulary.safe_yaml import require_loadable_file

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
MAX_KUBECONFIG_BYTES: Final = 4 * 1024**2
CONNECT_TIMEOUT_SECONDS: Final = 5.0
LEASE_TIMEOUT_SECONDS: Final = 5.0
"""Half of the renew deadline: a renewal that hangs must leave time for another."""
WATCH_SILENCE_SECONDS: Final = 120.0
"""Servers send a bookmark each minute. A watch that is silent for two is a dead connection."""


class Connection:
    """Requests under one identity; safe to share between threads."""

    def __init__(
        self, api_client: client.ApiClient, user_agent: str, timeout_us: Micros, pool_size: int
    ) -> None:
        self._configuration = api_client.configuration
        self._configuration.connection_pool_maxsize = pool_size
        # Built anew, so that the pool's size counts.
        self._pool = client.ApiClient(self._configuration).rest_client.pool_manager
        self._user_agent = user_agent
        self._timeout_seconds = timeout_us / SECOND

    @property
    def server(self) -> str:
        """The API server's URL."""
        return str(self._configuration.host)

    def handle(self, request: Request) -> Object | ObjectList:
        """Send one request; raises ApiError for refusals, code 0 if no answer came."""
        timeout = LEASE_TIMEOUT_SECONDS if request.kind == LEASE else self._timeout_seconds
        status, body = self._exchange(http_request.encode(request), timeout)
        return http_request.decode(request, status, body)

    def get(self, path: str) -> Any:
        """The decoded JSON at a path that is no object's, for example `/apis/batch/v1`."""
        status, body = self._exchange(HttpRequest("GET", path), self._timeout_seconds)
        if status >= 400:
            raise http_request.refusal(status, body)
        return msgspec.json.decode(body)

    def open_watch(
        self, kind: Kind, namespace: str, resource_version: str, timeout_seconds: int
    ) -> WatchStream:
        """Begin to watch a kind from a revision; raises ApiError (410: that is too old)."""
        query = (
            f"?watch=true&allowWatchBookmarks=true&resourceVersion={resource_version}"
            f"&timeoutSeconds={timeout_seconds}"
        )
        timeout = urllib3.Timeout(connect=CONNECT_TIMEOUT_SECONDS, read=WATCH_SILENCE_SECONDS)
        response = self._send(HttpRequest("GET", kind.path(namespace) + query), timeout)
        if response.status >= 400:
            try:
                raise http_request.refusal(response.status, response.read())
            finally:
                response.release_conn()
        return WatchStream(response)

    def close(self) -> None:
        """Drop idle connections."""
        self._pool.clear()

    def _exchange(self, request: HttpRequest, timeout_seconds: float) -> tuple[int, bytes]:
        timeout = urllib3.Timeout(connect=CONNECT_TIMEOUT_SECONDS, read=timeout_seconds)
        response = self._send(request, timeout)
        try:
            return response.status, response.read()
        except (HTTPError, OSError) as error:
            raise no_answer(f"{request.method} {request.target}: {error}") from error
        finally:
            response.release_conn()

    def _send(self, request: HttpRequest, timeout: urllib3.Timeout) -> urllib3.BaseHTTPResponse:
        headers = {"Accept": http_request.JSON, "User-Agent": self._user_agent}
        if request.body:
            headers["Content-Type"] = request.content_type
        for setting in self._configuration.auth_settings().values():
            if setting["in"] == "header" and setting["value"]:
                headers[setting["key"]] = setting["value"]
        try:
            response: urllib3.BaseHTTPResponse = self._pool.request(
                request.method,
                self.server + request.target,
                body=request.body or None,
                headers=headers,
                timeout=timeout,
                retries=False,
                preload_content=False,
            )
        except (HTTPError, OSError) as error:
            raise no_answer(f"{request.method} {request.target}: {error}") from error
        return response


class WatchStream:
    """The events of one watch, until the server ends it; `close` from another thread ends it."""

    def __init__(self, response: urllib3.BaseHTTPResponse) -> None:
        self._response = response

    def __iter__(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields (type, object); raises ApiError if the connection breaks."""
        rest = b""
        try:
            for chunk in self._response.stream(amt=2**16):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    if line:
                        event = _decoder.decode(line)
                        yield event.type, event.object
        except (HTTPError, OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise no_answer(f"the watch broke: {error}") from error
        finally:
            self._response.close()

    def close(self) -> None:
        """End the watch though its reader waits for events."""
        # The reader may have ended it in this very moment; then there is nothing to shut down.
        with contextlib.suppress(ValueError, RuntimeError, OSError):
            self._response.shutdown()


class _WatchEvent(msgspec.Struct):
    type: str
    object: dict[str, Any]


_decoder: Final = msgspec.json.Decoder(_WatchEvent)
"""Made at import: msgspec learns a type at its first use, and two threads at once crash it."""


def connect(
    kubeconfig: Path | None,
    context: str | None,
    *,
    user_agent: str,
    timeout_us: Micros,
    pool_size: int,
) -> Connection:
    """Connect as `OperatorOptions.kubeconfig` says; raises OptionsError if that cannot be read."""
    api_client = client.ApiClient(configuration(kubeconfig, context))
    return Connection(api_client, user_agent, timeout_us, pool_size)


def configuration(kubeconfig: Path | None, context: str | None) -> client.Configuration:
    """The server, the trust and the credentials of a context; of a pod's own service account,
    where nothing is named and there is one. OptionsError if they cannot be read."""
    try:
        if kubeconfig is None and context is None and own_token_file() is not None:
            return _of_service_account()
        # The client's own loader takes minutes for some files, and exhausts the stack on others.
        for place in _default_places() if kubeconfig is None else (kubeconfig,):
            require_loadable_file(place, max_bytes=MAX_KUBECONFIG_BYTES)
        path = None if kubeconfig is None else str(kubeconfig)
        found: client.ApiClient = config.new_client_from_config(path, context)  # type: ignore[no-untyped-call]
    except (config.ConfigException, OSError, yaml.YAMLError, ValueError) as error:
        raise _unusable(kubeconfig, str(error)) from error
    except (TypeError, AttributeError, LookupError) as error:
        # The client takes what it reads for maps and lists, and looks at none of them before.
        raise _unusable(kubeconfig, "its content is not that of a kubeconfig") from error
    settings: client.Configuration = found.configuration
    return settings


def _unusable(kubeconfig: Path | None, why: str) -> OptionsError:
    named = "" if kubeconfig is None or str(kubeconfig) in why else f" {kubeconfig}:"
    return OptionsError(
        f"--kubeconfig:{named} {why.rstrip('.')}; give the path of a kubeconfig, and a context "
        "that is in it"
    )


def _of_service_account() -> client.Configuration:
    """It reads the token anew each minute: a kubelet replaces it before it expires."""
    settings = client.Configuration()
    files = (SERVICE_ACCOUNT / "token", SERVICE_ACCOUNT / "ca.crt")
    InClusterConfigLoader(*map(str, files)).load_and_set(settings)  # type: ignore[no-untyped-call]
    return settings


def own_token_file() -> Path | None:
    """The token file of this pod's service account; None outside of a pod."""
    path = SERVICE_ACCOUNT / "token"
    return path if path.is_file() else None


def knows_a_cluster() -> bool:
    """True if there is a cluster to connect to by default."""
    if own_token_file() is not None:
        return True
    return any(_default_places())


def _default_places() -> Iterator[Path]:
    """The kubeconfigs that there are by default."""
    for place in str(KUBE_CONFIG_DEFAULT_LOCATION).split(os.pathsep):
        if (path := Path(place).expanduser()).is_file():
            yield path


def own_namespace() -> str:
    """The namespace that this process runs in; `default` outside of a cluster."""
    path = SERVICE_ACCOUNT / "namespace"
    return path.read_text().strip() if path.is_file() else "default"
