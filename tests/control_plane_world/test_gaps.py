"""Versions missed by broken watches are not held against any actor."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec
import pytest

from conformance import claims
from conformance.history import History
from conformance.implementations.ours import implementations
from conformance.norm.verdict import Outcome
from conformance.running.runner import run_one
from tests.sampled import SUBJECTS, of_subject
from vocabulary.history import Capabilities, Entry, Write

GAPS = 2
"""The number of histories for each scenario, each with one gap somewhere."""


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_history_with_a_gap_violates_nothing_that_the_whole_one_does_not(subject: str) -> None:
    rng = random.Random(subject)
    for scenario in of_subject(subject):
        references = implementations("reference", scenario.roles)
        run = run_one(scenario, references, 1, is_judged=False)
        header = msgspec.structs.replace(run.header, capabilities=Capabilities(versions=False))
        for _ in range(GAPS):
            begin, end = sorted(rng.sample(range(len(run.entries) + 1), 2))
            verdicts = claims.judge(History(header, with_gap(run.entries, begin, end)))
            assert not [each.because for each in verdicts if "checker failed" in each.because]
            failed = [
                f"{verdict.claim}: {verdict.because}"
                for verdict in verdicts
                if verdict.outcome is Outcome.FAILED
            ]
            assert not failed, (scenario.id, begin, end)


def with_gap(entries: Sequence[Entry], begin: int, end: int) -> list[Entry]:
    """The known history if no watch reported anything between two positions.

    The list after that shows of each object its latest version, and the audit log still has all
    requests; of those that made the versions before it is not known what they made.
    """
    latest: dict[tuple[str, str, str], int] = {}
    known = {_key(entry) for entry in entries[:begin] if _shows_object(entry)}
    for entry in entries[begin:end]:
        if _shows_object(entry):
            latest[_key(entry)] = entry.n
    return [
        _told_late(entry, latest[_key(entry)] == entry.n, _key(entry) in known)
        if begin <= entry.n < end and _shows_object(entry)
        else entry
        for entry in entries
    ]


def _told_late(entry: Entry, is_latest: bool, was_known: bool) -> Entry:
    """The known part of a write in the gap."""
    assert isinstance(entry, Write)
    if not is_latest or (entry.event == "DELETED" and not was_known):
        return msgspec.structs.replace(entry, event="", rv=0, object=None)
    return entry if was_known else msgspec.structs.replace(entry, event="ADDED")


def _shows_object(entry: Entry) -> bool:
    return isinstance(entry, Write) and entry.object is not None


def _key(entry: Entry) -> tuple[str, str, str]:
    assert isinstance(entry, Write)
    return entry.kind, entry.namespace, entry.name
