"""The implementation's admission webhooks for one run's namespaces, served by the harness.

They stay up while the operator is killed: a deployment of several replicas would, too. The
fault that takes them down stops this server, and the API server then refuses the writes.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from clusters.control_plane.ports import free_ports, listening_address
from conformance.implementations.under_test import UnderTest, registered_as
from conformance.left_behind.clean import RUN_LABEL
from reference_controller.runtime.webhook_server import WebhookServer
from vocabulary.kinds import Kind
from vocabulary.objects import Object
from vocabulary.requests import Create

if TYPE_CHECKING:
    from conformance.worlds.control_plane.session import Session

_GROUP: Final = "admissionregistration.k8s.io"
_NAME: Final = "kubernetes.io/metadata.name"
"""A label that every namespace has."""


class Webhooks:
    """Start, stop and restart: the API server is configured once.

    Without webhooks there is nothing to serve, and nothing happens.
    """

    def __init__(
        self,
        session: Session,
        implementation: UnderTest,
        namespaces: tuple[str, ...],
        config: Mapping[str, Any],
    ) -> None:
        self._session = session
        self._role = implementation.role
        self._webhooks = implementation.webhooks(config)
        self._server: WebhookServer | None = None
        (self._port,) = free_ports(1)
        for which, path in (("Mutating", "mutate"), ("Validating", "validate")):
            kinds = [kind for kind, webhook in self._webhooks.items() if getattr(webhook, path)]
            if kinds:
                self._register(which, path, kinds, namespaces)

    def start(self) -> None:
        if self._server is None and self._webhooks:
            pair = self._session.plane.webhook_pair
            host = listening_address(self._session.webhook_host)
            self._server = WebhookServer(
                host, self._port, pair.certificate, pair.key, self._webhooks
            )
            self._server.start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None

    def _register(
        self, which: str, path: str, kinds: Sequence[Kind], namespaces: tuple[str, ...]
    ) -> None:
        kind = Kind(
            _GROUP,
            "v1",
            f"{which}WebhookConfiguration",
            f"{which.lower()}webhookconfigurations",
            namespaced=False,
        )
        authority = base64.b64encode(self._session.plane.ca.read_bytes()).decode()
        name = registered_as(kind.kind, self._role, namespaces[0])
        webhook = {
            "name": name,
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "timeoutSeconds": 5,
            "clientConfig": {
                "url": f"https://{self._session.webhook_host}:{self._port}/{path}",
                "caBundle": authority,
            },
            "namespaceSelector": selector_of(namespaces),
            "rules": [
                {
                    "apiGroups": [served.group],
                    "apiVersions": [served.version],
                    "operations": ["CREATE", "UPDATE"],
                    "resources": [served.plural],
                }
                for served in kinds
            ],
        }
        manifest = {
            "apiVersion": f"{_GROUP}/v1",
            "kind": kind.kind,
            "metadata": {"name": name, "labels": {RUN_LABEL: namespaces[0]}},
            "webhooks": [webhook],
        }
        self._session.connections["harness"].handle(Create(kind, manifest, "", name))


def selector_of(namespaces: tuple[str, ...]) -> Object:
    """The selector of a run's namespaces."""
    if len(namespaces) == 1:
        return {"matchLabels": {_NAME: namespaces[0]}}
    named = {"key": _NAME, "operator": "In", "values": list(namespaces)}
    return {"matchExpressions": [named]}
