"""Workloads live as they are recorded; see `lives`."""

from __future__ import annotations

import pytest

from tests.simulated_controllers.lives import LIVES, RECORDINGS, told


@pytest.mark.parametrize("kind", LIVES)
def test_controllers_do_what_they_were_recorded_to_do(kind: str) -> None:
    assert told(kind) == (RECORDINGS / f"{kind}.txt").read_text().splitlines()
