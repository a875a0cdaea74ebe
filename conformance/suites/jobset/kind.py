"""A JobSet and its child Jobs, field by field: as recorded, as stored now, as worlds use them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.stored_objects.state import (
    Field,
    ObjectState,
    condition,
    flag,
    items,
    number,
    value,
)
from conformance.suite import KindUse
from conformance.suites.jobset.api import CONTROLLER_NAME, JOB_SET
from vocabulary import objects
from vocabulary.objects import Object, get_path, name_of

_PROBE: Final = "probe"


class JobState(ObjectState):
    """One state of a Job."""

    is_complete = condition("Complete")
    is_failed = condition("Failed")
    is_to_fail = condition("FailureTarget")
    is_suspended = flag("spec.suspend")
    active = number("status.active")
    ready = number("status.ready")
    succeeded = number("status.succeeded")
    failed = number("status.failed")
    parallelism = number("spec.parallelism", 1)
    completions = value("spec.completions")
    uncounted = value("status.uncountedTerminatedPods")
    why_failed = Field(lambda job: _reason(job, "Failed"))

    @property
    def has_ended_pods(self) -> bool:
        """True if pods of it have ended, counted or not."""
        return bool(self.succeeded or self.failed or any((self.uncounted or {}).values()))

    @property
    def has_finished(self) -> bool:
        return self.is_complete or self.is_failed

    @property
    def has_started(self) -> bool:
        """True if as many pods as run side by side are ready or have succeeded."""
        wanted = self.parallelism
        if self.completions is not None:
            wanted = min(wanted, int(self.completions))
        return self.ready + self.succeeded >= wanted or self.is_complete

    @property
    def is_ready(self) -> bool:
        """True if it has started, has not failed and stays."""
        return self.has_started and not (self.is_terminating or self.is_failed)


class JobSetState(ObjectState):
    """One state of a JobSet."""

    restarts = number("status.restarts")
    """Those of the whole JobSet, counted or not."""
    counted = number("status.restartsCountTowardsMax")
    """Those that count towards the maximum."""
    partial = Field(lambda job_set: _partial_restarts(job_set, "jobRestarts"))
    """Partial restarts by replicated job and Job; the latter is "" for all of them."""
    partial_counted = Field(
        lambda job_set: _partial_restarts(job_set, "jobRestartsCountTowardsMax")
    )
    """Those that count towards the maximum."""
    policy = value("spec.failurePolicy")
    """None if there is none."""
    has_completed = condition("Completed")
    has_failed = condition("Failed")
    why_failed = Field(lambda job_set: _reason(job_set, "Failed"))
    is_suspended = flag("spec.suspend")
    says_suspended = condition("Suspended")
    managed_by = value("spec.managedBy")
    ended_as = value("status.terminalState")
    replicated_jobs = items("spec.replicatedJobs")
    replicated_jobs_status = items("status.replicatedJobsStatus")

    @property
    def has_ended(self) -> bool:
        return self.has_failed or self.has_completed

    @property
    def is_managed(self) -> bool:
        """True if it is the JobSet controller's to manage."""
        return self.managed_by in (None, CONTROLLER_NAME)

    @property
    def used(self) -> int:
        """The part of the budget that is used."""
        return self.counted + sum(self.partial_counted.values())

    @property
    def replicas(self) -> Mapping[str, int]:
        """How many Jobs each replicated job has when none is missing, by its name."""
        return {each["name"]: int(each.get("replicas", 1)) for each in self.replicated_jobs}

    @property
    def is_at_rest(self) -> bool:
        """True if it may stay as it is indefinitely: it has ended, is suspended, is another
        controller's to manage, or all of its Jobs are ready or done."""
        if self.has_ended or not self.is_managed:
            return True
        if self.is_suspended:
            return self.says_suspended
        seen = {
            each["name"]: sum(int(each.get(key, 0)) for key in ("ready", "succeeded", "failed"))
            for each in self.replicated_jobs_status
        }
        return all(seen.get(name, 0) >= replicas for name, replicas in self.replicas.items())

    @property
    def progress(self) -> object:
        """The end, the number of restarts, and how many Jobs are ready or done."""
        return (
            self.ended_as,
            get_path(self.object, "status.restarts"),
            tuple(
                (each["name"], each.get("ready"), each.get("succeeded"))
                for each in self.replicated_jobs_status
            ),
        )

    @property
    def pods(self) -> int:
        """At most so many of them run side by side."""
        return sum(
            int(each.get("replicas", 1)) * int(get_path(each, "template.spec.parallelism", 1))
            for each in self.replicated_jobs
        )


def _reason(obj: Object, type_: str) -> str:
    return str((objects.condition(obj, type_) or {}).get("reason", ""))


def _partial_restarts(job_set: Object, by_index: str) -> dict[tuple[str, str], int]:
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


def probe(namespace: str) -> Object:
    """A JobSet that every operator's webhooks admit, and that no operator acts on."""
    pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": _PROBE, "image": _PROBE}]}}
    replicated_job = {"name": _PROBE, "replicas": 1, "template": {"spec": {"template": pod}}}
    return {
        "apiVersion": JOB_SET.api_version,
        "kind": JOB_SET.kind,
        "metadata": {"name": _PROBE, "namespace": namespace},
        "spec": {"suspend": True, "replicatedJobs": [replicated_job]},
    }


KIND: Final = KindUse(
    JOB_SET,
    is_at_rest=lambda job_set: JobSetState(job_set).is_at_rest,
    probe=probe,
    progress=lambda job_set: JobSetState(job_set).progress,
    pods=lambda job_set: JobSetState(job_set).pods,
)
