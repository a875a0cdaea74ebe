"""Validation of changes to a Job's status.

Controllers other than the built-in one may manage a Job, so the server requires the same
transitions of all of them. A rule applies if the fields that it concerns change.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from clusters.simulated.builtin.indexes import IndexesError, overlapping_index, parse_indexes
from clusters.simulated.field_errors import (
    IMMUTABLE,
    FieldError,
    contradiction,
    duplicate,
    required,
    value_invalid,
)
from vocabulary.clock import parse_rfc3339
from vocabulary.objects import Object, condition_status

_COUNTERS: Final = ("active", "succeeded", "failed", "ready", "terminating")
_CONDITIONS: Final = "status.conditions"


class _View:
    """One Job with its status spelt out."""

    def __init__(self, job: Object) -> None:
        self.status: Object = job.get("status") or {}
        self.complete = condition_status(job, "Complete") == "True"
        self.failed = condition_status(job, "Failed") == "True"
        self.failure_target = condition_status(job, "FailureTarget") == "True"
        self.success_criteria_met = condition_status(job, "SuccessCriteriaMet") == "True"
        self.suspended = condition_status(job, "Suspended")
        self.finished = self.complete or self.failed
        self.start_time: str | None = self.status.get("startTime")
        self.completion_time: str | None = self.status.get("completionTime")

    def count(self, counter: str) -> int:
        return int(self.status.get(counter) or 0)


def validate_job_status(new_job: Object, old_job: Object) -> list[FieldError]:
    """Validate an update of a Job's status; errors are in the order of a real server."""
    if new_job.get("status") == old_job.get("status"):
        return []
    new, old, spec = _View(new_job), _View(old_job), new_job["spec"]
    return [
        *_validate_counters(new),
        *_validate_uncounted(new),
        *_validate_completion(new, old),
        *_validate_finish(new, old, spec),
        *_validate_indexes(new, old, spec),
        *_validate_combinations(new, spec),
        *_validate_transitions(new, old, spec),
    ]


def _validate_counters(new: _View) -> Iterable[FieldError]:
    for counter in _COUNTERS:
        if new.count(counter) < 0:
            yield value_invalid(
                f"status.{counter}", new.count(counter), "must be greater than or equal to 0"
            )


def _validate_completion(new: _View, old: _View) -> Iterable[FieldError]:
    start, end = new.start_time, new.completion_time
    if new.complete and new.failed:
        yield contradiction(_CONDITIONS, "cannot set Complete=True and Failed=true conditions")
    if new.complete and new.failure_target:
        yield contradiction(
            _CONDITIONS, "cannot set Complete=True and FailureTarget=true conditions"
        )
    if end is not None and not new.complete:
        yield value_invalid(
            "status.completionTime",
            end,
            "cannot set completionTime when there is no Complete=True condition",
        )
    if new.complete and end is None:
        yield required("status.completionTime", "completionTime is required for Complete jobs")
    if start and end and parse_rfc3339(end) < parse_rfc3339(start):
        yield value_invalid("status.completionTime", end, "must be equal to or after `startTime`")
    if new.failed and not old.failed and not new.failure_target:
        yield contradiction(
            _CONDITIONS, "cannot set Failed=True condition without the FailureTarget=true condition"
        )
    if new.complete and not new.success_criteria_met:
        yield contradiction(
            _CONDITIONS,
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
        )


def _validate_finish(new: _View, old: _View, spec: Object) -> Iterable[FieldError]:
    if not new.finished:
        return
    just_now = not old.finished
    if new.count("active") > 0:
        yield value_invalid(
            "status.active", new.count("active"), "active>0 is invalid for finished job"
        )
    never_ran = bool(spec.get("suspend")) and spec.get("completions") == 0
    if new.start_time is None and (just_now or old.start_time is not None) and not never_ran:
        yield required("status.startTime", "startTime is required for finished job")
    uncounted: Object = new.status.get("uncountedTerminatedPods") or {}
    if any(uncounted.get(field) for field in ("succeeded", "failed")):
        yield value_invalid(
            "status.uncountedTerminatedPods", dict(uncounted), "must be empty for finished job"
        )


