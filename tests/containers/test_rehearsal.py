"""Every node runs pods before anything depends on it, and one that does not is named."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.behaviour import EXIT
from clusters.containers import rehearsal
from clusters.containers.pods import RealContainers
from clusters.containers.rehearsal import RehearsalError, rehearse
from vocabulary.objects import annotations_of
from vocabulary.requests import Create, Delete, Get, Patch, Request

CONTAINERS = RealContainers("example.com/tools:1", stuck_us=0)
PULLING = {"waiting": {"reason": "ErrImagePull", "message": "no such host"}}


class Kubelets:
    """Play pods at once; those of one node cannot get the image."""

    def __init__(self, broken: str = "") -> None:
        self._broken = broken
        self._pods: dict[str, dict[str, Any]] = {}
        self.deleted: list[str] = []

    def call(self, request: Request) -> Any:
        match request:
            case Create():
                self._pods[request.name] = dict(request.object)
            case Patch():
                pod = self._pods[request.name]
                self._pods[request.name] = {**pod, **request.body}
            case Delete():
                self.deleted.append(request.name)
            case Get():
                return self._played(request.name)
        return {}

    def _played(self, name: str) -> dict[str, Any]:
        pod = self._pods[name]
        if pod["spec"]["nodeName"] == self._broken:
            status = {"phase": "Pending", "containerStatuses": [{"state": PULLING}]}
        else:
            status = {"phase": "Succeeded" if annotations_of(pod).get(EXIT) == "0" else "Running"}
        return {**pod, "metadata": {"name": name, **pod["metadata"]}, "status": status}


def test_each_node_runs_two_pods_and_none_is_left() -> None:
    kubelets = Kubelets()
    found = rehearse(kubelets.call, "suite", ["n0", "n1"], CONTAINERS)
    assert len(kubelets.deleted) == 4
    assert found.late_us >= found.start_us > 0


def test_a_node_on_which_the_image_does_not_run_is_named_with_what_its_kubelet_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rehearsal, "LIMIT_SECONDS", 0.0)
    with pytest.raises(RehearsalError) as told:
        rehearse(Kubelets(broken="n1").call, "suite", ["n0", "n1"], CONTAINERS)
    for word in ("example.com/tools:1", "on node n1", "ErrImagePull (no such host)"):
        assert word in str(told.value)
