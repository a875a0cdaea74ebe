"""Webhooks that an operator serves itself: registered for its run, reached, and proven."""

from __future__ import annotations

import base64
import socket
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from clusters.control_plane import pki
from clusters.control_plane.ports import LOOPBACK, free_ports
from conformance.implementations.ours import implementation
from conformance.implementations.under_test import OwnWebhooks
from conformance.left_behind.clean import RUN_LABEL
from conformance.worlds.control_plane import process_webhooks
from conformance.worlds.control_plane.network import MachineNetwork
from conformance.worlds.control_plane.process_webhooks import ProcessWebhooks
from conformance.worlds.control_plane.recorder import Commit
from conformance.worlds.control_plane.session import Session
from vocabulary.errors import ApiError
from vocabulary.kinds import POD, SECRET
from vocabulary.objects import Object
from vocabulary.requests import Create

RUN = "run-7"
REFERENCE = implementation("reference", "appwrapper").on_real_clusters()
SECRET_NAME = "webhook-server-cert"


def configuration(kind: str, path: str) -> Object:
    """A webhook manifest as kubebuilder writes it, before kustomize renames anything."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "some-webhook-configuration"},
        "webhooks": [
            {
                "name": "mappwrapper.kb.io",
                "clientConfig": {
                    "service": {"name": "webhook-service", "namespace": "system", "path": path}
                },
                "failurePolicy": "Fail",
                "rules": [{"operations": ["CREATE"], "resources": ["appwrappers"], "scope": "*"}],
            }
        ],
    }


class FakeRecorder:
    """Shows what is put there."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.objects: dict[str, Object] = {}

    def stored(self, _kind: object, _namespace: str, name: str) -> Object | None:
        return self.objects.get(name)


class Ground:
    """The parts of a session that webhooks need."""

    def __init__(self, folder: Path) -> None:
        self.created: dict[str, Create] = {}
        self.recorder = FakeRecorder()
        keys = pki.create(folder)
        self.session = cast(
            Session,
            SimpleNamespace(
                webhook_host=LOOPBACK,
                plane=SimpleNamespace(ca=keys.ca.certificate, webhook_pair=keys.webhook),
                connections={"harness": self},
                recorder=self.recorder,
            ),
        )

        self.refusals: list[str] = []
        """The errors of the next dry-run creations, in order."""
        self.asked = 0

    def handle(self, request: Create) -> None:
        if request.dry_run:
            self.asked += 1
            if self.refusals:
                raise ApiError(500, "InternalError", self.refusals.pop(0))
            return
        self.created[request.kind.kind] = request

    def object(self, kind: str) -> Any:
        return self.created[kind].object


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path / "pki")


@pytest.fixture
def webhooks(ground: Ground) -> Iterator[ProcessWebhooks]:
    made = ProcessWebhooks(ground.session, REFERENCE, (RUN,))
    yield made
    made.close()


def own(folder: Path, *, secret: str, port: int = 9443) -> OwnWebhooks:
    return OwnWebhooks(
        port=port,
        folder=folder / "serving-certs",
        secret=secret,
        configurations=(
            configuration("MutatingWebhookConfiguration", "/mutate"),
            configuration("ValidatingWebhookConfiguration", "/validate"),
        ),
    )


def nobody() -> socket.socket:
    raise ConnectionRefusedError


def test_they_are_called_for_the_namespace_of_the_run_and_cleaned_up_with_it(
    ground: Ground, webhooks: ProcessWebhooks, tmp_path: Path
) -> None:
    webhooks.expect(own(tmp_path, secret=SECRET_NAME), nobody)
    for which in ("Mutating", "Validating"):
        registered = ground.object(f"{which}WebhookConfiguration")
        assert registered["metadata"] == {
            "name": f"{which.lower()}.appwrapper.{RUN}.assay.dev",
            "labels": {RUN_LABEL: RUN},
        }
        (called,) = registered["webhooks"]
        assert called["failurePolicy"] == "Fail"
        assert called["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": RUN}}
        (rule,) = called["rules"]
        assert rule == {
            "operations": ["CREATE"],
            "resources": ["appwrappers"],
            "scope": "Namespaced",
        }


def test_the_api_server_finds_this_machine_behind_the_service_that_the_operator_names(
    ground: Ground, webhooks: ProcessWebhooks, tmp_path: Path
) -> None:
    webhooks.expect(own(tmp_path, secret=SECRET_NAME), nobody)
    service = ground.object("Service")
    assert service["metadata"]["name"] == "webhook-service"
    assert service["spec"] == {"type": "ExternalName", "externalName": LOOPBACK}
    (called,) = ground.object("MutatingWebhookConfiguration")["webhooks"]
    told = called["clientConfig"]["service"]
    assert (told["name"], told["namespace"], told["path"]) == ("webhook-service", RUN, "/mutate")
    assert told["port"] != 9443  # the harness's, which leads there


