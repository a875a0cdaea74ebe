"""Workloads that are let go, and the pods that are left of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from reference_controller.kueue.names import (
    APP_WRAPPER,
    IN_USE,
    JOB_UID,
    OF_WORKLOAD,
    POD_SET,
    WORKLOAD,
)
from reference_controller.kueue.office import Office
from reference_controller.kueue.workload import Workload
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.kinds import POD
from vocabulary.objects import Object, finalizers_of, get_path, labels_of, meta, uid_of
from vocabulary.requests import Delete, List, ObjectList, Patch, Request

LOOKS_AGAIN_US: Final = SECOND
"""Where the API server still has pods that the cache does not show."""
_ENDED: Final = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class PodsLeft:
    """The pods of a Workload that are not terminal; of an AppWrapper, which holds quota until all
    is gone, those that are there."""

    by_pod_set: Mapping[str, int]
    is_unseen: bool = False
    """The cache shows none of them. After a broken watch it never may, and no event tells that
    they are gone."""

    @property
    def count(self) -> int:
        return sum(self.by_pod_set.values())


def pods_left(workload: Workload, *, is_sure: bool) -> Generator[Request, Any, PodsLeft]:
    """Look for the pods of a Workload. With `is_sure` a cache that shows none is not believed: it
    may be behind."""
    left = yield from _pods_left(workload, live=False)
    if left or not is_sure:
        return PodsLeft(left)
    left = yield from _pods_left(workload, live=True)
    return PodsLeft(left, is_unseen=bool(left))


def _pods_left(workload: Workload, *, live: bool) -> Generator[Request, Any, Mapping[str, int]]:
    is_held_for_all = workload.owner is not None and workload.owner[1] == APP_WRAPPER.kind
    selector = f"{OF_WORKLOAD}={workload.key.name}"
    pods: ObjectList = yield List(POD, workload.key.namespace, label_selector=selector, live=live)
    return Counter(
        labels_of(pod).get(POD_SET, "")
        for pod in pods.items
        if is_held_for_all or get_path(pod, "status.phase") not in _ENDED
    )


def leave(
    workload: Workload,
    office: Office,
    *,
    is_orphaned: bool,
) -> Generator[Request, Any, bool]:
    """Delete a Workload whose job is gone, and let it go as soon as its quota may; True if no event
    may tell when that is."""
    if not workload.is_terminating:
        try:
            stored: Object = yield Delete(WORKLOAD, *workload.key, uid=workload.uid)
        except ApiError as error:
            if error.is_not_found:
                return False
            raise
        if stored.get("kind") != WORKLOAD.kind:
            return False
        workload = Workload(stored)
        office.books.take_answer(workload)
    holds = office.config.holds_until_terminal
    if is_orphaned and holds and (yield from _is_stopping(workload)):
        is_orphaned = False
    left = yield from pods_left(workload, is_sure=holds and not is_orphaned)
    if office.rules.may_go(is_orphaned, holds, left.count):
        yield from forget(workload, office)
        return False
    return office.rules.looks_for_pods(left.is_unseen)


def _is_stopping(workload: Workload) -> Generator[Request, Any, bool]:
    """True if the job of a Workload that was left is a pod, and stops: then it does not run on, as
    the pods of other jobs do."""
    uid = labels_of(workload.object)[JOB_UID]
    selector = f"{OF_WORKLOAD}={workload.key.name}"
    pods: ObjectList = yield List(POD, workload.key.namespace, label_selector=selector, live=True)
    return any(
        uid_of(pod) == uid and get_path(pod, "status.phase") not in _ENDED for pod in pods.items
    )


def forget(workload: Workload, office: Office) -> Generator[Request, Any, None]:
    """Take the finalizer off."""
    held = finalizers_of(workload.object)
    if IN_USE not in held:
        return
    body = {
        "metadata": {
            "finalizers": [each for each in held if each != IN_USE] or None,
            "resourceVersion": meta(workload.object)["resourceVersion"],
        }
    }
    stored: Object = yield Patch(WORKLOAD, *workload.key, body)
    office.books.take_answer(Workload(stored))
