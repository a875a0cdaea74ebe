"""The fields that are implemented, and the refusal of all others by their paths.

Fields are refused in two places:

- The webhook refuses them down to the pod template, and so does the controller where no webhook is
  installed. They know the API of JobSets, the parts of a Job's spec, and that of all metadata only
  labels and annotations of Jobs and pods are copied; a name or a namespace there has no effect, as
  in the released controller. The CustomResourceDefinition keeps unknown fields at these levels,
  since an API server drops them silently before it asks a webhook.
- The API server refuses them in the spec of a pod, which is copied as it is. Its fields depend on
  the release of Kubernetes: Jobs are created with strict field validation. A field that the server
  does not know fails the creation with its path, and the Event JobCreationFailed says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from reference_controller.jobset.names import ALPHA, EXCLUSIVE_TOPOLOGY
from vocabulary.objects import Object, get_path


class Cause(NamedTuple):
    """A reason for a refusal."""

    field: str
    message: str


_METADATA: Final = "labels annotations name namespace"
_OF_A_JOB: Final = "spec.replicatedJobs[].template"
_KNOWN: Final[Mapping[str, frozenset[str]]] = {
    path: frozenset(names.split())
    for path, names in {
        "": "apiVersion kind metadata spec status",
        "spec": "replicatedJobs network successPolicy failurePolicy startupPolicy suspend "
        "coordinator managedBy ttlSecondsAfterFinished",
        "spec.network": "enableDNSHostnames subdomain publishNotReadyAddresses",
        "spec.successPolicy": "operator targetReplicatedJobs",
        "spec.failurePolicy": "maxRestarts restartStrategy rules",
        "spec.failurePolicy.rules[]": "name action onJobFailureReasons onJobFailureMessagePatterns "
        "targetReplicatedJobs",
        "spec.startupPolicy": "startupPolicyOrder",
        "spec.coordinator": "replicatedJob jobIndex podIndex",
        "spec.replicatedJobs[]": "name groupName replicas template dependsOn",
        "spec.replicatedJobs[].dependsOn[]": "name status",
        _OF_A_JOB: "metadata spec",
        f"{_OF_A_JOB}.metadata": _METADATA,
        # As of Kubernetes 1.36, but for `suspend`: that of the JobSet decides.
        f"{_OF_A_JOB}.spec": "activeDeadlineSeconds backoffLimit backoffLimitPerIndex "
        "completionMode completions managedBy manualSelector maxFailedIndexes parallelism "
        "podFailurePolicy podReplacementPolicy selector successPolicy template "
        "ttlSecondsAfterFinished",
        f"{_OF_A_JOB}.spec.podFailurePolicy": "rules",
        f"{_OF_A_JOB}.spec.podFailurePolicy.rules[]": "action onExitCodes onPodConditions",
        f"{_OF_A_JOB}.spec.podFailurePolicy.rules[].onExitCodes": "containerName operator values",
        f"{_OF_A_JOB}.spec.podFailurePolicy.rules[].onPodConditions[]": "type status",
        f"{_OF_A_JOB}.spec.successPolicy": "rules",
        f"{_OF_A_JOB}.spec.successPolicy.rules[]": "succeededIndexes succeededCount",
        f"{_OF_A_JOB}.spec.template": "metadata spec",
        f"{_OF_A_JOB}.spec.template.metadata": _METADATA,
    }.items()
}
"""By the path of an object in a JobSet, without indexes, the names of its fields."""
_MISSING: Final = "is not implemented; leave it out"


def unknown_fields(job_set: Object) -> Iterator[Cause]:
    """Fields and annotations that are not implemented. Clients in Go write some fields as null,
    which is none."""
    yield from _beyond(job_set, "", "")
    yield from _annotations(job_set, "metadata")
    for index in range(len(get_path(job_set, "spec.replicatedJobs"))):
        yield from _annotations(job_set, f"spec.replicatedJobs[{index}].template.metadata")


def _annotations(job_set: Object, path: str) -> Iterator[Cause]:
    at = f"{path}.annotations"
    given = get_path(job_set, at.replace("[", ".").replace("]", ""))
    for key in given if isinstance(given, Mapping) else ():
        if key.startswith(ALPHA) and key != EXCLUSIVE_TOPOLOGY:
            yield Cause(f"{at}[{key}]", _MISSING)


def _beyond(found: Any, shape: str, path: str) -> Iterator[Cause]:
    if isinstance(found, list):
        for index, each in enumerate(found):
            yield from _beyond(each, f"{shape}[]", f"{path}[{index}]")
    elif isinstance(found, Mapping) and (known := _KNOWN.get(shape)) is not None:
        for key, value in found.items():
            at = f"{path}.{key}" if path else str(key)
            if key in known:
                yield from _beyond(value, f"{shape}.{key}" if shape else key, at)
            elif value is not None:
                yield Cause(at, _MISSING)
