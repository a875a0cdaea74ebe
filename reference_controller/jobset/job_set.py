"""The spec and status of a JobSet, field by field, with the API's defaults."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from reference_controller.jobset.names import Condition
from vocabulary.objects import Object, condition_status, get_path, name_of

_EMPTY: Object = {}


class ChildId(NamedTuple):
    """One child Job: the replicated job, and the index of the Job in it."""

    replicated_job: str
    number: int


def spec_of(job_set: Object) -> Object:
    spec: Object = job_set["spec"]
    return spec


def status_of(job_set: Object) -> Object:
    status: Object = job_set.get("status") or _EMPTY
    return status


def replicated_jobs(job_set: Object) -> tuple[Object, ...]:
    return tuple(spec_of(job_set)["replicatedJobs"])


def replicas_of(replicated_job: Object) -> int:
    return int(replicated_job["replicas"])


def children_of(job_set: Object) -> Iterator[tuple[ChildId, Object]]:
    """Each child Job that the spec asks for, with its replicated job, in the spec's order."""
    for replicated_job in replicated_jobs(job_set):
        for index in range(replicas_of(replicated_job)):
            yield ChildId(replicated_job["name"], index), replicated_job


def job_name(job_set: Object, child: ChildId) -> str:
    return f"{name_of(job_set)}-{child.replicated_job}-{child.number}"


def restart_strategy(job_set: Object) -> str:
    return str(get_path(job_set, "spec.failurePolicy.restartStrategy", "Recreate"))


def is_suspended(job_set: Object) -> bool:
    return bool(spec_of(job_set).get("suspend"))


def is_finished(job_set: Object) -> bool:
    return any(
        condition_status(job_set, type_) == "True"
        for type_ in (Condition.COMPLETED, Condition.FAILED)
    )


def failure_policy(job_set: Object) -> Object | None:
    """`spec.failurePolicy`; None if there is none, which is not the same as an empty one."""
    policy: Object | None = spec_of(job_set).get("failurePolicy")
    return policy


def max_restarts(job_set: Object) -> int:
    """`spec.failurePolicy.maxRestarts`, of a JobSet that has a failure policy."""
    return int(spec_of(job_set)["failurePolicy"]["maxRestarts"])


def restarts_of(job_set: Object) -> int:
    """`status.restarts`: restarts of the whole JobSet, counted or not."""
    return int(status_of(job_set).get("restarts", 0))


def counted_restarts_of(job_set: Object) -> int:
    """`status.restartsCountTowardsMax`."""
    return int(status_of(job_set).get("restartsCountTowardsMax", 0))


def partial_restarts_of(job_set: Object) -> tuple[Object, ...]:
    """`status.partialRestarts`: one record per Job, or per replicated job (its `job` is "")."""
    return tuple(status_of(job_set).get("partialRestarts") or ())


def left_failed_of(job_set: Object) -> tuple[Object, ...]:
    """`status.leftFailed`: one record per Job, as it was created."""
    return tuple(status_of(job_set).get("leftFailed") or ())


def succeeded_of(job_set: Object) -> set[ChildId]:
    """`status.succeeded`: the Jobs that have succeeded since the last restart that concerns them,
    by replicated job as `completedIndexes` of a Job: 0-3,5."""
    return {
        ChildId(record["replicatedJob"], index)
        for record in status_of(job_set).get("succeeded") or ()
        for first, _, last in (part.partition("-") for part in record["indexes"].split(","))
        for index in range(int(first), int(last or first) + 1)
    }


def succeeded_records(succeeded: Collection[ChildId]) -> list[Object]:
    """The same as the status has it."""
    found: dict[str, list[list[int]]] = {}
    for name, index in sorted(succeeded):
        spans = found.setdefault(name, [])
        if spans and spans[-1][1] == index - 1:
            spans[-1][1] = index
        else:
            spans.append([index, index])
    return [
        {
            "replicatedJob": name,
            "indexes": ",".join(f"{a}-{b}" if a < b else f"{a}" for a, b in spans),
        }
        for name, spans in found.items()
    ]


def partial_restarts_of_child(job_set: Object, child: ChildId, name: str) -> int:
    """How many partial restarts have concerned that Job."""
    return sum(
        int(record["restarts"])
        for record in partial_restarts_of(job_set)
        if record["replicatedJob"] == child.replicated_job and record["job"] in ("", name)
    )
