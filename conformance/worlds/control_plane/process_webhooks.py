"""The admission webhooks that operator processes serve themselves, in one run.

The harness provides the cluster's part for such a process: it registers the webhooks, for the run's
namespaces only, plays the Service in front of them, and mounts their certificate. They are down
while the operator is: the API server then rejects requests that concern them.

The Service has no endpoints, since there is no kube-proxy. It is an external name for this
machine, and the API server connects there, expecting the certificate of the Service.
"""

from __future__ import annotations

import base64
import socket
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from clusters.control_plane.ports import free_ports, listening_address
from clusters.control_plane.waiting import WaitTimeoutError, wait_until
from conformance.implementations.under_test import OwnWebhooks, UnderTest
from conformance.left_behind.clean import RUN_LABEL
from conformance.worlds.control_plane.forwarder import Connect, Forwarder
from conformance.worlds.control_plane.probe import unreached
from conformance.worlds.control_plane.recorder import Commit
from conformance.worlds.control_plane.webhooks import selector_of
from conformance.worlds.mounted_certificate import CERTIFICATE, KEY, files_of, mount
from vocabulary.errors import ApiError
from vocabulary.kinds import NAMESPACE, SECRET, SERVICE, Kind
from vocabulary.objects import Object, name_of
from vocabulary.requests import Create, Delete

if TYPE_CHECKING:
    from conformance.worlds.control_plane.session import Session

_GROUP: Final = "admissionregistration.k8s.io"
_LOOK_SECONDS: Final = 1.0
_REACHED_SECONDS: Final = 30.0
"""By then the API server has long heard which authority signed their certificate."""


