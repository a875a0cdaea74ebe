"""Admission: a job that waits for quota is created suspended."""

from __future__ import annotations

from reference_controller.kueue.names import QUEUE
from reference_controller.runtime.admission_review import Operation, UserInfo
from vocabulary.objects import Object, labels_of, with_path


def suspend(operation: Operation, new: Object, old: Object | None, user: UserInfo) -> Object:
    """Suspend a job of a queue as it is created."""
    del old, user
    if operation != "CREATE" or QUEUE not in labels_of(new):
        return new
    return with_path(new, "spec.suspend", True)
