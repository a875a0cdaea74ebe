"""JobSets built from a few arguments, for scenarios that differ in one field of a manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.suites.jobset.api import EXCLUSIVE_TOPOLOGY, JOB_SET
from conformance.suites.jobset.view.placement import HOSTNAME
from vocabulary.objects import Object

NON_RETRIABLE: Final = 42
"""The exit code upon which `failing_by_policy` has a Job fail by its podFailurePolicy."""
LABELS: Final = {"example.com/team": "research"}
"""The user's own, of Jobs and pods."""
SEEN_SECONDS: Final = 20
"""A time to live in which a controller that is late has seen how a Job ended."""
BY_POLICY: Final = "PodFailurePolicy"
BY_BACKOFF: Final = "BackoffLimitExceeded"


def job_set(
    replicated_jobs: Sequence[Object],
    rules: Sequence[Object] | None = (),
    *,
    max_restarts: int = 3,
    name: str = "a",
    **spec: Any,
) -> dict[str, Any]:
    """A JobSet; without a failure policy where `rules` is None."""
    policy: dict[str, Any] = {}
    if rules is not None:
        policy = {"failurePolicy": {"maxRestarts": max_restarts, "rules": [*rules]}}
    return {
        "apiVersion": JOB_SET.api_version,
        "kind": JOB_SET.kind,
        "metadata": {"name": name},
        "spec": {**policy, "replicatedJobs": list(replicated_jobs), **spec},
    }


def replicated_job(
    name: str, replicas: int = 1, behaviour: str = "run forever", **job: Any
) -> dict[str, Any]:
    """A replicated job with pods of a behaviour; keyword arguments are fields of its Jobs."""
    template = {
        "metadata": {"annotations": {"assay.dev/behaviour": behaviour}, "labels": LABELS},
        "spec": {
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "docker.io/library/bash:5"}],
        },
    }
    spec = {"parallelism": 1, "completions": 1, "backoffLimit": 0, **job, "template": template}
    of_jobs = {"labels": LABELS, "annotations": LABELS}
    return {"name": name, "replicas": replicas, "template": {"metadata": of_jobs, "spec": spec}}


def with_domains(job_set: Object) -> dict[str, Any]:
    """The JobSet each of whose Jobs has a node to itself."""
    metadata = {**job_set["metadata"], "annotations": {EXCLUSIVE_TOPOLOGY: HOSTNAME}}
    return {**job_set, "metadata": metadata}


def foreign_job(name: str) -> Object:
    """A Job that no JobSet controls, of that name."""
    container = {"name": "main", "image": "docker.io/library/bash:5"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }


def failing_by_policy() -> dict[str, Any]:
    """The fields of Jobs that fail with the reason PodFailurePolicy upon `NON_RETRIABLE`, and with
    BackoffLimitExceeded upon any other exit code."""
    on_exit_codes = {"containerName": "main", "operator": "In", "values": [NON_RETRIABLE]}
    return {"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": on_exit_codes}]}}


def rule(
    action: str, reasons: Sequence[str] = (), targets: Sequence[str] = ()
) -> Mapping[str, Any]:
    """A rule of a failure policy; what is empty is left out."""
    found: dict[str, Any] = {"action": action}
    if reasons:
        found["onJobFailureReasons"] = [*reasons]
    if targets:
        found["targetReplicatedJobs"] = [*targets]
    return found
