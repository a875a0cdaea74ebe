"""Admission: a job that waits for quota is created suspended."""

from __future__ import annotations

from collections.abc import Iterable

from reference_controller.kueue.names import QUEUE
from reference_controller.runtime.admission_review import Operation, UserInfo
from vocabulary.kinds import Kind
from vocabulary.objects import Object, controller_of, labels_of, with_path


def suspend(
    operation: Operation, new: Object, old: Object | None, user: UserInfo, kinds: Iterable[Kind]
) -> Object:
    """Suspend a job of a queue as it is created. A part of another job is left to the controller,
    which knows whether that other one waits."""
    del old, user
    if operation != "CREATE" or QUEUE not in labels_of(new):
        return new
    owner = controller_of(new) or {}
    known = owner.get("apiVersion"), owner.get("kind")
    if any((kind.api_version, kind.kind) == known for kind in kinds):
        return new
    return with_path(new, "spec.suspend", True)
