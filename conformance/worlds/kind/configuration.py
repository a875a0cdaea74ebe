"""The configuration of a suite's kind cluster: nodes, audit log, and failure detection.

kind reads the document, and hands kubeadm its part as patches: one for each version of kubeadm's
configuration, of which only the one that fits the node image is applied.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from clusters.control_plane import audit

USABLE: Final = "assay.dev/usable"
"""Label of the nodes that runs may borrow: all but the control plane."""
AUDIT: Final = "/var/log/assay"
"""In the node of the control plane: the folder of the audit log and its policy."""
AUDIT_LOG: Final = "audit.log"
AUDIT_POLICY: Final = "policy.yaml"

TOLERATION_SECONDS: Final = 3
NODE_GRACE_SECONDS: Final = 16
"""A kubelet that has been silent so long is not ready. On a busy machine one may be silent for
several seconds, and every run's pods would then be evicted. But if it took longer than a reset,
the next attempt would be sent to a node that is lost."""
NODE_LEASE_SECONDS: Final = 8
"""A kubelet renews its Lease four times in that."""
REQUESTS_PER_SECOND: Final = 100

_API_SERVER: Final = {
    "audit-policy-file": f"{AUDIT}/{AUDIT_POLICY}",
    "audit-log-path": f"{AUDIT}/{AUDIT_LOG}",
    "audit-log-mode": "blocking",
    "audit-log-maxsize": str(audit.MAX_MEGABYTES),
    # Nodes can be lost, and pods tolerate that for seconds, not minutes.
    "default-not-ready-toleration-seconds": str(TOLERATION_SECONDS),
    "default-unreachable-toleration-seconds": str(TOLERATION_SECONDS),
}
_CLIENTS: Final = {
    # One that was paused must go on where it was, and not end because it led no longer.
    "leader-elect": "false",
    "kube-api-qps": str(REQUESTS_PER_SECOND),
    "kube-api-burst": str(2 * REQUESTS_PER_SECOND),
}
_CONTROLLER_MANAGER: Final = {
    **_CLIENTS,
    "enable-hostpath-provisioner": "true",  # kind's own, which a list of arguments replaces
    "node-monitor-period": "1s",
    "node-monitor-grace-period": f"{NODE_GRACE_SECONDS}s",
    "node-eviction-rate": "10",
    "secondary-node-eviction-rate": "10",
}


def document(workers: int, folder: Path) -> dict[str, Any]:
    """The configuration that `kind create cluster` reads.

    `folder` is where this machine is to find the audit log.
    """
    mount = {"hostPath": str(folder), "containerPath": AUDIT}
    return {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "nodes": [
            {"role": "control-plane", "extraMounts": [mount]},
            *({"role": "worker", "labels": {USABLE: "true"}} for _ in range(workers)),
        ],
        "kubeadmConfigPatches": [
            yaml.safe_dump(patch, sort_keys=False)
            for patch in (_kubeadm("v1beta3"), _kubeadm("v1beta4"), _KUBELET)
        ],
    }


def prepare(folder: Path) -> Path:
    """Make the folder of the audit log, with its policy in it; the path of the log to be.

    What another cluster wrote there is dropped.
    """
    folder.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(audit.policy(), sort_keys=False)
    (folder / AUDIT_POLICY).write_text(text, encoding="utf-8")
    log = folder / AUDIT_LOG
    log.unlink(missing_ok=True)
    # Ours from the beginning: the API server would make it readable for root alone.
    log.touch(mode=0o600)
    return log


def _kubeadm(version: str) -> dict[str, Any]:
    volume = {
        "name": "assay-audit",
        "hostPath": AUDIT,
        "mountPath": AUDIT,
        "readOnly": False,
        "pathType": "Directory",
    }
    return {
        "apiVersion": f"kubeadm.k8s.io/{version}",
        "kind": "ClusterConfiguration",
        "apiServer": {"extraArgs": _arguments(_API_SERVER, version), "extraVolumes": [volume]},
        "controllerManager": {"extraArgs": _arguments(_CONTROLLER_MANAGER, version)},
        "scheduler": {"extraArgs": _arguments(_CLIENTS, version)},
    }


def _arguments(named: Mapping[str, str], version: str) -> Any:
    """Since v1beta4 a list, because an argument may stand there more than once."""
    if version == "v1beta3":
        return dict(named)
    return [{"name": name, "value": value} for name, value in named.items()]


_KUBELET: Final = {
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "kind": "KubeletConfiguration",
    "nodeLeaseDurationSeconds": NODE_LEASE_SECONDS,
    "serializeImagePulls": False,
}
