"""The basis of controllers for long-running workloads: wake-ups, scaling, availability."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Generator, Hashable, Iterable
from typing import Any, ClassVar, Final

from clusters.simulated.controllers.base import Controller
from clusters.simulated.controllers.workloads.pods import is_ready
from clusters.simulated.store import Change
from vocabulary.canonical import encode
from vocabulary.clock import SECOND, Micros, parse_rfc3339
from vocabulary.errors import ApiError
from vocabulary.integers import int64_of
from vocabulary.kinds import Kind
from vocabulary.objects import Object, condition, controller_of, name_of, namespace_of, uid_of
from vocabulary.requests import Delete, Request

_SAFE_DIGITS: Final = str.maketrans("0123456789", "456789bcdf")


class WorkloadController(Controller):
    """A controller of one kind whose objects own objects of others."""

    kind: ClassVar[Kind]
    owns: ClassVar[tuple[Kind, ...]]

    def listen(self) -> None:
        self.on(self.kind, self._own_changed)
        for owned in self.owns:
            self.on(owned, self._owned_changed, owner=self.kind)

    def everything(self) -> Iterable[Hashable]:
        for obj in self.informers.all_of(self.kind):
            yield namespace_of(obj), name_of(obj)

    def _own_changed(self, change: Change) -> None:
        self.enqueue((change.key.namespace, change.key.name))

    def _owned_changed(self, change: Change) -> None:
        for obj in (change.object, change.old):
            owner = None if obj is None else controller_of(obj)
            if owner is not None and owner["kind"] == self.kind.kind:
                self.enqueue((change.key.namespace, owner["name"]))

    def delete(self, kind: Kind, obj: Object) -> Generator[Request, Any, None]:
        """Delete an object that may be gone already."""
        try:
            yield Delete(kind, namespace_of(obj), name_of(obj), uid=uid_of(obj))
        except ApiError as refused:
            if not refused.is_not_found:
                raise


def available_at_us(pod: Object, min_ready_seconds: int) -> Micros | None:
    """When a pod counts as available: ready for that long; None while it is not ready."""
    entry = condition(pod, "Ready")
    if entry is None or not is_ready(pod):
        return None
    if not min_ready_seconds:
        return 0
    at_us: Micros = parse_rfc3339(entry["lastTransitionTime"]) + min_ready_seconds * SECOND
    return at_us


def template_hash(template: Object) -> str:
    """A short text that differs where templates differ; fit for names and labels.

    32 bits in decimal, each digit replaced by a letter or digit that spells no word.
    """
    number = int.from_bytes(hashlib.sha256(encode(template)).digest()[:4])
    return str(number).translate(_SAFE_DIGITS)


def scaled(value: Any, total: int, *, round_up: bool) -> int:
    """A number, or a percentage of the total: `2`, `25%`; 0 for a percentage beyond 64 bits."""
    if isinstance(value, str) and value.endswith("%"):
        share = (int64_of(value[:-1]) or 0) * total / 100
        return math.ceil(share) if round_up else math.floor(share)
    return int(value)


def without_empty(status: dict[str, Any]) -> dict[str, Any]:
    """The status as the API shows it: numbers that are 0 and texts that are "" are left out."""
    return {key: value for key, value in status.items() if value not in (0, "", None)}
