"""A session on another client's cluster: borrowed nodes, labelled namespaces, all undone."""

from __future__ import annotations

import secrets
import ssl
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from clusters.containers.pods import RealContainers
from clusters.containers.rehearsal import Rehearsed, rehearse
from clusters.control_plane import pki
from clusters.control_plane.waiting import wait_until
from conformance.implementations.under_test import UnderTest
from conformance.leased.nodes import noting
from conformance.left_behind.clean import RUN_LABEL, clean_cluster, defined_kind
from conformance.manifests.files import is_granted
from conformance.scenario_type import Scenario
from conformance.stored_objects.retrying_connection import RetryingConnection
from conformance.worlds.control_plane.deployed_operator import Signal
from conformance.worlds.control_plane.followed import followed_kinds
from conformance.worlds.control_plane.host import Host
from conformance.worlds.control_plane.operator_users import OperatorUsers
from conformance.worlds.control_plane.process_host import ProcessHost
from conformance.worlds.control_plane.recorder import Commit, Recorder
from conformance.worlds.control_plane.session import (
    Session,
    brought_crds,
    installed_crds,
    limited_kinds,
)
from conformance.worlds.existing import definitions
from conformance.worlds.existing.accounts import Oneself, ServiceAccounts
from conformance.worlds.existing.cluster_hosts import DeployedHost, InstalledHost
from conformance.worlds.existing.installed_operator import tested
from conformance.worlds.existing.node_pool import NodePool, since_loans
from conformance.worlds.existing.preflight import Undertaking
from conformance.worlds.existing.webhook_probe import require_reachable
from conformance.worlds.existing.well_known import CONFINING, ENFORCE
from conformance.worlds.names import ClusterName
from vocabulary.clock import SECOND
from vocabulary.history import WorldFacts
from vocabulary.kinds import (
    CUSTOM_RESOURCE_DEFINITION,
    JOB,
    NAMESPACE,
    NODE,
    POD,
    RESOURCE_QUOTA,
    SERVICE_ACCOUNT,
    Kind,
)
from vocabulary.objects import Object, get_path, labels_of, name_of
from vocabulary.requests import Get, List, ObjectList, Patch, Request, create

NOTICED_SECONDS: Final = 40.0
"""The garbage collector of a cluster asks for new kinds every half a minute, and until then a
deleted owner's dependents stay: scenarios would see that as the implementation's doing."""
PREPARED_SECONDS: Final = 60.0
CLEANERS: Final = 2
"""Runs that are cleaned up after at a time."""
OPERATORS_OF_A_RUN: Final = 2
COUNTED: Final = (JOB, POD)
"""Kinds of which runs create many objects, beside those that implementations bring."""


@dataclass(frozen=True, slots=True)
class Reached:
    """The address of the cluster, and our own certificates for its webhooks."""

    server: str
    ca: Path
    webhook_pair: pki.KeyPair


