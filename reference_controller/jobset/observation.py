"""A JobSet with its Jobs, as one pass sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reference_controller.jobset.job_set import ChildId
from reference_controller.jobset.names import PARTIAL_RESTARTS, RESTART_ATTEMPT, RESTARTS
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


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A child Job as the caches have it; no two that are read are the same."""

    object: Object
    child: ChildId
    """From its name, which no client can change."""

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
    def restarts(self) -> int:
        """Restarts of the whole JobSet when the Job was created."""
        return _stamped(self.object, RESTARTS)

    @property
    def partial_restarts(self) -> int:
        """Partial restarts that had concerned the Job when it was created."""
        return _stamped(self.object, PARTIAL_RESTARTS)

    @property
    def restart_attempt(self) -> int:
        return _stamped(self.object, RESTART_ATTEMPT)

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
    def is_at_rest(self) -> bool:
        """True if the API server lets the pod template's scheduling directives be changed."""
        has_stopped = condition_status(self.object, "Suspended") == "True"
        return self.is_suspended and not self.is_active and (has_stopped or not self.started_at_us)

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


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """A JobSet with its Jobs, at a point in time."""

    job_set: Object
    now_us: Micros
    has_service: bool
    stale: tuple[Job, ...] = ()
    """The Jobs that it controls which a restart has to replace."""
    current: tuple[Job, ...] = ()
    """The others that it controls, in the order of the spec."""
    left_failed: frozenset[ChildId] = frozenset()
    """The Jobs that were left failed, and are gone."""
    current_of: Mapping[str, tuple[Job, ...]] = field(default_factory=dict)
    """These by the replicated job."""


def _stamped(job: Object, key: str) -> int:
    """A number that the Job was created with. The copy in its pod template is the one that no
    client can change while the Job runs. A Job without it is of no restart at all, and so stale."""
    template = get_path(job, "spec.template", {})
    for texts in (labels_of(template), annotations_of(template)):
        text = texts.get(key, "")
        if text.isdecimal():
            return int(text)
    return -1
