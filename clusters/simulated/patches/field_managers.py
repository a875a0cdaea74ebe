"""Managers of fields, worked out on demand.

Most runs ask never, so a write is only noted, with the object as it was requested. Server-side
apply, and reads of `metadata.managedFields`, work out what the writes since then mean.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from clusters.simulated.patches.field_paths import Structure, changes
from clusters.simulated.patches.ownership import Manager, Ownership, Stamp
from clusters.simulated.store import Change
from vocabulary.clock import Micros
from vocabulary.objects import Object
from vocabulary.requests import Create, Patch, Update

_CONTROLLER_MANAGER: Final = "kube-controller-manager"
_PROGRAMS: Final = {
    "scheduler": "kube-scheduler",
    "endpointslice-controller": _CONTROLLER_MANAGER,
    "deployment-controller": _CONTROLLER_MANAGER,
    "garbage-collector": _CONTROLLER_MANAGER,
    "job-controller": _CONTROLLER_MANAGER,
    "namespace-controller": _CONTROLLER_MANAGER,
    "node-lifecycle": _CONTROLLER_MANAGER,
    "pod-gc": _CONTROLLER_MANAGER,
    "pvc-protection": _CONTROLLER_MANAGER,
    "replicaset-controller": _CONTROLLER_MANAGER,
    "resourcequota-controller": _CONTROLLER_MANAGER,
    "statefulset-controller": _CONTROLLER_MANAGER,
    "taint-manager": _CONTROLLER_MANAGER,
    "ttl-after-finished": _CONTROLLER_MANAGER,
}
"""By actor, the program of a real cluster that it is part of."""
_MAX_NOTED: Final = 64
"""The number of an object's writes that are worked out together at the latest, so that no read
has to work out thousands."""


Noted: TypeAlias = tuple[Change, Create | Update | Patch, str, Micros, Object, Structure]
"""A write whose meaning for the managers is not worked out yet: what it has changed, the request,
its actor, the time, and the object as it was requested, with defaults. What admission and the
kind's strategy add to a request has no manager."""


class FieldManagers:
    """The managers of fields, by the objects' uids."""

    def __init__(self) -> None:
        self._noted: dict[str, list[Noted]] = {}
        """Updates and creations, in order."""
        self._known: dict[str, Ownership] = {}
        self._applied: set[str] = set()

    def has_applied(self, uid: str) -> bool:
        """True if the object was applied, so that the managers of its fields matter to clients."""
        return uid in self._applied

    def note(self, written: Noted) -> None:
        """Take down an update or a creation."""
        uid = written[0].object["metadata"]["uid"]
        notes = self._noted.get(uid)
        if notes is None:
            self._noted[uid] = [written]
            return
        notes.append(written)
        if len(notes) >= _MAX_NOTED:
            self.of(uid)

    def forget(self, uid: str) -> None:
        """Forget an object that is gone."""
        self._noted.pop(uid, None)
        self._known.pop(uid, None)
        self._applied.discard(uid)

    def of(self, uid: str) -> Ownership:
        """The managers of an object."""
        known = self._known.get(uid) or Ownership()
        noted = self._noted.pop(uid, None)
        if noted is None:
            return known  # nothing new, or an object that is gone
        for written in noted:
            known = _after(known, written)
        self._known[uid] = known
        return known

    def applied(self, uid: str, ownership: Ownership) -> None:
        """Remember what `apply` has worked out."""
        self._noted.pop(uid, None)
        self._known[uid] = ownership
        self._applied.add(uid)


def _after(ownership: Ownership, written: Noted) -> Ownership:
    change, request, actor, at_us, wanted, structure = written
    manager = Manager(
        request.field_manager or _program(actor), request.subresource, request.kind.api_version
    )
    old: Object = change.old or {}
    if request.subresource == "status":
        left_alone = "spec"
    else:
        left_alone = "status" if structure.has_status else ""
    changed, removed = changes(_but(old, left_alone), _but(wanted, left_alone), structure)
    return ownership.after_update(manager, changed, removed, Stamp(manager.updates, at_us))


def _but(obj: Object, field: str) -> dict[str, Any]:
    return {name: value for name, value in obj.items() if name != field}


def _program(actor: str) -> str:
    name = actor.partition("/")[0]
    return _PROGRAMS.get(name, name)
