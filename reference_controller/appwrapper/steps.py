"""Steps: the results of decisions. The reconciler executes them, one request at a time."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from reference_controller.shared.events import Note
from vocabulary.clock import Micros
from vocabulary.objects import Object
from vocabulary.requests import Delete

__all__ = [
    "CreateComponent",
    "DeleteEverything",
    "Hold",
    "LetGo",
    "Note",
    "Record",
    "Remove",
    "Stay",
    "Step",
]


class Stay(msgspec.Struct, frozen=True):
    """Nothing to do before that point in time (None: before something changes)."""

    wake_at_us: Micros | None = None


class Record(msgspec.Struct, frozen=True):
    """Write this status, then decide again.

    `is_momentous`: the step ends the attempt, or a deletion, or begins a grace period, on the
    strength of what was seen, so it may be taken only on a live observation.
    """

    status: Object
    note: Note | None = None
    is_momentous: bool = False


class Hold(msgspec.Struct, frozen=True):
    """Put our finalizer on the AppWrapper, then decide again."""


class CreateComponent(msgspec.Struct, frozen=True):
    """Create the component whose intent is recorded, then decide again."""

    index: int


class DeleteEverything(msgspec.Struct, frozen=True):
    """One pass of deleting; leads on when a live look finds nothing left."""


class Remove(msgspec.Struct, frozen=True):
    """Send these deletes, one failing does not keep the others back; then look again later.

    `starts`: they are the first of this deletion, so once one is accepted the forceful
    deletion grace period begins.
    """

    deletes: tuple[Delete, ...]
    starts: bool
    wake_at_us: Micros | None


class LetGo(msgspec.Struct, frozen=True):
    """Take our finalizer off the AppWrapper: nothing of it is left."""


Step: TypeAlias = Stay | Record | Hold | CreateComponent | DeleteEverything | Remove | LetGo
