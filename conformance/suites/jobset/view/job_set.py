"""One JobSet's way through a history: its states, its child Jobs, and their failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from conformance.history import Moment, Track
from conformance.norm.view import ObjectRun
from conformance.suites.jobset.api import INDEX_LABEL, REPLICATED_JOB_LABEL, RESTART_ATTEMPT
from conformance.suites.jobset.kind import JobSetState, JobState
from conformance.suites.jobset.view.snapshots import Snapshot
from vocabulary.clock import Micros, parse_rfc3339
from vocabulary.history import Write
from vocabulary.kinds import JOB
from vocabulary.objects import (
    annotations_of,
    condition,
    condition_status,
    controller_of,
    get_path,
    labels_of,
)

_JOB: Final = str(JOB)


@dataclass(frozen=True)
class Child:
    """A child Job."""

    track: Track
    replicated_job: str
    index: int

    def __str__(self) -> str:
        return str(self.track)

    @property
    def name(self) -> str:
        return self.track.name

    @cached_property
    def slot(self) -> tuple[str, str] | None:
        """The replicated job and the index that its labels name, or else its name; None if neither
        does."""
        labels = labels_of(self.track.first)
        if REPLICATED_JOB_LABEL in labels and INDEX_LABEL in labels:
            return labels[REPLICATED_JOB_LABEL], labels[INDEX_LABEL]
        return (self.replicated_job, str(self.index)) if self.replicated_job else None

    @cached_property
    def attempt(self) -> str:
        """Its `restart-attempt`, as it was created; empty if it has none."""
        first = self.track.first
        return labels_of(first).get(RESTART_ATTEMPT) or annotations_of(first).get(
            RESTART_ATTEMPT, ""
        )

    def at(self, n: int) -> JobState:
        """Its state after position n; empty where it is not there."""
        version = self.track.version_at(n)
        return JobState({} if version is None else version.object or {})

    @cached_property
    def failed(self) -> Write | None:
        """The write by which it failed."""
        return self._turned("Failed")

    def is_failing_at(self, n: int) -> bool:
        """True if it is to fail, and has not failed, since its pods are on their way out."""
        job = self.at(n)
        return job.is_to_fail and not job.is_failed

    @cached_property
    def succeeded(self) -> Write | None:
        return self._turned("Complete")

    @property
    def starts(self) -> Iterator[Write]:
        """The writes from which on it was not suspended."""
        was_suspended = True
        for version in self.track.versions:
            is_suspended = JobState(version.object or {}).is_suspended
            if was_suspended and not is_suspended:
                yield version
            was_suspended = is_suspended

    @cached_property
    def deletion(self) -> Write | None:
        """The write by which its deletion began, or that removed it."""
        for version in self.track.versions:
            if "deletionTimestamp" in (version.object or {}).get("metadata", {}):
                return version
        return self.track.removed

    def _turned(self, type_: str) -> Write | None:
        for version in self.track.versions:
            if condition_status(version.object or {}, type_) == "True":
                return version
        return None


@dataclass(frozen=True, eq=False)
class Failure:
    """A child Job that failed."""

    child: Child
    write: Write
    reason: str

    def __str__(self) -> str:
        return f"{self.child} ({self.reason})"

    @property
    def n(self) -> int:
        return self.write.n

    @property
    def t(self) -> Micros:
        return self.write.t

    @cached_property
    def message(self) -> str:
        """The message of its Failed condition."""
        found = condition(self.write.object or {}, "Failed") or {}
        return str(found.get("message", ""))

    @cached_property
    def stamp_us(self) -> Micros:
        """When it failed, in whole seconds: the order of failures as the API has it."""
        found = condition(self.write.object or {}, "Failed") or {}
        return parse_rfc3339(found["lastTransitionTime"])


class JobSetRun(ObjectRun):
    """One JobSet's way through a history."""

    @cached_property
    def snapshots(self) -> tuple[Snapshot, ...]:
        return tuple(Snapshot(version, self._filled_in) for version in self.track.versions)

    @cached_property
    def changes(self) -> tuple[tuple[Snapshot, Snapshot], ...]:
        """Each state with the one before it."""
        return tuple(zip(self.snapshots, self.snapshots[1:], strict=False))

    def at(self, n: int) -> Snapshot | None:
        """The state that is stored after position n."""
        version = self.track.version_at(n)
        return None if version is None else self._by_version[version.n]

    @cached_property
    def _by_version(self) -> Mapping[int, Snapshot]:
        return {snapshot.n: snapshot for snapshot in self.snapshots}

    @cached_property
    def _filled_in(self) -> int | None:
        """The `maxRestarts` that admission made of none; None if that is not known."""
        asked = get_path(self.track.created.submitted or {}, "spec.failurePolicy")
        if not isinstance(asked, dict) or asked.get("maxRestarts") is not None:
            return None
        found: int | None = get_path(self.track.first, "spec.failurePolicy.maxRestarts")
        return found

    @cached_property
    def wanted(self) -> Mapping[str, tuple[str, int]]:
        """The replicated job and index of each child Job by its name."""
        return {
            f"{self.track.name}-{name}-{index}": (name, index)
            for name, replicas in JobSetState(self.track.first).replicas.items()
            for index in range(replicas)
        }

    @cached_property
    def children(self) -> tuple[Child, ...]:
        """Every Job that the JobSet has controlled, by order of creation."""
        return tuple(
            Child(track, *self.wanted.get(track.name, ("", -1)))
            for track in self.history.owned.get(self.track.uid, ())
            if track.kind == _JOB
            and (controller_of(track.first) or {}).get("uid") == self.track.uid
        )

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[Child]]:
        found: dict[str, list[Child]] = {}
        for child in self.children:
            found.setdefault(child.name, []).append(child)
        return found

    def children_of(self, name: str) -> Sequence[Child]:
        """The Jobs of that name that the JobSet has controlled, by order of creation."""
        return self._by_name.get(name, ())

    @cached_property
    def failures(self) -> tuple[Failure, ...]:
        """The child Jobs that failed, by order of failure."""
        found = [
            Failure(
                child,
                child.failed,
                JobState(child.failed.object or {}).why_failed,
            )
            for child in self.children
            if child.failed is not None
        ]
        return tuple(sorted(found, key=lambda failure: failure.n))

    @cached_property
    def end(self) -> Snapshot | None:
        """The state in which it first was Completed or Failed."""
        return next((each for each in self.snapshots if each.has_ended), None)

    def standing(self, n: int) -> Sequence[Child]:
        """The child Jobs that are stored after position n."""
        return [child for child in self.children if child.track.exists_at(n)]

    def successor(self, child: Child) -> Child | None:
        """The next Job of the same name."""
        later = (
            each
            for each in self.children_of(child.name)
            if each.track.created.n > child.track.created.n
        )
        return next(later, None)

    def unsuspended_since(self, since: Moment, until: Moment | None) -> Moment | None:
        """The last resumption after a moment and before another, since a suspension in between
        let everything rest; the moment itself if there is none, and None if the JobSet was
        suspended then."""
        resumed = [
            after
            for before, after in zip(self.snapshots, self.snapshots[1:], strict=False)
            if before.is_suspended
            and not after.is_suspended
            and after.n > since.n
            and (until is None or after.n < until.n)
        ]
        if resumed:
            return resumed[-1]
        standing = self.at(since.n)
        return since if standing is None or not standing.is_suspended else None

    def hindrance(self, since: Moment, lost: Child | None = None) -> Moment | None:
        """The first moment from which nothing need be done any more: the JobSet is suspended or
        deleted, or a Job was deleted that is `lost` by that."""
        found: list[Moment] = []
        found += [
            each
            for each in self.snapshots
            if each.n > since.n and (each.is_suspended or each.is_terminating)
        ][:1]
        if self.track.removed is not None:
            found.append(self.track.removed)
        if lost is not None and lost.deletion is not None:
            found.append(lost.deletion)
        return min(found, key=lambda moment: moment.n, default=None)
