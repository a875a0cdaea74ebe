"""One control plane for the tests of this folder that need a real API server."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clusters.control_plane import (
    ControlPlane,
    FakeNode,
    Settings,
    crds,
    nodes,
    users,
)
from reference_controller import appwrapper

from .child_process import ChildProcess, eventually

MANIFESTS = Path(appwrapper.__file__).with_name("manifests")
TOY_RULES = [
    {
        "apiGroups": [""],
        "resources": ["configmaps"],
        "verbs": ["get", "list", "watch", "create", "update"],
    },
    {
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "verbs": ["get", "create", "update"],
    },
]
"""The few rights that the toy needs."""

_numbers = itertools.count()


@pytest.fixture(scope="package")  # one that idles takes a fortieth of a processor
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """An API server with two nodes."""
    control_plane = ControlPlane(tmp_path_factory.mktemp("plane"), Settings())
    try:
        control_plane.start(crds.parse([(MANIFESTS / "crd.yaml").read_text()]))
        names = ["node-0", "node-1"]
        nodes.create(control_plane.api(), [FakeNode(name) for name in names])
        nodes.wait_ready(control_plane.api(), names)
        grant(control_plane, users.OPERATORS[0].name, TOY_RULES)
        yield control_plane
    finally:
        control_plane.stop()


def grant(plane: ControlPlane, user: str, rules: list[Any]) -> None:
    """Rights in all namespaces, for one user, once the API server knows them: its authorizer reads
    them from a cache."""
    api = plane.api()
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    name = f"test-{user}"
    api.post(f"{rbac}/clusterroles", {"metadata": {"name": name}, "rules": rules})
    api.post(
        f"{rbac}/clusterrolebindings",
        {
            "metadata": {"name": name},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": name,
            },
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
        },
    )
    asked = {
        "group": rules[-1]["apiGroups"][0],
        "resource": rules[-1]["resources"][0],
        "verb": rules[-1]["verbs"][0],
    }
    review = {"spec": {"user": user, "resourceAttributes": asked}}
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    eventually(lambda: api.post(path, review)["status"]["allowed"])


@pytest.fixture
def namespace(plane: ControlPlane) -> str:
    name = f"toy-{next(_numbers)}"
    plane.api().post("/api/v1/namespaces", {"metadata": {"name": name}})
    return name


@pytest.fixture
def start_toy(
    plane: ControlPlane, namespace: str, tmp_path: Path
) -> Iterator[Callable[..., ChildProcess]]:
    """Starts toy operators that look at the test's own namespace; none outlives the test."""
    started: list[ChildProcess] = []

    def start(user: int = 0, **options: Any) -> ChildProcess:
        log = tmp_path / f"toy-{len(started)}.log"
        given = {
            "kubeconfig": str(plane.kubeconfig(users.OPERATORS[user])),
            "namespace": namespace,
            "health_port": 0,
            "metrics_port": 0,
            **options,
        }
        toy = ChildProcess("run_toy.py", given, log)
        started.append(toy)
        return toy

    yield start
    for toy in started:
        toy.kill()
