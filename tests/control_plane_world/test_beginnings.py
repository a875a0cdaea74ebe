"""A run that cannot begin gives back all that it had for itself by then, like one that ends."""

from __future__ import annotations

import socket
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
import yaml

from clusters.control_plane import pki
from clusters.control_plane.ports import LOOPBACK
from clusters.control_plane.process import Process
from clusters.control_plane.users import User
from conformance.implementations.under_test import Launch, Place, UnderTest
from conformance.scenario_type import Scenario
from conformance.suites.appwrapper.api import APPWRAPPER
from conformance.worlds.control_plane.http_requests import known_kind
from conformance.worlds.control_plane.network import MachineNetwork
from conformance.worlds.control_plane.operator_process import launch_directly
from conformance.worlds.control_plane.operator_users import OperatorUsers
from conformance.worlds.control_plane.process_host import ProcessHost
from conformance.worlds.control_plane.recorder import Commit
from conformance.worlds.control_plane.session import Session
from conformance.worlds.control_plane.world import ControlPlaneWorld
from reference_controller.runtime.admission_review import Webhook
from vocabulary.clock import HOUR, MINUTE, SECOND
from vocabulary.history import Capabilities, OperatorFacts, WorldFacts
from vocabulary.requests import Create

from .test_operator_process import HEALTHY

RUN = "run-0"


class BrokenOffError(Exception):
    """The action that was in progress when the run aborted fails."""


class CountedNetwork(MachineNetwork):
    """An object that records when it is closed."""

    def __init__(self, closed: Callable[[], None]) -> None:
        self.close = closed  # type: ignore[method-assign]


class CountedHost(ProcessHost):
    """Processes whose networks the session counts."""

    def new_network(self) -> CountedNetwork:
        return cast(FakeSession, self._session).new_network()


class FakeSession:
    """Gives runs what they ask for, and remembers what it has not got back."""

    def __init__(self, folder: Path, breaks_at: str = "", time: int = 1) -> None:
        """`breaks_at`: what cannot be done when it is done for the `time`-th time."""
        self._breaks_at = (breaks_at, time)
        self._done: Counter[str] = Counter()
        keys = pki.create(folder / "pki")
        self.given: Counter[str] = Counter()
        self.processes: list[Process] = []
        self.ports: set[int] = set()
        """Addresses that were listened on, for the operator or for the API server."""
        self.listeners: list[object] = []
        self.folder = folder
        self.pod_image = ""
        self.webhook_host = LOOPBACK
        self.plane = SimpleNamespace(
            server="http://127.0.0.1:1", ca=keys.ca.certificate, webhook_pair=keys.webhook
        )
        self.connections = {"harness": self}
        self.starter = self
        self.starts = self
        self.recorder = SimpleNamespace(
            kinds=(), revision=0, changed=threading.Condition(), listeners=self.listeners
        )
        self.cluster, self.kubernetes_version = "control-plane", "v1.36.0"
        self.facts = WorldFacts()
        self.pulse = SimpleNamespace(slack_us=lambda _since_us: 0)
        implementation = self.implementation = SimpleNamespace(
            name="mine",
            role="appwrapper",
            facts=OperatorFacts(),
            installed=None,
            fixed_port=None,
            constant_names={},
            constant_folder=None,
            poke_every_us=None,
            polls_every_us=None,
            sees_whole_cluster=False,
            webhooks=lambda _config: {APPWRAPPER: Webhook(mutate=max)},
            launch=self._launch,
        )
        self.implementations = {"appwrapper": implementation}
        self.discovery = SimpleNamespace(of_resource=known_kind)
        self.hosts = {
            "appwrapper": CountedHost(
                cast(Session, self), cast(UnderTest, implementation), cast(OperatorUsers, self)
            )
        }

    # Of the session itself.

    def late_us(self, _role: str) -> int:
        return 0

    def tls(self) -> None:
        return None

    def new_namespace(self) -> str:
        self._give("namespace")
        return RUN

    def take_nodes(self, _namespace: str, _scenario: Scenario) -> dict[str, str]:
        self._do("take nodes")
        return {"n0": "a"}

    def end_run(self, namespace: str) -> None:
        assert namespace == RUN
        self.given["namespace"] -= 1

    def take(self) -> User:
        self._give("user")
        return User(f"operator-{self.given['user']}")

    def give_back(self, _user: User) -> None:
        self.given["user"] -= 1

    def new_network(self) -> CountedNetwork:
        self._give("network")

        def closed() -> None:
            self.given["network"] -= 1

        return CountedNetwork(closed)

    def kubeconfig_through(self, _user: User, server: str, path: Path) -> Path:
        self.ports.add(urlsplit(server).port or 0)
        path.write_text(yaml.safe_dump({"users": [{"user": {}}]}), encoding="utf-8")
        return path

    def capabilities(self, _namespace: str, _began_us: int) -> Capabilities:
        return Capabilities(writers=False)

    def commits(self, *_: object) -> list[Commit]:
        return []

    def audited(self, *_: object) -> list[dict[str, Any]]:
        return []

    # Of what belongs to it.

    def handle(self, request: Create) -> None:
        """The API server."""
        for webhook in cast(Any, request.object)["webhooks"]:
            self.ports.add(urlsplit(webhook["clientConfig"]["url"]).port or 0)

    def _launch(self, place: Place) -> Launch:
        self._do("launch")
        return Launch(command=(sys.executable, "-c", HEALTHY, str(place.health_port)))

    def start(self, command: Sequence[str], log: Path, network: Path | None) -> Process:
        assert network is None
        self._do("start")
        self.processes.append(launch_directly(command, log))
        return self.processes[-1]

    def note(self, problem: str) -> None:
        """The operators are ready, or are not."""
        assert not problem
        self._do("note")

    # What is left.

    def left(self) -> set[str]:
        """The resources that a run holds and has released."""
        return {
            *(what for what, count in self.given.items() if count),
            *(f"port {port}" for port in self.ports if is_listening(port)),
            *(f"process {each.pid}" for each in self.processes if each.is_alive()),
            *("a listener" for _ in self.listeners),
        }

    def _do(self, what: str) -> None:
        self._done[what] += 1
        if (what, self._done[what]) == self._breaks_at:
            raise BrokenOffError(what)

    def _give(self, what: str) -> None:
        self._do(f"give {what}")
        self.given[what] += 1


