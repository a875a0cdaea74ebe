"""Small clusters about one subject are as they are recorded; see `drawn_worlds`."""

from __future__ import annotations

import pytest

from tests.simulated_controllers.drawn_worlds import RECORDING, WORLDS, told

PART = 20


@pytest.mark.parametrize(
    ("subject", "first"),
    [(subject, at) for subject, (count, _) in WORLDS.items() for at in range(0, count, PART)],
)
def test_all_that_is_done_is_what_was_recorded(subject: str, first: int) -> None:
    recorded = [it for it in RECORDING.read_text().splitlines() if it.startswith(f"{subject} ")]
    assert list(told(subject, range(first, first + PART))) == recorded[first : first + PART]