def _validate_uncounted(new: _View) -> Iterable[FieldError]:
    """Every pod is there once, under one of the two headings."""
    uncounted: Object = new.status.get("uncountedTerminatedPods") or {}
    known: set[str] = set()
    for heading in ("succeeded", "failed"):
        for position, uid in enumerate(uncounted.get(heading) or ()):
            field = f"status.uncountedTerminatedPods.{heading}[{position}]"
            if not uid:
                yield value_invalid(field, uid, "must not be empty")
            elif uid in known:
                yield duplicate(field, uid)
            known.add(uid)


def _validate_indexes(new: _View, old: _View, spec: Object) -> Iterable[FieldError]:
    completed, failed = new.status.get("completedIndexes") or "", new.status.get("failedIndexes")
    completed_changed = completed != (old.status.get("completedIndexes") or "")
    failed_changed = failed != old.status.get("failedIndexes")
    completions = spec.get("completions")
    per_index = spec.get("backoffLimitPerIndex") is not None
    for field, text, checked in (
        ("completedIndexes", completed, completed_changed),
        ("failedIndexes", failed or "", failed_changed and per_index),
    ):
        if completions is None or not checked:
            continue
        try:
            parse_indexes(text, completions)
        except IndexesError as error:
            yield value_invalid(f"status.{field}", text, f"error parsing {field}: {error}")
    if completed and spec["completionMode"] != "Indexed":
        yield value_invalid(
            "status.completedIndexes",
            completed,
            "cannot set non-empty completedIndexes when non-indexed completion mode",
        )
    if failed is not None and not per_index:
        yield value_invalid(
            "status.failedIndexes",
            failed,
            "cannot set non-null failedIndexes when backoffLimitPerIndex is null",
        )
    if failed and completions is not None:
        shared = overlapping_index(completed, failed, completions)
        if shared is not None:
            yield value_invalid(
                "status.failedIndexes",
                failed,
                f"failedIndexes and completedIndexes overlap at index: {shared}",
            )


def _validate_combinations(new: _View, spec: Object) -> Iterable[FieldError]:
    terminating = new.count("terminating")
    if new.finished and terminating > 0:
        yield value_invalid(
            "status.terminating", terminating, "terminating>0 is invalid for finished job"
        )
    is_told = new.status.get("ready") is not None
    if is_told and new.count("ready") > new.count("active"):
        yield value_invalid(
            "status.ready", new.count("ready"), "cannot set more ready pods than active"
        )
    if new.success_criteria_met and new.failed:
        yield contradiction(
            _CONDITIONS, "cannot set SuccessCriteriaMet=True and Failed=true conditions"
        )
    if new.success_criteria_met and new.failure_target:
        yield contradiction(
            _CONDITIONS, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"
        )
    if spec.get("successPolicy") and new.complete and not new.success_criteria_met:
        yield contradiction(
            _CONDITIONS,
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
        )


def _validate_transitions(new: _View, old: _View, spec: Object) -> Iterable[FieldError]:
    for type_, is_set, was_set in (
        ("Failed", new.failed, old.failed),
        ("Complete", new.complete, old.complete),
        ("FailureTarget", new.failure_target, old.failure_target),
    ):
        if was_set and not is_set:
            yield contradiction(_CONDITIONS, f"cannot disable the terminal {type_}=True condition")
    # An Indexed Job whose completions follow its parallelism can be scaled down.
    elastic = spec["completionMode"] == "Indexed" and spec.get("completions") == spec.get(
        "parallelism"
    )
    for counter in ("failed",) if elastic else ("failed", "succeeded"):
        if new.count(counter) < old.count(counter):
            yield value_invalid(
                f"status.{counter}",
                new.count(counter),
                f"cannot decrease the {counter} counter",
            )
    end = new.completion_time
    if end is not None and old.completion_time is not None and end != old.completion_time:
        yield value_invalid("status.completionTime", end, IMMUTABLE)
    resuming = old.suspended == "True" and new.suspended == "False"
    if old.start_time not in (None, new.start_time) and not spec.get("suspend") and not resuming:
        yield value_invalid(
            "status.startTime", new.start_time, "field is immutable for unsuspended job once set"
        )
    if old.success_criteria_met and not new.success_criteria_met:
        yield contradiction(_CONDITIONS, "cannot disable the SuccessCriteriaMet=True condition")
