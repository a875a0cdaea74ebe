"""Ended pods are counted in three steps, so that a crash between any two counts right.

1. Their uids go into `status.uncountedTerminatedPods`, together with an interim condition.
2. Their tracking finalizer is removed, so that they may be deleted.
3. Uids without a finalizer move from the list into `succeeded` and `failed`.

A finalizer that is still there means: not counted yet. A uid in the list whose pod has no
finalizer any more means: count it now. (An Indexed Job counts successes by index instead.)
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

from clusters.simulated.controllers.workloads.job import conditions as c
from clusters.simulated.controllers.workloads.job.failure_policy import match_policy
from clusters.simulated.controllers.workloads.job.indexes import format_indexes, index_of
from clusters.simulated.controllers.workloads.job.pods import TRACKING, has_failed, is_tracked
from clusters.simulated.controllers.workloads.job.tally import Tally
from clusters.simulated.controllers.workloads.pods import phase_of
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB, POD
from vocabulary.objects import Object, finalizers_of, is_terminating, name_of, namespace_of, uid_of
from vocabulary.requests import Patch, Request, Update

_MAX_UNCOUNTED: Final = 500


def account(tally: Tally, changed: bool) -> Generator[Request, Any, bool]:
    """Write the status and count the ended pods; whether the first flush has been stored.

    `changed` says that the status in the tally already differs from what is stored.
    """
    tracked = {uid_of(pod) for pod in tally.pods if is_tracked(pod)}
    changed = _move_counted(tally, tracked) or changed
    ended, listed, full = _list_ended(tally)
    changed = listed or changed
    if tally.is_indexed:
        changed = _write_indexes(tally) or changed
    changed = _write_interim(tally) or changed

    flushed = changed
    if changed:
        tally.job = yield _status_update(tally)
    refused: ApiError | None = None
    for pod in ended:
        try:
            yield release_patch(pod)
        except ApiError as error:
            if not error.is_not_found:
                refused = error
                continue
        tracked.discard(uid_of(pod))
    changed = _move_counted(tally, tracked)
    if refused is not None:
        if changed:
            yield _status_update(tally)
        raise refused
    if not full and _finish(tally):
        changed = True
    if changed:
        yield _status_update(tally)
    return flushed


def release_patch(pod: Object) -> Patch:
    """Take the tracking finalizer off a pod."""
    left = [entry for entry in finalizers_of(pod) if entry != TRACKING]
    body = {"metadata": {"uid": uid_of(pod), "finalizers": left or None}}
    return Patch(POD, namespace_of(pod), name_of(pod), body)


def _list_ended(tally: Tally) -> tuple[list[Object], bool, bool]:
    """Step 1: the pods to release, whether the list has grown, and whether it is full."""
    uncounted = tally.status["uncountedTerminatedPods"]
    known = {*(uncounted.get("succeeded") or ()), *(uncounted.get("failed") or ())}
    was_failed = set(uncounted.get("failed") or ())
    succeeded: list[str] = list(uncounted.get("succeeded") or ())
    failed: list[str] = list(uncounted.get("failed") or ())
    new_indexes: set[int] = set()
    changed = full = False
    ended: list[Object] = []
    failing = tally.finish is not None and tally.finish["type"] != c.SUCCESS_CRITERIA_MET
    pods = sorted(tally.pods, key=_by_index) if tally.is_indexed else tally.pods
    for pod in pods:
        if not is_tracked(pod):
            continue
        lost = has_failed(pod, tally.spec)
        if not _may_be_released(tally, pod, lost):
            continue
        ended.append(pod)
        uid = uid_of(pod)
        if phase_of(pod) == "Succeeded" and uid not in was_failed:
            if not tally.is_indexed:
                if uid not in known:
                    succeeded.append(uid)
                    changed = True
            else:
                index = index_of(pod)
                if tally.has_valid_index(pod) and index not in tally.counted_indexes:
                    assert index is not None
                    new_indexes.add(index)
                    changed = True
        elif (
            # Once the Job has failed, every pod that had not ended counts as failed.
            (lost or failing)
            and uid not in was_failed
            and tally.has_valid_index(pod)
            and match_policy(tally.spec.get("podFailurePolicy"), pod).counts
        ):
            failed.append(uid)
            changed = True
        if len(new_indexes) + len(succeeded) + len(failed) >= _MAX_UNCOUNTED:
            full = True
            break
    if tally.is_indexed:
        tally.succeeded_indexes = tally.counted_indexes | new_indexes
    if changed:
        tally.status["uncountedTerminatedPods"] = _uncounted(succeeded, failed)
    return ended, changed, full


def _by_index(pod: Object) -> int:
    index = index_of(pod)
    return -1 if index is None else index


def _may_be_released(tally: Tally, pod: Object, lost: bool) -> bool:
    if is_terminating(tally.job) or tally.finish is not None or phase_of(pod) == "Succeeded":
        return True
    if not lost:
        return False
    index = index_of(pod)
    waiting = tally.replaceable.get(index) if index is not None else None
    # Its replacement has yet to carry on the index's failure count.
    return waiting is None or uid_of(waiting) != uid_of(pod)


def _move_counted(tally: Tally, tracked: set[str]) -> bool:
    """Step 3: count the listed pods that have lost their finalizer; whether any has."""
    uncounted = tally.status["uncountedTerminatedPods"]
    changed = False
    left: dict[str, list[str]] = {}
    for counter in ("succeeded", "failed"):
        listed = uncounted.get(counter) or ()
        still = [uid for uid in listed if uid in tracked]
        if len(still) != len(listed):
            tally.status[counter] = tally.status.get(counter, 0) + len(listed) - len(still)
            changed = True
        left[counter] = still
    if changed:
        tally.status["uncountedTerminatedPods"] = _uncounted(left["succeeded"], left["failed"])
    return changed


def _uncounted(succeeded: list[str], failed: list[str]) -> dict[str, list[str]]:
    lists = {"succeeded": succeeded, "failed": failed}
    return {counter: uids for counter, uids in lists.items() if uids}


def _write_indexes(tally: Tally) -> bool:
    """Put succeeded and failed indexes into the status; whether that changed it."""
    status = tally.status
    before = status.get("completedIndexes", ""), status.get("failedIndexes")
    completed = format_indexes(tally.succeeded_indexes)
    _set(status, "succeeded", len(tally.succeeded_indexes))
    _set(status, "completedIndexes", completed)
    if tally.failed_indexes is not None:
        status["failedIndexes"] = format_indexes(tally.failed_indexes)
    return before != (completed, status.get("failedIndexes"))


def _write_interim(tally: Tally) -> bool:
    """Add the interim condition, and go on with the final one; whether the status changed."""
    finish = tally.finish
    if finish is None:
        return False
    shown = tally.status.get("conditions") or []
    final = {c.FAILURE_TARGET: c.FAILED, c.SUCCESS_CRITERIA_MET: c.COMPLETE}.get(finish["type"])
    if final is None:
        return False
    tally.finish = c.job_condition(final, finish["reason"], finish["message"], tally.now)
    if c.find(shown, finish["type"]) is not None:
        return False
    tally.status["conditions"] = [*shown, finish]
    return True


def _finish(tally: Tally) -> bool:
    """Add Complete or Failed once every pod is counted and none is still stopping."""
    if tally.finish is None or tally.stopping or tally.status["uncountedTerminatedPods"]:
        return False
    shown = list(tally.status.get("conditions") or ())
    tally.status["conditions"], _ = c.ensured(shown, tally.finish)
    if tally.finish["type"] == c.COMPLETE:
        tally.status["completionTime"] = tally.now
    return True


def _set(status: dict[str, Any], name: str, value: Any) -> None:
    """Set a field that the API leaves out when it is zero or empty."""
    if value:
        status[name] = value
    else:
        status.pop(name, None)


def _status_update(tally: Tally) -> Update:
    return Update(JOB, {**tally.job, "status": dict(tally.status)}, subresource="status")
