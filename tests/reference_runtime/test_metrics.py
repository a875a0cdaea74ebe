"""What /metrics shows, beside what the process tests see of it."""

from __future__ import annotations

from typing import NamedTuple

from reference_controller.runtime.controller import Key
from reference_controller.runtime.metrics import Metrics
from vocabulary.clock import MILLISECOND
from vocabulary.errors import conflict
from vocabulary.kinds import CONFIG_MAP, POD
from vocabulary.requests import Get


class Counted(NamedTuple):
    name: str
    labels: dict[str, str]
    value: int


def test_a_controllers_own_counters_are_exposed_as_they_stand_at_that_moment() -> None:
    counted = [Counted("toy_made_total", {"kind": "Pod"}, 3)]
    metrics = Metrics(CONFIG_MAP)
    metrics.add_samples(lambda: counted, {"toy_made_total": "Things made."})
    counted.append(Counted("toy_made_total", {"kind": "Job"}, 4))
    exposed = metrics.expose().decode()
    assert "# HELP toy_made_total Things made." in exposed
    assert 'toy_made_total{kind="Pod"} 3.0' in exposed
    assert 'toy_made_total{kind="Job"} 4.0' in exposed


def test_requests_and_reconciles_are_counted_by_their_outcome() -> None:
    metrics = Metrics(CONFIG_MAP)
    metrics.answered(Get(POD, "ns", "a"), 0, 2 * MILLISECOND)
    metrics.reconciled(Key("ns", "a"), "failed", conflict(POD, "a", "stale"), 0, 4 * MILLISECOND)
    exposed = metrics.expose().decode()
    assert 'api_requests_total{code="0",kind="Pod",verb="get"} 1.0' in exposed
    assert 'api_request_duration_seconds_bucket{le="0.003",verb="get"} 1.0' in exposed
    assert 'reconcile_total{outcome="failed"} 1.0' in exposed
    assert 'reconcile_duration_seconds_bucket{le="0.003"} 0.0' in exposed
