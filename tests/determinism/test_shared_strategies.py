"""Clusters of one process share the strategies of built-in kinds, and nothing else."""

from __future__ import annotations

from clusters.simulated.cluster import SimulatedCluster
from vocabulary.kinds import SERVICE
from vocabulary.requests import Create


def test_a_cluster_does_not_depend_on_those_before_it() -> None:
    manifest = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "a"},
        "spec": {"ports": [{"port": 80}]},
    }
    services = [
        SimulatedCluster(1).api.handle(Create(SERVICE, manifest, "default", "a"), "user")
        for _ in range(2)
    ]
    assert services[0] == services[1]
    assert services[0]["spec"]["clusterIP"].startswith("10.96.")
