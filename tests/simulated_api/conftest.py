"""A fresh API server for each test, and the same over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clusters.simulated.serve.server import ServedCluster, serve
from tests.simulated_api.cluster import Cluster
from tests.simulated_api.served import TOKEN


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def widgets(cluster: Cluster) -> Cluster:
    """A cluster that serves Widgets."""
    cluster.install_widgets()
    return cluster


@pytest.fixture
def served(cluster: Cluster) -> Iterator[ServedCluster]:
    """The cluster over plain HTTP, its clock moved by request only."""
    with serve(cluster, token=TOKEN, clock="advanced", tls=False) as running:
        yield running
