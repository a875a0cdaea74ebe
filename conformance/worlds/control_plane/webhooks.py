"""The implementation's admission webhooks for one run's namespace, served by the harness.

They stay up while the operator is killed: a deployment of several replicas would, too. The
fault that takes them down stops this server, and the API server then refuses the writes.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from conformance.clean import RUN_LABEL
from conformance.under_test import UnderTest, registered_as
from fixtures.control_plane.ports import free_ports, listening_address
from reference_controller.runtime.webhook_server import WebhookServer
from vocabulary.kinds import Kind
from vocabulary.requests import Create

if TYPE_CHECKING:
    from conformance.worlds.control_plane.session import Session

_GROUP: Final = "admissionregistration.k8s.io"


class Webhooks:
    """Start, stop and restart: the API server is configured once.

    Without webhooks there is nothing to serve, and nothing happens.
    """

    def __init__(
        self,
        session: Session,
        implementation: UnderTest,
        namespace: str,
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
                self._register(which, path, kinds, namespace)

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

    def _register(self, which: str, path: str, kinds: Sequence[Kind], namespace: str) -> None:
        kind = Kind(
            _GROUP,
            "v1",
            f"{which}WebhookConfiguration",
            f"{which.lower()}webhookconfigurations",
            namespaced=False,
        )
        authority = base64.b64encode(self._session.plane.ca.read_bytes()).decode()
        name = registered_as(kind.kind, self._role, namespace)
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
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
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
            "metadata": {"name": name, "labels": {RUN_LABEL: namespace}},
            "webhooks": [webhook],
        }
        self._session.connections["harness"].handle(Create(kind, manifest, "", name))
