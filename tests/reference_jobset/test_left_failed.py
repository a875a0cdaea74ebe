"""Jobs that FailJob left failed, once their TTL or a user has deleted them."""

from __future__ import annotations

from typing import Any, Final

import pytest

from reference_controller.jobset.children import changes
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import RIGHT
from reference_controller.jobset.verdict import judge
from tests.reference_jobset.driver import policy, replicated_job
from tests.reference_jobset.observed import complete, failed, jobs_of, ready, seen, standing
from vocabulary.objects import Object

BOTH: Final = (replicated_job("a"), replicated_job("b"))
LEAVES: Final = {"failurePolicy": policy({"action": "FailJob"})}


def others(made: Object, **states: Object) -> list[Job]:
    """Its Jobs but that of `a`."""
    return [job for job in jobs_of(made, **states) if job.child.replicated_job != "a"]


def without_a(**spec: Any) -> Object:
    """A JobSet that has left the Job of `a` failed, which is gone."""
    made = standing(*BOTH, **LEAVES, **spec)
    jobs = jobs_of(made, a_0=failed(), b_0=ready())
    return {**made, "status": judge(seen(made, jobs), RIGHT).status}


def created(made: Object, jobs: list[Job]) -> list[str]:
    return [create.name for create in changes(seen(made, jobs), RIGHT).creates]


def test_it_is_not_created_again_and_counts_as_failed() -> None:
    made = without_a()
    jobs = others(made, b_0=ready())
    assert created(made, jobs) == []
    counts = judge(seen(made, jobs), RIGHT).status["replicatedJobsStatus"]
    assert [each["failed"] for each in counts] == [1, 0]


def test_jobs_that_start_after_it_are_created() -> None:
    made = without_a(startupPolicy={"startupPolicyOrder": "InOrder"})
    assert created(made, []) == ["js-b-0"]


@pytest.mark.parametrize("key", ["restarts", "partialRestarts"])
def test_a_restart_that_concerns_it_creates_it_again(key: str) -> None:
    made = without_a()
    record = {
        "replicatedJob": "a",
        "job": "",
        "restarts": 1,
        "notBefore": "1970-01-01T00:00:00.000000Z",
    }
    more = {"restarts": 1} if key == "restarts" else {key: [record]}
    assert "js-a-0" in created({**made, "status": {**made["status"], **more}}, [])


@pytest.mark.parametrize(
    ("b_0", "ended"), [(ready(), None), (complete(), "Completed"), (failed(), "Failed")]
)
def test_the_job_set_ends_as_if_it_were_there(b_0: Object, ended: str | None) -> None:
    made = without_a()
    status = judge(seen(made, others(made, b_0=b_0)), RIGHT).status
    assert status.get("terminalState") == ended
