"""Requests that the controller avoids, since it knows the answer already."""

from __future__ import annotations

from conformance.suites.appwrapper.api import APPWRAPPER
from tests.reference_appwrapper.driver import World, job, pod
from vocabulary.clock import MILLISECOND, SECOND
from vocabulary.kinds import EVENT
from vocabulary.objects import name_of
from vocabulary.requests import Create, Get


def test_a_deletion_that_only_waits_sends_no_request() -> None:
    world = World()
    world.submit(job(behaviour="stop 60s", pods=2))
    world.until_phase("Running")
    world.run_for(5 * SECOND)
    world.suspend()
    world.until_phase("Suspending")
    world.run_for(5 * SECOND)
    sent = len(world.requests)
    world.run_for(20 * SECOND)
    assert world.requests[sent:] == []
    world.until_phase("Suspended")
    assert len(world.requests) > sent


def test_a_cache_that_is_behind_on_our_own_writes_is_not_checked_with_the_server() -> None:
    world = World(cache_lag_us=500 * MILLISECOND)
    world.submit(job())
    world.until_phase("Running")
    world.run_for(5 * SECOND)
    asked = [request for request in world.requests if isinstance(request, Get)]
    assert [request for request in asked if request.kind == APPWRAPPER] == []


def test_an_event_is_sent_once_in_an_attempt() -> None:
    world = World()
    world.submit(pod(), annotations={"failureGracePeriodDuration": "10s"})
    world.until(lambda: world.condition("PodsReady") == "True")
    world.exit_pods(1)
    world.until_phase("Resetting")
    world.run_for(SECOND)
    sent = [
        name_of(request.object)
        for request in world.requests
        if isinstance(request, Create) and request.kind == EVENT
    ]
    assert sent
    assert len(sent) == len(set(sent))
