"""A user edits an object: anything that a merge patch can say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

from chaos.choice import KindName, ObjectChoice, current, described, named_kind
from chaos.fault import Fault, fault
from chaos.faults.editing import Who, edit, inverse_patch
from chaos.fields import Name
from chaos.ground import Ground
from vocabulary import canonical
from vocabulary.objects import uid_of


@fault("edit_object")
class EditObject(Fault):
    """Apply a merge patch (RFC 7386) to an object, or to its status.

    A `uid` narrows it to that very object: if it is gone, there is nothing to edit.
    """

    kind: KindName
    name: Name | ObjectChoice
    patch: Mapping[str, Any]
    subresource: Literal["", "status", "scale"] = ""
    actor: Who = "user"
    uid: str = ""

    is_user_act: ClassVar[bool] = True

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        old = current(ground, named_kind(self.kind), str(self.name))
        return (replace(self, patch=inverse_patch(old, self.patch), uid=uid_of(old)),)

    def inject(self, ground: Ground) -> None:
        edit(
            ground,
            named_kind(self.kind),
            str(self.name),
            lambda _: self.patch,
            uid=self.uid,
            actor=self.actor,
            subresource=self.subresource,
        )

    def describe(self) -> str:
        part = f"the {self.subresource} of " if self.subresource else ""
        body = canonical.encode(self.patch).decode()
        return f"as {self.actor}, patch {part}{described(self.kind, self.name)} with {body}"
