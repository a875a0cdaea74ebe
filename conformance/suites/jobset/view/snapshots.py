"""One state of a JobSet, as a write left it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from vocabulary.clock import Micros
from vocabulary.history import Write
from vocabulary.objects import (
    Object,
    condition,
    condition_status,
    get_path,
    is_terminating,
    name_of,
)


@dataclass(frozen=True)
class Snapshot:
    """A version of a JobSet; it is a moment of the history."""

    write: Write
    filled_in: int | None = None
    """The `maxRestarts` that admission filled in where the default is 0."""

    @property
    def n(self) -> int:
        return self.write.n

    @property
    def t(self) -> Micros:
        return self.write.t

    @cached_property
    def object(self) -> Object:
        return self.write.object or {}

    @cached_property
    def restarts(self) -> int:
        return int(get_path(self.object, "status.restarts", 0))

    @cached_property
    def counted(self) -> int:
        """Restarts that count towards the maximum."""
        return int(get_path(self.object, "status.restartsCountTowardsMax", 0))

    @cached_property
    def partial(self) -> Mapping[tuple[str, str], int]:
        """Partial restarts by replicated job and Job; the latter is "" for all of them."""
        return partial_restarts(self.object)

    @cached_property
    def partial_counted(self) -> Mapping[tuple[str, str], int]:
        """Those that count towards the maximum."""
        return partial_restarts(self.object, "jobRestartsCountTowardsMax")

    @cached_property
    def used(self) -> int:
        """The part of the budget that is used."""
        return self.counted + sum(self.partial_counted.values())

    @cached_property
    def max_restarts(self) -> int:
        found = int(get_path(self.object, "spec.failurePolicy.maxRestarts", 0))
        return 0 if found == self.filled_in else found

    @cached_property
    def policy(self) -> Object | None:
        """`spec.failurePolicy`; None if there is none."""
        found: Object | None = get_path(self.object, "spec.failurePolicy")
        return found

    @cached_property
    def has_failed(self) -> bool:
        return condition_status(self.object, "Failed") == "True"

    @cached_property
    def has_completed(self) -> bool:
        return condition_status(self.object, "Completed") == "True"

    @property
    def has_ended(self) -> bool:
        return self.has_failed or self.has_completed

    @cached_property
    def why_failed(self) -> str:
        """The reason of its Failed condition."""
        return str((condition(self.object, "Failed") or {}).get("reason", ""))

    @cached_property
    def is_suspended(self) -> bool:
        return bool(get_path(self.object, "spec.suspend", False))

    @property
    def is_terminating(self) -> bool:
        return is_terminating(self.object)


def partial_restarts(job_set: Object, by_index: str = "jobRestarts") -> dict[tuple[str, str], int]:
    """The partial restarts in a JobSet's status, by replicated job and Job.

    All of the norm's count towards the maximum. Released controllers have those of Jobs by index,
    in the status of each replicated job: all of them in one field, those that count in another.
    """
    found = {
        (each.get("replicatedJob", ""), each.get("job", "")): int(each.get("restarts", 0))
        for each in get_path(job_set, "status.partialRestarts") or ()
    }
    for each in get_path(job_set, "status.replicatedJobsStatus") or ():
        for index, restarts in enumerate(each.get(by_index) or ()):
            if restarts:
                job = f"{name_of(job_set)}-{each['name']}-{index}"
                found[each["name"], job] = int(restarts)
    return found
