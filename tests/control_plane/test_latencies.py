"""The measurement of latencies runs on a control plane, at a small size."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from clusters.control_plane import ControlPlane

BENCH = Path(__file__).parents[2] / "ci" / "bench"


@pytest.mark.control_plane
def test_latencies_are_measured(plane: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    bench = importlib.import_module("latencies")
    measured = bench.measure(plane, 40, 4)
    assert 0 <= measured["early_events"] <= 100
    spans = {name: values for name, values in measured.items() if name.endswith("_us")}
    assert spans.keys() == {"read_us", "write_us", "event_us", *bench.STEPS}
    for values in spans.values():
        assert len(values) == bench.QUANTILES
        assert values == sorted(values)
