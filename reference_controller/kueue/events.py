"""Events about Workloads: what their conditions say, one for each time that they say so.

They are made from what is stored, so one that a crash has cut off is sent by the next process.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reference_controller.kueue.names import WORKLOAD, Condition
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Workload
from reference_controller.shared.events import Identity, Note, event_about
from vocabulary.clock import Micros
from vocabulary.objects import get_path
from vocabulary.requests import Create

COMPONENT: Final = "kueue"


def notes_of(workload: Workload, rules: Rules) -> Iterator[tuple[Identity, Note]]:
    """Messages for users about a Workload as it is stored."""
    for found in get_path(workload.object, "status.conditions") or ():
        type_ = str(found["type"])
        if found["status"] != "True" or not rules.tells(type_):
            continue
        reason = f"EvictedDueTo{found['reason']}" if type_ == Condition.EVICTED else type_
        identity = (workload.uid, reason, found["lastTransitionTime"], workload.times_requeued)
        yield identity, Note(reason, str(found.get("message", "")))


def event_for(workload: Workload, identity: Identity, note: Note, now_us: Micros) -> Create:
    """The creation of the core/v1 Event."""
    return event_about(workload.object, WORKLOAD, COMPONENT, identity, note, now_us)