class ProcessWebhooks:
    """One run's. Nothing happens for operators that serve none.

    `start` and `stop` are for what lies before the webhooks; they are up if an operator is, too.
    """

    def __init__(
        self, session: Session, implementation: UnderTest, namespaces: tuple[str, ...]
    ) -> None:
        self._session = session
        self._implementation = implementation
        self._namespaces = namespaces
        self._namespace = namespaces[0]
        self._servers: list[Connect] = []
        """Of each operator's webhooks; of those that are up, the first is called."""
        self._secrets: set[str] = set()
        self._beside: set[str] = set()
        """Namespaces of such Secrets beside the run's own."""
        self._is_over = False
        (self._port,) = free_ports(1)
        host = listening_address(session.webhook_host)
        self._entrance = Forwarder(host, self._port, self._connect)

    def expect(self, webhooks: OwnWebhooks, connect: Connect) -> None:
        """An operator is about to be started which will serve these; they are reached by
        `connect`."""
        webhooks.folder.mkdir(parents=True, exist_ok=True)
        if not self._servers:
            self._register(webhooks)
        self._servers.append(connect)
        if webhooks.secret:
            threading.Thread(
                target=self._mount, args=(webhooks,), name=f"mount-{self._namespace}", daemon=True
            ).start()
        else:
            pair = self._session.plane.webhook_pair
            files = {CERTIFICATE: pair.certificate.read_bytes(), KEY: pair.key.read_bytes()}
            mount(webhooks.folder, files)

    def start(self) -> None:
        if self._servers:
            self._entrance.start()

    def stop(self) -> None:
        self._entrance.stop()

    def wait_reached(self) -> str:
        """Wait until the API server reaches them; what is in the way if it never does.

        An operator is ready when it has written down who signed its certificate. The API server
        hears of that a moment later, and until then refuses what they should be asked about.
        """
        said = ""

        def is_reached() -> bool:
            nonlocal said
            said = unreached(
                self._session.connections["harness"], self._implementation.role, self._namespace
            )
            return not said

        if self._servers:
            with suppress(WaitTimeoutError):
                wait_until(is_reached, "webhooks are reached", limit_seconds=_REACHED_SECONDS)
        return said and f"the operator's webhooks are not reached: {said}"

    def close(self) -> None:
        """The run is over; the next one registers webhooks under the same constant names."""
        self._is_over = True
        self.stop()
        if self._servers:
            for name, constant in self._implementation.constant_names.items():
                with suppress(ApiError):  # the operator may register but one of its kinds
                    self._session.connections["harness"].handle(Delete(_kind(name), "", constant))
        for namespace in self._beside:
            self._session.connections["harness"].handle(Delete(NAMESPACE, "", namespace))

    def without_keys(
        self, commits: Iterable[Commit], audited: Iterable[dict[str, Any]]
    ) -> tuple[list[Commit], list[dict[str, Any]]]:
        """Drop entries about the operators' keys from a recording: these are not part of any
        workload, and must not be in a history, which is published."""

        def is_about_keys(event: Mapping[str, Any]) -> bool:
            about = event.get("objectRef") or {}
            return about.get("resource") == SECRET.plural and about.get("name") in self._secrets

        return (
            [c for c in commits if c.kind != SECRET or name_of(c.object) not in self._secrets],
            [event for event in audited if not is_about_keys(event)],
        )

    @property
    def secrets(self) -> frozenset[str]:
        """The names of the Secrets with operators' keys."""
        return frozenset(self._secrets)

    # Inside.

    def _connect(self) -> socket.socket:
        for connect in self._servers[:-1]:
            try:
                return connect()
            except OSError:
                continue
        return self._servers[-1]()

    def _register(self, webhooks: OwnWebhooks) -> None:
        """Create the Secret before the operator starts. Nothing is submitted before its
        webhooks respond: so they may be registered in advance, as by an installation."""
        if webhooks.secret:
            self._secrets.add(webhooks.secret)
            if (beside := webhooks.secret_namespace) not in ("", self._namespace):
                self._beside.add(beside)
                self._create(NAMESPACE, beside, {})
            self._create(SECRET, webhooks.secret, {"type": "Opaque"}, beside)
        services: set[str] = set()
        by_kind: dict[str, list[Object]] = {}
        for configuration in webhooks.configurations:
            for webhook in configuration["webhooks"]:
                services.add(webhook["clientConfig"]["service"]["name"])
                called = {
                    **webhook,
                    "clientConfig": self._client_config(webhook, by_service=bool(webhooks.secret)),
                    "namespaceSelector": selector_of(self._namespaces),
                    # The selector lets through what is in no namespace: everybody's.
                    "rules": [{**rule, "scope": "Namespaced"} for rule in webhook.get("rules", ())],
                }
                by_kind.setdefault(configuration["kind"], []).append(called)
        if webhooks.secret:
            spec = {"type": "ExternalName", "externalName": self._session.webhook_host}
            for service in sorted(services):
                self._create(SERVICE, service, {"spec": spec})
        for name, called_for in by_kind.items():
            self._create(
                _kind(name),
                webhooks.name_of(name, self._implementation.role, self._namespace),
                {"webhooks": called_for},
            )

    def _client_config(self, webhook: Object, *, by_service: bool) -> dict[str, Any]:
        service = webhook["clientConfig"]["service"]
        if by_service:
            here = {"namespace": self._namespace, "port": self._port}
            return {"service": {**service, **here}}
        authority = self._session.plane.ca.read_bytes()
        return {
            "url": f"https://{self._session.webhook_host}:{self._port}{service.get('path', '/')}",
            "caBundle": base64.b64encode(authority).decode(),
        }

    def _create(self, kind: Kind, name: str, content: Mapping[str, Any], beside: str = "") -> None:
        namespace = (beside or self._namespace) if kind.namespaced else ""
        metadata: dict[str, Any] = {"name": name, "labels": {RUN_LABEL: self._namespace}}
        if namespace:
            metadata["namespace"] = namespace
        manifest = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": metadata,
            **content,
        }
        self._session.connections["harness"].handle(Create(kind, manifest, namespace, name))

    def _mount(self, webhooks: OwnWebhooks) -> None:
        """Once the Secret has a certificate, write it to files, as a kubelet does. Within the
        time of a run there is only one."""
        recorder = self._session.recorder
        while not self._is_over:
            with recorder.changed:
                namespace = webhooks.secret_namespace or self._namespace
                found = recorder.stored(SECRET, namespace, webhooks.secret) or {}
                files = files_of(found)
                if CERTIFICATE not in files:
                    recorder.changed.wait(_LOOK_SECONDS)
                    continue
            mount(webhooks.folder, files)
            return


def _kind(name: str) -> Kind:
    return Kind(_GROUP, "v1", name, f"{name.lower()}s", namespaced=False)
