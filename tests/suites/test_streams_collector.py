"""The schedules of the garbage collector in which background deletion ends clean."""

from __future__ import annotations

from typing import Final

import pytest

from conformance.history import History
from conformance.implementations.ours import implementations
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.suites.streams.view import StreamsHistory

PACES: Final = ("held", "lagging", "racing", "ahead")
STYLES: Final = {
    "abort": ("stuck", "stuck", "clean, overlap", "clean"),
    "adopt": ("stuck", "clean, overlap", "clean, overlap", "clean"),
    "replace": ("stale, overlap", "stale, overlap", "clean, overlap", "clean"),
    "retry": ("clean, overlap", "clean, overlap", "clean, overlap", "clean"),
}
"""By style, the end for each pace. The table in docs/streams.md has these words."""


def end(implementation: str, pace: str) -> str:
    """The end of a recovery: `stuck` where it was not over before the operator's next start."""
    scenario = SCENARIOS[f"streams/recoveries/garbage-collector-has-its-own-pace/{pace}"]
    run = run_one(scenario, implementations(implementation, scenario.roles), DEFAULT_SEED)
    view = History(run.header, run.entries).seen_by(StreamsHistory)
    _, second = view.subjects[:2]
    overlaps = bool(second.left_at(second.track.created.n))
    if second.submitted is None:
        assert overlaps
        return "stuck"
    n = len(run.entries) - 1
    is_clean = not list(second.missing_at(n)) and not second.left_at(n)
    return ("clean" if is_clean else "stale") + (", overlap" if overlaps else "")


@pytest.mark.parametrize("style", STYLES)
def test_background_deletion_is_clean_only_if_the_collector_is_done_first(style: str) -> None:
    found = tuple(end(f"mutant:background-and-{style}", pace) for pace in PACES)
    assert found == STYLES[style]


@pytest.mark.parametrize("pace", PACES)
def test_foreground_deletion_is_clean_at_each_pace(pace: str) -> None:
    assert end("reference", pace) == "clean"
