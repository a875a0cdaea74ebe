"""Checkers of Kueue judge what is stored as v1beta2 as they judge it as v1beta1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance import claims
from conformance.history import History
from conformance.suites.kueue.view import KueueHistory
from conformance.suites.kueue.view.standing import QueueSpec
from tests.claims.recorded import histories
from vocabulary.history import Entry, Write, read_history
from vocabulary.objects import get_path, with_path, without_path

RECORDED = [path for path in histories() if path.name.startswith(("kueue-", "quota-"))]
STOPS = {"Borrow": "MayStopSearch", "Preempt": "MayStopSearch"}


def as_v1beta2(entry: Entry) -> Entry:
    if (
        not isinstance(entry, Write)
        or not entry.kind.startswith("ClusterQueue.")
        or not entry.object
    ):
        return entry
    obj: dict[str, Any] = {**entry.object, "apiVersion": "kueue.x-k8s.io/v1beta2"}
    cohort = get_path(obj, "spec.cohort")
    if cohort:
        obj = with_path(without_path(obj, "spec.cohort"), "spec.cohortName", cohort)
    fungibility = get_path(obj, "spec.flavorFungibility") or {}
    if fungibility:
        renamed = {when: STOPS.get(then, then) for when, then in fungibility.items()}
        obj = with_path(obj, "spec.flavorFungibility", renamed)
    return replace(entry, object=obj)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.partition(".")[0])
def test_the_version_in_which_queues_are_stored_changes_no_verdict(path: Path) -> None:
    header, entries, _, _ = read_history(path)
    retold = [as_v1beta2(entry) for entry in entries]
    before, after = (claims.judge(History(header, each)) for each in (entries, retold))
    assert list(after) == list(before)


@pytest.mark.parametrize(("beyond_us", "outcome"), [(-1, "failed"), (0, "inconclusive")])
def test_one_may_have_been_chosen_first_that_is_written_to_second(
    beyond_us: int, outcome: str
) -> None:
    """Releases write to several Workloads side by side, each as late as a request may take."""
    (path,) = (each for each in RECORDED if each.name.startswith("kueue-mutant-later-ones"))
    header, entries, _, _ = read_history(path)
    found = KueueHistory(History(header, entries)).subjects
    admitted = sorted(each.t for run in found for each in run.admissions)
    operator = header.operators["kueue"]
    facts = replace(operator.facts, request_latency_us=admitted[2] - admitted[1] + beyond_us)
    operators = {**header.operators, "kueue": replace(operator, facts=facts)}
    header = replace(header, operators=operators, editions={"kueue": "released"})
    judged = claims.judge(History(header, entries))
    assert next(each.outcome.value for each in judged if each.claim == "KQ-110") == outcome


@pytest.mark.parametrize("name", ["Preempt", "MayStopSearch"])
def test_a_queue_that_preempts_before_it_tries_the_next_flavor_may_say_so_in_two_ways(
    name: str,
) -> None:
    spec = {"flavorFungibility": {"whenCanPreempt": name}}
    assert QueueSpec({"metadata": {"name": "main"}, "spec": spec}).preempts_first


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("EvictedDueToPodsReadyTimeout", "passed"),
        ("PodsReadyTimeout", "passed"),
        ("Pending", "inconclusive"),
    ],
)
def test_an_event_about_an_eviction_may_have_any_name_with_its_reason(
    reason: str, outcome: str
) -> None:
    """Releases differ in it. The lack of one convicts none whose Workload is deleted."""
    (path,) = (each for each in RECORDED if each.name.startswith("kueue-order-priority-beats"))
    header, entries, _, _ = read_history(path)
    retold = [with_reason(entry, reason) for entry in entries]
    judged = claims.judge(History(header, retold))
    assert next(each.outcome.value for each in judged if each.claim == "KQ-050") == outcome


def with_reason(entry: Entry, reason: str) -> Entry:
    if not isinstance(entry, Write) or entry.kind != "Event" or not entry.object:
        return entry
    is_it = str(entry.object.get("reason")).startswith("EvictedDueTo")
    return replace(entry, object={**entry.object, "reason": reason}) if is_it else entry
