"""Probe whether the garbage collector knows the kinds under test yet, by having it collect.

Until it does, a deleted owner's dependents stay, and so does an owner that is deleted in
the foreground: scenarios would attribute that to the implementation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from clusters.control_plane.waiting import wait_until
from conformance.stored_objects.retrying_connection import RetryingConnection
from conformance.suite import load as suites
from vocabulary.kinds import CONFIG_MAP, Kind, kind_of
from vocabulary.objects import Object, name_of, uid_of
from vocabulary.requests import Delete, List, ObjectList, create

COLLECTED_SECONDS: Final = 90.0


def await_collector(connection: RetryingConnection, roles: Iterable[str], namespace: str) -> None:
    """Returns when it has collected an owner of each kind that has a probe, and its dependent;
    leaves nothing there."""
    for role in roles:
        for use in suites()[role].kinds:
            if use.probe is not None:
                _await_collected(connection, use.kind, use.probe(namespace), namespace)


def _await_collected(
    connection: RetryingConnection, kind: Kind, probe: Object, namespace: str
) -> None:
    owner = connection.handle(create(probe))
    assert not isinstance(owner, ObjectList)
    name = name_of(owner)
    connection.handle(create(_dependent(owner, namespace)))
    connection.handle(Delete(kind, namespace, name, propagation_policy="Foreground"))

    def is_gone() -> bool:
        found = connection.handle(List(kind, namespace, live=True))
        assert isinstance(found, ObjectList)
        return name not in map(name_of, found.items)

    wait_until(
        is_gone,
        f"the garbage collector knows objects of kind {kind.kind}",
        limit_seconds=COLLECTED_SECONDS,
        poll_seconds=0.2,
    )


def _dependent(owner: Object, namespace: str) -> Object:
    kind = kind_of(owner)
    reference = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": name_of(owner),
        "uid": uid_of(owner),
        "blockOwnerDeletion": True,
    }
    metadata = {"name": name_of(owner), "namespace": namespace, "ownerReferences": [reference]}
    return {"apiVersion": CONFIG_MAP.api_version, "kind": CONFIG_MAP.kind, "metadata": metadata}
