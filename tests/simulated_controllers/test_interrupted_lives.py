"""Clusters whose controllers are interrupted are as they are recorded; see `interrupted_lives`."""

from __future__ import annotations

import pytest

from tests.simulated_controllers.interrupted_lives import LIVES, RECORDING, told

PART = 50


@pytest.mark.parametrize("first", range(0, LIVES, PART))
def test_all_that_is_done_is_what_was_recorded(first: int) -> None:
    recorded = RECORDING.read_text().splitlines()
    assert told(range(first, first + PART)) == recorded[first : first + PART]
