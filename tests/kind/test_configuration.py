"""The configuration of a kind cluster: an audit log for this machine, nodes that may fail."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import yaml

from clusters.control_plane import audit
from conformance.worlds.kind import configuration


def patches(workers: int = 2) -> list[dict[str, Any]]:
    document = configuration.document(workers, Path("/here"))
    return [yaml.safe_load(patch) for patch in document["kubeadmConfigPatches"]]


def arguments(patch: dict[str, Any], component: str) -> dict[str, str]:
    found = patch[component]["extraArgs"]
    if isinstance(found, dict):
        return found
    return {entry["name"]: entry["value"] for entry in found}


def test_workers_may_be_borrowed_and_the_control_plane_may_not() -> None:
    control_plane, *workers = configuration.document(3, Path("/here"))["nodes"]
    assert control_plane["role"] == "control-plane" and "labels" not in control_plane
    assert [node["role"] for node in workers] == ["worker"] * 3
    assert all(node["labels"] == {configuration.USABLE: "true"} for node in workers)


def test_both_versions_of_kubeadms_configuration_say_the_same() -> None:
    old, new = (patch for patch in patches() if patch["kind"] == "ClusterConfiguration")
    assert old["apiVersion"].endswith("v1beta3") and new["apiVersion"].endswith("v1beta4")
    assert isinstance(new["apiServer"]["extraArgs"], list)
    for component in ("apiServer", "controllerManager", "scheduler"):
        assert arguments(old, component) == arguments(new, component)


def test_the_audit_log_is_written_into_the_folder_that_is_mounted() -> None:
    control_plane = configuration.document(2, Path("/here"))["nodes"][0]
    (mount,) = control_plane["extraMounts"]
    assert mount["hostPath"] == "/here"
    for patch in patches()[:2]:
        (volume,) = patch["apiServer"]["extraVolumes"]
        assert volume["hostPath"] == volume["mountPath"] == mount["containerPath"]
        written = arguments(patch, "apiServer")["audit-log-path"]
        assert Path(written).parent == Path(mount["containerPath"])


def test_controllers_that_are_paused_do_not_lose_an_election() -> None:
    for patch in patches()[:2]:
        for component in ("controllerManager", "scheduler"):
            assert arguments(patch, component)["leader-elect"] == "false"


def test_a_kubelet_renews_its_lease_several_times_before_it_counts_as_silent() -> None:
    (kubelet,) = (patch for patch in patches() if patch["kind"] == "KubeletConfiguration")
    renewed_every = kubelet["nodeLeaseDurationSeconds"] / 4
    assert 4 * renewed_every < configuration.NODE_GRACE_SECONDS
    grace = arguments(patches()[0], "controllerManager")["node-monitor-grace-period"]
    assert grace == f"{configuration.NODE_GRACE_SECONDS}s"


def test_the_log_is_this_users_own_before_the_api_server_writes_it(tmp_path: Path) -> None:
    log = configuration.prepare(tmp_path / "audit")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    policy = yaml.safe_load((log.parent / configuration.AUDIT_POLICY).read_text())
    assert policy == audit.policy()
