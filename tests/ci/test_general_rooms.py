"""General rooms speak of no suite: they would have to be changed for the next one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GENERAL = ("vocabulary", "chaos", "clusters", "conformance")


@pytest.mark.parametrize("room", GENERAL)
def test_no_general_room_contains_the_word_appwrapper(room: str) -> None:
    found = [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / room).rglob("*.py"))
        if "suites" not in path.parts
        and re.search(r"\bappwrappers?\b", path.read_text("utf-8"), re.IGNORECASE)
    ]
    assert found == []
