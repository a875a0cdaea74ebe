"""`assay run --cluster existing` as typed by a user, and what it leaves on the cluster."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clusters.control_plane import ControlPlane, nodes, wait_until

ASSAY = (sys.executable, "-m", "conformance.cli")
USABLE = "assay.dev/usable"
NOTHING = "nothing of Assay is left there"
WHOLE = (
    "/api/v1/namespaces",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
)


def assay(*words: str, code: int | None = 0) -> str:
    """Run the command, check its exit code, and return its output."""
    ended = subprocess.run(
        [*ASSAY, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    said = ended.stdout + ended.stderr
    assert code is None or ended.returncode == code, said
    return said


def run(kubeconfig: Path, *words: str, code: int | None = 0) -> str:
    """`assay run` there, in words."""
    where = ("--cluster", "existing", "--kubeconfig", str(kubeconfig))
    return assay("run", *words, *where, code=code)


def wait_until_known(plane: ControlPlane, names: Sequence[str]) -> None:
    """Wait until the nodes are ready, with the labels that controllers always set."""
    api = plane.api()
    nodes.wait_ready(api, names)

    def are_labelled() -> bool:
        listed = api.get(nodes.NODES)["items"]
        return all("beta.kubernetes.io/os" in node["metadata"]["labels"] for node in listed)

    wait_until(are_labelled, "the nodes have all their labels", limit_seconds=60)


def standing(plane: ControlPlane) -> dict[str, Any]:
    """The cluster's contents: the lasting fields of nodes, the names of everything else."""
    api = plane.api()
    found: dict[str, Any] = {}
    for path in WHOLE:
        found |= {f"{path}/{each['metadata']['name']}": None for each in api.get(path)["items"]}
    for node in api.get("/api/v1/nodes")["items"]:
        metadata = node["metadata"]
        found[metadata["name"]] = {
            "labels": metadata.get("labels"),
            "annotations": metadata.get("annotations"),
            "spec": node["spec"],
            "capacity": node["status"]["capacity"],
            "allocatable": node["status"]["allocatable"],
        }
    return found
