"""An event by both APIs of a real server, and by those of the served cluster."""

from __future__ import annotations

import pytest

from clusters.control_plane import ControlPlane
from clusters.simulated.serve.events import shown
from tests.simulated_api.test_events_api import event

from .namespace import Namespace

pytestmark = pytest.mark.control_plane


def test_the_names_of_one_api_are_those_of_the_other(
    plane: ControlPlane, namespace: Namespace
) -> None:
    path = f"namespaces/{namespace.name}/events"
    regarding = {"kind": "Job", "name": "j", "namespace": namespace.name}
    series = {"count": 2, "lastObservedTime": "2026-01-02T03:05:05.000006Z"}
    plane.api().post(f"/apis/events.k8s.io/v1/{path}", event(regarding=regarding, series=series))
    of_core = plane.api().get(f"/api/v1/{path}/e")
    assert shown(of_core) == plane.api().get(f"/apis/events.k8s.io/v1/{path}/e")
