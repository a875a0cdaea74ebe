"""The HTTP server: one thread per connection, one lock around the simulated cluster."""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from clusters.simulated.access.tokens import UnknownTokenError
from clusters.simulated.access.users import User
from clusters.simulated.api_server import ApiServer
from clusters.simulated.loop import Loop
from clusters.simulated.serve.certificate import Certificate, make_certificate
from clusters.simulated.serve.clock import ClockMode, ServedClock
from clusters.simulated.serve.connections import MAX_CONNECTIONS, HangUps
from clusters.simulated.serve.handler import HttpServer
from clusters.simulated.serve.kubeconfig import kubeconfig, write_kubeconfig
from clusters.simulated.serve.traffic import Gate, Traffic
from vocabulary.errors import ApiError


class Cluster(Protocol):
    """A cluster that can be served."""

    @property
    def loop(self) -> Loop: ...

    @property
    def api(self) -> ApiServer: ...


class ServedCluster:
    """A simulated cluster on a loopback port. Use it as a context manager, or `close` it."""

    tells_managers = True

    def __init__(
        self,
        cluster: Cluster,
        port: int,
        actors: Mapping[str, str],
        clock: ClockMode,
        certificate: Certificate | None,
        connections: int,
    ) -> None:
        self.api = cluster.api
        self.loop = cluster.loop
        self.lock = threading.RLock()
        self.stopped = threading.Event()
        self.hang_ups = HangUps(self.stopped)
        self.failure: Exception | None = None
        """The mistake of the simulation that ended it: from then on every request is an error."""
        self.clock = ServedClock(cluster.loop, self.lock, clock, self.fail)
        self.traffic = Traffic()
        self.gate: Gate | None = None
        """Between clients and the API server; None: nothing is."""
        self._actors = dict(actors)
        # A seed would tell everybody the key that it draws.
        self.api.tokens.use_key(secrets.token_bytes(32))
        self._http = _listening(port, connections)
        self._http.served = self
        self._certificate = certificate
        if certificate is not None:
            self._http.tls = certificate.context
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        scheme = "http" if self._certificate is None else "https"
        return f"{scheme}://127.0.0.1:{self.port}"

    def start(self) -> ServedCluster:
        """Begin to serve."""
        self._thread.start()
        self.hang_ups.start()
        self.clock.start()
        return self

    def fail(self, error: Exception) -> None:
        """End all watches, and answer every request with an error that names the object."""
        self.failure = self.failure or error
        self.stopped.set()

    def close(self) -> None:
        """Stop the clock, end all watches and stop listening."""
        self.stopped.set()
        self.clock.stop()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def write_kubeconfig(
        self, path: Path, *, namespace: str = "default", actor: str = ""
    ) -> dict[str, Any]:
        """Write a kubeconfig for this cluster, by default of the first actor, and return it."""
        authority = b"" if self._certificate is None else self._certificate.authority
        token = next(each for each, known in self._actors.items() if actor in ("", known))
        config = kubeconfig(self.url, token, authority, namespace=namespace)
        write_kubeconfig(path, config)
        return config

    def admit(self, actor: str) -> None:
        """Give an actor a token, if it has none; from now on it is served."""
        if actor not in self._actors.values():
            self._actors[secrets.token_urlsafe(32)] = actor

    def authenticate(self, authorization: str) -> str | User:
        """Return the actor of a bearer token, or its user if it is a service account's; 401 if the
        token is unknown."""
        given = authorization.removeprefix("Bearer ").strip()
        actor = ""
        for token, candidate in tuple(self._actors.items()):
            if hmac.compare_digest(token.encode(), given.encode()):
                actor = candidate
        if not authorization.startswith("Bearer "):
            raise _unauthorized()
        if actor:
            return actor
        with self.lock:
            try:
                return self.api.tokens.recognize(given).user
            except UnknownTokenError:
                raise _unauthorized() from None

    def __enter__(self) -> ServedCluster:
        return self.start()

    def __exit__(self, *unused: object) -> None:
        self.close()


def _unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def _listening(port: int, connections: int) -> HttpServer:
    """Bind the socket. Raises OSError, with the port, if the port is in use."""
    try:
        return HttpServer(("127.0.0.1", port), connections)
    except OSError as error:
        raise OSError(
            f"cannot listen on 127.0.0.1:{port}: {error.strerror}; "
            "stop the process listening there, or use another port (0: any free one)"
        ) from error


def serve(
    cluster: Cluster,
    port: int = 0,
    token: str = "",
    clock: ClockMode = "real",
    actors: Mapping[str, str] | None = None,
    *,
    tls: bool = True,
    certificate: Certificate | None = None,
    connections: int = MAX_CONNECTIONS,
) -> ServedCluster:
    """Serve a simulated cluster on 127.0.0.1; port 0 selects a free one.

    Clients with `token` are `user` in the history. `actors` maps additional tokens to their
    actors, for example for the operator under test. Raises ValueError without a token, and
    OSError if the port is in use.
    Without `tls`, plain HTTP is served; kubectl then sends no token, other clients do. Without
    `certificate`, one is made. Requests beyond so many connections at once are refused with 429.
    """
    known = {token: "user"} if token else {}
    known |= actors or {}
    if not known:
        raise ValueError("a served cluster needs a token; create one with secrets.token_urlsafe()")
    shown = (certificate or make_certificate()) if tls else None
    return ServedCluster(cluster, port, known, clock, shown, connections)
