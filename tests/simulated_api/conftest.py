"""A fresh API server for each test."""

from __future__ import annotations

import pytest

from tests.simulated_api.cluster import Cluster


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def widgets(cluster: Cluster) -> Cluster:
    """A cluster that serves Widgets."""
    cluster.install_widgets()
    return cluster
