"""A session: the parts of one real cluster that many runs share, and those that each run has."""

from __future__ import annotations

import math
import signal
import ssl
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol

from clusters import crds as fixture_crds
from clusters.control_plane.launch import ControlPlane
from clusters.control_plane.pki import KeyPair
from clusters.control_plane.ports import LOOPBACK
from conformance.implementations.ours import REAL_USERS
from conformance.implementations.under_test import UnderTest
from conformance.left_behind.clean import defined_kind
from conformance.left_behind.scratch import Scratch, remove_abandoned
from conformance.scenario_type import Scenario
from conformance.stored_objects.retrying_connection import RetryingConnection
from conformance.worlds.control_plane.component import Component, components
from conformance.worlds.control_plane.host import Host
from conformance.worlds.control_plane.network import why_none_can_be_made
from conformance.worlds.control_plane.proxy import Proxy
from conformance.worlds.control_plane.pulse import Pulse
from conformance.worlds.control_plane.recorder import Commit, Recorder, wall_us
from conformance.worlds.control_plane.starter import Starter
from conformance.worlds.control_plane.starts import Starts
from conformance.worlds.control_plane.unfinished import Unfinished
from conformance.worlds.interrupts import interrupts_held_back
from conformance.worlds.names import ClusterName
from conformance.worlds.turns import port_turn, turns_at
from reference_controller.runtime.connection import Connection, connect
from reference_controller.runtime.discovery import Discovery
from vocabulary.clock import SECOND, Micros
from vocabulary.history import Capabilities, WorldFacts
from vocabulary.kinds import NAMESPACE, Kind
from vocabulary.objects import Object, name_of
from vocabulary.requests import Get, Request

TIMEOUT_US: Final = 30 * SECOND
BEGINNING: Final = 2
"""Runs that begin at a time; more would make everybody late."""
RECENT_US: Final = 30 * SECOND
"""How far back the machine's pace is looked at to choose a run's durations."""


class OutOfTimeError(Exception):
    """A run cannot begin any more: the session's time is up."""


class NotLentError(Exception):
    """One run gets no nodes, while others may; the message says why, and what to do."""


class Plane(Protocol):
    """The cluster's files and addresses that runs use."""

    @property
    def server(self) -> str:
        """The API server's URL."""

    @property
    def ca(self) -> Path:
        """The authority that vouches for `webhook_pair`."""

    @property
    def webhook_pair(self) -> KeyPair:
        """The certificate and key of webhook servers."""


