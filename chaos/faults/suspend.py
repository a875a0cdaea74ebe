"""Suspending an object, as a user or a queueing system does."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from chaos.choice import ObjectName, current, named_object
from chaos.fault import Fault, fault
from chaos.faults.editing import edit
from chaos.ground import FaultRefusedError, Ground
from chaos.subject_kind import subject_kind
from vocabulary.objects import get_path, with_path


@fault("suspend")
class Suspend(Fault):
    """Suspend an object or let it go on, as Kueue does to preempt and to admit it."""

    object: ObjectName
    suspended: bool = True

    is_user_act: ClassVar[bool] = True
    object_field: ClassVar[str] = "object"

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        before = get_path(current(ground, *named_object(self.object)), self._field)
        return (replace(self, suspended=bool(before)),)

    def inject(self, ground: Ground) -> None:
        patch = with_path({}, self._field, self.suspended)
        edit(ground, *named_object(self.object), lambda _: patch, actor="user")

    def describe(self) -> str:
        kind, _, name = self.object.rpartition("/")
        return f"{'suspend' if self.suspended else 'resume'} {kind} {name}"

    @property
    def _field(self) -> str:
        kind, _ = named_object(self.object)
        field = subject_kind(kind).suspend
        if not field:
            raise FaultRefusedError(f"{kind} cannot be suspended; suspend what owns it")
        return field
