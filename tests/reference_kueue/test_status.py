"""The limit deactivates a Workload, also one that loses its quota before it does."""

from __future__ import annotations

import pytest

from reference_controller.kueue.config import KueueConfig
from reference_controller.kueue.integrations.batch_job import BatchJob
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Workload
from reference_controller.kueue.workload_status import Next, Seen, next_status
from tests.reference_kueue.made import workload
from vocabulary.objects import condition, with_path

_COUNTED = {"count": 2, "requeueAt": "2026-01-01T00:00:00Z"}


def _next(evicted: str, *, active: bool) -> Next:
    """The next step once its last timeout has come, and it was evicted for a reason."""
    conditions = {
        "DeactivationTarget": ("True", "RequeuingLimitExceeded", 5),
        "Evicted": ("True", evicted, 6),
    }
    found = with_path(workload("w", conditions=conditions).object, "spec.active", active)
    stored = Workload(with_path(found, "status.requeueState", _COUNTED))
    return next_status(Seen(stored, BatchJob(Rules()), {"spec": {}}, {}, 7), KueueConfig(), Rules())


def test_one_that_is_preempted_at_its_limit_is_still_deactivated() -> None:
    preempted = _next("Preempted", active=True)
    assert preempted.deactivates
    assert preempted.status["requeueState"] == _COUNTED
    deactivated = _next("Preempted", active=False)
    evicted = condition({"status": deactivated.status}, "Evicted") or {}
    assert evicted["reason"] == Rules().why_inactive()


@pytest.mark.parametrize("active", [True, False])
def test_its_count_is_reset_once_it_is_active_again(active: bool) -> None:
    found = _next(Rules().why_inactive(), active=active)
    assert not found.deactivates
    assert ("requeueState" in found.status) is not active