class Session(ABC):
    """A cluster prepared for one implementation of each role. Use it as a context manager."""

    cluster: ClassVar[ClusterName]
    kubernetes_version: str
    plane: Plane
    webhook_host: str = LOOPBACK
    """Where the API server finds the webhooks that this machine serves."""
    own_plane: ControlPlane | None = None
    """The control plane, if it is Assay's own and its processes may be stopped."""
    pod_image: str = ""
    """The image of pods on real kubelets: any with a shell. Empty: there are none."""
    pods_late_us: Micros = 0
    """How long real kubelets take to start a pod, or to see it end."""
    hosts: Mapping[str, Host]
    """How the operators of each role run."""
    recorder: Recorder
    connections: Mapping[str, RetryingConnection]
    """Clients of the API server, by actor: `user`, `chaos`, `harness`."""

    def __init__(self, implementations: Mapping[str, UnderTest], out: Path | None = None) -> None:
        """`implementations` are those of each role; `out` is where the report will go, and until
        then the histories as far as they are."""
        self.implementations = implementations
        remove_abandoned()
        self._scratch = Scratch()
        self.folder = self._scratch.path
        self.starter = Starter()
        self.beginning = threading.BoundedSemaphore(BEGINNING)
        """Held by a run until its operator is ready: that takes as much as all the rest."""
        self.starts = Starts()
        self.unfinished = Unfinished(out)
        self._ends_at = math.inf
        self._numbers = iter(range(1_000_000))
        self._lock = threading.Lock()

    def __enter__(self) -> Session:
        with ExitStack() as begun:
            begun.callback(self._scratch.remove)
            begun.enter_context(self.starter)
            self._open(begun)
            begun.callback(self.recorder.stop)
            self.recorder.start()
            begun.callback(self.unfinished.stop)
            self.unfinished.start()
            self._start_pulse(begun)
            self._begun = begun.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        """Release everything, even if interrupted in the middle of that."""
        with interrupts_held_back(signal.SIGTERM):
            self._begun.__exit__(*error)

    @contextmanager
    def turn(self, roles: Iterable[str]) -> Iterator[None]:
        """Held by a run of these roles from its beginning to its end: of operators that use a
        constant folder or name there is one at a time on this machine, and of those that listen on
        one port, where they cannot have networks of their own.

        Raises OutOfTimeError if the turn does not come before the session's time is up.
        """
        those = [self.implementations[role] for role in roles]
        ports = {each.fixed_port for each in those if each.fixed_port is not None}
        names = {name for each in those for name in each.constant_names.values()}
        if ports and why_none_can_be_made():
            names.update(map(port_turn, ports))
        folders = {each.constant_folder for each in those if each.constant_folder is not None}
        with turns_at(names, folders, self._require_time):
            yield

    # What differs from cluster to cluster.

    @abstractmethod
    def _open(self, begun: ExitStack) -> None:
        """Make the cluster ready for runs: `plane`, `connections`, `hosts` and `recorder` are there
        then."""

    @abstractmethod
    def new_namespace(self) -> str:
        """A namespace of its own for one run; created."""

    @abstractmethod
    def add_namespace(self, run: str, name: str) -> str:
        """A further namespace of a run, named after its first one; created."""

    @abstractmethod
    def take_nodes(self, namespace: str, scenario: Scenario) -> dict[str, str]:
        """Nodes for one run, labelled as its own: the zone of each by its name.

        Raises OutOfTimeError if none are free before the session's time is up; NotLentError if
        this run cannot have any. It is to be ended like any other.
        """

    def as_sent(self, request: Request) -> Request:
        """A request of a run to the cluster, with whatever the cluster must remember of it."""
        return request

    @abstractmethod
    def end_run(self, namespace: str) -> None:
        """Take back the nodes and the namespace of a run, whose operators have ended."""

    @abstractmethod
    def harness_kubeconfig_through(self, server: str, path: Path) -> Path:
        """The harness's own kubeconfig with another server."""

    @abstractmethod
    def tls(self) -> ssl.SSLContext | None:
        """For proxies on their way to the API server; None if that speaks plain HTTP."""

    def harness_tls(self) -> ssl.SSLContext | None:
        """The same for the harness's own requests."""
        return self.tls()

    def seconds_left(self) -> float:
        """How long runs may go on."""
        return max(0.0, self._ends_at - time.monotonic())

    def seconds_until(self, deadline: float) -> float:
        """How long to wait for something, by the monotonic clock. Ask again and again: the time
        of all runs may be ended at any moment."""
        return min(deadline - time.monotonic(), self.seconds_left())

    def _require_time(self) -> None:
        if not self.seconds_left():
            raise OutOfTimeError("no run begins any more: the session's time is up")

    def end_now(self) -> None:
        """The time is up: runs in progress wait for nothing any more, and none begins."""
        self._ends_at = min(self._ends_at, time.monotonic())

    def components(
        self, zones: Mapping[str, str], record: Callable[[str, Any], None]
    ) -> dict[str, Component]:
        """The cluster's own processes, where a run that has it to itself may stop them."""
        return {} if self.own_plane is None else components(self.own_plane, zones, record)

    def capabilities(self, namespace: str, began_us: Micros) -> Capabilities:
        """The capabilities of a history of a run that began in that namespace at that time."""
        scopes = self.recorder.scopes(namespace)
        is_gapless = not self.recorder.was_interrupted(scopes, began_us)
        if self.recorder.hears_requests:
            return Capabilities() if is_gapless else Capabilities(versions=False)
        return Capabilities(
            writers=False,
            options=False,
            exact_times=False,
            versions=is_gapless,
        )

    def commits(self, namespace: str, nodes: Iterable[str]) -> list[Commit]:
        """The commits of a run, in the order of the store."""
        definitions = (name_of(crd) for crd in brought_crds(self.implementations))
        return self.recorder.commits((*self.recorder.scopes(namespace), *nodes, *definitions))

    def audited(self, namespace: str, nodes: Iterable[str]) -> list[dict[str, Any]]:
        """The requests of a run from the audit log, in the order of arrival."""
        return self.recorder.audited((*self.recorder.scopes(namespace), *nodes))

    @property
    def facts(self) -> WorldFacts:
        """The cluster's facts for a history's header, except for its delay in a run."""
        return WorldFacts(users=REAL_USERS)

    # What is the same everywhere.

    def connection(self, kubeconfig: Path, context: str | None, user_agent: str) -> Connection:
        """A client of the API server."""
        return connect(
            kubeconfig, context, user_agent=user_agent, timeout_us=TIMEOUT_US, pool_size=32
        )

    def late_us(self, role: str) -> Micros:
        """How late the operator and kubelets may be just now, as far as the past can tell."""
        told = self.implementations[role].facts.detection_latency_us or 0
        slack_us = self.pulse.slack_us(wall_us() - RECENT_US)
        return int(told) + slack_us + self.pods_late_us

    @cached_property
    def discovery(self) -> Discovery:
        """The kinds that the API server serves."""
        return Discovery(self.connections["harness"])

    def _next_number(self) -> int:
        with self._lock:
            return next(self._numbers)

    def _start_pulse(self, begun: ExitStack) -> None:
        canary = Proxy("canary", self.plane.server, self.harness_tls())
        canary.start()
        begun.callback(canary.stop)
        way = self.harness_kubeconfig_through(canary.url, self.folder / "canary.kubeconfig")
        client = connect(way, None, user_agent="assay", timeout_us=TIMEOUT_US, pool_size=1)
        read = Get(NAMESPACE, "", "default", live=True)
        self.pulse = Pulse(lambda: client.handle(read))
        self.pulse.start()
        begun.callback(self.pulse.stop)


def brought_crds(implementations: Mapping[str, UnderTest]) -> tuple[Object, ...]:
    """The definitions that the implementations under test bring, each once."""
    found = {name_of(crd): crd for it in implementations.values() for crd in it.crds()}
    return tuple(found.values())


def limited_kinds(implementations: Mapping[str, UnderTest]) -> tuple[Kind, ...]:
    """The kinds under test that a namespace's ResourceQuota counts: those without a namespace are
    not."""
    kinds = map(defined_kind, brought_crds(implementations))
    return tuple(kind for kind in kinds if kind.namespaced)


def installed_crds(
    implementations: Mapping[str, UnderTest], extra: Iterable[Object]
) -> tuple[Object, ...]:
    """The definitions that a cluster must have before scenarios run there."""
    brought = {name_of(crd): crd for crd in brought_crds(implementations)}
    others = {name_of(crd): crd for crd in (*fixture_crds.all_crds(), *extra)}
    return tuple({**brought, **others, **brought}.values())
