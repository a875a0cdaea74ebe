"""Slack, latency and clock resolution may excuse a controller, and never accuse it.

Histories are judged again as if the machine had been slower, the controller allowed more, or
its clock coarser: no claim may fail that did not fail before.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from conformance.cli.judging import judge
from conformance.implementations.ours import implementation
from conformance.norm.verdict import Outcome
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from tests.headers import fact_of, with_facts
from vocabulary.clock import SECOND, Micros
from vocabulary.history import Entry, Header, read_history

REPORTS = Path(__file__).parents[2] / "reports" / "project-codeflare-appwrapper"
TOLD = (
    "operator-faults-suspended-blindly",
    "detection-replacement-finds-no-node",
    "detection-falls-ill-again-and-again",
    "parameters-warmup-grace-period-zero",
    "parameters-warmup-grace-period-negative",
    "parameters-admission-grace-period-longer",
    "success-ttl-is-no-grace-period",
    "autopilot-failed-pod-does-not-keep-another-on-its-node",
)
"""Stored runs of released operators: those in which slack once accused, and some of their like."""
STORED = sorted(
    path for name in TOLD for path in REPORTS.glob(f"*/histories/appwrapper-{name}-1729.jsonl.gz")
)
WRONG = (
    ("no-failure-grace", "appwrapper/detection/failed-pod"),
    ("second-sickness-gets-no-grace", "appwrapper/failed-pods/second-attempt-recovers"),
    ("no-grace-for-missing-pods", "appwrapper/detection/pods-are-not-created"),
    ("warmup-is-admission", "appwrapper/detection/pods-do-not-start/pending"),
    ("pause-annotation-ignored", "appwrapper/retry/pause-follows-its-annotation/longer"),
    ("one-reset-too-few", "appwrapper/retry/limit-is-exhausted/3"),
)
WIDER = ("slack_us", "detection_latency_us", "poll_us", "clock_resolution_us")
STEPS_US = (0, SECOND // 2, 3 * SECOND)


def failed_with(
    header: Header, entries: Sequence[Entry], fact: str, more_us: Micros
) -> frozenset[str]:
    """The claims that fail if a fact of the header is so much larger."""
    more = with_facts(header, **{fact: (fact_of(header, fact) or 0) + more_us})
    verdicts = judge(more, entries)
    return frozenset(verdict.claim for verdict in verdicts if verdict.outcome is Outcome.FAILED)


def assert_only_acquits(header: Header, entries: Sequence[Entry], fact: str) -> frozenset[str]:
    """Returns what fails without more of it."""
    found = [failed_with(header, entries, fact, more_us) for more_us in STEPS_US]
    for less, more in pairwise(found):
        assert more <= less, f"more {fact} accuses: {sorted(more - less)}"
    return found[0]


@pytest.mark.parametrize("fact", WIDER)
@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parts[-3]}-{path.name[11:-14]}")
def test_stored_histories_are_accused_of_nothing_new(path: Path, fact: str) -> None:
    header, entries, _, _ = read_history(path)
    assert_only_acquits(header, entries, fact)


def test_every_told_history_is_stored() -> None:
    assert {path.name for path in STORED} == {f"appwrapper-{name}-1729.jsonl.gz" for name in TOLD}


@pytest.mark.parametrize(("mutant", "scenario"), WRONG)
def test_histories_of_wrong_controllers_are_accused_of_nothing_new(
    mutant: str, scenario: str
) -> None:
    run = run_one(SCENARIOS[scenario], implementation(f"mutant:{mutant}", "appwrapper"), 1729)
    for fact in WIDER:
        assert assert_only_acquits(run.header, run.entries, fact), "nothing shows the mistake"
