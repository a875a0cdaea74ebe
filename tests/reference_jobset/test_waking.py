"""The events that wake the controller, for which JobSet, and the requests that it avoids."""

from __future__ import annotations

from typing import Any

import pytest

from reference_controller.jobset.config import JobSetConfig
from reference_controller.jobset.job_set_controller import JobSetController
from reference_controller.jobset.names import JOB_SET
from reference_controller.jobset.rules import Rules
from reference_controller.runtime.caches import Caches
from reference_controller.runtime.controller import Key
from tests.reference_jobset.driver import World, policy, replicated_job
from vocabulary import requests as rq
from vocabulary.clock import MILLISECOND, SECOND
from vocabulary.kinds import EVENT, JOB, SERVICE, Kind
from vocabulary.objects import Object, with_path

KEY = Key("team", "js")


class Fed:
    """A controller with its caches, given one change at a time as by the runtime."""

    def __init__(self) -> None:
        self.controller = JobSetController(JobSetConfig(), Rules())
        self.caches = Caches(self.controller.watches)

    def hear(self, kind: Kind, obj: Object, event: str = "MODIFIED") -> list[Key]:
        change = self.caches[kind].apply(event, obj)
        return list(self.controller.keys_for(kind, change.object, change.old, self.caches))


def owned(owner: str = "JobSet", **more: Any) -> Object:
    reference = {"kind": owner, "name": "js", "uid": "u", "controller": True}
    return {
        "metadata": {"name": "js-a-0", "namespace": "team", "ownerReferences": [reference]},
        "spec": {"parallelism": 3000, "completions": 3000},
        **more,
    }


def test_a_job_wakes_its_job_set_when_it_comes_and_goes_and_when_what_matters_changes() -> None:
    fed = Fed()
    assert fed.hear(JOB, owned(), "ADDED") == [KEY]
    for status in (
        {"active": 1},
        {"active": 1, "ready": 3000},
        {"conditions": [{"type": "Failed", "status": "True"}]},
    ):
        assert fed.hear(JOB, owned(status=status)) == [KEY]
    gone = with_path(owned(), "metadata.deletionTimestamp", "2026-01-01T00:00:00Z")
    assert fed.hear(JOB, gone) == [KEY]
    assert fed.hear(JOB, gone, "DELETED") == [KEY]


def test_of_the_pods_of_a_large_job_only_the_first_and_the_last_wake() -> None:
    fed = Fed()
    fed.hear(JOB, owned(), "ADDED")
    woken = [
        ready
        for ready in range(1, 3001)
        if fed.hear(JOB, owned(status={"active": 3000, "ready": ready}))
    ]
    assert woken == [1, 3000]


def test_a_job_that_changes_hands_wakes_the_one_whose_it_was_and_a_foreign_one_wakes_nobody() -> (
    None
):
    fed = Fed()
    fed.hear(JOB, owned(), "ADDED")
    assert fed.hear(JOB, with_path(owned(), "metadata.ownerReferences", [])) == [KEY]
    assert Fed().hear(JOB, owned("AppWrapper"), "ADDED") == []


@pytest.mark.parametrize("event", ["ADDED", "DELETED"])
def test_a_service_wakes_its_job_set(event: str) -> None:
    assert Fed().hear(SERVICE, owned(), event) == [KEY]


def test_a_job_set_that_is_ready_costs_nothing_and_a_status_is_written_once() -> None:
    world = World(cache_lag_us=500 * MILLISECOND)
    world.submit(replicated_job("a", pods=3), failurePolicy=policy(max_restarts=1))
    assert world.until(lambda: world.ready() == 1)
    world.run_for(10 * SECOND)
    sent = len(world.requests)
    world.run_for(600 * SECOND)
    assert world.requests[sent:] == []
    statuses = [each.object["status"] for each in world.requests if isinstance(each, rq.Update)]
    assert len(statuses) == 3, "none, active, ready"


def test_a_restart_of_n_jobs_is_one_write_of_its_count_n_deletes_and_n_creates() -> None:
    world = World()
    world.submit(replicated_job("a", replicas=20), failurePolicy=policy(max_restarts=1))
    assert world.until(lambda: world.ready() == 20)
    world.run_for(10 * SECOND)
    sent = len(world.requests)
    world.exit_pod("js-a-7", 1)
    assert world.until(lambda: world.status("restarts") == 1 and world.ready() == 20)
    world.run_for(60 * SECOND)
    kinds = [(type(request), request.kind) for request in world.requests[sent:]]
    assert kinds.count((rq.Delete, JOB)) == 20
    assert kinds.count((rq.Create, JOB)) == 20
    assert kinds.count((rq.Create, EVENT)) == 1
    counts = [
        request.object["status"].get("restarts")
        for request in world.requests[sent:]
        if isinstance(request, rq.Update) and request.kind == JOB_SET
    ]
    assert counts.index(1) >= 0
    assert {*counts[counts.index(1) :]} == {1}
    assert kinds.count((rq.Patch, JOB)) == 0
