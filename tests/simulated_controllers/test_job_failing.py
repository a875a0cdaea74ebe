"""Jobs that fail: reasons, order of causes, back-off, the two-step end (5.2 to 5.4)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from clusters.simulated.controllers.settings import Settings
from tests.simulated_controllers.lab import Lab, job
from vocabulary.clock import SECOND, parse_rfc3339
from vocabulary.kinds import JOB, POD
from vocabulary.objects import condition, get_path, name_of

BACKOFF = "Job has reached the specified backoff limit"
DEADLINE = "Job was active longer than specified deadline"


def failed(lab: Lab) -> bool:
    return lab.conditions(lab.job()).get("Failed", ("", ""))[0] == "True"


def creations(lab: Lab) -> list[float]:
    """Creation times of pods, in seconds."""
    return [entry.t / SECOND for entry in lab.writes(POD, event="ADDED")]


def message(lab: Lab, type_: str = "Failed") -> str:
    entry = condition(lab.job(), type_)
    assert entry is not None
    return str(entry["message"])


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_5_4_a_back_off_limit_of_n_allows_n_retries(limit: int) -> None:
    lab = Lab()
    lab.create(job(behaviour="exit 1", backoffLimit=limit))
    lab.until(lambda: failed(lab))
    assert len(creations(lab)) == limit + 1
    assert lab.conditions(lab.job())["Failed"] == ("True", "BackoffLimitExceeded")
    assert lab.conditions(lab.job())["FailureTarget"] == ("True", "BackoffLimitExceeded")
    assert message(lab) == BACKOFF == message(lab, "FailureTarget")
    assert lab.job_status()["failed"] == limit + 1


def test_5_4_replacements_wait_ten_seconds_and_double_from_there_on() -> None:
    lab = Lab()
    lab.create(job(behaviour="exit 1", backoffLimit=4))
    lab.until(lambda: failed(lab))
    times = creations(lab)
    gaps = [later - earlier for earlier, later in pairwise(times)]
    # The wait counts from the container's end, in whole seconds: up to one second early.
    for gap, wait in zip(gaps, (10, 20, 40, 80), strict=True):
        assert wait - 1 <= gap <= wait + 1.2


def test_5_4_the_wait_is_capped_at_ten_minutes() -> None:
    lab = Lab()
    lab.create(job(behaviour="exit 1", backoffLimit=9))
    lab.until(lambda: failed(lab), within_seconds=7200)
    times = creations(lab)
    assert 599 <= times[-1] - times[-2] <= 602


def test_5_4_a_success_sets_the_back_off_back() -> None:
    lab = Lab()
    lab.create(job(pods=2, completions=6, behaviour="run 100s, exit 0"))
    lab.run(5)
    lab.annotate(name_of(lab.pods[0]), {"assay.dev/exit": "1", "assay.dev/run-for": None})
    lab.run(150)
    victim = [pod for pod in lab.pods if get_path(pod, "status.phase") == "Running"][-1]
    before = len(creations(lab))
    lab.annotate(name_of(victim), {"assay.dev/exit": "1", "assay.dev/run-for": None})
    killed = lab.loop.elapsed_us / SECOND
    lab.until(lambda: len(creations(lab)) > before)
    assert 9 <= creations(lab)[-1] - killed <= 11.2


def test_5_4_the_back_off_is_lost_when_the_controller_restarts() -> None:
    lab = Lab()
    lab.create(job(behaviour="exit 1", backoffLimit=6))
    lab.until(lambda: len(creations(lab)) == 4)
    lab.run(5)
    lab.processes.kill("job-controller")
    lab.processes.start("job-controller")
    lab.run(5)
    assert len(creations(lab)) == 5


def test_5_2_the_terminal_condition_waits_until_the_last_pod_has_stopped() -> None:
    lab = Lab()
    lab.create(job(pods=2, behaviour="stop 60s", backoffLimit=0))
    lab.run(5)
    first, second = (name_of(pod) for pod in lab.pods)
    lab.annotate(first, {"assay.dev/exit": "1"})
    target_us = lab.until(lambda: "FailureTarget" in lab.conditions(lab.job()))
    lab.run(50)
    assert lab.get(POD, second) is not None
    assert not failed(lab)
    done_us = lab.until(lambda: failed(lab))
    assert lab.get(POD, second) is None
    assert done_us - target_us >= 60 * SECOND


def test_5_3_the_deadline_fails_a_job_that_is_still_active() -> None:
    lab = Lab()
    lab.create(job(activeDeadlineSeconds=30))
    lab.until(lambda: "FailureTarget" in lab.conditions(lab.job()))
    began_us = parse_rfc3339(lab.job_status()["startTime"])
    assert 30 * SECOND <= lab.loop.now_us - began_us < 30 * SECOND + SECOND // 10
    done_us = lab.until(lambda: failed(lab))
    assert done_us < 33 * SECOND
    assert lab.conditions(lab.job())["Failed"] == ("True", "DeadlineExceeded")
    assert message(lab) == DEADLINE
    assert lab.pods == []


def test_5_3_the_back_off_limit_ranks_before_the_deadline() -> None:
    lab = Lab()
    lab.create(job(activeDeadlineSeconds=5, backoffLimit=0))
    lab.run(3)
    lab.processes.pause("job-controller")
    lab.annotate(name_of(lab.pods[0]), {"assay.dev/exit": "1"})
    lab.run(10)
    lab.processes.resume("job-controller")
    lab.run(10)
    assert lab.conditions(lab.job())["Failed"] == ("True", "BackoffLimitExceeded")


@pytest.mark.parametrize(("limit", "restarts"), [(0, 1), (2, 2), (3, 3)])
def test_5_4_in_place_restarts_count_against_the_limit(limit: int, restarts: int) -> None:
    lab = Lab()
    template = {"restartPolicy": "OnFailure"}
    behaviour = "exit 1, restart-after 1s"
    lab.create(job(behaviour=behaviour, template=template, backoffLimit=limit))
    seen = 0
    while not failed(lab):
        lab.run(0.25)
        for pod in lab.pods:
            statuses = get_path(pod, "status.containerStatuses") or ()
            seen = max(seen, *(entry["restartCount"] for entry in statuses), seen)
    # Restarts go on while the controller gathers events.
    assert restarts <= seen <= restarts + 2
    assert len(creations(lab)) == 1


def test_5_4_a_pod_deleted_by_a_user_counts_as_failed_and_is_replaced_while_it_stops() -> None:
    lab = Lab()
    lab.create(job(behaviour="stop 100s"))
    lab.run(5)
    lab.delete(POD, name_of(lab.pods[0]))
    lab.run(15)
    assert len(lab.pods) == 2
    assert lab.job_status()["failed"] == 1
    assert lab.job_status()["terminating"] == 1


def test_5_4_with_replacement_policy_failed_a_pod_is_replaced_only_once_it_has_ended() -> None:
    lab = Lab()
    lab.create(job(behaviour="stop 100s", podReplacementPolicy="Failed"))
    lab.run(5)
    lab.delete(POD, name_of(lab.pods[0]))
    lab.run(90)
    assert len(lab.pods) == 1
    assert "failed" not in lab.job_status()
    lab.run(40)
    assert lab.job_status()["failed"] == 1
    assert len(lab.pods) == 1
    assert lab.phase(name_of(lab.pods[0])) == "Running"


def test_the_waits_can_be_shortened_as_in_a_fast_controller_manager() -> None:
    settings = Settings(job_sync_batch_us=20_000, job_pod_backoff_us=20_000)
    lab = Lab(settings=settings)
    lab.create(job(behaviour="exit 1", backoffLimit=2))
    done_us = lab.until(lambda: failed(lab))
    assert done_us < SECOND


def test_a_failed_job_stays_as_it_is() -> None:
    lab = Lab()
    lab.create(job(behaviour="exit 1", backoffLimit=0))
    lab.until(lambda: failed(lab))
    lab.run(1)
    version = lab.job()["metadata"]["resourceVersion"]
    lab.processes.kill("job-controller", restart_after_us=SECOND)
    lab.run(3600)
    assert lab.job()["metadata"]["resourceVersion"] == version
    assert lab.cluster.is_quiet()
    assert lab.get(JOB, "j") is not None
