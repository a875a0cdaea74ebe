"""A campaign in virtual time on many machines: an Indexed Job, each of whose pods makes one shard.

The pods need no rights: each simulates its clusters in its own process. A pod that is evicted or
killed is replaced, and the next one of its index goes on with the runs that the volume keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.in_cluster.suite_pod import CONTAINER, UNPRIVILEGED, container
from conformance.report.yaml_text import dump
from vocabulary.objects import Object

REPORTS: Final = "/reports"
_INDEX: Final = "$(JOB_COMPLETION_INDEX)"
_VERDICTS: Final = (1, 3)
"""The exit codes of shards that came to their end: a claim is violated, or inconclusive."""
_RETRIES: Final = 6


def campaign_text(
    words: Sequence[str], *, name: str, image: str, shards: int, at_once: int, claim: str
) -> str:
    """The manifest as YAML for `kubectl apply -f -`.

    `words` are those of `assay run`; `claim` names a PersistentVolumeClaim that all pods can write
    to.
    """
    folders = " ".join(f"{REPORTS}/{name}/{n}" for n in range(shards))
    told = "\n".join(
        (
            f"# The reports of all shards are in {claim}; in a pod that mounts it at {REPORTS}:",
            f"#     assay report merge {folders} --out {REPORTS}/{name}/merged",
        )
    )
    return f"{told}\n{dump(_job(words, name, image, shards, at_once, claim))}"


def _job(
    words: Sequence[str], name: str, image: str, shards: int, at_once: int, claim: str
) -> Object:
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "securityContext": UNPRIVILEGED,
        "containers": [container(image, tuple(_arguments(words, name, shards)), REPORTS)],
        "volumes": [
            {"name": "tmp", "emptyDir": {}},
            {"name": "results", "persistentVolumeClaim": {"claimName": claim}},
        ],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/name": "assay"}},
        "spec": {
            "completionMode": "Indexed",
            "completions": shards,
            "parallelism": at_once,
            "backoffLimitPerIndex": _RETRIES,
            # A verdict is no reason to make the shard again; a machine that goes is no failure.
            "podFailurePolicy": {
                "rules": [
                    {
                        "action": "FailIndex",
                        "onExitCodes": {
                            "containerName": CONTAINER,
                            "operator": "In",
                            "values": list(_VERDICTS),
                        },
                    },
                    {
                        "action": "Ignore",
                        "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
                    },
                ]
            },
            "template": {"spec": pod},
        },
    }


def _arguments(words: Sequence[str], name: str, shards: int) -> Iterator[str]:
    yield from ("run", *words)
    yield from ("--shard", f"index/{shards}", "--resume", "--quiet")
    yield from ("--out", f"{REPORTS}/{name}/{_INDEX}")
