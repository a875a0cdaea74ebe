"""A crash, a lost reply or a refusal at any request of the controller changes no outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from reference_controller.jobset.job_set import counted_restarts_of, is_finished, restarts_of
from reference_controller.jobset.names import JOB_SET
from tests.reference_jobset.driver import World, policy, replicated_job
from vocabulary import requests as rq
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB
from vocabulary.objects import condition_status, uid_of

pytestmark = pytest.mark.slow


def restarted_then_failed(world: World) -> None:
    """Each attempt fails; one restart is in the budget."""
    failing = replicated_job("a", "run 3s, exit 3")
    world.submit(failing, replicated_job("b"), failurePolicy=policy(max_restarts=1))
    assert world.until(lambda: world.is_("Failed"))
    assert world.until(lambda: set(world.jobs()) == {"js-a-0"})
    assert (world.status("restarts"), world.status("restartsCountTowardsMax")) == (1, 1)


def restarted_uncounted(world: World) -> None:
    """Two failures, which do not count, before all succeed."""
    rule = {"action": "RestartJobSetAndIgnoreMaxRestarts", "targetReplicatedJobs": ["a"]}
    world.submit(
        replicated_job("a", "run 60s, exit 0"),
        replicated_job("b", "run 60s, exit 0"),
        failurePolicy=policy(rule, restartStrategy="BlockingRecreate"),
    )
    for number in (1, 2):
        assert world.until(lambda: (world.status("replicatedJobsStatus.0.ready") or 0) == 1)
        world.exit_pod("js-a-0", 1)
        assert world.until(lambda number=number: world.status("restarts") == number)
    assert world.until(lambda: world.is_("Completed"))
    assert (world.status("restarts"), world.status("restartsCountTowardsMax")) == (2, None or 0)


def restarted_in_part(world: World) -> None:
    rule = {"action": "RestartJob", "targetReplicatedJobs": ["a"]}
    world.submit(
        replicated_job("a", "run 3s, exit 1"),
        replicated_job("b"),
        failurePolicy=policy(rule, max_restarts=2),
    )
    assert world.until(lambda: world.is_("Failed"))
    assert world.status("partialRestarts.0.restarts") == 2
    assert world.status("restarts") is None


def suspended_and_resumed(world: World) -> None:
    world.submit(replicated_job("a"), replicated_job("b"), failurePolicy=policy())
    assert world.until(lambda: world.ready() == 2)
    world.patch({"spec": {"suspend": True}})
    assert world.until(lambda: world.is_("Suspended") and world.ready() == 0)
    world.patch({"spec": {"suspend": False}})
    assert world.until(lambda: not world.is_("Suspended") and world.ready() == 2)
    assert world.status("restarts") is None


def started_in_order_completed_and_cleaned_up(world: World) -> None:
    world.submit(
        replicated_job("a", "run 2s, exit 0"),
        replicated_job("b", "run 2s, exit 0"),
        startupPolicy={"startupPolicyOrder": "InOrder"},
        ttlSecondsAfterFinished=5,
    )
    assert world.until(lambda: world.is_("Completed"))
    assert world.until(lambda: world.get(JOB_SET, "js") is None)
    assert world.until(lambda: not world.jobs())


STORIES = [
    restarted_then_failed,
    restarted_uncounted,
    restarted_in_part,
    suspended_and_resumed,
    started_in_order_completed_and_cleaned_up,
]


def requests_of(story: Callable[[World], None]) -> int:
    world = World()
    story(world)
    return len(world.requests)


def check_invariants(world: World) -> None:
    """One restart for one failure at most, no Job after the end, no Job before its predecessor is
    gone, and of the Jobs none in vain."""
    failures: set[str] = set()
    restarts = counted = partial = 0
    has_ended = False
    made: Counter[tuple[str, int]] = Counter()
    for change in world.cluster.store.changes:
        obj = change.object
        if change.key.kind == str(JOB):
            if change.event == "ADDED":
                assert not has_ended, f"{change.key.name} was created after the end"
                made[change.key.name, restarts + partial] += 1
            if condition_status(obj, "Failed") == "True":
                failures.add(uid_of(obj))
        if change.key.kind == str(JOB_SET) and change.event != "DELETED":
            assert restarts_of(obj) in (restarts, restarts + 1)
            restarts, counted = restarts_of(obj), counted_restarts_of(obj)
            records = (obj.get("status") or {}).get("partialRestarts") or ()
            partial = sum(record["restarts"] for record in records)
            assert counted <= restarts
            assert restarts + partial <= len(failures)
            assert not has_ended or is_finished(obj)
            has_ended = has_ended or is_finished(obj)
    assert not [made_for for made_for, times in made.items() if times > 1]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_at_any_request_changes_no_outcome(
    story: Callable[[World], None], when: str
) -> None:
    for number in range(requests_of(story)):
        world = World()
        (world.crash_before if when == "before" else world.crash_after).add(number)
        story(world)
        check_invariants(world)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_a_reply_that_is_lost_at_any_request_changes_no_outcome(
    story: Callable[[World], None],
) -> None:
    for number in range(requests_of(story)):
        world = World()
        world.lose_reply_of.add(number)
        story(world)
        check_invariants(world)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
@pytest.mark.parametrize("code", [409, 429, 500])
def test_a_refusal_at_any_request_changes_no_outcome(
    story: Callable[[World], None], code: int
) -> None:
    reason = {409: "Conflict", 429: "TooManyRequests", 500: "InternalError"}[code]
    for number in range(requests_of(story)):
        world = World()
        world.spoil = lambda request, n, number=number: (
            ApiError(code, reason, "injected") if n == number else None
        )
        story(world)
        check_invariants(world)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
@pytest.mark.parametrize("lag_us", [SECOND, 3 * SECOND])
def test_caches_that_are_seconds_old_change_no_outcome(
    story: Callable[[World], None], lag_us: int
) -> None:
    world = World(cache_lag_us=lag_us)
    story(world)
    check_invariants(world)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
@pytest.mark.parametrize("late", [JOB_SET, JOB], ids=str)
def test_a_cache_that_is_behind_the_other_changes_no_outcome(
    story: Callable[[World], None], late: object
) -> None:
    world = World()
    world.lag_of = {late: 2 * SECOND}
    story(world)
    check_invariants(world)


def test_a_job_of_a_job_set_that_ended_meanwhile_is_not_created() -> None:
    """Another instance ends the JobSet while this one, whose cache is old, wants to create."""
    world = World()
    world.spoil = lambda request, _: (
        ApiError(500, "InternalError", "injected")
        if isinstance(request, rq.Create) and request.name == "js-b-0"
        else None
    )
    world.submit(replicated_job("a"), replicated_job("b"), failurePolicy=policy())
    assert world.until(lambda: world.ready() == 1)
    world.run_for(SECOND)
    world.lag_of = {JOB_SET: 120 * SECOND}
    failed = {"type": "Failed", "status": "True", "reason": "X", "message": ""}
    since = {"lastTransitionTime": "2026-01-01T00:00:00Z"}
    ended = {**world.now["status"], "conditions": [{**failed, **since}]}
    world.user(rq.Update(JOB_SET, {**world.now, "status": ended}, subresource="status"))
    world.spoil = lambda request, _: None
    world.run_for(240 * SECOND)
    check_invariants(world)
    assert not world.jobs()
