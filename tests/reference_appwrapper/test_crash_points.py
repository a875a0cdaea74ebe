"""A crash, a lost reply or a refusal at any request of the controller changes no outcome."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.suites.appwrapper.api import APPWRAPPER
from tests.reference_appwrapper.driver import NAMESPACE, World, config_map, job, pod, service
from vocabulary import requests as rq
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.objects import condition_status, name_of

pytestmark = pytest.mark.slow

QUICK = {"faultTolerance": {"resetPause": "5s", "retryLimit": 1, "failureGracePeriod": "2s"}}


def retried_then_failed(world: World) -> None:
    """Two components, one reset, then Failed for good."""
    world.submit(job("j", "run 3s, exit 3", backoffLimit=0), config_map())
    world.until_phase("Failed")
    assert world.until(lambda: world.condition("QuotaReserved") == "False")
    assert world.status("resettingCount") == 1
    assert world.phases().count("Resetting") == 1
    assert world.pods() == []


def suspended_and_resumed(world: World) -> None:
    world.submit(pod("p"), service())
    world.until_phase("Running")
    world.suspend()
    world.until_phase("Suspended")
    assert world.pods() == []
    world.suspend(False)
    world.until_phase("Running")
    assert "Resetting" not in world.phases()
    assert "Failed" not in world.phases()


def succeeded_then_deleted(world: World) -> None:
    world.submit(pod("p", "run 2s, exit 0"), config_map())
    world.until_phase("Succeeded")
    world.user(rq.Delete(APPWRAPPER, NAMESPACE, "a"))
    assert world.until(lambda: world.aw() is None)
    assert world.pods() == []


STORIES = [retried_then_failed, suspended_and_resumed, succeeded_then_deleted]


def requests_of(story: Callable[[World], None]) -> int:
    world = World(config=QUICK)
    story(world)
    return len(world.requests)


def check_invariants(world: World) -> None:
    """Nothing is deployed where ResourcesDeployed is False, at any write of the AppWrapper."""
    living: dict[tuple[str, str], str] = {}
    for change in world.cluster.store.changes:
        key = (change.key.kind, change.key.name)
        owners = change.object["metadata"].get("ownerReferences") or ()
        if change.event == "DELETED":
            living.pop(key, None)
        elif change.key.namespace == NAMESPACE and any(owner.get("controller") for owner in owners):
            living[key] = change.object["metadata"]["uid"]
        if change.key.kind == str(APPWRAPPER) and change.event != "DELETED":
            status = condition_status(change.object, "ResourcesDeployed")
            if status == "False":
                assert not living, f"{name_of(change.object)} at rv {change.rv}: {living}"


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_at_any_request_changes_no_outcome(
    story: Callable[[World], None], when: str
) -> None:
    for number in range(requests_of(story)):
        world = World(config=QUICK)
        (world.crash_before if when == "before" else world.crash_after).add(number)
        story(world)
        check_invariants(world)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_a_reply_that_is_lost_at_any_request_changes_no_outcome(
    story: Callable[[World], None],
) -> None:
    for number in range(requests_of(story)):
        world = World(config=QUICK)
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
        world = World(config=QUICK)
        world.spoil = lambda request, n, number=number: (
            ApiError(code, reason, "injected") if n == number else None
        )
        story(world)
        check_invariants(world)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_caches_that_are_seconds_old_change_no_outcome(story: Callable[[World], None]) -> None:
    world = World(config=QUICK, cache_lag_us=3 * SECOND)
    story(world)
    check_invariants(world)
