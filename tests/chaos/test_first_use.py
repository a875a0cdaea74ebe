"""First reading of a plan in many threads."""

from __future__ import annotations

from tests.first_use import use_at_once

DEFINITIONS = """
from dataclasses import make_dataclass
from typing import Annotated
from msgspec import Meta
from chaos.fields import read_fields

def use(together):
    together.wait()
    read_fields(outer, {"last": 1}, "")
"""
NEW_TYPES = """
texts = [(f"text{n}", Annotated[str, Meta(max_length=n)], "") for n in range(1, 20)]
inner = make_dataclass("Inner", texts)
parts = [(f"part{n}", inner | None, None) for n in range(3)]
outer = make_dataclass("Outer", [*parts, ("last", int, 0)])
"""


def test_the_first_plans_may_be_read_all_at_once() -> None:
    use_at_once(DEFINITIONS, NEW_TYPES, rounds=30)