def test_a_secret_that_the_operator_fills_is_mounted_where_it_looks_for_it(
    ground: Ground, webhooks: ProcessWebhooks, tmp_path: Path
) -> None:
    told = own(tmp_path, secret=SECRET_NAME)
    webhooks.expect(told, nobody)
    assert "data" not in ground.object("Secret")
    data = {name: base64.b64encode(name.encode()).decode() for name in ("ca.crt", "tls.key")}
    for more in ({}, {"tls.crt": base64.b64encode(b"tls.crt").decode()}):
        with ground.recorder.changed:
            ground.recorder.objects[SECRET_NAME] = {"data": {**data, **more}}
            ground.recorder.changed.notify_all()
    deadline = time.monotonic() + 60
    while not (told.folder / "tls.crt").exists():
        assert time.monotonic() < deadline, "a minute passed in vain"
        time.sleep(0.01)
    mounted = {file.name: file.read_text(encoding="utf-8") for file in told.folder.iterdir()}
    assert mounted == {name: name for name in ("ca.crt", "tls.crt", "tls.key")}


def test_an_operator_that_makes_no_certificate_is_given_one_that_the_api_server_trusts(
    ground: Ground, webhooks: ProcessWebhooks, tmp_path: Path
) -> None:
    told = own(tmp_path, secret="")
    webhooks.expect(told, nobody)
    assert ground.created.keys() == {
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
    }
    plane = ground.session.plane
    (called,) = ground.object("ValidatingWebhookConfiguration")["webhooks"]
    assert called["clientConfig"]["url"].endswith("/validate")
    assert base64.b64decode(called["clientConfig"]["caBundle"]) == plane.ca.read_bytes()
    for file in (plane.webhook_pair.certificate, plane.webhook_pair.key):
        assert (told.folder / file.name).read_bytes() == file.read_bytes()


def test_of_two_operators_the_one_that_is_up_is_called_and_none_after_a_stop(
    ground: Ground, webhooks: ProcessWebhooks, tmp_path: Path
) -> None:
    (port,) = free_ports(1)
    with socket.create_server((LOOPBACK, port)) as server:
        for connect in (nobody, partial(MachineNetwork().connect, port)):
            webhooks.expect(own(tmp_path, secret="", port=port), connect)
        (called,) = ground.object("MutatingWebhookConfiguration")["webhooks"]
        entrance = int(called["clientConfig"]["url"].split(":")[2].partition("/")[0])
        webhooks.start()
        with socket.create_connection((LOOPBACK, entrance), timeout=60) as caller:
            caller.sendall(b"asked")
            answering, _ = server.accept()
            with answering:
                assert answering.recv(1024) == b"asked"
        webhooks.stop()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((LOOPBACK, entrance))


def test_what_concerns_the_operators_keys_stays_out_of_the_history(
    webhooks: ProcessWebhooks, tmp_path: Path
) -> None:
    webhooks.expect(own(tmp_path, secret=SECRET_NAME), nobody)

    def commit(kind: Any, name: str) -> Commit:
        return Commit(1, "ADDED", kind, {"metadata": {"name": name}}, 0)

    def event(resource: str, name: str) -> dict[str, Any]:
        return {"objectRef": {"resource": resource, "name": name}}

    commits = [commit(SECRET, SECRET_NAME), commit(SECRET, "b"), commit(POD, SECRET_NAME)]
    audited = [event("secrets", SECRET_NAME), event("secrets", "b"), event("pods", "a"), {}]
    assert webhooks.without_keys(commits, audited) == (commits[1:], audited[1:])
    assert webhooks.secrets == {SECRET_NAME}


def test_an_operators_run_begins_when_the_api_server_has_heard_who_signed_its_certificate(
    ground: Ground, webhooks: ProcessWebhooks, tmp_path: Path
) -> None:
    webhooks.expect(own(tmp_path, secret=""), partial(socket.create_connection, (LOOPBACK, 1)))
    unknown = "failed calling webhook: x509: certificate signed by unknown authority"
    ground.refusals = [unknown, unknown]
    assert webhooks.wait_reached() == ""
    assert ground.asked == 3


def test_what_is_in_the_way_of_webhooks_that_are_never_reached_is_told(
    ground: Ground,
    webhooks: ProcessWebhooks,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process_webhooks, "_REACHED_SECONDS", 0.0)
    webhooks.expect(own(tmp_path, secret=""), partial(socket.create_connection, (LOOPBACK, 1)))
    ground.refusals = ["failed calling webhook: connection refused"]
    assert webhooks.wait_reached() == (
        "the operator's webhooks are not reached: failed calling webhook: connection refused"
    )


def test_an_operator_that_serves_none_is_not_waited_for(
    ground: Ground, webhooks: ProcessWebhooks
) -> None:
    ground.refusals = ["failed calling webhook: somebody else's"]
    assert webhooks.wait_reached() == ""
    assert ground.asked == 0
