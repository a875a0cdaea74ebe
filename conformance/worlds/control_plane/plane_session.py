"""A session on a control plane of Assay's own: one it starts, or one that stays."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar, Final

from clusters.control_plane import nodes, users
from clusters.control_plane.launch import ControlPlane
from clusters.control_plane.nodes import FakeNode
from clusters.control_plane.settings import Settings
from conformance.implementations.under_test import UnderTest
from conformance.left_behind.clean import RUN_LABEL, defined_kind
from conformance.manifests.files import is_granted
from conformance.scenario_type import Scenario
from conformance.stored_objects.retrying_connection import PATIENCE_SECONDS, RetryingConnection
from conformance.worlds.control_plane.control_plane_lock import ControlPlaneLock
from conformance.worlds.control_plane.followed import followed_kinds
from conformance.worlds.control_plane.operator_rights import grant
from conformance.worlds.control_plane.operator_users import TokenUsers, kubeconfig_through
from conformance.worlds.control_plane.process_host import ProcessHost
from conformance.worlds.control_plane.recorder import Recorder
from conformance.worlds.control_plane.session import Session, installed_crds
from conformance.worlds.names import ClusterName
from reference_controller.runtime.connection import Connection
from vocabulary.implementations import in_one_text
from vocabulary.kinds import BUILT_IN_KINDS
from vocabulary.objects import Object
from vocabulary.requests import DeleteCollection, create

SHARED: Final = Settings(node_monitor_grace_seconds=30)
"""No node of a shared control plane falls silent, so their heartbeats may be far apart: each
one goes to every operator."""
TOLERATION_SECONDS: Final = 3
ALONE: Final = Settings(
    zones=("a", "b", "c"),
    extra_arguments={
        "kube-apiserver": (
            f"--default-not-ready-toleration-seconds={TOLERATION_SECONDS}",
            f"--default-unreachable-toleration-seconds={TOLERATION_SECONDS}",
        )
    },
)
"""For runs one at a time: nodes can be lost, and pods tolerate that for seconds, not minutes."""
ACTORS: Final = {
    "user": users.SCENARIO_USER,
    "federated-user": users.FEDERATED_USER,
    "chaos": users.CHAOS,
    "harness": users.HARNESS,
}


class ControlPlaneSession(Session):
    """Every run has an own namespace and own fake nodes; the audit log tells who wrote what."""

    cluster: ClassVar[ClusterName] = "control-plane"
    kubernetes_version = "v1.36.3"
    plane: ControlPlane

    def __init__(
        self,
        implementations: Mapping[str, UnderTest],
        extra_crds: Iterable[Object] = (),
        out: Path | None = None,
        settings: Settings = SHARED,
        cluster: Path | None = None,
    ) -> None:
        """With the settings `ALONE`, make one run at a time. `cluster` is the folder of a
        control plane that runs already, and goes on; its settings are its own."""
        super().__init__(implementations, out)
        self._plane_lock = None if cluster is None else ControlPlaneLock(cluster)
        self.plane = (
            ControlPlane(self.folder / "control-plane", settings)
            if self._plane_lock is None
            else self._plane_lock.plane
        )
        self.own_plane = self.plane
        self._nodes: dict[str, tuple[str, ...]] = {}
        extra = tuple(extra_crds)
        self._crds = installed_crds(implementations, extra)
        self._extra_kinds = tuple(map(defined_kind, filter(is_granted, extra)))

    def _open(self, begun: ExitStack) -> None:
        if self._plane_lock is None:
            begun.callback(self.plane.stop)
            self.plane.start(self._crds)
        else:
            begun.enter_context(self._plane_lock)
            spelled = {role: it.as_option for role, it in self.implementations.items()}
            self._plane_lock.require(self._crds, in_one_text(spelled))
        # Its names are those of other control planes' runs, and it is the only tenant of this one.
        self._scratch.claim(server=self.plane.server)
        self.connections = {
            actor: RetryingConnection(self._as_user(user)) for actor, user in ACTORS.items()
        }
        # Each role has users of its own: those of one have none of the rights of another.
        roles = tuple(self.implementations)
        self.hosts = {
            role: self._host(role, users.OPERATORS[number :: len(roles)])
            for number, role in enumerate(roles)
        }
        self.recorder = Recorder(
            self._as_user(users.HARNESS), followed_kinds(self._crds), self.plane.audit_log
        )

    def _host(self, role: str, own: Sequence[users.User]) -> ProcessHost:
        """The processes of a role, whose users are granted what its implementation asks for."""
        implementation = self.implementations[role]
        group = "rbac.authorization.k8s.io"
        grant(
            self.connections["harness"],
            implementation,
            self._extra_kinds,
            [{"kind": "User", "name": user.name, "apiGroup": group} for user in own],
            run_label="session",
            prefix=f"{role}-",
        )
        return ProcessHost(self, implementation, TokenUsers(own, self.plane.kubeconfig))

    def new_namespace(self) -> str:
        name = f"run-{self._next_number()}"
        self._create_namespace(name, name)
        return name

    def add_namespace(self, run: str, name: str) -> str:
        added = f"{run}-{name}"
        self._create_namespace(added, run)
        return added

    def _create_namespace(self, name: str, run: str) -> None:
        metadata = {"name": name, "labels": {RUN_LABEL: run}}
        manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        self.connections["harness"].handle(create(manifest))

    def take_nodes(self, namespace: str, scenario: Scenario) -> dict[str, str]:
        zones = self.plane.settings.zones
        taken = {
            f"{namespace}-n{index}": zones[index % len(zones)] for index in range(scenario.nodes)
        }
        gpus = {"nvidia.com/gpu": str(scenario.gpus)} if scenario.gpus else {}
        wanted = [
            FakeNode(name, zone, labels={RUN_LABEL: namespace}, capacity=gpus)
            for name, zone in taken.items()
        ]
        # Whatever becomes of their creation, at the end of the run they are deleted.
        self._nodes[namespace] = tuple(taken)
        api = self.plane.api(patience_seconds=PATIENCE_SECONDS)
        nodes.create(api, wanted)
        nodes.wait_ready(api, taken)
        return taken

    def end_run(self, namespace: str) -> None:
        """The namespace stays until the control plane goes, or is cleaned."""
        api = self.plane.api(patience_seconds=PATIENCE_SECONDS)
        nodes.delete(api, self._nodes.pop(namespace))
        own = f"{RUN_LABEL}={namespace}"
        harness = self.connections["harness"]
        built_in = set(map(str, BUILT_IN_KINDS))
        for kind in self.recorder.kinds:
            if not kind.namespaced and str(kind) not in built_in:
                harness.handle(DeleteCollection(kind, "", label_selector=own))

    def tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.plane.ca))

    def harness_kubeconfig_through(self, server: str, path: Path) -> Path:
        return kubeconfig_through(self.plane.kubeconfig(users.HARNESS), server, path)

    def _as_user(self, user: users.User) -> Connection:
        return self.connection(self.plane.kubeconfig(user), None, "assay")
