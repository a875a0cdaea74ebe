"""The certificates of webhooks: made by the harness, or by the operator itself.

An operator that makes its own keeps it in a Secret, and writes down in its webhook configurations
who signed it. On a cluster a kubelet mounts the Secret; here the harness writes its files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from clusters.simulated.cluster import SimulatedCluster
from clusters.simulated.store import Change
from clusters.simulated.strategy import Strategy
from conformance.implementations.under_test import OwnWebhooks
from conformance.worlds.mounted_certificate import CERTIFICATE, KEY, files_of, mount
from vocabulary.certificates import Authority
from vocabulary.errors import ApiError
from vocabulary.kinds import NAMESPACE, SECRET, Kind
from vocabulary.objects import Object, name_of
from vocabulary.requests import Create, Get

_GROUP: Final = "admissionregistration.k8s.io"


class ServingCertificates:
    """Those of the programs of one role in one run."""

    def __init__(
        self, cluster: SimulatedCluster, role: str, namespace: str, wake: Callable[[], None]
    ) -> None:
        """`wake` is called when the files of programs that run have changed: they may watch
        them."""
        self._cluster = cluster
        self._wake = wake
        self._role = role
        self._namespace = namespace
        self._folders: dict[Path, None] = {}
        self._secret = ""
        self._secret_namespace = namespace

    def mount(self, webhooks: OwnWebhooks) -> None:
        """Write the files for a process that is about to start; those in a Secret that is still
        empty follow once they are there."""
        webhooks.folder.mkdir(parents=True, exist_ok=True)
        if not webhooks.secret:
            mount(webhooks.folder, _of_the_harness())
            return
        self._folders[webhooks.folder] = None
        if not self._secret:
            self._secret = webhooks.secret
            self._secret_namespace = webhooks.secret_namespace or self._namespace
            self._register(webhooks)
        else:
            asked = Get(SECRET, self._secret_namespace, self._secret)
            with suppress(ApiError):  # somebody has deleted it
                self._write(self._cluster.api.handle(asked, "harness"), webhooks.folder)

    def _register(self, webhooks: OwnWebhooks) -> None:
        """Create what an installation brings: an empty Secret, and the webhook configurations."""
        cluster, namespace = self._cluster, self._namespace
        if self._secret_namespace != namespace:
            cluster.recorder.unrecorded.add((str(NAMESPACE), self._secret_namespace))
            self._create(NAMESPACE, self._secret_namespace, {})
        # Keys are no part of any workload, and histories are published.
        cluster.recorder.unrecorded.add((str(SECRET), webhooks.secret))
        self._create(SECRET, webhooks.secret, {"type": "Opaque"})
        cluster.store.watch(self._on_change, frozenset({str(SECRET)}))
        by_kind: dict[str, list[Object]] = {}
        for configuration in webhooks.configurations:
            by_kind.setdefault(configuration["kind"], []).extend(configuration["webhooks"])
        for name, called in by_kind.items():
            kind = Kind(_GROUP, "v1", name, f"{name.lower()}s", namespaced=False)
            if kind.group_kind not in cluster.api.strategies:
                cluster.api.serve_kind(Strategy(kind))
            registered = webhooks.name_of(name, self._role, namespace)
            cluster.recorder.unrecorded.add((str(kind), registered))
            self._create(kind, registered, {"webhooks": called})

    def _create(self, kind: Kind, name: str, content: Object) -> None:
        namespace = self._secret_namespace if kind.namespaced else ""
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        manifest = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": metadata,
            **content,
        }
        self._cluster.api.handle(Create(kind, manifest, namespace, name), "harness")

    def _on_change(self, change: Change) -> None:
        if name_of(change.object) == self._secret:
            for folder in self._folders:
                self._write(change.object, folder)
            self._wake()

    def _write(self, secret: Object, folder: Path) -> None:
        files = files_of(secret)
        if CERTIFICATE in files:
            mount(folder, files)


@cache
def _of_the_harness() -> Mapping[str, bytes]:
    """One certificate for all runs of this process; its key never leaves the machine."""
    issued = Authority.create("assay-webhooks").issue_server("webhooks", ("127.0.0.1",))
    return {CERTIFICATE: issued.certificate, KEY: issued.key}
