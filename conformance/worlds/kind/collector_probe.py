"""Probe whether the garbage collector knows AppWrappers yet, by having it collect one's dependent.

Until it does, a deleted owner's dependents stay, and so does an owner that is deleted in
the foreground: scenarios would attribute that to the implementation.
"""

from __future__ import annotations

from typing import Final

from conformance.patience import PatientConnection
from conformance.worlds.control_plane.probe import NAME, probe
from fixtures.control_plane.waiting import wait_until
from vocabulary.kinds import APPWRAPPER, CONFIG_MAP
from vocabulary.objects import Object, name_of, uid_of
from vocabulary.requests import Delete, List, ObjectList, create

COLLECTED_SECONDS: Final = 90.0


def await_collector(connection: PatientConnection, namespace: str) -> None:
    """Returns when it has collected an owner and its dependent; leaves nothing there."""
    owner = connection.handle(create(probe(namespace)))
    assert not isinstance(owner, ObjectList)
    connection.handle(create(_dependent(owner, namespace)))
    connection.handle(Delete(APPWRAPPER, namespace, NAME, propagation_policy="Foreground"))

    def is_gone() -> bool:
        found = connection.handle(List(APPWRAPPER, namespace, live=True))
        assert isinstance(found, ObjectList)
        return NAME not in map(name_of, found.items)

    wait_until(
        is_gone,
        "the garbage collector knows AppWrappers",
        limit_seconds=COLLECTED_SECONDS,
        poll_seconds=0.2,
    )


def _dependent(owner: Object, namespace: str) -> Object:
    reference = {
        "apiVersion": APPWRAPPER.api_version,
        "kind": APPWRAPPER.kind,
        "name": NAME,
        "uid": uid_of(owner),
        "blockOwnerDeletion": True,
    }
    metadata = {"name": NAME, "namespace": namespace, "ownerReferences": [reference]}
    return {"apiVersion": CONFIG_MAP.api_version, "kind": CONFIG_MAP.kind, "metadata": metadata}