class ExistingSession(Session):
    """Every run has a namespace of its own, and nodes that are lent to it."""

    cluster: ClassVar[ClusterName] = "existing"
    signal: Signal | None = None
    """How to reach the processes of pods, where that can be done."""

    def __init__(
        self,
        implementations: Mapping[str, UnderTest],
        undertaking: Undertaking,
        extra_crds: Iterable[Object] = (),
        out: Path | None = None,
        at_a_time: int = 1,
    ) -> None:
        """`undertaking` has no problems; `at_a_time`: how many runs there will be side by side."""
        super().__init__(implementations, out)
        self.kubernetes_version = undertaking.version
        self.webhook_host = undertaking.webhook_host
        self.pod_image = undertaking.pod_image
        self.name = f"assay-{secrets.token_hex(3)}"
        self._undertaking = undertaking
        self._access = undertaking.access
        self._at_a_time = at_a_time
        self._extra_crds = tuple(extra_crds)
        self._nodes: dict[str, dict[str, int]] = {}
        """By the namespace of a run, its nodes, and the revision from which on they are its own."""
        self._standing: dict[str, list[str]] = {}
        """By the first namespace of each run that has not been cleaned up after: all of them."""
        self._ends_at = time.monotonic() + undertaking.limits.time_us / SECOND

    def _open(self, begun: ExitStack) -> None:
        own = pki.create(self.folder / "pki", (*pki.WEBHOOK_NAMES, self.webhook_host))
        self.plane = Reached(self._undertaking.server, own.ca.certificate, own.webhook)
        self.connections = {
            actor: RetryingConnection(self._access.connection(f"assay-{actor}"))
            for actor in ("user", "chaos", "harness")
        }
        for connection in self.connections.values():
            begun.callback(connection.close)
        begun.callback(self._clean, self.name)
        self._scratch.claim(label=self.name)
        self._create_namespace(self.name, self.name)
        definitions.install(
            self.connections["harness"], self._undertaking.to_install, run_label=self.name
        )
        if self._undertaking.to_install:
            self._let_controllers_notice()
        self._await_prepared(self.name)
        require_reachable(self, self.name)
        self.hosts = {role: self._host(it) for role, it in self.implementations.items()}
        if self.pod_image:
            self.pods_late_us = self._rehearse().late_us
        self._pool = NodePool(
            self.connections["harness"], self._undertaking.nodes.usable, self.seconds_left
        )
        self._cleaners = ThreadPoolExecutor(CLEANERS, thread_name_prefix="clean")
        begun.callback(self._clean_all)
        wanted = set(self._undertaking.nodes.usable)
        crds = brought_crds(self.implementations)
        wanted.update(map(name_of, crds))

        def keeps(kind: Kind, obj: Object) -> bool:
            if kind in (NODE, CUSTOM_RESOURCE_DEFINITION):
                return name_of(obj) in wanted
            return labels_of(obj).get(RUN_LABEL, "") in self._standing

        self.recorder = Recorder(
            self._access.connection("assay-harness"),
            followed_kinds(installed_crds(self.implementations, self._extra_crds)),
            self._undertaking.audit_log if self._undertaking.tells_writers else None,
            keeps,
        )

    def new_namespace(self) -> str:
        name = f"{self.name}-{self._next_number()}"
        self._standing[name] = []
        self._prepare(name, name)
        return name

    def add_namespace(self, run: str, name: str) -> str:
        added = f"{run}-{name}"
        self._prepare(added, run)
        return added

    def _prepare(self, name: str, run: str) -> None:
        """Make a namespace in which that run can begin."""
        self._standing[run].append(name)
        self._create_namespace(name, run)
        self._limit(name)
        self._await_prepared(name)
        self.recorder.follow(name)

    def take_nodes(self, namespace: str, scenario: Scenario) -> dict[str, str]:
        devices = {"nvidia.com/gpu": str(scenario.gpus)} if scenario.gpus else {}
        self._nodes[namespace] = {}
        taken = self._pool.take(scenario.nodes)
        # Whatever becomes of the loan, at the end of the run they are put in order.
        self._nodes[namespace] = dict.fromkeys(taken, 0)
        lent = self._pool.lend(taken, namespace, devices)
        self._nodes[namespace] = lent
        return dict.fromkeys(lent, "")

    def as_sent(self, request: Request) -> Request:
        """Rewrite a run's request so that it reverts only its own changes to leased nodes."""
        if not isinstance(request, Patch) or request.kind != NODE or request.subresource:
            return request
        node = self.connections["harness"].handle(Get(NODE, "", request.name, live=True))
        assert not isinstance(node, ObjectList)
        return msgspec.structs.replace(request, body=noting(request.body, node))

    def end_run(self, namespace: str) -> None:
        for each in self._standing[namespace]:
            self.recorder.unfollow(each)
        cleaning = self._cleaners.submit(self._clean_run, namespace)
        cleaning.add_done_callback(partial(self._note_cleaning, namespace))
        if self._installed:
            # The next run ends the operator, whose webhooks are asked about what is removed.
            wait((cleaning,))

    def harness_kubeconfig_through(self, server: str, path: Path) -> Path:
        return self._access.kubeconfig_through(server, path)

    def tls(self) -> ssl.SSLContext | None:
        return self._access.tls(as_oneself=bool(self._undertaking.without_accounts))

    def harness_tls(self) -> ssl.SSLContext | None:
        return self._access.tls(as_oneself=True)

    def commits(self, namespace: str, nodes: Iterable[str]) -> list[Commit]:
        """The commits of a run, without those of a node before it was leased to the run."""
        since = self._nodes.get(namespace, {})
        found: list[Commit] = []
        known: set[str] = set()
        for commit in super().commits(namespace, nodes):
            name = name_of(commit.object)
            if commit.kind == NODE:
                if commit.rv < since.get(name, 0):
                    continue
                if name not in known:
                    known.add(name)
                    found.append(replace(commit, event="ADDED"))
                    continue
            found.append(commit)
        return found

    def audited(self, namespace: str, nodes: Iterable[str]) -> list[dict[str, Any]]:
        return since_loans(super().audited(namespace, nodes), self._nodes.get(namespace, {}))

    @property
    def facts(self) -> WorldFacts:
        user = {"username": self._undertaking.username, "uid": self._undertaking.uid}
        return WorldFacts(
            pods_late_us=self.pods_late_us if self.pod_image else None, users={"user": user}
        )

    # Inside.

    def _rehearse(self) -> Rehearsed:
        """Have every node run a pod: it takes the image there, and tells how long kubelets take."""
        containers = RealContainers(self.pod_image, stuck_us=0)
        user = self.connections["user"].handle
        return rehearse(user, self.name, self._undertaking.nodes.usable, containers)

    def _let_controllers_notice(self) -> None:
        """Return when the cluster's controllers know the definitions that were just installed."""
        time.sleep(NOTICED_SECONDS)

    def _create_namespace(self, name: str, run: str) -> None:
        harness = self.connections["harness"]
        metadata = {"name": name, "labels": {RUN_LABEL: run, ENFORCE: CONFINING[0]}}
        harness.handle(create({"apiVersion": "v1", "kind": NAMESPACE.kind, "metadata": metadata}))

    def _limit(self, namespace: str) -> None:
        """Bound what runs there can make, however wrong it goes."""
        counted = (*limited_kinds(self.implementations), *COUNTED)
        hard = {_counted(kind): str(self._undertaking.limits.objects) for kind in counted}
        quota = {
            "apiVersion": "v1",
            "kind": RESOURCE_QUOTA.kind,
            "metadata": {"name": "assay-objects", "namespace": namespace},
            "spec": {"hard": hard},
        }
        self.connections["harness"].handle(create(quota))

    def _await_prepared(self, namespace: str) -> None:
        """Until then the API server refuses every pod there, and everything that is counted."""
        wait_until(
            lambda: self._is_prepared(namespace),
            f"namespace {namespace} has a default service account, and its quota is counted",
            limit_seconds=PREPARED_SECONDS,
            poll_seconds=0.1,
        )

    def _is_prepared(self, namespace: str) -> bool:
        harness = self.connections["harness"]
        accounts = harness.handle(List(SERVICE_ACCOUNT, namespace, live=True))
        quotas = harness.handle(List(RESOURCE_QUOTA, namespace, live=True))
        assert isinstance(accounts, ObjectList) and isinstance(quotas, ObjectList)
        has_account = "default" in map(name_of, accounts.items)
        return has_account and all(map(_is_counted, quotas.items))

    def _host(self, implementation: UnderTest) -> Host:
        """How the operators of its role run here."""
        harness = self.connections["harness"]
        if implementation.installed is not None:
            found = tested(harness, implementation.installed, self.name)
            return InstalledHost(found, implementation, self.signal)
        users = self._users(implementation)
        image = self._undertaking.operator_images.get(implementation.role)
        if image is None:
            return ProcessHost(self, implementation, users)
        return DeployedHost(
            harness,
            implementation,
            users,
            self.signal,
            home=self.name,
            image=image,
            borrowed=self._undertaking.nodes.usable,
        )

    def _users(self, implementation: UnderTest) -> OperatorUsers:
        if self._undertaking.without_accounts:
            return Oneself(self._access, self._undertaking.username)
        return ServiceAccounts(
            self.connections["harness"],
            implementation,
            tuple(map(defined_kind, filter(is_granted, self._extra_crds))),
            self.name,
            OPERATORS_OF_A_RUN * self._at_a_time,
            2 * self._undertaking.limits.time_us // SECOND,
        )

    @property
    def _installed(self) -> tuple[InstalledHost, ...]:
        return tuple(host for host in self.hosts.values() if isinstance(host, InstalledHost))

    def _clean_run(self, namespace: str) -> None:
        """Give its nodes to the next run."""
        self._clean(namespace)
        del self._standing[namespace]
        self._pool.await_usable(self._nodes[namespace])
        self._pool.put_back(self._nodes[namespace])

    def _note_cleaning(self, namespace: str, cleaning: Future[None]) -> None:
        """Record the cleanup's failure, so that waiters for its nodes get the reason."""
        error = cleaning.exception()
        if error is not None:
            self._pool.lose(self._nodes[namespace], error)

    def _clean(self, label: str) -> None:
        clean_cluster(
            self._access.kubeconfig, context=self._access.context, run_label=label, remove=True
        )

    def _clean_all(self) -> None:
        """Also after runs that did not come as far as to their end; raises what prevents it."""
        self._cleaners.shutdown()
        if self._standing:
            for host in self._installed:
                host.tested.let_run()  # its webhooks are asked about what is removed
        for namespace in tuple(self._standing):
            self._clean(namespace)


def _is_counted(quota: Object) -> bool:
    counted = get_path(quota, "status.used") or {}
    return all(resource in counted for resource in quota["spec"]["hard"])


def _counted(kind: Kind) -> str:
    return f"count/{kind.plural}.{kind.group}" if kind.group else f"count/{kind.plural}"
