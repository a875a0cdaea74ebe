"""Correct controllers of JobSets that do or write otherwise what the norm leaves open.

No claim may convict them. Scenarios are those in which much goes on at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest
from msgspec import structs

from conformance import claims
from conformance.history import History
from conformance.implementation import implementation
from conformance.norm.verdict import Outcome
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules
from vocabulary.history import Entry, Write
from vocabulary.objects import Object
from vocabulary.requests import PropagationPolicy

claims.load()
TELLING = [
    name
    for name in SCENARIOS
    if name.startswith(("jobset/two-failures", "jobset/restarts", "jobset/interruptions"))
] + [
    "jobset/stories/maintenance-and-bugs-alternate",
    "jobset/outside/child-job-is-deleted-in-a-restart/orphan",
    "jobset/outside/quota-refuses-the-restart/jobs",
]


class KeepsCompletedJobs(Rules):
    """A restart recreates active Jobs alone."""

    def is_stale(self, job: Job, job_set: Object) -> bool:
        return not job.has_succeeded and super().is_stale(job, job_set)


class ActsWhileSuspended(Rules):
    def acts_while_suspended(self) -> bool:
        return True


class TakesTiesBackwards(Rules):
    """Failures of one second are taken in no particular order."""

    def in_order_of_failure(self, failed: Sequence[Job]) -> list[Job]:
        backwards = sorted(failed, key=lambda job: job.name, reverse=True)
        return sorted(backwards, key=lambda job: job.failed_at_us)


class WaitsForAll(Rules):
    """It creates no Job before all that restart are gone, whatever the strategy."""

    def waits_for_stale(self, strategy: str) -> bool:
        del strategy
        return True


class DeletesInTheBackground(Rules):
    def propagation(self) -> PropagationPolicy:
        return "Background"


VARIANTS = (
    KeepsCompletedJobs,
    ActsWhileSuspended,
    TakesTiesBackwards,
    WaitsForAll,
    DeletesInTheBackground,
)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("scenario", TELLING)
def test_what_the_norm_leaves_open_convicts_nobody(scenario: str, variant: type[Rules]) -> None:
    under_test = replace(implementation("reference", "jobset"), rules=variant)
    run = run_one(SCENARIOS[scenario], under_test, DEFAULT_SEED)
    assert [found.because for found in run.verdicts if found.outcome is Outcome.FAILED] == []


def _split(before: Object, after: Object, first: str) -> Object | None:
    """The object after a restart with one of its two counters alone; None if only one changed."""
    keys = ("restarts", "restartsCountTowardsMax")
    old, new = before.get("status") or {}, after.get("status") or {}
    if not all(new.get(key, 0) > old.get(key, 0) for key in keys):
        return None
    other = next(key for key in keys if key != first)
    return {**after, "status": {**new, other: old.get(other, 0)}}


def _one_after_the_other(entries: Sequence[Entry], first: str) -> Iterator[Entry]:
    """The entries with each write of both counters as two writes."""
    last: dict[str, Object] = {}
    position = 0
    for entry in entries:
        if isinstance(entry, Write) and entry.kind.startswith("JobSet") and entry.object:
            half = _split(last.get(entry.uid, {}), entry.object, first)
            last[entry.uid] = entry.object
            if half is not None:
                yield structs.replace(entry, n=position, object=dict(half))
                position += 1
        yield structs.replace(entry, n=position)
        position += 1


def _all_twice(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The entries with each write of a status repeated."""
    position = 0
    for entry in entries:
        yield structs.replace(entry, n=position)
        position += 1
        if (
            isinstance(entry, Write)
            and entry.kind.startswith("JobSet")
            and entry.event == "MODIFIED"
        ):
            yield structs.replace(entry, n=position)
            position += 1


WRITTEN: dict[str, Callable[[Sequence[Entry]], Iterator[Entry]]] = {
    "all restarts first": lambda entries: _one_after_the_other(entries, "restarts"),
    "counted restarts first": lambda entries: _one_after_the_other(
        entries, "restartsCountTowardsMax"
    ),
    "each status twice": _all_twice,
}


@pytest.mark.parametrize("way", WRITTEN)
@pytest.mark.parametrize("scenario", TELLING)
def test_the_same_written_otherwise_convicts_nobody(scenario: str, way: str) -> None:
    run = run_one(SCENARIOS[scenario], implementation("reference", "jobset"), DEFAULT_SEED)
    entries = list(WRITTEN[way](run.entries))
    verdicts = claims.judge(History(run.header, entries))
    assert [found.because for found in verdicts if found.outcome is Outcome.FAILED] == []
