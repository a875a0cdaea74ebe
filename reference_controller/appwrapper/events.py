"""Events about AppWrappers, one of each in an attempt."""

from __future__ import annotations

from typing import Final

from reference_controller.appwrapper.names import APPWRAPPER
from reference_controller.appwrapper.status import attempt_of
from reference_controller.appwrapper.steps import Note
from reference_controller.shared.events import Identity, event_about
from vocabulary.clock import Micros
from vocabulary.objects import Object, uid_of
from vocabulary.requests import Create

COMPONENT: Final = "appwrappers"


def identity_of(aw: Object, note: Note) -> Identity:
    """The AppWrapper's uid, the attempt, reason and message up to its first colon."""
    return uid_of(aw), attempt_of(aw), note.reason, note.message.partition(":")[0]


def event_for(aw: Object, note: Note, now_us: Micros) -> Create:
    """The creation of the core/v1 Event that tells of a step."""
    return event_about(aw, APPWRAPPER, COMPONENT, identity_of(aw, note), note, now_us)
