"""Conformance: claims, the scenarios that arm them, and verdicts.

The names of `__all__` are what suites are written with, in this distribution or in another; they
are imported from here, and all else may change. docs/reference/suites.md describes each.

A tour, in the order of a run:

- `suite`, `suites`: the claims, scenarios and view of one norm each, found by entry point.
- `scenario_type`, `scenarios`: situations, each a function of a `world.World` with its manifests;
  `handle` is what it holds of one object.
- `implementations`, `profiles`: the controller under test: the reference, one of its
  mutants, or a third-party program by its profile.
- `worlds`: where a scenario runs: simulated in virtual time, or on a real cluster.
- `running`: one run; many in parallel; campaigns that kill the operator around every write, or draw
  faults at random; shrinking of failures; and measuring the suite's strength.
- `wire`: mistakes in the writes of an operator, whose source need not be at hand.
- `explore`: the runs of an operator that has no suite of its own.
- `history`: a recorded history, indexed for checkers; suites see more in it, each by its view.
- `norm`: what a claim and a verdict are, and the temporal operators that checkers are written
  with. `claims`: those of all suites, and the verdicts on one history.
- `report`: the outcome as data, as pages and in other formats; comparison of two outcomes.
- `audit_log`: an API server's audit log as a history.
- `cli`, `as_tests`: the `assay` command, and pytest.
- `leased`, `left_behind`: given back to a cluster, and removed from it, also after a killed run.
- `manifests`, `stored_objects`: what scenarios submit, and what an API server has of it.

Checkers know neither the reference nor the origin of a run; `.importlinter` enforces this.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.breaking import during, operator_away
    from conformance.handle import Handle
    from conformance.history import History, Moment, Track
    from conformance.history.lanes import Lane, State, Tone, lane_of, snapshots
    from conformance.history.operator import OperatorView
    from conformance.norm import (
        ClaimDetails,
        Fate,
        Judging,
        Obligation,
        Obligations,
        Subject,
        eventually,
        exactly,
        met,
        must,
        never,
        not_before,
        one_of,
        shared,
        undecided,
        unless_given_up,
        violated,
    )
    from conformance.norm.claim import Claim, Decision, Level, Source
    from conformance.norm.view import ObjectRun, ObjectView
    from conformance.norm.words import when
    from conformance.scenario_type import scenario
    from conformance.suite import KindUse, PlainDurations, Settings, Suite
    from conformance.world import Condition, World

_STANDS_IN = {
    "conformance.breaking": (
        "during",
        "operator_away",
    ),
    "conformance.suite": (
        "KindUse",
        "PlainDurations",
        "Settings",
        "Suite",
    ),
    "conformance.norm.claim": (
        "Claim",
        "Decision",
        "Level",
        "Source",
    ),
    "conformance.norm": (
        "ClaimDetails",
        "Fate",
        "Judging",
        "Obligation",
        "Obligations",
        "Subject",
        "eventually",
        "exactly",
        "met",
        "must",
        "never",
        "not_before",
        "one_of",
        "shared",
        "undecided",
        "unless_given_up",
        "violated",
    ),
    "conformance.norm.view": (
        "ObjectRun",
        "ObjectView",
    ),
    "conformance.norm.words": ("when",),
    "conformance.history": (
        "History",
        "Moment",
        "Track",
    ),
    "conformance.history.operator": ("OperatorView",),
    "conformance.history.lanes": (
        "Lane",
        "State",
        "Tone",
        "lane_of",
        "snapshots",
    ),
    "conformance.scenario_type": ("scenario",),
    "conformance.world": ("World",),
    "conformance.handle": (
        "Condition",
        "Handle",
    ),
}
_MODULES = {name: module for module, names in _STANDS_IN.items() for name in names}
"""Imported when they are asked for: most modules below this package need only some of them."""

__all__ = [
    "Claim",
    "ClaimDetails",
    "Condition",
    "Decision",
    "Fate",
    "Handle",
    "History",
    "Judging",
    "KindUse",
    "Lane",
    "Level",
    "Moment",
    "ObjectRun",
    "ObjectView",
    "Obligation",
    "Obligations",
    "OperatorView",
    "PlainDurations",
    "Settings",
    "Source",
    "State",
    "Subject",
    "Suite",
    "Tone",
    "Track",
    "World",
    "during",
    "eventually",
    "exactly",
    "lane_of",
    "met",
    "must",
    "never",
    "not_before",
    "one_of",
    "operator_away",
    "scenario",
    "shared",
    "snapshots",
    "undecided",
    "unless_given_up",
    "violated",
    "when",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
