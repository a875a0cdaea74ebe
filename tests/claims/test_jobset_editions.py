"""Editions of JobSet's claims: a controller that evaluates rules as released ones do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from conformance import claims
from conformance.history import History
from conformance.implementations.ours import implementation
from conformance.norm.verdict import Outcome
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules
from vocabulary.history import Entry, Write
from vocabulary.objects import Object

claims.load()
FIRST_RULE_IS_OF_THE_LATER = "jobset/two-failures/seen-at-once/default-then-fail"


class RuleMajor(Rules):
    """The failed Job that an earlier rule matches goes first: in that scenario, that of `v`."""

    def in_order_of_failure(self, failed: Sequence[Job]) -> list[Job]:
        return sorted(failed, key=lambda job: job.child.replicated_job)


@pytest.mark.parametrize(
    ("edition", "outcome"),
    [("kep", Outcome.FAILED), ("kep-v0.12", Outcome.FAILED), ("released", Outcome.PASSED)],
)
def test_the_first_rule_that_matches_any_failure_decides_in_the_edition_released(
    edition: str, outcome: Outcome
) -> None:
    wrong = replace(implementation("reference", "jobset"), rules=RuleMajor)
    run = run_one(SCENARIOS[FIRST_RULE_IS_OF_THE_LATER], wrong, 1729, edition=edition)
    assert {v.claim: v.outcome for v in run.verdicts}["JS-002"] is outcome
    failed = {v.claim for v in run.verdicts if v.outcome is Outcome.FAILED}
    assert bool(failed) is edition.startswith("kep")


def test_the_kep_of_v0_12_promises_other_restarts_of_jobs() -> None:
    scenario = SCENARIOS["jobset/partial-restarts/job-restarts"]
    other = {
        edition: {
            claim.id
            for claim in claims.load()
            if claim.suite == "jobset" and (not claim.editions or edition in claim.editions)
        }
        for edition in ("kep", "kep-v0.12", "released")
    }
    assert other["kep"] - other["kep-v0.12"] == {
        "JS-009", "JS-025", "JS-045", "JS-073", "JS-097", "JS-110"
    }  # fmt: skip
    assert other["kep-v0.12"] - other["released"] == {"JS-006", "JS-024", "JS-112"}
    assert other["kep-v0.12"] - other["kep"] == {"JS-111"}
    run = run_one(scenario, implementation("reference", "jobset"), 1729, edition="kep-v0.12")
    assert not [v for v in run.verdicts if v.outcome is Outcome.FAILED]


def test_failures_that_are_apart_are_answered_alike_in_both_editions() -> None:
    scenario = SCENARIOS["jobset/two-failures/seen-in-turn/default-then-fail"]
    run = run_one(scenario, implementation("reference", "jobset"), 1729, edition="released")
    assert not [v for v in run.verdicts if v.outcome is Outcome.FAILED]
    judged = {v.claim for v in run.verdicts}
    assert judged.isdisjoint({"JS-006", "JS-009", "JS-024", "JS-025", "JS-045", "JS-073", "JS-097"})


@pytest.mark.parametrize(
    ("mutant", "scenario"),
    [
        ("partial-restarts-need-no-budget", "no-partial-restart-is-allowed/job"),
        ("partial-restarts-are-free", "no-restart-is-left-for-all/job"),
        ("each-part-has-a-budget", "no-restart-is-left-for-all/job"),
    ],
)
def test_restarts_of_jobs_and_of_the_jobset_share_a_budget_in_the_edition_released(
    mutant: str, scenario: str
) -> None:
    wrong = implementation(f"mutant:{mutant}", "jobset")
    run = run_one(SCENARIOS[f"jobset/partial-restarts/{scenario}"], wrong, 1729, edition="released")
    assert {v.claim: v.outcome for v in run.verdicts}["JS-111"] is Outcome.FAILED


@pytest.mark.parametrize("mutant", ["no-back-off", "endless-back-off", "attempt-counts-all"])
def test_no_back_off_is_promised_in_the_edition_released_and_all_restarts_are_attempts(
    mutant: str,
) -> None:
    other = implementation(f"mutant:{mutant}", "jobset")
    for name in ("all-restarts-share-one-budget", "back-off-doubles/job"):
        scenario = SCENARIOS[f"jobset/partial-restarts/{name}"]
        run = run_one(scenario, other, 1729, edition="released")
        assert [v.because for v in run.verdicts if v.outcome is Outcome.FAILED] == []


def _by_index(job_set: Object, action: str, fields: Sequence[str]) -> Mapping[str, Any]:
    """A JobSet with the fields and the action by which released controllers restart Jobs."""
    spec = job_set["spec"]
    policy = {**spec["failurePolicy"], "rules": [{"name": "first", "action": action}]}
    status = dict(job_set.get("status") or {})
    records = status.pop("partialRestarts", ())
    counts = {each["name"]: [0] * int(each.get("replicas", 1)) for each in spec["replicatedJobs"]}
    for each in records:
        counts[each["replicatedJob"]][int(each["job"].rsplit("-", 1)[1])] = each["restarts"]
    if "replicatedJobsStatus" in status:
        status["replicatedJobsStatus"] = [
            {**each, **dict.fromkeys(fields, counts[each["name"]])}
            for each in status["replicatedJobsStatus"]
        ]
    return {**job_set, "spec": {**spec, "failurePolicy": policy}, "status": status}


def _as_released(entries: Sequence[Entry], action: str, fields: Sequence[str]) -> Iterator[Entry]:
    for entry in entries:
        if isinstance(entry, Write) and entry.kind.startswith("JobSet") and entry.object:
            yield structs.replace(entry, object=_by_index(entry.object, action, fields))
        else:
            yield entry


@pytest.mark.parametrize(
    ("action", "fields", "is_right"),
    [
        ("RestartJob", ("jobRestarts", "jobRestartsCountTowardsMax"), True),
        ("RestartJob", ("jobRestarts",), False),
        ("RestartJobAndIgnoreMaxRestarts", ("jobRestarts",), True),
        (
            "RestartJobAndIgnoreMaxRestarts",
            ("jobRestarts", "jobRestartsCountTowardsMax"),
            False,
        ),
    ],
)
def test_restarts_of_a_job_count_as_released_controllers_write_them(
    action: str, fields: Sequence[str], is_right: bool
) -> None:
    scenario = SCENARIOS["jobset/partial-restarts/job-restarts"]
    run = run_one(scenario, implementation("reference", "jobset"), 1729, edition="released")
    entries = list(_as_released(run.entries, action, fields))
    verdicts = {v.claim: v for v in claims.judge(History(run.header, entries))}
    expected = Outcome.PASSED if is_right else Outcome.FAILED
    assert {verdicts[claim].outcome for claim in ("JS-060", "JS-071", "JS-111")} == {expected}
    failed = {v.claim for v in verdicts.values() if v.outcome is Outcome.FAILED}
    assert bool(failed) is not is_right
