"""`ci/cover`: few scenarios, and yet every claim and every fault."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "ci" / "cover"


@pytest.fixture(scope="module")
def cover() -> Any:
    loader = importlib.machinery.SourceFileLoader("cover", str(SCRIPT))
    spec = importlib.util.spec_from_loader("cover", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module.cover


def test_each_value_is_had_as_often_as_wanted_or_as_often_as_it_can_be(cover: Any) -> None:
    has = {
        "all": frozenset({"AW-001", "AW-002", "kill"}),
        "one": frozenset({"AW-001"}),
        "other": frozenset({"AW-002", "kill"}),
        "rare": frozenset({"AW-003"}),
        "none": frozenset[str](),
    }
    assert cover(has, 1) == ["all", "rare"]
    assert cover(has, 2) == ["all", "one", "other", "rare"]


def test_what_others_have_already_is_left_out(cover: Any) -> None:
    has = {name: frozenset({"AW-001", "AW-002"}) for name in "abcde"}
    assert cover(has, 2) == ["a", "b"]
