"""Where a program finds the certificate of its webhooks."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import pytest

from clusters.simulated.cluster import SimulatedCluster
from conformance.implementations.under_test import MUTATING, OwnWebhooks, registered_as
from conformance.worlds.lockstep.serving_certificate import ServingCertificates
from vocabulary.history import Write
from vocabulary.kinds import SECRET, Kind
from vocabulary.objects import Object
from vocabulary.requests import Get, Patch

ROLE = "toy"
CONFIGURATION: Object = {"kind": MUTATING, "webhooks": [{"name": "label.example.com"}]}
CONFIGURATIONS = Kind(
    "admissionregistration.k8s.io", "v1", MUTATING, f"{MUTATING.lower()}s", namespaced=False
)


@pytest.fixture
def cluster() -> SimulatedCluster:
    return SimulatedCluster(1, nodes=0)


def webhooks(folder: Path, secret: str) -> OwnWebhooks:
    return OwnWebhooks(port=1, folder=folder, secret=secret, configurations=(CONFIGURATION,))


def test_without_a_secret_it_is_made_for_the_program(
    cluster: SimulatedCluster, tmp_path: Path
) -> None:
    ServingCertificates(cluster, ROLE, "default", lambda: None).mount(
        webhooks(tmp_path / "tls", "")
    )
    for name in ("tls.crt", "tls.key"):
        file = tmp_path / "tls" / name
        assert file.read_text().startswith("-----BEGIN")
        assert file.stat().st_mode & 0o077 == 0


def test_a_secret_is_mounted_once_the_program_has_filled_it(
    cluster: SimulatedCluster, tmp_path: Path
) -> None:
    certificates = ServingCertificates(cluster, ROLE, "default", lambda: None)
    for replica in ("a", "b"):
        certificates.mount(webhooks(tmp_path / replica, "keys"))
    assert not any(tmp_path.rglob("tls.crt"))
    data = {name: base64.b64encode(b"made here").decode() for name in ("tls.crt", "tls.key")}
    cluster.api.handle(Patch(SECRET, "default", "keys", {"data": data}, "merge"), ROLE)
    assert sorted(file.read_bytes() for file in tmp_path.rglob("tls.*")) == [b"made here"] * 4


def test_a_secret_in_another_namespace_is_created_with_that(
    cluster: SimulatedCluster, tmp_path: Path
) -> None:
    own = replace(webhooks(tmp_path / "first", "keys"), secret_namespace="system")
    certificates = ServingCertificates(cluster, ROLE, "default", lambda: None)
    certificates.mount(own)
    data = {name: base64.b64encode(b"made here").decode() for name in ("tls.crt", "tls.key")}
    cluster.api.handle(Patch(SECRET, "system", "keys", {"data": data}, "merge"), ROLE)
    certificates.mount(replace(own, folder=tmp_path / "second"))
    assert sorted(file.read_bytes() for file in tmp_path.rglob("tls.*")) == [b"made here"] * 4


def test_a_replica_that_starts_later_finds_the_files(
    cluster: SimulatedCluster, tmp_path: Path
) -> None:
    woken = []
    certificates = ServingCertificates(cluster, ROLE, "default", lambda: woken.append(True))
    certificates.mount(webhooks(tmp_path / "first", "keys"))
    data = {name: base64.b64encode(b"made here").decode() for name in ("tls.crt", "tls.key")}
    cluster.api.handle(Patch(SECRET, "default", "keys", {"data": data}, "merge"), ROLE)
    assert woken
    certificates.mount(webhooks(tmp_path / "second", "keys"))
    assert (tmp_path / "second" / "tls.crt").read_bytes() == b"made here"


def test_its_configurations_can_be_read_and_its_keys_are_not_recorded(
    cluster: SimulatedCluster, tmp_path: Path
) -> None:
    ServingCertificates(cluster, ROLE, "default", lambda: None).mount(webhooks(tmp_path, "keys"))
    name = registered_as(MUTATING, ROLE, "default")
    found = cluster.api.handle(Get(CONFIGURATIONS, "", name), ROLE)
    assert [each["name"] for each in found["webhooks"]] == ["label.example.com"]
    assert not [entry for entry in cluster.recorder.entries if isinstance(entry, Write)]
