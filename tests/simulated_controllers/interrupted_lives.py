"""Clusters whose controllers are interrupted between two of their requests, and a digest of each.

They are those of `varied_lives`, but what a controller is about to write has just gone, has come
again under its name, or has changed; or the server fails. The digests are recorded in
`recordings/interrupted.txt`; `python -m tests.simulated_controllers.interrupted_lives` records them
again, and with a number it prints what is done in one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from tests.simulated_controllers.lab import DEFAULT
from tests.simulated_controllers.varied_lives import Life
from vocabulary.canonical import digest
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB, NODE, POD, REPLICA_SET, Kind
from vocabulary.objects import name_of
from vocabulary.requests import Create, Delete, Patch, Update

RECORDING: Final = Path(__file__).parent / "recordings" / "interrupted.txt"
LIVES: Final = 600
_EVERY: Final = 10
"""One request of so many is interrupted."""
_DIGITS: Final = 10


class Interrupted(Life):
    """One cluster, in which much happens between a controller's requests."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self._within = False
        self._handle = self.lab.cluster.api.handle
        self.lab.cluster.api.handle = self._intercept  # type: ignore[method-assign]

    def _intercept(self, request: Any, actor: str, *more: Any) -> Any:
        meant = isinstance(request, Create | Update | Patch | Delete) and request.kind != NODE
        meant = meant and actor in self.lab.cluster.controllers and not self._within
        if meant and self.rng.randrange(_EVERY) == 0:
            if self.rng.randrange(6) == 0:
                raise ApiError(500, "InternalError", "once")
            self._within = True
            self._interrupt(request)
            self._within = False
        return self._handle(request, actor, *more)

    def _interrupt(self, request: Any) -> None:
        name = request.name if hasattr(request, "name") else name_of(request.object)
        kind: Kind = request.kind
        acts = (self._remove, self._recreate, self._touch, self._remove_another)
        self.tried(lambda: self.rng.choice(acts)(kind, name))

    def _remove(self, kind: Kind, name: str) -> None:
        """The object is gone, with whatever held it."""
        self.lab.patch(kind, name, {"metadata": {"finalizers": None}})
        self.lab.delete(kind, name, grace_period_seconds=0, propagation_policy="Background")
        if self.lab.get(kind, name) is not None:
            self.lab.patch(kind, name, {"metadata": {"finalizers": None}})

    def _recreate(self, kind: Kind, name: str) -> None:
        """Another object has its name."""
        old = self.lab.get(kind, name)
        if old is None or "spec" not in old:
            return
        self._remove(kind, name)
        kept = ("name", "namespace", "labels", "annotations", "ownerReferences")
        metadata = {it: old["metadata"][it] for it in kept if it in old["metadata"]}
        new = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
        namespace = DEFAULT if kind.namespaced else ""
        spec = {**old["spec"], **({"manualSelector": True} if kind == JOB else {})}
        self.lab.handle(Create(kind, {**new, "spec": spec}, namespace, name))

    def _touch(self, kind: Kind, name: str) -> None:
        """The object has another version, and may have lost a part of its status."""
        body: dict[str, Any] = {"metadata": {"annotations": {"touched": str(self.rng.random())}}}
        self.lab.patch(kind, name, body)
        if self.rng.randrange(2) and kind.kind in ("Pod", "Job", "Deployment", "StatefulSet"):
            status = self.rng.choice(({"conditions": None}, {"startTime": None}))
            self.lab.patch(kind, name, {"status": status}, subresource="status")

    def _remove_another(self, kind: Kind, name: str) -> None:
        """A pod that the controller may come to next is gone, or the owner of what it writes."""
        others = [(POD, name_of(each)) for each in self.lab.pods]
        others += [(REPLICA_SET, name_of(each)) for each in self.lab.all(REPLICA_SET)]
        others += self.made * 2
        if others:
            other = self.rng.choice(sorted(others, key=str))
            self.rng.choice((self._remove, self._recreate))(*other)


def told(numbers: Iterable[int]) -> list[str]:
    """A digest of all that is done in each of these clusters."""
    return [digest(Interrupted(number).told())[:_DIGITS] for number in numbers]


if __name__ == "__main__":
    for each in map(int, sys.argv[1:]):
        sys.stdout.write("\n".join(Interrupted(each).told()) + "\n")
    if not sys.argv[1:]:
        RECORDING.write_text("".join(f"{line}\n" for line in told(range(LIVES))))