def is_listening(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex((LOOPBACK, port)) == 0


def begin(session: FakeSession, *, untouched: bool = False) -> ControlPlaneWorld:
    scenario = Scenario(
        "suite/file/run",
        "",
        (),
        lambda _world: None,
        session.folder,
        roles=("appwrapper",),
        untouched=untouched,
    )
    return ControlPlaneWorld(cast(Session, session), scenario, 1, None)


def test_a_run_that_ends_gives_back_all_that_it_had(tmp_path: Path) -> None:
    session = FakeSession(tmp_path)
    world = begin(session)
    (operator,) = session.processes
    assert session.left() == {
        *("namespace", "user", "network", "a listener"),
        *(f"port {port}" for port in session.ports),
        f"process {operator.pid}",
    }
    assert session.given == {"namespace": 1, "user": 2, "network": 2}
    assert len(session.ports) == 3  # two proxies and the webhooks
    world.close()
    assert session.left() == set()


@pytest.mark.parametrize(
    ("breaks_at", "time", "ports"),
    [
        ("take nodes", 1, 0),
        ("give user", 2, 1),
        ("give network", 2, 1),
        ("launch", 2, 3),
        ("start", 1, 3),
        ("note", 1, 3),
    ],
)
def test_a_run_that_cannot_begin_gives_back_what_it_had_by_then(
    tmp_path: Path, breaks_at: str, time: int, ports: int
) -> None:
    session = FakeSession(tmp_path, breaks_at, time)
    with pytest.raises(BrokenOffError, match=breaks_at):
        begin(session)
    assert len(session.ports) == ports
    assert session.given.keys() >= {"namespace"}
    assert session.left() == set()


@pytest.mark.parametrize("untouched", [False, True])
def test_an_untouched_run_triggers_no_resync_and_is_as_long_as_the_operators_own_polling_needs(
    tmp_path: Path, untouched: bool
) -> None:
    session = FakeSession(tmp_path)
    session.implementation.poke_every_us = HOUR
    session.implementation.polls_every_us = MINUTE
    world = begin(session, untouched=untouched)
    try:
        triggers = [each for each in threading.enumerate() if each.name == "resync-trigger"]
        assert len(triggers) == (0 if untouched else 1)
        assert world.durations.failure_grace_us == (MINUTE if untouched else 5 * SECOND)
        header, _ = world.history()
        assert header.first.facts.untouched is untouched
    finally:
        world.close()
