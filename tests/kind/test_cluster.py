"""Ownership of a kind cluster: one suite at a time, and existing contents stay."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from conformance.stored_objects.retrying_connection import RetryingConnection
from conformance.worlds.kind import cluster, configuration
from conformance.worlds.kind.cluster import (
    cluster_lock,
    delete_abandoned,
    image_with_shell,
    keep_off_workers,
    provided,
)
from conformance.worlds.kind.node_containers import NodeContainers
from conformance.worlds.kind.options import KindOptions
from conformance.worlds.kind.programs import KindError
from vocabulary.requests import List, ObjectList, Patch, Request

from .machine import asked, program

KUBECONFIG = """
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: u, user: {}}]
"""


def docker(folder: Path, mounts: list[Any], networks: dict[str, Any] | None = None) -> Path:
    answers: dict[str, str | None] = {
        "version": "20.10",
        "image inspect": "sha256:1",
        "inspect --format {{json .Mounts}} c-control-plane": json.dumps(mounts),
        "inspect --format {{json .NetworkSettings.Networks}}": json.dumps(networks or {}),
        "inspect --format {{json .State.Paused}} c-worker": "true",
        "inspect --format {{json .State.Paused}}": "false",
        "ps --all --filter label=io.x-k8s.kind.cluster=c ": "c-worker\nc-control-plane",
        "unpause": "",
        "exec": "",
    }
    return program(folder, "docker", answers)


def on_a_machine(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: dict[str, str | None],
    mounts: list[Any] | None = None,
) -> KindOptions:
    """The options for cluster `c`, with prepared output of kind, and of Docker for a cluster."""
    docker(folder, mounts or [])
    program(folder, "kind", {"get clusters": "", **kind})
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.chdir(folder)
    return KindOptions(cluster_name="c", kind_bin=str(folder / "kind"), kind_image="i:1")


def test_a_cluster_is_one_suites_at_a_time(tmp_path: Path) -> None:
    busy = pytest.raises(KindError, match="another run uses this kind cluster")
    with cluster_lock(tmp_path), busy, cluster_lock(tmp_path):
        pytest.fail("two suites on one cluster")
    with cluster_lock(tmp_path):
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


def test_what_a_deleted_cluster_left_in_the_folder_neither_keeps_the_next_nor_passes_for_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = on_a_machine(tmp_path, monkeypatch, {"create cluster": "", "delete cluster": ""})
    folder = tmp_path / ".pytest-kind" / "c"
    (folder / "audit").mkdir(parents=True)
    (folder / "audit" / "kept").touch()
    (folder / "audit" / "audit.log").write_text("{}\n")
    (folder / "kubeconfig").write_text(KUBECONFIG)
    with pytest.raises(KindError, match="audit log does not reach"), provided(options):
        pytest.fail("a cluster whose audit log cannot be read")
    assert asked(tmp_path, "kind")[-1].startswith("delete cluster --name=c")
    assert not folder.exists()


def test_a_cluster_that_cannot_be_deleted_is_told_beside_what_went_wrong_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = on_a_machine(tmp_path, monkeypatch, {"create cluster": None, "delete cluster": None})
    with pytest.raises(KindError, match="kind create cluster ended") as raised, provided(options):
        pytest.fail("a cluster that could not be made")
    (note,) = raised.value.__notes__
    assert "try again: kind delete cluster --name c" in note


def test_a_cluster_that_cannot_be_deleted_is_the_problem_if_all_else_went_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = on_a_machine(tmp_path, monkeypatch, {"delete cluster": None})
    monkeypatch.setattr(cluster, "created", lambda *_: None)
    still_there = pytest.raises(KindError, match="try again: kind delete cluster --name c")
    with still_there, provided(options):
        pass


def test_a_cluster_that_pytests_fixture_is_to_delete_is_neither_kept_nor_deleted_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = replace(on_a_machine(tmp_path, monkeypatch, {}), fixture_deletes=True)
    monkeypatch.setattr(cluster, "created", lambda *_: None)
    with provided(options):
        assert not (tmp_path / ".pytest-kind" / "c" / "audit" / "kept").exists()
    assert asked(tmp_path, "kind") == ["get clusters"]
    assert not (tmp_path / ".pytest-kind" / "c" / "audit").exists()


@pytest.mark.parametrize("is_kept", [False, True])
@pytest.mark.parametrize("is_at_work", [False, True])
def test_only_the_cluster_of_a_suite_that_was_killed_is_deleted_and_none_that_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_at_work: bool, is_kept: bool
) -> None:
    on_a_machine(tmp_path, monkeypatch, {"get clusters": "other\nc", "delete cluster": ""})
    monkeypatch.delenv("KIND", raising=False)
    for name in ("c", "gone"):
        audit = tmp_path / ".pytest-kind" / name / "audit"
        audit.mkdir(parents=True)
        (audit / "tenant").touch()
    audit = tmp_path / ".pytest-kind" / "c" / "audit"
    if is_kept:
        (audit / "kept").touch()
    with cluster_lock(audit) if is_at_work else nullcontext():
        shown = delete_abandoned(really=False)
        assert not any(each.startswith("delete") for each in asked(tmp_path, "kind"))
        assert delete_abandoned(really=True) == shown
    assert shown == ([] if is_kept or is_at_work else ["kind cluster c"])
    assert audit.exists() is (is_kept or is_at_work)


def test_an_adopted_cluster_goes_on_before_anything_is_removed_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = configuration.prepare(tmp_path / ".pytest-kind" / "c" / "audit")
    mounts = [{"Destination": configuration.AUDIT, "Source": str(log.parent)}]
    options = on_a_machine(
        tmp_path,
        monkeypatch,
        {"get clusters": "c", "export kubeconfig": "", "delete cluster": ""},
        mounts,
    )
    known: list[str] = []

    def clean(*_: object, **__: object) -> None:
        known.extend(asked(tmp_path, "docker"))

    monkeypatch.setattr(cluster, "clean_cluster", clean)
    monkeypatch.setattr(cluster, "_ready", lambda *_: None)
    with provided(options):
        for node in ("c-control-plane", "c-worker"):
            assert f"exec {node} systemctl start kubelet" in known
            assert f"exec {node} kill -CONT -- -1" in known
        assert "unpause c-worker" in known
        for component in ("kube-controller-manager", "kube-scheduler"):
            back = f"{component}.yaml /etc/kubernetes/manifests/{component}.yaml {component[:15]}"
            assert any(command.endswith(back) for command in known)


def test_only_what_kind_itself_brings_is_kept_off_the_workers() -> None:
    taint = "node-role.kubernetes.io/control-plane"
    addons = {"key": "CriticalAddonsOnly", "operator": "Exists"}
    spec = {"tolerations": [addons, {"key": taint, "effect": "NoSchedule"}]}
    there = {
        "kube-system": {"metadata": {"name": "coredns"}, "spec": {"template": {"spec": spec}}},
        "local-path-storage": {"metadata": {"name": "p"}, "spec": {"template": {"spec": {}}}},
        "default": {"metadata": {"name": "somebodys"}, "spec": {"template": {"spec": {}}}},
    }
    patched: dict[str, Any] = {}

    class Api:
        def handle(self, request: Request) -> Any:
            if isinstance(request, Patch):
                patched[request.name] = request.body["spec"]["template"]["spec"]
                return {}
            assert isinstance(request, List)
            return ObjectList((there[request.namespace],), "1")

    keep_off_workers(cast(RetryingConnection, Api()))
    tolerated = {"key": taint, "operator": "Exists", "effect": "NoSchedule"}
    assert patched == {
        "coredns": {"nodeSelector": {taint: ""}, "tolerations": [addons, tolerated]},
        "p": {"nodeSelector": {taint: ""}, "tolerations": [tolerated]},
    }


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
