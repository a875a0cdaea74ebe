"""The measurements of `ci/bench` run, at small sizes: nothing else calls them."""

from __future__ import annotations

import importlib
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
