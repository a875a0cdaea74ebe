"""Objects deleted behind the controller's back, and objects that refuse to go.

A foreign finalizer (one that no controller of the run knows) keeps a deleted object in
place until it is taken off: from outside, that is a stuck deletion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal, TypeAlias

from chaos.choice import KindName, ObjectChoice, current, described, named_kind
from chaos.fault import Fault, fault
from chaos.faults.editing import Who, edit
from chaos.fields import Name
from chaos.ground import Ground
from vocabulary.errors import ApiError
from vocabulary.objects import Object, finalizers_of, is_terminating, uid_of
from vocabulary.requests import Delete

FOREIGN_FINALIZER: Final = "assay.dev/held"

Propagation: TypeAlias = Literal["Background", "Foreground", "Orphan"]


@fault("delete_object")
class DeleteObject(Fault):
    """Delete an object of any kind: a pod's Job, or the object under test itself.

    With `finalizer` that finalizer is put on it first, so it stays, terminating, until the
    faults stop.
    """

    kind: KindName
    name: Name | ObjectChoice
    propagation: Propagation | None = None
    grace_period_seconds: int | None = None
    finalizer: str = ""
    actor: Who = "user"

    leaves_nothing: ClassVar[bool] = True

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        if not self.finalizer:
            return ()
        held = HoldObject(self.kind, self.name, self.finalizer)
        return held.inverse(ground)

    def inject(self, ground: Ground) -> None:
        kind, name = named_kind(self.kind), str(self.name)
        request = Delete(
            kind,
            ground.namespace if kind.namespaced else "",
            name,
            grace_period_seconds=self.grace_period_seconds,
            propagation_policy=self.propagation,
        )
        if not self.finalizer:
            ground.call(request, self.actor)
            return
        HoldObject(kind=self.kind, name=name, finalizer=self.finalizer).inject(ground)
        try:
            ground.call(request, self.actor)
        except ApiError:
            ReleaseObject(kind=self.kind, name=name, finalizer=self.finalizer).inject(ground)
            raise

    def describe(self) -> str:
        how = [f"with propagation {self.propagation}"] if self.propagation else []
        if self.grace_period_seconds is not None:
            how.append(f"with grace period {self.grace_period_seconds}s")
        if self.finalizer:
            how.append(f"held by finalizer {self.finalizer}")
        return " ".join([f"as {self.actor}, delete {described(self.kind, self.name)}", *how])


@fault("hold_object")
class HoldObject(Fault):
    """Put a foreign finalizer on an object: once deleted, it stays until the faults stop."""

    kind: KindName
    name: Name | ObjectChoice
    finalizer: Name = FOREIGN_FINALIZER

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        obj = current(ground, named_kind(self.kind), str(self.name))
        if self.finalizer in finalizers_of(obj):
            return ()
        return (ReleaseObject(self.kind, self.name, self.finalizer, uid_of(obj)),)

    def inject(self, ground: Ground) -> None:
        def held(obj: Object) -> Mapping[str, Any] | None:
            finalizers = finalizers_of(obj)
            if self.finalizer in finalizers:
                return None
            return {"metadata": {"finalizers": [*finalizers, self.finalizer]}}

        edit(ground, named_kind(self.kind), str(self.name), held)

    def describe(self) -> str:
        return f"hold {described(self.kind, self.name)} with finalizer {self.finalizer}"


@fault("release_object")
class ReleaseObject(Fault):
    """Take a finalizer off an object; with `uid` only off that very one, if it still exists."""

    kind: KindName
    name: Name | ObjectChoice
    finalizer: Name = FOREIGN_FINALIZER
    uid: str = ""

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        obj = current(ground, named_kind(self.kind), str(self.name))
        if is_terminating(obj) or self.finalizer not in finalizers_of(obj):
            return ()
        return (HoldObject(self.kind, self.name, self.finalizer),)

    def inject(self, ground: Ground) -> None:
        def released(obj: Object) -> Mapping[str, Any] | None:
            finalizers = finalizers_of(obj)
            kept = [finalizer for finalizer in finalizers if finalizer != self.finalizer]
            if len(kept) == len(finalizers):
                return None
            return {"metadata": {"finalizers": kept or None}}

        edit(ground, named_kind(self.kind), str(self.name), released, uid=self.uid)

    def describe(self) -> str:
        return f"release {described(self.kind, self.name)} from finalizer {self.finalizer}"
