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
