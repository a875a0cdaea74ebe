"""Definitions of custom resources, added to a cluster that is at work."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from clusters.control_plane.waiting import wait_until
from conformance.left_behind.clean import RUN_LABEL
from conformance.stored_objects.lookup import stored
from conformance.stored_objects.retrying_connection import RetryingConnection
from reference_controller.runtime.connection import Connection
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION
from vocabulary.objects import Object, condition_status, meta, name_of
from vocabulary.requests import Create

SERVED_SECONDS: Final = 60.0


def install(connection: RetryingConnection, crds: Sequence[Object], *, run_label: str) -> None:
    """Create them with the run's label; returns when all of them are served."""
    for crd in crds:
        labels = {**(meta(crd).get("labels") or {}), RUN_LABEL: run_label}
        labelled = {**crd, "metadata": {**meta(crd), "labels": labels}}
        connection.handle(Create(CUSTOM_RESOURCE_DEFINITION, labelled, "", name_of(crd)))
    for crd in crds:
        wait_until(
            partial(_is_served, connection, name_of(crd)),
            f"the API server serves {name_of(crd)}",
            limit_seconds=SERVED_SECONDS,
        )


def definition(connection: Connection | RetryingConnection, name: str) -> Object | None:
    """The cluster's CRD of that name; None if there is none. Raises ApiError."""
    return stored(connection, CUSTOM_RESOURCE_DEFINITION, "", name)


def _is_served(connection: RetryingConnection, name: str) -> bool:
    found = definition(connection, name)
    return found is not None and condition_status(found, "Established") == "True"
