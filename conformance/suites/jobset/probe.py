"""A probe JobSet, for dry runs; no operator acts on it."""

from __future__ import annotations

from typing import Final

from conformance.suites.jobset.api import JOB_SET
from vocabulary.objects import Object

NAME: Final = "probe"


def probe(namespace: str) -> Object:
    """A JobSet that every operator's webhooks admit."""
    pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": NAME, "image": NAME}]}}
    replicated_job = {"name": NAME, "replicas": 1, "template": {"spec": {"template": pod}}}
    return {
        "apiVersion": JOB_SET.api_version,
        "kind": JOB_SET.kind,
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": {"suspend": True, "replicatedJobs": [replicated_job]},
    }
