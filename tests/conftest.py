"""What all tests share: nothing is judged by a clock, and many wait side by side."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

settings.register_profile("assay", deadline=None, print_blob=True)
settings.load_profile("assay")


def pytest_xdist_auto_num_workers() -> int:
    """With `-n auto`: tests on a real control plane wait more than they work."""
    return 3 * len(os.sched_getaffinity(0))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that wait come first, so that none of them is begun when all others are through."""
    items.sort(key=lambda item: item.get_closest_marker("control_plane") is None)


@pytest.fixture(autouse=True)
def folder_for_temporary_files(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another test's killed harness left there is no affair of this one's `assay clean`."""
    folder = str(tmp_path_factory.mktemp("temporary"))
    monkeypatch.setenv("TMPDIR", folder)
    monkeypatch.setattr("tempfile.tempdir", folder)
