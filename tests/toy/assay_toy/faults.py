"""A fault of its own: a user changes the size of a Crew."""

from __future__ import annotations

from typing import ClassVar

from chaos.fault import Fault, fault
from chaos.ground import Ground
from chaos.subject_kind import SubjectKind, register
from vocabulary.objects import get_path
from vocabulary.requests import Get, Patch

from .api import CREW

register(SubjectKind(CREW, suspend="", role="toy"))


@fault("resize_crew")
class ResizeCrew(Fault):
    """Set the number of a Crew's pods."""

    crew: str
    pods: int

    is_user_act: ClassVar[bool] = True

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        now = ground.call(Get(CREW, ground.namespace, self.crew, live=True))
        return (ResizeCrew(self.crew, get_path(now, "spec.pods", 0)),)

    def inject(self, ground: Ground) -> None:
        body = {"spec": {"pods": self.pods}}
        ground.call(Patch(CREW, ground.namespace, self.crew, body), "user")

    def describe(self) -> str:
        return f"set the size of crew {self.crew} to {self.pods}"
