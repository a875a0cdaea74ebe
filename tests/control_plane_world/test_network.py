"""Networks of one's own, and what leads into them: programs with one port run side by side."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from clusters.control_plane.ports import LOOPBACK, free_ports
from conformance.worlds.control_plane.forwarder import Forwarder
from conformance.worlds.control_plane.network import (
    MachineNetwork,
    NamedMachine,
    NetworkNamespace,
    why_no_hostname_can_be_given,
    why_none_can_be_made,
)
from conformance.worlds.control_plane.operator_process import RealOperator
from conformance.worlds.control_plane.starter import Starter

from .test_operator_process import HEALTHY

WAIT_SECONDS = 60.0

ASKS_ITS_NAME = "import socket; print(socket.gethostname(), end='')"


class Echo:
    """A server that sends back what it gets."""

    def __init__(self) -> None:
        self._listener = socket.create_server((LOOPBACK, 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def connect(self) -> socket.socket:
        return socket.create_connection((LOOPBACK, self.port))

    def stop(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(caller,), daemon=True).start()

    def _serve(self, caller: socket.socket) -> None:
        with caller:
            while data := caller.recv(1024):
                caller.sendall(data)


@pytest.fixture
def echo() -> Iterator[Echo]:
    made = Echo()
    yield made
    made.stop()


def call(port: int) -> socket.socket:
    return socket.create_connection((LOOPBACK, port), timeout=WAIT_SECONDS)


def test_what_is_said_reaches_the_server_and_its_answer_comes_back(echo: Echo) -> None:
    (port,) = free_ports(1)
    forwarder = Forwarder(LOOPBACK, port, echo.connect)
    forwarder.start()
    with call(port) as first, call(port) as second:
        for caller, text in ((first, b"one"), (second, b"two")):
            caller.sendall(text)
            assert caller.recv(1024) == text
    forwarder.stop()


def test_whoever_is_connected_is_cut_off_when_it_stops_and_may_come_again(echo: Echo) -> None:
    (port,) = free_ports(1)
    forwarder = Forwarder(LOOPBACK, port, echo.connect)
    forwarder.start()
    with call(port) as caller:
        caller.sendall(b"one")
        assert caller.recv(1024) == b"one"
        forwarder.stop()
        assert caller.recv(1024) == b""
    with pytest.raises(ConnectionRefusedError):
        call(port)
    forwarder.start()
    with call(port) as caller:
        caller.sendall(b"two")
        assert caller.recv(1024) == b"two"
    forwarder.stop()


def test_where_no_server_is_the_caller_is_hung_up_on() -> None:
    port, nobodys = free_ports(2)
    forwarder = Forwarder(LOOPBACK, port, partial(MachineNetwork().connect, nobodys))
    forwarder.start()
    with call(port) as caller:
        assert caller.recv(1024) == b""
    forwarder.stop()


class LosesTheFirst:
    """A listener whose first caller is gone before it could be accepted."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.lost = 0

    def accept(self) -> tuple[socket.socket, Any]:
        if not self.lost:
            self.lost += 1
            raise ConnectionAbortedError
        return self._listener.accept()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._listener, name)


def test_a_caller_that_is_gone_at_once_keeps_no_other_from_being_served(
    echo: Echo, monkeypatch: pytest.MonkeyPatch
) -> None:
    (port,) = free_ports(1)
    listener = LosesTheFirst(socket.create_server((LOOPBACK, port)))
    monkeypatch.setattr(socket, "create_server", lambda *_address, **_options: listener)
    forwarder = Forwarder(LOOPBACK, port, echo.connect)
    forwarder.start()
    with call(port) as caller:
        caller.sendall(b"one")
        assert caller.recv(1024) == b"one"
    assert listener.lost == 1
    forwarder.stop()


class Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:  # http.server's
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(id(self.server)).encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def networks() -> Iterator[tuple[NetworkNamespace, NetworkNamespace]]:
    if why := why_none_can_be_made():
        pytest.skip(f"this user may have no network of his own: {why}")
    made = NetworkNamespace(), NetworkNamespace()
    yield made
    for network in made:
        network.close()


def test_two_servers_listen_on_one_port_and_each_is_reached_in_its_own_network(
    networks: tuple[NetworkNamespace, NetworkNamespace],
) -> None:
    (port,) = free_ports(1)
    servers = [n.make(partial(HTTPServer, (LOOPBACK, port), Healthy)) for n in networks]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    with pytest.raises(ConnectionRefusedError):
        call(port)
    networks[1].show(port)
    with urlopen(f"http://{LOOPBACK}:{port}", timeout=WAIT_SECONDS) as answer:
        assert answer.read() == str(id(servers[1])).encode()
    for server in servers:
        server.shutdown()
        server.server_close()


def test_each_process_has_the_host_name_of_its_machine() -> None:
    if why := why_no_hostname_can_be_given() or why_none_can_be_made():
        pytest.skip(f"this user may have no host name of his own: {why}")
    ask = partial(subprocess.check_output, [sys.executable, "-c", ASKS_ITS_NAME], text=True)
    machines = NamedMachine("operator-1"), NetworkNamespace("operator-2")
    assert [machine.make(ask) for machine in machines] == ["operator-1", "operator-2"]
    assert ask() == socket.gethostname()
    for machine in machines:
        machine.close()


def test_a_network_needs_no_permission_for_host_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(call: str, *_: object) -> None:
        raise PermissionError("no host names")

    if why := why_none_can_be_made():
        pytest.skip(f"this user may have no network of his own: {why}")
    why_none_can_be_made.cache_clear()
    why_no_hostname_can_be_given.cache_clear()
    monkeypatch.setattr(f"{NetworkNamespace.__module__}._name_machine", refuse)
    assert (why_none_can_be_made(), why_no_hostname_can_be_given()) == ("", "no host names")
    why_no_hostname_can_be_given.cache_clear()


def test_a_caller_who_comes_when_the_network_is_closed_finds_nobody(
    networks: tuple[NetworkNamespace, NetworkNamespace],
) -> None:
    networks[0].close()
    with pytest.raises(ConnectionRefusedError, match="closed"):
        networks[0].connect(80)


def test_operators_with_one_health_port_become_ready_side_by_side(
    networks: tuple[NetworkNamespace, NetworkNamespace], tmp_path: Path
) -> None:
    port, *reached_at = free_ports(3)
    command = [sys.executable, "-c", HEALTHY, str(port)]
    with Starter() as starter:
        operators = []
        for health_port, network in zip(reached_at, networks, strict=True):
            forwarder = Forwarder(LOOPBACK, health_port, partial(network.connect, port))
            forwarder.start()
            operator = RealOperator(
                "operator",
                command,
                health_port,
                tmp_path / f"log-{health_port}",
                lambda _name, _change: None,
                partial(starter.start, network=network.path),
            )
            operator.start()
            operators.append((operator, forwarder))
        for operator, _ in operators:
            operator.wait_ready()
        assert [operator.state for operator, _ in operators] == ["running", "running"]
        for operator, forwarder in operators:
            operator.kill()
            forwarder.stop()
