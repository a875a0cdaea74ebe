"""A probe AppWrapper, for dry runs; no operator acts on it."""

from __future__ import annotations

from typing import Final

from conformance.stored import WEBHOOK_FAILED, Asked
from vocabulary.errors import ApiError
from vocabulary.kinds import APPWRAPPER, POD
from vocabulary.objects import Object
from vocabulary.requests import Create

NAME: Final = "probe"


def probe(namespace: str) -> Object:
    """One that every operator's webhooks admit, and that it does nothing with."""
    pod = {
        "apiVersion": "v1",
        "kind": POD.kind,
        "metadata": {"name": NAME},
        "spec": {"restartPolicy": "Never", "containers": [{"name": NAME, "image": NAME}]},
    }
    component = {"template": pod, "podSets": [{"replicas": 1, "path": "template"}]}
    return {
        "apiVersion": APPWRAPPER.api_version,
        "kind": APPWRAPPER.kind,
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": {"suspend": True, "components": [component]},
    }


def unreached(connection: Asked, namespace: str) -> str:
    """Return the API server's error if it cannot call an AppWrapper webhook; empty if it can.

    Nothing is stored. A rejection by the webhook also shows that it was called.
    """
    try:
        connection.handle(Create(APPWRAPPER, probe(namespace), namespace, NAME, dry_run=True))
    except ApiError as error:
        return error.message if WEBHOOK_FAILED in error.message else ""
    return ""
