"""Counting ended pods survives a crash after any request (section 5.8)."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.controllers.workloads.job import accounting
from tests.simulated_controllers.lab import Lab, job
from vocabulary.clock import SECOND
from vocabulary.kinds import JOB, POD
from vocabulary.objects import condition_status, get_path, name_of


def crash_after(lab: Lab, count: int) -> list[str]:
    """Kill the Job controller right after its `count`-th write from now on.

    The list that is returned holds the write after which it happened, once it has.
    """
    handle = lab.cluster.api.handle
    seen = 0
    crashes: list[str] = []

    def counted(request: Any, actor: str) -> Any:
        nonlocal seen
        answer = handle(request, actor)
        if actor == "job-controller":
            seen += 1
            if seen == count:
                crashes.append(str(request))
                lab.processes.kill("job-controller", restart_after_us=2 * SECOND)
        return answer

    lab.cluster.api.handle = counted  # type: ignore[method-assign]
    return crashes


def test_5_8_ended_pods_are_listed_released_and_counted_in_this_order() -> None:
    lab = Lab()
    lab.create(job(behaviour="run 5s, exit 0", pods=2))
    lab.run(5.5)
    begin = len(lab.cluster.recorder.entries)
    lab.run(10)
    mine = [
        entry
        for entry in lab.writes(actor="job-controller")
        if entry.n >= begin and entry.object is not None
    ]
    steps = [
        (
            entry.kind,
            len(get_path(entry.object, "status.uncountedTerminatedPods.succeeded") or ()),
            get_path(entry.object, "status.succeeded", 0),
        )
        for entry in mine
    ]
    assert steps == [("Job.batch", 2, 0), ("Pod", 0, 0), ("Pod", 0, 0), ("Job.batch", 0, 2)]


@pytest.mark.parametrize("count", range(1, 11))
def test_5_8_a_crash_after_any_write_neither_loses_nor_double_counts(count: int) -> None:
    lab = Lab()
    lab.create(job(behaviour="run 5s, exit 0", pods=3))
    crashes = crash_after(lab, count)
    lab.run(60)
    assert crashes
    assert "Complete" in lab.conditions(lab.job())
    assert lab.job_status()["succeeded"] == 3
    assert "failed" not in lab.job_status()


@pytest.mark.parametrize("count", range(1, 9))
def test_5_8_failures_are_counted_once_whenever_the_controller_crashes(count: int) -> None:
    lab = Lab()
    lab.create(job(pods=3, backoffLimit=0))
    lab.run(5)
    for pod in lab.pods[:2]:
        lab.annotate(name_of(pod), {"assay.dev/exit": "1"})
    crashes = crash_after(lab, count)
    lab.run(60)
    assert crashes
    assert lab.conditions(lab.job())["Failed"] == ("True", "BackoffLimitExceeded")
    assert lab.job_status()["failed"] == 3
    assert lab.get(JOB, "j") is not None
    assert not [pod for pod in lab.all(POD) if pod["metadata"].get("finalizers")]


@pytest.mark.parametrize("count", range(1, 9))
def test_5_8_failures_within_the_limit_do_not_exceed_it_by_a_crash(count: int) -> None:
    lab = Lab()
    lab.create(job(behaviour="run 30s, exit 0", pods=3, backoffLimit=2))
    lab.run(5)
    for pod in lab.pods[:2]:
        lab.annotate(name_of(pod), {"assay.dev/exit": "1"})
    crashes = crash_after(lab, count)
    lab.run(120)
    assert crashes
    assert "Complete" in lab.conditions(lab.job())
    assert lab.job_status()["failed"] == 2
    assert lab.job_status()["succeeded"] == 3


@pytest.mark.parametrize("count", range(1, 6))
def test_5_6_indexes_are_counted_once_whenever_the_controller_crashes(count: int) -> None:
    lab = Lab()
    lab.create(job(behaviour="run 5s, exit 0", pods=3, completionMode="Indexed"))
    lab.run(3)
    crashes = crash_after(lab, count)
    lab.run(60)
    assert crashes
    assert lab.job_status()["completedIndexes"] == "0-2"
    assert lab.job_status()["succeeded"] == 3


def test_5_8_a_job_that_counts_in_parts_ends_after_the_last_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(accounting, "_MAX_UNCOUNTED", 2)
    lab = Lab()
    lab.create(job(behaviour="run 5s, exit 0", pods=5))
    lab.run(60)
    writes = [entry for entry in lab.writes(actor="job-controller") if entry.object is not None]
    ended = next(
        entry.n
        for entry in writes
        if entry.kind == str(JOB) and condition_status(entry.object or {}, "Complete") == "True"
    )
    released = [entry.n for entry in writes if entry.kind == str(POD) and not entry.subresource]
    assert released[-1] < ended
    assert lab.job_status()["succeeded"] == 5
