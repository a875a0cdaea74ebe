"""Events for users. Each is named after its contents, so repeating it changes nothing."""

from __future__ import annotations

from typing import Final, TypeAlias

from reference_controller.jobset.job_set import partial_restarts_of, restarts_of
from reference_controller.jobset.names import JOB_SET
from reference_controller.jobset.verdict import Note
from vocabulary.canonical import digest
from vocabulary.clock import Micros, to_rfc3339
from vocabulary.kinds import EVENT
from vocabulary.objects import Object, meta, name_of, namespace_of, uid_of
from vocabulary.requests import Create

COMPONENT: Final = "jobset"
_MESSAGE_MAX: Final = 1024
_PREFIX_MAX: Final = 200

Identity: TypeAlias = tuple[str, int, int, str, str]
"""The identity of an Event: the JobSet's uid, its restarts, whole and partial, reason, message."""


def identity_of(job_set: Object, note: Note) -> Identity:
    """Events of one identity have one name."""
    partial = sum(int(record["restarts"]) for record in partial_restarts_of(job_set))
    return uid_of(job_set), restarts_of(job_set), partial, note.reason, note.message


def event_for(job_set: Object, note: Note, now_us: Micros) -> Create:
    """The creation of the core/v1 Event that tells of a step."""
    name = f"{name_of(job_set)[:_PREFIX_MAX]}.{digest(list(identity_of(job_set, note)))[:16]}"
    namespace = namespace_of(job_set)
    event: Object = {
        "apiVersion": EVENT.api_version,
        "kind": EVENT.kind,
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": {
            "apiVersion": JOB_SET.api_version,
            "kind": JOB_SET.kind,
            "name": name_of(job_set),
            "namespace": namespace,
            "uid": uid_of(job_set),
            "resourceVersion": str(meta(job_set).get("resourceVersion", "")),
        },
        "type": "Warning" if note.is_warning else "Normal",
        "reason": note.reason,
        "message": note.message[:_MESSAGE_MAX],
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "firstTimestamp": to_rfc3339(now_us),
        "lastTimestamp": to_rfc3339(now_us),
        "count": 1,
    }
    return Create(EVENT, event, namespace, name)
