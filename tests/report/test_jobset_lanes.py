"""The lanes of a JobSet: its attempts, its budget, and its Jobs, of which the many are folded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from msgspec import structs

from conformance.claims import CLAIMS
from conformance.norm.verdict import Outcome
from conformance.report.pages.failure_page import MAX_PAGE_BYTES, failure_page
from conformance.report.pages.lane import DrawnLane
from conformance.report.pages.lanes import lane_groups
from conformance.report.pages.time_axis import TimeAxis
from conformance.report.run_result import RunResult
from conformance.suites.jobset.api import RELEASED, RESTART_JOB_SET
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.job_lanes import MAX_JOBS, MAX_SUMMARIES
from conformance.suites.jobset.scenarios.workloads import job_set, replicated_job, rule
from conformance.world import World
from reference_controller.jobset.mutants import MUTANTS
from tests.claims.jobset_runs import RIGHT, run_of, run_scenario
from vocabulary.history import Entry, Write
from vocabulary.objects import Object


def _lanes(run: RunResult, group: str = "jobset/a") -> dict[str, DrawnLane]:
    axis = TimeAxis(entry.t for entry in run.entries)
    shown = frozenset(range(len(run.entries)))
    groups = lane_groups(run.header, run.entries, run.verdicts[:1], axis, shown)
    return {lane.label: lane for each in groups if each.title == group for lane in each.lanes}


def _texts(lane: DrawnLane) -> list[str]:
    return [band.text for band in lane.bands]


def _mutated(name: str, scenario: str) -> RunResult:
    return run_scenario(scenario, replace(RIGHT, rules=MUTANTS[name].rules))


@pytest.fixture(scope="module")
def shared_budget() -> RunResult:
    """Restarts of a replicated job, of a Job and of all, counted or not, until none is left."""
    return run_scenario("partial-restarts/all-restarts-share-one-budget")


def test_each_attempt_names_the_action_the_rule_and_the_failure(shared_budget: RunResult) -> None:
    attempt = _lanes(shared_budget)["attempt"]
    assert _texts(attempt) == [
        "0",
        "1: RestartJobSetAndIgnoreMaxRestarts, rules[2]: a-driver-0 PodFailurePolicy",
        "2: RestartJobSet, the default action: a-driver-0 BackoffLimitExceeded",
        "Failed: FailJobSet, rules[0] is RestartReplicatedJob: a-w-1 BackoffLimitExceeded",
    ]
    assert [band.tone for band in attempt.bands] == ["good", "warn", "warn", "bad"]
    assert attempt.marks, "the JobSet's requests are ticks of its first lane"


def test_the_budget_tells_partial_restarts_and_those_that_do_not_count(
    shared_budget: RunResult,
) -> None:
    budget = _lanes(shared_budget)["used of maxRestarts"]
    assert _texts(budget) == [
        "0 of 3",
        "1 of 3, 1 of them partial",
        "1 of 3, 1 of them partial, 1 not counted",
        "2 of 3, 2 of them partial, 1 not counted",
        "3 of 3, 2 of them partial, 1 not counted",
    ]
    heights = [band.height for band in budget.bands]
    assert heights == sorted(heights)
    assert heights[-1] == 1


def test_partial_restarts_name_what_restarted_and_how_often(shared_budget: RunResult) -> None:
    assert _texts(_lanes(shared_budget)["partial restarts"]) == [
        "w ×1: RestartReplicatedJob, rules[0]: a-w-0 BackoffLimitExceeded",
        "a-v-1 ×1: RestartJob, rules[1]: a-v-1 BackoffLimitExceeded",
    ]


def test_a_restart_beyond_the_limit_is_bad() -> None:
    lanes = _lanes(_mutated("one-more", "matching/maximum-is-missing"))
    assert [(b.tone, b.text) for b in lanes["used of maxRestarts"].bands] == [
        ("off", "0 of 0"),
        ("bad", "1 of 0"),
    ]


def test_an_action_that_the_policy_does_not_demand_stands_beside_the_rule() -> None:
    run = _mutated("one-takes-all", "partial-restarts/job-restarts")
    assert _texts(_lanes(run)["partial restarts"])[0] == (
        "w ×1: RestartReplicatedJob, rules[0] is RestartJob: a-w-1 BackoffLimitExceeded"
    )


def _as_released(entries: tuple[Entry, ...]) -> Iterator[Entry]:
    """The partial restarts of single Jobs in the fields of released controllers."""
    for entry in entries:
        if isinstance(entry, Write) and entry.kind.startswith("JobSet") and entry.object:
            yield structs.replace(entry, object=_by_index(entry.object))
        else:
            yield entry


def _by_index(found: Object) -> Object:
    status = dict(found.get("status") or {})
    restarts = [0, 0, 0]
    for each in status.pop("partialRestarts", ()):
        restarts[int(each["job"][-1])] = each["restarts"]
    of_jobs = [
        {**each, "jobRestarts": restarts, "jobRestartsCountTowardsMax": restarts}
        for each in status.get("replicatedJobsStatus", ())
    ]
    return {**found, "status": {**status, "replicatedJobsStatus": of_jobs}}


def test_restarts_of_jobs_stand_beside_the_budget_in_the_edition_released() -> None:
    run = run_scenario("partial-restarts/job-restarts")
    header = structs.replace(run.header, editions={"jobset": RELEASED})
    run = structs.replace(run, header=header, entries=tuple(_as_released(run.entries)))
    lanes = _lanes(run)
    assert _texts(lanes["used of maxRestarts"])[-1].endswith(" beside partial")
    assert _texts(lanes["partial restarts"])[0].startswith("a-w-1 ×1: RestartJob, ")


def test_jobs_of_one_name_share_a_lane_and_are_no_components_besides() -> None:
    run = run_scenario("restarts/a-job-has-completed")
    assert _texts(_lanes(run)["job w-1"]) == [
        "no pods",
        "0 of 1 ready",
        "1 of 1 ready",
        "failing",
        "Failed BackoffLimitExceeded",
        "terminating",
        "no pods",
        "0 of 1 ready",
        "1 of 1 ready",
    ]
    assert list(_lanes(run, "Components")) == ["service/a"]


def test_conditions_of_a_jobset_have_lanes_in_their_own_tones() -> None:
    ended = _lanes(run_scenario("endings/no-restarts-are-allowed/none"))
    assert [(b.tone, b.text) for b in ended["Failed"].bands] == [("bad", "True")]
    suspended = _lanes(run_scenario("suspension/jobset-is-created-suspended"))
    assert suspended["Suspended"].bands[0].tone == "pending"


@pytest.fixture(scope="module")
def many_jobs() -> RunResult:
    """Ninety-one Jobs that restart more often than they may, since one of them fails."""

    def steps(world: World) -> None:
        groups = [replicated_job("driver"), *(replicated_job(f"w{i}", 10) for i in range(9))]
        rules = [rule(RESTART_JOB_SET)]
        its = JobSet.submit(world, job_set(groups, rules, max_restarts=0))
        its.fail_until_restarted("w1-7")
        world.until(its.is_ready())

    return run_of(steps, replace(RIGHT, rules=MUTANTS["one-more"].rules))


def test_of_many_jobs_the_uneventful_ones_are_folded_by_replicated_job(
    many_jobs: RunResult,
) -> None:
    lanes = _lanes(many_jobs)
    assert [label for label in lanes if "ob" in label] == [
        "job driver-0",
        "job w1-7",
        "10 Jobs of w0",
        "9 Jobs of w1",
        "10 Jobs of w2",
        "10 Jobs of w3",
        "10 Jobs of w4",
        "40 other Jobs",
    ]
    assert len(lanes["40 other Jobs"].objects) == 80, "two Jobs of each name"
    texts = _texts(lanes["10 Jobs of w0"])
    assert texts[:4] == ["some starting", "all starting", "some starting", "all ready"]
    assert texts[-1] == "all ready"
    assert {"some terminating", "all terminating"} <= {*texts}
    assert len([lane for lane in lanes if lane.startswith("job ")]) <= MAX_JOBS
    assert len([lane for lane in lanes if " Jobs" in lane]) <= MAX_SUMMARIES


def test_a_page_of_many_jobs_is_small_and_its_pods_are_those_at_the_contradiction(
    many_jobs: RunResult,
) -> None:
    judged = [(CLAIMS[v.claim], v) for v in many_jobs.verdicts if v.outcome is Outcome.FAILED]
    assert judged
    page = failure_page(judged, many_jobs, command="assay replay js-022.yaml")
    assert len(page.encode()) <= MAX_PAGE_BYTES
    assert "pod/a-w1-7-0-" in page
