"""One control plane for the tests of this folder that need a real API server."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fixtures.control_plane import BinariesMissingError, ControlPlane, Settings, locate, users

from .toy_process import ToyProcess

_numbers = itertools.count()


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """An API server; skips, with the command to run, where it has not been built."""
    try:
        locate()
    except BinariesMissingError as missing:
        pytest.skip(str(missing))
    control_plane = ControlPlane(tmp_path_factory.mktemp("plane"), Settings())
    control_plane.start()
    grant(control_plane, users.OPERATORS[0].name)
    yield control_plane
    control_plane.stop()


def grant(plane: ControlPlane, user: str) -> None:
    """The few rights that the toy needs, for one user."""
    api = plane.api()
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    rules = [
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
    name = f"toy-{user}"
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


@pytest.fixture
def namespace(plane: ControlPlane) -> str:
    name = f"toy-{next(_numbers)}"
    plane.api().post("/api/v1/namespaces", {"metadata": {"name": name}})
    return name


@pytest.fixture
def start_toy(
    plane: ControlPlane, namespace: str, tmp_path: Path
) -> Iterator[Callable[..., ToyProcess]]:
    """Starts toy operators that look at the test's own namespace; none outlives the test."""
    started: list[ToyProcess] = []

    def start(user: int = 0, **options: Any) -> ToyProcess:
        log = tmp_path / f"toy-{len(started)}.log"
        given = {
            "kubeconfig": str(plane.kubeconfig(users.OPERATORS[user])),
            "namespace": namespace,
            "health_port": 0,
            "metrics_port": 0,
            **options,
        }
        toy = ToyProcess(given, log)
        started.append(toy)
        return toy

    yield start
    for toy in started:
        toy.kill()
