"""Whose a kind cluster is: one suite's at a time, and what was there before stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.worlds.kind import configuration
from conformance.worlds.kind.cluster import image_with_shell, provided, tenancy
from conformance.worlds.kind.node_containers import NodeContainers
from conformance.worlds.kind.options import KindOptions
from conformance.worlds.kind.programs import KindError

from .machine import asked, program


def docker(folder: Path, mounts: list[Any], networks: dict[str, Any] | None = None) -> Path:
    answers: dict[str, str | None] = {
        "version": "20.10",
        "image inspect": "sha256:1",
        "inspect --format {{json .Mounts}} c-control-plane": json.dumps(mounts),
        "inspect --format {{json .NetworkSettings.Networks}}": json.dumps(networks or {}),
    }
    return program(folder, "docker", answers)


def test_a_cluster_is_one_suites_at_a_time(tmp_path: Path) -> None:
    busy = pytest.raises(KindError, match="another run uses this kind cluster")
    with tenancy(tmp_path), busy, tenancy(tmp_path):
        pytest.fail("two suites on one cluster")
    with tenancy(tmp_path):
        pass


def test_a_cluster_that_was_there_before_must_write_an_audit_log_and_is_never_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker(tmp_path, [{"Destination": "/lib/modules", "Source": "/lib/modules"}])
    program(tmp_path, "kind", {"get clusters": "other\nc"})
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    options = KindOptions(cluster_name="c", kind_bin=str(tmp_path / "kind"), kind_image="i:1")
    with pytest.raises(KindError, match="kind delete cluster --name c"), provided(options):
        pytest.fail("a cluster without an audit log")
    assert asked(tmp_path, "kind") == ["get clusters"]


def test_a_cluster_that_cannot_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker(tmp_path, [])
    refusing = {"get clusters": "", "create cluster": None, "delete cluster": ""}
    program(tmp_path, "kind", refusing)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    options = KindOptions(cluster_name="c", kind_bin=str(tmp_path / "kind"), kind_image="i:1")
    with pytest.raises(KindError, match="kind create cluster ended with code 1"), provided(options):
        pytest.fail("a cluster that could not be made")
    assert asked(tmp_path, "kind")[-1].startswith("delete cluster --name=c")
    assert not (tmp_path / ".pytest-kind").exists()


def test_the_audit_log_is_found_where_the_control_planes_node_has_it_from(tmp_path: Path) -> None:
    mounts = [{"Destination": configuration.AUDIT, "Source": "/over/there"}]
    nodes = NodeContainers(str(docker(tmp_path, mounts)), "c")
    assert nodes.audit_log() == Path("/over/there/audit.log")


def test_webhooks_are_found_at_the_gateway_of_the_nodes_network(tmp_path: Path) -> None:
    networks = {"kind": {"Gateway": "172.18.0.1"}}
    nodes = NodeContainers(str(docker(tmp_path, [], networks)), "c")
    assert nodes.gateway() == "172.18.0.1"
    with pytest.raises(KindError, match="--webhook-host"):
        NodeContainers(str(docker(tmp_path, [], {"none": {"Gateway": ""}})), "c").gateway()


def test_pods_run_an_image_that_the_nodes_have() -> None:
    helper = "docker.io/kindest/local-path-helper:v1"
    assert image_with_shell(["registry.k8s.io/pause:3.10", helper]) == helper
    assert image_with_shell([helper, "localhost/busybox:1"]) == "localhost/busybox:1"
    assert image_with_shell(["registry.k8s.io/pause:3.10"]) == ""
