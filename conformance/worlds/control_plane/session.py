"""One control plane for many runs: what they share, and what each gets for itself."""

from __future__ import annotations

import queue
import ssl
import threading
import time
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import yaml

from conformance.clean import RUN_LABEL
from conformance.implementation import Implementation
from conformance.worlds.control_plane.proxy import Proxy
from conformance.worlds.control_plane.pulse import Pulse
from conformance.worlds.control_plane.recorder import Recorder
from conformance.worlds.control_plane.scratch import Scratch, remove_abandoned
from conformance.worlds.control_plane.starter import Starter
from conformance.worlds.control_plane.tenancy import Tenancy
from conformance.worlds.control_plane.unfinished import Unfinished
from fixtures import crds as fixture_crds
from fixtures.control_plane import users
from fixtures.control_plane.launch import ControlPlane
from fixtures.control_plane.settings import Settings
from reference_controller.runtime.connection import Connection, connect
from vocabulary.clock import SECOND, Micros
from vocabulary.errors import ApiError
from vocabulary.kinds import KNOWN_KINDS, NAMESPACE, Kind
from vocabulary.objects import Object, name_of
from vocabulary.requests import Create, Get, create

_NOT_FOLLOWED: Final = frozenset(("Event", "Lease.coordination.k8s.io"))
BEGINNING: Final = 2
"""Runs that begin at a time; more would make everybody late."""
RECENT_US: Final = 30 * SECOND
"""How far back the machine's pace is looked at to choose a run's durations."""
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
    "chaos": users.CHAOS,
    "harness": users.HARNESS,
}


