"""What all tests share: nothing is judged by a clock, and many wait side by side."""

from __future__ import annotations

import os
from collections.abc import Iterator

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
def folder_for_temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What another test's killed harness left there is no affair of this one's `assay clean`.

    With a `MonkeyPatch` of its own: one that is shared is undone after all fixtures that came
    later, and what a test changes by it is to be as before when they end.
    """
    folder = str(tmp_path_factory.mktemp("temporary"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        patch.setattr("tempfile.tempdir", folder)
        yield
