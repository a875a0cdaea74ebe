"""Checkers do not change unnoticed, in transformed histories either.

A difference is no mistake by itself: see test_recorded_verdicts.
"""

from __future__ import annotations

import pytest

from tests.claims.retold import WAYS
from tests.claims.summaries import summarised, summary_path

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("way", WAYS)
def test_every_verdict_on_what_is_told_otherwise_is_the_one_that_was_recorded(way: str) -> None:
    assert summarised(way) == summary_path(way).read_text()