class Session:
    """A running control plane, prepared for an implementation. Use it as a context manager."""

    def __init__(
        self,
        implementation: Implementation,
        extra_crds: Iterable[Object] = (),
        out: Path | None = None,
        settings: Settings = SHARED,
        cluster: Path | None = None,
    ) -> None:
        """`out` is where the report will go, and until then the histories as far as they are.

        With the settings `ALONE`, make one run at a time. `cluster` is the folder of a control
        plane that runs already, and goes on; its settings are its own.
        """
        self.implementation = implementation
        self._tenancy = None if cluster is None else Tenancy(cluster)
        remove_abandoned()
        self._scratch = Scratch()
        self.folder = self._scratch.path
        self.plane = (
            ControlPlane(self.folder / "control-plane", settings)
            if self._tenancy is None
            else self._tenancy.plane
        )
        extra = tuple(extra_crds)
        self._crds = installed_crds(implementation, extra)
        self._extra_kinds = tuple(kind_of_crd(crd) for crd in extra)
        self._operator_users: queue.SimpleQueue[users.User] = queue.SimpleQueue()
        for user in users.OPERATORS:
            self._operator_users.put(user)
        self.starter = Starter()
        self.beginning = threading.BoundedSemaphore(BEGINNING)
        """Held by a run until its operator is ready: that takes as much as all the rest."""
        self.unfinished = Unfinished(out)
        self._numbers = iter(range(1_000_000))
        self._lock = threading.Lock()

    def __enter__(self) -> Session:
        with ExitStack() as begun:
            begun.callback(self._scratch.remove)
            begun.enter_context(self.starter)
            if self._tenancy is None:
                begun.callback(self.plane.stop)
                self.plane.start(self._crds)
            else:
                begun.enter_context(self._tenancy)
                self._tenancy.require(self._crds)
            self._begin(begun)
            self._begun = begun.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._begun.__exit__(*error)

    def _begin(self, begun: ExitStack) -> None:
        """Prepare the running control plane for runs, and follow what happens on it."""
        self.connections = {actor: self.connection(user) for actor, user in ACTORS.items()}
        self._allow_operators()
        followed = [kind for kind in KNOWN_KINDS if str(kind) not in _NOT_FOLLOWED]
        self.recorder = Recorder(
            self.plane, self.connection(users.HARNESS), [*followed, *self._extra_kinds]
        )
        begun.callback(self.recorder.stop)
        self.recorder.start()
        begun.callback(self.unfinished.stop)
        self.unfinished.start()
        self._tls = ssl.create_default_context(cafile=str(self.plane.ca))
        self._canary = Proxy("canary", self.plane.server, self._tls)
        self._canary.start()
        begun.callback(self._canary.stop)
        way = self.kubeconfig_through(
            users.HARNESS, self._canary.url, self.folder / "canary.kubeconfig"
        )
        client = connect(way, None, user_agent="assay", timeout_us=30 * SECOND, pool_size=1)
        read = Get(NAMESPACE, "", "default", live=True)
        self.pulse = Pulse(lambda: client.handle(read))
        self.pulse.start()
        begun.callback(self.pulse.stop)

    def connection(self, user: users.User) -> Connection:
        """A client of the API server as that user."""
        return connect(
            self.plane.kubeconfig(user),
            None,
            user_agent="assay",
            timeout_us=30 * SECOND,
            pool_size=32,
        )

    def new_namespace(self) -> str:
        """A namespace of its own for one run; created."""
        with self._lock:
            name = f"run-{next(self._numbers)}"
        metadata = {"name": name, "labels": {RUN_LABEL: name}}
        manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        self.connections["harness"].handle(create(manifest))
        return name

    def take_operator_user(self) -> users.User:
        """An API user for one operator, so that the audit log tells operators apart."""
        return self._operator_users.get()

    def give_back(self, user: users.User) -> None:
        self._operator_users.put(user)

    def late_us(self) -> Micros:
        """How late the implementation may be just now, as far as the recent past can tell."""
        told = self.implementation.facts.get("detection_latency_us", 0)
        return int(told) + self.pulse.slack_us(time.time_ns() // 1000 - RECENT_US)

    def tls(self) -> ssl.SSLContext:
        """Trusts the control plane's certificate authority."""
        return self._tls

    def kubeconfig_through(self, user: users.User, server: str, path: Path) -> Path:
        """The user's kubeconfig with another server: an operator's, through its proxy."""
        config: dict[str, Any] = yaml.safe_load(
            self.plane.kubeconfig(user).read_text(encoding="utf-8")
        )
        config["clusters"][0]["cluster"] = {"server": server}
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
        path.chmod(0o600)
        return path

    def _allow_operators(self) -> None:
        """Give the operators' users the rights that the implementation asks for.

        And, as whoever administers a cluster would, those to the kinds that only scenarios know.
        """
        asked = self.implementation.rbac()
        manifests = (*map(_everywhere, asked), *self._extra_rights())
        for manifest in manifests:
            try:
                self.connections["harness"].handle(create(manifest))
            except ApiError as error:
                if not error.is_already_exists:
                    raise
        subjects = [
            {"kind": "User", "name": user.name, "apiGroup": "rbac.authorization.k8s.io"}
            for user in users.OPERATORS
        ]
        roles = [name_of(m) for m in manifests if m["kind"] == "ClusterRole"]
        for role in roles:
            binding = {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {
                    "name": f"assay-operators-{role}",
                    "labels": {RUN_LABEL: "session"},
                },
                "roleRef": {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "ClusterRole",
                    "name": role,
                },
                "subjects": subjects,
            }
            kind = Kind(
                "rbac.authorization.k8s.io",
                "v1",
                "ClusterRoleBinding",
                "clusterrolebindings",
                namespaced=False,
            )
            self.connections["harness"].handle(Create(kind, binding, "", role))

    def _extra_rights(self) -> tuple[Object, ...]:
        rules = [
            {"apiGroups": [kind.group], "resources": [kind.plural], "verbs": ["*"]}
            for kind in self._extra_kinds
        ]
        role = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "scenario-kinds", "labels": {RUN_LABEL: "session"}},
            "rules": rules,
        }
        return (role,) if rules else ()


def _everywhere(manifest: Object) -> Object:
    """What the implementation asks for, as ours; a Role for its own namespace, for any: each
    run has one of its own."""
    kind = "ClusterRole" if manifest["kind"] == "Role" else manifest["kind"]
    metadata = {"name": name_of(manifest), "labels": {RUN_LABEL: "session"}}
    return {**manifest, "kind": kind, "metadata": metadata}


def installed_crds(implementation: Implementation, extra: Iterable[Object]) -> tuple[Object, ...]:
    """The definitions that a control plane must have before its controller manager starts."""
    return (*implementation.crds(), *fixture_crds.all_crds(), *extra)


def kind_of_crd(crd: Object) -> Kind:
    """The kind that a custom resource definition serves."""
    spec = crd["spec"]
    return Kind(
        spec["group"],
        spec["versions"][0]["name"],
        spec["names"]["kind"],
        spec["names"]["plural"],
        namespaced=spec["scope"] == "Namespaced",
    )
