"""A JobSet with its Jobs, as one pass sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reference_controller.jobset.job_set import ChildId
from reference_controller.jobset.names import PARTIAL_RESTARTS, RESTARTS
from vocabulary.clock import Micros, parse_rfc3339
from vocabulary.objects import (
    Object,
    annotations_of,
    condition,
    condition_status,
    get_path,
    is_terminating,
    labels_of,
    name_of,
    uid_of,
)


@dataclass(frozen=True, slots=True)
class Job:
    """A child Job as the caches have it."""

    object: Object
    child: ChildId
    """From its name, which no client can change."""
    restarts: int
    partial_restarts: int

    @property
    def name(self) -> str:
        return name_of(self.object)

    @property
    def uid(self) -> str:
        return uid_of(self.object)

    @property
    def annotations(self) -> Mapping[str, str]:
        return annotations_of(self.object)

    @property
    def labels(self) -> Mapping[str, str]:
        return labels_of(self.object)

    @property
    def is_terminating(self) -> bool:
        return is_terminating(self.object)

    @property
    def has_failed(self) -> bool:
        return condition_status(self.object, "Failed") == "True"

    @property
    def has_succeeded(self) -> bool:
        return condition_status(self.object, "Complete") == "True"

    @property
    def is_finished(self) -> bool:
        return self.has_failed or self.has_succeeded

    @property
    def failure_reason(self) -> str:
        return str((condition(self.object, "Failed") or {}).get("reason", ""))

    @property
    def failed_at_us(self) -> Micros:
        text = (condition(self.object, "Failed") or {}).get("lastTransitionTime")
        return 0 if text is None else parse_rfc3339(text)

    @property
    def started_at_us(self) -> Micros | None:
        text = get_path(self.object, "status.startTime")
        return None if text is None else parse_rfc3339(text)

    @property
    def is_suspended(self) -> bool:
        return bool(get_path(self.object, "spec.suspend", False))

    @property
    def is_active(self) -> bool:
        return int(get_path(self.object, "status.active", 0)) > 0

    @property
    def is_ready(self) -> bool:
        """True if as many pods as run side by side are ready or have succeeded."""
        parallelism = int(get_path(self.object, "spec.parallelism", 1))
        completions = get_path(self.object, "spec.completions")
        wanted = parallelism if completions is None else min(parallelism, int(completions))
        ready = int(get_path(self.object, "status.ready", 0))
        return ready + int(get_path(self.object, "status.succeeded", 0)) >= wanted


@dataclass(frozen=True, slots=True)
class Observation:
    """A JobSet with its Jobs, at a point in time."""

    job_set: Object
    now_us: Micros
    stale: tuple[Job, ...]
    """The Jobs that it controls which a restart has to replace, or of which it asks for none."""
    current: tuple[Job, ...]
    """The others that it controls."""
    has_service: bool


def job_of(obj: Object, child: ChildId) -> Job:
    """Read a child Job. One whose numbers are damaged, in its labels and annotations, is of no
    restart at all, and so stale."""
    return Job(obj, child, _number(obj, RESTARTS), _number(obj, PARTIAL_RESTARTS))


def _number(obj: Object, key: str) -> int:
    for texts in (labels_of(obj), annotations_of(obj)):
        text = texts.get(key, "")
        if text.isdecimal():
            return int(text)
    return -1
