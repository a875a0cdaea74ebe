"""The replacement of a Job whose submission was interrupted.

The Job is deleted in the foreground: it keeps its name until nothing is left of its tree. Then a
new Job of its user's spec is created, which is submitted as any other. Before all that the intent
is stored, in a JobRecovery, which does not depend on the Job:

    1. create the record
    2. say in it that the deletion is requested, and delete the Job
    3. wait until nothing is left, by the API server's word
    4. create the new Job
    5. delete the record

The record says after a crash at any point what is left to do. Without it the process alone knows
that a Job which is gone has to come back. A Job that goes before 2 was deleted by its user.
"""

from __future__ import annotations

from typing import Final

from reference_controller.runtime.controller import Key
from reference_controller.shared.reading import Reading, read
from reference_controller.streams.names import (
    ATTEMPT,
    JOB,
    JOB_UID,
    OF_JOB,
    RECOVERED,
    RECOVERY,
    TREE,
    Phase,
)
from reference_controller.streams.office import Office
from reference_controller.streams.parts import users_spec
from vocabulary.clock import SECOND, Micros
from vocabulary.errors import ApiError
from vocabulary.objects import (
    Object,
    annotations_of,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)
from vocabulary.requests import Create, Delete, List, ObjectList, Patch, Reconcile

_LOOKS_AGAIN_US: Final = SECOND
"""Where the API server still has what the caches no longer show."""


class Recovery:
    """The recoveries of one process."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self._rules = office.rules
        self._known: dict[Key, Object] = {}
        """The records that this process has made, by the Job's key."""
        self._ended: set[str] = set()
        """The uids of Jobs whose recovery is over; the cache may show its record for a while."""
        self._last: dict[str, Object] = {}
        """By uid: the Job as this process saw it last."""

    @property
    def _keeps_record(self) -> bool:
        return self._office.config.records_recovery and self._rules.keeps_record()

    def record(self, key: Key) -> Reading[Object | None]:
        """The record of a Job of that name."""
        if key in self._known:
            return self._known[key]
        if not self._keeps_record:
            return None
        listed: ObjectList = yield List(RECOVERY, key.namespace)
        for each in listed.items:
            if each["spec"]["job"] == key.name and each["spec"]["uid"] not in self._ended:
                return each
        return None

    def begin(self, job: Object, now_us: Micros, *, is_asked: bool = False) -> Reconcile:
        """Record that a Job is to be replaced, and delete it unless that was asked for."""
        if uid_of(job) in self._ended:
            return None  # the cache is late: it shows a Job that has been replaced
        record = _record(job, is_asked=is_asked)
        if self._keeps_record:
            try:
                record = yield Create(RECOVERY, record, namespace_of(job), name_of(record))
            except ApiError as error:
                if not error.is_already_exists:
                    raise
        return (yield from self.follow(record, now_us))

    def follow(self, record: Object, now_us: Micros) -> Reconcile:
        """Take the next steps of a recovery."""
        spec = record["spec"]
        namespace, name, uid = namespace_of(record), spec["job"], spec["uid"]
        standing = yield from read(JOB, namespace, name, live=True)
        if standing is not None and uid_of(standing) != uid:
            yield from self._end(record)
            return now_us  # the other Job of the name is due
        if standing is not None:
            self._last[uid] = standing
        is_going = standing is None or is_terminating(standing)
        if is_going and self._rules.is_cancelled(spec["deletionRequested"]):
            yield from self._end(record)
            return None
        design = self._rules.design()
        if not is_going:
            yield from self._ask(record)
            precondition = self._rules.precondition(uid)
            try:
                yield Delete(
                    JOB, namespace, name, propagation_policy=design.policy, uid=precondition
                )
            except ApiError as error:
                # No request of the operator was sent before this one, so its user has deleted it.
                if not (error.is_not_found and self._rules.is_cancelled(spec["deletionRequested"])):
                    raise
                yield from self._end(record)
            return None
        if standing is not None and not design.replaces_early:
            return None
        if design.is_sure:
            left = yield from self._left(namespace, name, uid)
            if self._rules.waits_for(left):
                return now_us + _LOOKS_AGAIN_US
        yield Create(JOB, self._successor(record), namespace, name)
        yield from self._end(record)
        return None

    def _ask(self, record: Object) -> Reading[None]:
        """Record that the Job is about to be deleted; if it goes before, its user has done so."""
        if not record["spec"]["deletionRequested"]:
            body = {"spec": {"deletionRequested": True}}
            if self._keeps_record:
                record = yield Patch(RECOVERY, namespace_of(record), name_of(record), body)
            else:
                record = {**record, "spec": {**record["spec"], **body["spec"]}}
            self._known[Key(namespace_of(record), record["spec"]["job"])] = record

    def _left(self, namespace: str, name: str, uid: str) -> Reading[int]:
        """The number of objects that are left of an attempt."""
        left = 0
        for kind in TREE:
            listed: ObjectList = yield List(
                kind, namespace, label_selector=f"{OF_JOB}={name},{JOB_UID}={uid}", live=True
            )
            left += len(listed.items)
        return left

    def _successor(self, record: Object) -> Object:
        spec = record["spec"]
        metadata = {
            "name": spec["job"],
            "namespace": namespace_of(record),
            "labels": {**spec["labels"], ATTEMPT: str(spec["attempt"])},
            "annotations": spec["annotations"],
        }
        if self._keeps_record:
            metadata["finalizers"] = [RECOVERED]
        clean = {
            "apiVersion": JOB.api_version,
            "kind": JOB.kind,
            "metadata": metadata,
            "spec": {**spec["userSpec"], "phase": Phase.SUBMISSION},
        }
        return self._rules.successor(clean, self._last.get(spec["uid"]))

    def _end(self, record: Object) -> Reading[None]:
        """Delete the record. It is known until that is done: it would bring the Job back again."""
        if self._keeps_record:
            try:
                yield Delete(RECOVERY, namespace_of(record), name_of(record))
            except ApiError as error:
                if not error.is_not_found:
                    raise
        self._known.pop(Key(namespace_of(record), record["spec"]["job"]), None)
        self._last.pop(record["spec"]["uid"], None)
        self._ended.add(record["spec"]["uid"])


def _record(job: Object, *, is_asked: bool) -> Object:
    labels = labels_of(job)
    metadata = {"name": f"{name_of(job)}-{uid_of(job)}"[:253], "namespace": namespace_of(job)}
    spec = {
        "job": name_of(job),
        "uid": uid_of(job),
        "attempt": int(labels.get(ATTEMPT, "1")) + 1,
        "reason": "SubmissionInterrupted",
        "deletionRequested": is_asked,
        "labels": {key: labels[key] for key in labels if key != ATTEMPT},
        "annotations": dict(annotations_of(job)),
        "userSpec": users_spec(job),
    }
    head = {"apiVersion": RECOVERY.api_version, "kind": RECOVERY.kind}
    return {**head, "metadata": metadata, "spec": spec}
