"""Deployments from the view of a starter of operators: scaled, and observed by their pods.

A Deployment scaled to 0 has ended when none of its pods may still write.
"""

from __future__ import annotations

from typing import Final

from conformance.stored_objects.lookup import Asked
from vocabulary.kinds import DEPLOYMENT, POD
from vocabulary.objects import Object, condition_status, get_path, labels_of, name_of, namespace_of
from vocabulary.requests import List, ObjectList, Patch
from vocabulary.selectors import matches, to_text

ENDED: Final = ("Succeeded", "Failed")
"""Phases of pods all of whose processes have ended; evicted ones stay there for long."""


def scale(connection: Asked, deployment: Object, replicas: int) -> None:
    """Have it run that many pods."""
    body = {"spec": {"replicas": replicas}}
    patch = Patch(DEPLOYMENT, namespace_of(deployment), name_of(deployment), body)
    connection.handle(patch)


def pods_of(connection: Asked, deployment: Object) -> tuple[Object, ...]:
    """Its pods whose processes have not ended, terminating ones included."""
    selector = deployment["spec"]["selector"]
    text = to_text(selector.get("matchLabels") or {})
    found = listed_pods(connection, namespace_of(deployment), text)
    return tuple(pod for pod in found if matches(selector, labels_of(pod)))


def listed_pods(connection: Asked, namespace: str, selector: str) -> tuple[Object, ...]:
    """The pods that a selector in text form chooses, and whose processes have not ended."""
    listed = connection.handle(List(POD, namespace, label_selector=selector, live=True))
    assert isinstance(listed, ObjectList)
    return tuple(pod for pod in listed.items if get_path(pod, "status.phase") not in ENDED)


def is_ready(pod: Object) -> bool:
    """True if its containers say that they can do their work."""
    return condition_status(pod, "Ready") == "True"
