"""Correct controllers of JobSets that do or write otherwise what the norm leaves open, or later.

No claim may convict them in any scenario. The same history written otherwise is tried in those in
which much goes on at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import pytest
from msgspec import structs

from conformance import claims
from conformance.editions import of_run
from conformance.history import History
from conformance.implementations.ours import Implementation, implementation
from conformance.norm.verdict import Outcome
from conformance.norm.verdict import Verdict as VerdictOnClaim
from conformance.report.run_result import RunResult
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.suites.jobset.api import KEP, RELEASED
from reference_controller.jobset.children import Changes, changes
from reference_controller.jobset.job_set import failure_policy
from reference_controller.jobset.names import RESTART
from reference_controller.jobset.observation import Job, Observation
from reference_controller.jobset.rules import Rules
from reference_controller.jobset.verdict import Verdict, judge
from reference_controller.rules import comparing
from tests.claims.other_controllers import (
    ActsLate,
    Polls,
    WritesLate,
    WritesStatusTwice,
    wrapped,
)
from tests.sampled import SAMPLED
from vocabulary.clock import SECOND, Micros
from vocabulary.history import Entry, Header, Write
from vocabulary.objects import Object, condition_status
from vocabulary.requests import Delete

pytestmark = pytest.mark.slow

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
    """All but the Jobs of a JobSet that has failed."""

    def delete(self, job: Job, job_set: Object) -> Delete:
        found = super().delete(job, job_set)
        if condition_status(job_set, "Failed") == "True":
            return found
        return structs.replace(found, propagation_policy="Background")


class MarksAll(Rules):
    """It marks the Jobs of restarts that count as well."""

    def needs_mark(self, job: Job, job_set: Object) -> bool:
        del job_set
        return RESTART not in job.annotations


class BacksOffLonger(Rules):
    def backoff_us(self, streak: int) -> Micros:
        return super().backoff_us(streak) + 2 * SECOND


class TakesTheFirstRule(Rules):
    """Of several failures it takes one that the first rule matches, as released controllers do."""

    listed: Sequence[Object] = ()

    def in_order_of_failure(self, failed: Sequence[Job]) -> list[Job]:
        return sorted(super().in_order_of_failure(failed), key=self._rank)

    def _rank(self, job: Job) -> int:
        matching = (
            position
            for position, rule in enumerate(self.listed)
            if self.reason_matches(rule, job) and self.target_matches(rule, job)
        )
        return next(matching, len(self.listed))


def _tells_the_rules(seen: Observation, rules: TakesTheFirstRule) -> Verdict:
    rules.listed = (failure_policy(seen.job_set) or {}).get("rules") or ()
    return judge(seen, rules)


def _backwards(seen: Observation, rules: Rules) -> Changes:
    """The changes of Jobs, each kind of them in another order."""
    found = changes(seen, rules)
    return replace(
        found,
        marks=found.marks[::-1],
        suspensions=found.suspensions[::-1],
        deletes=found.deletes[::-1],
        resumptions=found.resumptions[::-1],
        creates=found.creates[::-1],
    )


RIGHT: Final = implementation("reference", "jobset")
WRITES_TWICE: Final = wrapped(RIGHT, WritesStatusTwice)
LATE: Final = {
    "half a second": wrapped(RIGHT, ActsLate, SECOND // 2),
    "3 s": wrapped(RIGHT, ActsLate, 3 * SECOND),
    "10 s": wrapped(RIGHT, ActsLate, 10 * SECOND),
    "at multiples of 5 s": wrapped(RIGHT, Polls, 5 * SECOND),
    "half a second before each write": wrapped(RIGHT, WritesLate, SECOND // 2),
    "3 s before each write": wrapped(RIGHT, WritesLate, 3 * SECOND),
}


OTHERS: Final = {
    found.__name__: found
    for found in (
        KeepsCompletedJobs,
        ActsWhileSuspended,
        TakesTiesBackwards,
        WaitsForAll,
        DeletesInTheBackground,
        MarksAll,
        BacksOffLonger,
    )
}
EVERYWHERE: Final = [found for name, found in SAMPLED.items() if name.startswith("jobset/")]
SUBJECTS: Final = sorted({found.id.rpartition("/")[0] for found in EVERYWHERE})


TAKEN_OTHERWISE: Final = {
    "KeepsCompletedJobs": "jobset/drawn/policy-is-drawn/02",
    "ActsWhileSuspended": "jobset/interruptions/failure-before-a-lasting-suspension",
    "TakesTiesBackwards": "jobset/left-failed/others-complete/two",
    "WaitsForAll": "jobset/admission/rules-have-no-names/one",
    "DeletesInTheBackground": "jobset/admission/rules-have-no-names/one",
    "MarksAll": "jobset/admission/policy-is-changed/more-restarts",
    "BacksOffLonger": "jobset/drawn/policy-with-future-actions-is-drawn/01",
}
"""A scenario in which each of them decides something otherwise."""


def convicted(under_test: Implementation) -> dict[str, list[str]]:
    """The violations that are found in each scenario, by scenario, and why it broke off."""
    runs = (run_one(scenario, under_test, DEFAULT_SEED) for scenario in EVERYWHERE)
    found = {run.scenario: broken_in(run, run.verdicts) for run in runs}
    return {name: broken for name, broken in found.items() if broken}


def broken_in(run: RunResult, verdicts: Sequence[VerdictOnClaim]) -> list[str]:
    found = [f"{each.claim}: {each.because}" for each in verdicts if each.outcome is Outcome.FAILED]
    return [*found, f"it broke off: {run.error}"] if run.error else found


@pytest.mark.parametrize("subject", SUBJECTS)
def test_what_the_norm_leaves_open_convicts_nobody(subject: str) -> None:
    """A controller that decides nothing otherwise in a scenario has the reference's run."""
    for scenario in EVERYWHERE:
        if scenario.id.rpartition("/")[0] == subject:
            otherwise: set[str] = set()
            compared = replace(RIGHT, rules=comparing(Rules, OTHERS, otherwise))
            run = run_one(scenario, compared, DEFAULT_SEED)
            assert broken_in(run, run.verdicts) == [], scenario.id
            for name in sorted(otherwise):
                run = run_one(scenario, replace(RIGHT, rules=OTHERS[name]), DEFAULT_SEED)
                assert broken_in(run, run.verdicts) == [], (scenario.id, name)


