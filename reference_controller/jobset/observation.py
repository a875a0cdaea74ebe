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
    meta,
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
    def resource_version(self) -> str:
        return str(meta(self.object)["resourceVersion"])

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
        """Of a Job that has failed."""
        return str(self._failure["reason"])

    @property
    def failure_message(self) -> str:
        """Of a Job that has failed."""
        return str(self._failure.get("message", ""))

    @property
    def failed_at_us(self) -> Micros:
        """Of a Job that has failed."""
        return parse_rfc3339(self._failure["lastTransitionTime"])

    @property
    def started_at_us(self) -> Micros:
        """Of a Job that runs or has failed."""
        return parse_rfc3339(self.object["status"]["startTime"])

    @property
    def is_suspended(self) -> bool:
        return bool(self.object["spec"].get("suspend"))

    @property
    def is_active(self) -> bool:
        return int(get_path(self.object, "status.active", 0)) > 0

    @property
    def is_ready(self) -> bool:
        """True if as many pods as run side by side are ready or have succeeded."""
        spec = self.object["spec"]
        parallelism, completions = int(spec["parallelism"]), spec.get("completions")
        wanted = parallelism if completions is None else min(parallelism, int(completions))
        ready = int(get_path(self.object, "status.ready", 0))
        return ready + int(get_path(self.object, "status.succeeded", 0)) >= wanted

    @property
    def _failure(self) -> Object:
        failed = condition(self.object, "Failed")
        assert failed is not None, f"{self.name} has not failed"
        return failed


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
    succeeded: frozenset[ChildId] = frozenset()
    """The Jobs that had succeeded, and are gone."""
    current_of: Mapping[str, tuple[Job, ...]] = field(default_factory=dict)
    """These by the replicated job."""


def _stamped(job: Object, key: str) -> int:
    """A number that the Job was created with. The copy in its pod template is the one that no
    client can change while the Job runs. A Job without it is of no restart at all, and so stale."""
    text = labels_of(job["spec"]["template"]).get(key, "")
    return int(text) if text.isdecimal() else -1
