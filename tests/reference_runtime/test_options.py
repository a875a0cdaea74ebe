"""Options that cannot work are refused before anything starts, with the next action."""

from __future__ import annotations

import http.client
import re
import socket
from pathlib import Path
from typing import Any, ClassVar

import pytest

from reference_controller.runtime.options import OperatorOptions, OptionsError
from reference_controller.runtime.process import OperatorProcess, run
from reference_controller.runtime.program import Program

from .test_metrics import Counted
from .toy import CopyController


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"workers": 0}, "give at least 1"),
        ({"log_level": "loud"}, "choose one of debug, info, warning, error"),
        ({"kubeconfig": Path("/absent")}, "--kubeconfig: there is no file /absent"),
        ({"webhook_port": 0}, "add --webhook-certificate and --webhook-key"),
    ],
)
def test_an_unusable_option_names_itself(given: dict[str, Any], says: str) -> None:
    with pytest.raises(OptionsError, match=re.escape(says)):
        OperatorOptions(**given)


KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG)
    return path


CERTIFICATE = {"webhook_certificate": Path(__file__), "webhook_key": Path(__file__)}
PROGRAM = Program(name="toy", controllers=(CopyController(),))


def test_probes_and_metrics_share_one_port_if_they_are_given_the_same(kubeconfig: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = OperatorOptions(kubeconfig=kubeconfig, health_port=port, metrics_port=port)
    (endpoints,) = OperatorProcess(PROGRAM, options).endpoints
    endpoints.start()
    try:
        assert status_of(port, "/healthz") == 200
        assert status_of(port, "/readyz") == 503
        assert status_of(port, "/metrics") == 200
        assert status_of(port, "/elsewhere") == 404
    finally:
        endpoints.stop()


class Counters:
    help: ClassVar = {"copies_total": "Copies made."}

    def samples(self) -> list[Counted]:
        return [Counted("copies_total", {"kind": "Pod"}, 3)]


class Counts(CopyController):
    metrics = Counters()


def test_metrics_show_each_controller_by_name_and_its_own_counters(kubeconfig: Path) -> None:
    program = Program(name="both", controllers=(CopyController(), Counts("counts")))
    (endpoints,) = OperatorProcess(
        program, OperatorOptions(kubeconfig=kubeconfig, metrics_port=0)
    ).endpoints
    endpoints.start()
    try:
        text = answer(endpoints.port, "/metrics").read().decode()
    finally:
        endpoints.stop()
    for line in (
        'workqueue_depth{name="toy"} 0.0',
        'workqueue_depth{name="counts"} 0.0',
        'leader_election_master_status{name="both"} 1.0',
        'copies_total{kind="Pod"} 3.0',
    ):
        assert line in text.splitlines()


def status_of(port: int, path: str) -> int:
    return answer(port, path).status


def answer(port: int, path: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    connection.request("GET", path)
    return connection.getresponse()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"context": "absent"}, "a context that is in it"),
        ({"leader_elect": True, "lease_duration_us": 1}, "leader election: lease_duration"),
        ({"health_port": 1}, "choose another one"),
        ({"webhook_port": 1, **CERTIFICATE}, "toy has no webhooks; leave it out"),
    ],
)
def test_what_only_shows_at_the_start_ends_it_with_exit_code_2(
    kubeconfig: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    says: str,
) -> None:
    logged: list[str] = []
    monkeypatch.setattr("reference_controller.runtime.logs.set_up", lambda level: None)
    monkeypatch.setattr("reference_controller.runtime.process.LOG.error", logged.append)
    # An address that is not this machine's: no port on it can be had.
    given = {"kubeconfig": kubeconfig, "listen_host": "192.0.2.1", **options}
    assert run(PROGRAM, OperatorOptions(**given)) == 2
    assert says in logged[0]
