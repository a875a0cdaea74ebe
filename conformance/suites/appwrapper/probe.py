"""A probe AppWrapper, for dry runs; no operator acts on it."""

from __future__ import annotations

from typing import Final

from conformance.suites.appwrapper.api import APPWRAPPER
from vocabulary.kinds import POD
from vocabulary.objects import Object

NAME: Final = "probe"


def probe(namespace: str) -> Object:
    """An AppWrapper that every operator's webhooks admit."""
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
