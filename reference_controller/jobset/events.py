"""Events about JobSets, one of each between two restarts."""

from __future__ import annotations

from typing import Final

from reference_controller.jobset.job_set import partial_restarts_of, restarts_of
from reference_controller.jobset.names import JOB_SET
from reference_controller.shared.events import Identity, Note, event_about
from vocabulary.clock import Micros
from vocabulary.objects import Object, uid_of
from vocabulary.requests import Create

COMPONENT: Final = "jobset"


def identity_of(job_set: Object, note: Note) -> Identity:
    """The JobSet's uid, its restarts, whole and partial, reason and message up to its first
    colon."""
    partial = sum(int(record["restarts"]) for record in partial_restarts_of(job_set))
    message = note.message.partition(":")[0]
    return uid_of(job_set), restarts_of(job_set), partial, note.reason, message


def event_for(job_set: Object, note: Note, now_us: Micros) -> Create:
    """The creation of the core/v1 Event that tells of a step."""
    return event_about(job_set, JOB_SET, COMPONENT, identity_of(job_set, note), note, now_us)
