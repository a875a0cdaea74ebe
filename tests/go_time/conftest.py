from __future__ import annotations

from pathlib import Path

import pytest

from tests.go_programs import built


@pytest.fixture(scope="session")
def waits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that waits in every way."""
    return built(Path(__file__).parent / "waits", tmp_path_factory.mktemp("go"))


@pytest.fixture(scope="session")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a goroutine that is long in a system call, while another one can run."""
    return built(Path(__file__).parent / "calls", tmp_path_factory.mktemp("go"))


@pytest.fixture(scope="session")
def names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that makes names of random numbers."""
    return built(Path(__file__).parent / "names", tmp_path_factory.mktemp("go"))


@pytest.fixture(scope="session")
def ticks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that does nothing for a day but look at its timer."""
    return built(Path(__file__).parent / "ticks", tmp_path_factory.mktemp("go"))


@pytest.fixture(scope="session")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that prints addresses, and starts as many threads as THREADS says."""
    return built(Path(__file__).parent / "addresses", tmp_path_factory.mktemp("go"))
