"""The measurements of `ci/bench` run, at small sizes: nothing else calls them."""

from __future__ import annotations

import asyncio
import importlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "ci" / "bench"


@pytest.mark.parametrize(
    ("module", "sizes"), [("job_sets", (10, 20)), ("kueue_cycles", (500, 1_000))]
)
def test_growth_is_measured(monkeypatch: pytest.MonkeyPatch, module: str, sizes: Any) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    figures = list(importlib.import_module(module).growth(sizes))
    assert len(figures) == 2
    assert figures[0].is_met is None
    assert figures[1].is_met in (True, False)


def test_no_watch_loses_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    watchers = importlib.import_module("watchers")
    load = watchers.Load(clients=3, watches=4, writers=6, seconds=2)
    with watchers.simulated(load) as target:
        outcome = asyncio.run(watchers.Bench(target, load).run())
    assert outcome.wrong == []
    assert outcome.events == 3 * outcome.writes > 0
    *_, head, line, row = watchers.section(load, [outcome], datetime.now(UTC), 1.0).splitlines()
    assert head.count("|") == line.count("|") == row.count("|")


def test_reactions_of_the_simulation_are_shown_beside_those_of_a_control_plane(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    latencies = importlib.import_module("latencies")
    steps = latencies.steps_of_simulation(20)
    reactions = latencies.reactions(steps)
    assert all(0 < min(spans) <= max(spans) < 60_000 for spans in reactions.values())
    ways = {"read_us": (200, 250, 300), "write_us": (100, 200, 300), "event_us": (100, 150, 199)}
    told = dict.fromkeys(("kubernetes", "date", "machine", "load", "early_events"), "any")
    page = latencies.as_page({**told, **ways, **reactions}, steps)
    assert "| 0.11 / 0.15 / 0.20 / 0.25 / 0.29 | 0.11 / 0.15 / 0.20 / 0.25 / 0.29 |" in page
    assert "in virtual time for\n100. Rarer" in page
    again = latencies.as_page(latencies.MEASURED, latencies.steps_of_simulation(latencies.JOBS))
    assert again == latencies.PAGE.read_text(), "stale: python ci/bench/latencies.py --page"