@pytest.mark.parametrize(("name", "scenario"), TAKEN_OTHERWISE.items())
def test_each_of_these_controllers_decides_otherwise(name: str, scenario: str) -> None:
    otherwise: set[str] = set()
    compared = replace(RIGHT, rules=comparing(Rules, OTHERS, otherwise))
    run_one(SCENARIOS[scenario], compared, DEFAULT_SEED, is_judged=False)
    assert name in otherwise


def test_two_writes_of_each_status_convict_nobody() -> None:
    assert convicted(WRITES_TWICE) == {}


@pytest.mark.parametrize("name", LATE)
def test_slowness_convicts_nobody(name: str) -> None:
    assert convicted(LATE[name]) == {}


def test_the_order_of_requests_convicts_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reference_controller.jobset.reconcile.changes", _backwards)
    assert convicted(RIGHT) == {}


def test_the_first_rule_may_decide_in_the_edition_of_released_controllers_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reference_controller.jobset.reconcile.judge", _tells_the_rules)
    under_test = replace(RIGHT, rules=TakesTheFirstRule)
    convicting = set()
    for scenario in EVERYWHERE:
        run = run_one(scenario, under_test, DEFAULT_SEED, edition=RELEASED)
        assert broken_in(run, run.verdicts) == [], scenario.id
        if broken_in(run, claims.judge(History(_in_edition(run.header, KEP), run.entries))):
            convicting.add(scenario.id.rpartition("/")[0])
    assert convicting == {"jobset/two-failures/seen-at-once"}


def _in_edition(header: Header, edition: str) -> Header:
    """A run is the same whatever it is judged by."""
    return structs.replace(header, editions=of_run(header.scenario, header.operators, edition))


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


@pytest.mark.parametrize("scenario", TELLING)
def test_the_same_written_otherwise_convicts_nobody(scenario: str) -> None:
    run = run_one(SCENARIOS[scenario], RIGHT, DEFAULT_SEED, is_judged=False)
    for way, written in WRITTEN.items():
        verdicts = claims.judge(History(run.header, list(written(run.entries))))
        broken = [found.because for found in verdicts if found.outcome is Outcome.FAILED]
        assert broken == [], way
