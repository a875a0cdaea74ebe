from __future__ import annotations

from pathlib import Path

import pytest

from tests.go_programs import built


@pytest.fixture(scope="session")
def waits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that waits in every way."""
    return built(Path(__file__).parent / "waits", tmp_path_factory.mktemp("go"))


@pytest.fixture(scope="session")
def ticks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that does nothing for a day but look at its timer."""
    return built(Path(__file__).parent / "ticks", tmp_path_factory.mktemp("go"))
