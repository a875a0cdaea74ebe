"""What all tests share: nothing is judged by a clock, and many wait side by side."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("assay", deadline=None, print_blob=True)
settings.load_profile("assay")


def pytest_xdist_auto_num_workers() -> int:
    """With `-n auto`: tests on a real control plane wait more than they work."""
    return 2 * len(os.sched_getaffinity(0))
