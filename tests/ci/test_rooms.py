"""All rooms are where they have to be listed: one that is missing there goes unchecked."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ROOMS = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
LISTS = (
    ".importlinter",
    "chaos/toolkit/top_level.txt",
    "ci/image/Dockerfile",
    "ci/image/build",
    "ci/prose",
    "ci/size",
    "tests/cli/test_without_extras.py",
)


@pytest.mark.parametrize("file", LISTS)
def test_a_list_of_rooms_has_all_of_them(file: str) -> None:
    words = set(re.findall(r"\w+", (ROOT / file).read_text()))
    assert set(ROOMS) <= words


def test_each_package_of_the_source_tree_is_a_room_or_the_tests() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages == {*ROOMS, "tests"}
