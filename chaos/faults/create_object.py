"""An object appears unexpectedly: a name that collides, a node that comes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, TypeAlias

from chaos.fault import Fault, fault
from chaos.faults.delete_object import DeleteObject
from chaos.faults.editing import Who
from chaos.fields import Spelling, mapping
from chaos.ground import Ground
from vocabulary.kinds import kind_of
from vocabulary.objects import meta, name_of
from vocabulary.requests import Create


def _manifest(data: Any) -> Mapping[str, Any]:
    """A whole object: apiVersion, kind and metadata.name."""
    obj = mapping(data, "object")
    named = {key: obj.get(key) for key in ("apiVersion", "kind")}
    named["metadata.name"] = name_of({"metadata": mapping(obj.get("metadata", {}), "metadata")})
    for field, value in named.items():
        if not isinstance(value, str) or not value:
            raise ValueError(f"has no {field}; a whole manifest is needed")
    return obj


Manifest: TypeAlias = Annotated[Mapping[str, Any], Spelling(_manifest)]


@fault("create_object")
class CreateObject(Fault):
    """Create an object; a namespaced one always lands in the run's namespace."""

    object: Manifest
    actor: Who = "user"

    is_user_act: ClassVar[bool] = True

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:  # noqa: ARG002  # nothing to read
        kind = kind_of(self.object)
        full = f"{kind.api_version}/{kind.kind}" if kind.group else kind.kind
        return (DeleteObject(kind=full, name=name_of(self.object), actor=self.actor),)

    def inject(self, ground: Ground) -> None:
        kind = kind_of(self.object)
        namespace = ground.namespace if kind.namespaced else ""
        metadata = {**meta(self.object), **({"namespace": namespace} if namespace else {})}
        obj = {**self.object, "metadata": metadata}
        ground.call(Create(kind, obj, namespace, name_of(obj)), self.actor)

    def describe(self) -> str:
        return f"as {self.actor}, create {kind_of(self.object)} {name_of(self.object)}"
