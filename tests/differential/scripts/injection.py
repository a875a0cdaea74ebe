"""Pods of Jobs that no kubelet touches: scripts write their status themselves.

So the Job controller is seen with exit codes, conditions and times of the script's choice, and
with several pods that end at the same moment.
"""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import count, has
from tests.differential.scripts.manifests import PAST, job
from vocabulary.kinds import JOB, POD

INDEX = "batch.kubernetes.io/job-completion-index"
TRACKING = "batch.kubernetes.io/job-tracking"
MERGE = "application/merge-patch+json"
STATUS = ["status"]


def idle_job(name: str, /, **spec: Any) -> dict[str, Any]:
    """A Job whose pods are never bound to a node."""
    fields = {"schedulerName": "nobody", **spec.pop("pod", {})}
    return job(name, pod=fields, **spec)


def start(c: Dialogue, obj: dict[str, Any], pods: int, show: list[str] | None = None) -> None:
    """Create a Job and wait for its pods; then nothing more is in the controller's queue."""
    name = obj["metadata"]["name"]
    c.create(obj, show=show or ["metadata.name"])
    c.until(JOB, name, has("status.active", pods), show=["status.active"])
    c.until_listed(POD, count(pods), labels=f"job-name={name}", show=["status.phase"])
    c.settle(1.6)


def terminated(name: str, code: int, finished_at: str = PAST) -> dict[str, Any]:
    """The status of a container that has ended."""
    times = {"startedAt": finished_at, "finishedAt": finished_at}
    return container_status(name, {"terminated": {"exitCode": code, "reason": "Error", **times}})


def container_status(name: str, state: dict[str, Any]) -> dict[str, Any]:
    image = {"image": "example.org/main", "imageID": ""}
    return {"name": name, "ready": False, "restartCount": 0, **image, "state": state}


def failed(code: int = 1, finished_at: str = PAST, **fields: Any) -> dict[str, Any]:
    """The status of a pod whose container `main` has failed."""
    statuses = [terminated("main", code, finished_at)]
    return {"phase": "Failed", "containerStatuses": statuses, **fields}


def succeeded() -> dict[str, Any]:
    return {"phase": "Succeeded", "containerStatuses": [terminated("main", 0)]}


def pods_of(c: Dialogue, name: str, index: int | None = None) -> list[dict[str, Any]]:
    """The pods of a Job that have not ended and are not being deleted, or those of one index."""
    labels = f"job-name={name}" + ("" if index is None else f",{INDEX}={index}")
    found = c.peek(POD, labels)
    return [
        item
        for item in found
        if item["status"]["phase"] not in ("Failed", "Succeeded")
        and "deletionTimestamp" not in item["metadata"]
    ]


def end(
    c: Dialogue, name: str, status: dict[str, Any], *, index: int | None = None, at: int = 0
) -> str:
    """Let a pod of a Job end so; answers the pod's name."""
    pod: str = pods_of(c, name, index)[at]["metadata"]["name"]
    path = POD.path(c.namespace, pod, "status")
    which = f"a pod of {name}" if index is None else f"index {index} of {name}"
    c.raw(
        "PATCH",
        path,
        {"status": status},
        content_type=MERGE,
        label=f"{which} is {status['phase']}",
        show=["status.phase"],
    )
    return pod


def delete_pod(c: Dialogue, pod: str) -> None:
    c.raw("DELETE", POD.path(c.namespace, pod), label="delete the pod", show=["status.phase"])
