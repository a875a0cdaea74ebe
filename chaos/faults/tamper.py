"""Users who strip objects of what controllers rely on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal

from chaos.choice import KindName, ObjectChoice, current, described, named_kind
from chaos.fault import Fault, fault
from chaos.faults.edit_object import EditObject
from chaos.faults.editing import edit, inverse_patch
from chaos.fields import Name
from chaos.ground import Ground
from vocabulary.objects import Object, labels_of, uid_of

_TAMPERING: Final = {
    "labels": "its labels",
    "annotations": "its annotations",
    "finalizers": "its finalizers",
    "owner_references": "its owner references",
    "status": "its status",
}


@fault("tamper")
class Tamper(Fault):
    """Strip an object of something that its controller relies on, as a careless user does."""

    kind: KindName
    name: Name | ObjectChoice
    strip: Literal["labels", "annotations", "finalizers", "owner_references", "status"] = "labels"

    is_user_act: ClassVar[bool] = True

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        name = str(self.name)
        old = current(ground, named_kind(self.kind), name)
        undo = inverse_patch(old, self._patch(old))
        return (EditObject(self.kind, name, undo, subresource=self._part, uid=uid_of(old)),)

    def inject(self, ground: Ground) -> None:
        kind = named_kind(self.kind)
        edit(ground, kind, str(self.name), self._patch, actor="user", subresource=self._part)

    def describe(self) -> str:
        return f"strip {described(self.kind, self.name)} of {_TAMPERING[self.strip]}"

    @property
    def _part(self) -> Literal["", "status"]:
        return "status" if self.strip == "status" else ""

    def _patch(self, obj: Object) -> Mapping[str, Any]:
        match self.strip:
            case "labels":
                return {"metadata": {"labels": dict.fromkeys(labels_of(obj))}}
            case "status":
                return {"status": dict.fromkeys(obj.get("status") or {})}
            case "annotations":
                return {"metadata": {"annotations": None}}
            case "finalizers":
                return {"metadata": {"finalizers": None}}
            case "owner_references":
                return {"metadata": {"ownerReferences": None}}
