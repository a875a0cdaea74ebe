"""An installed operator, leased for a suite and restored afterwards.

A suite scales its Deployment and merges the settings of each run into its ConfigMap. Their original
state is stored before anything is changed, in a ConfigMap beside them with the suite's label: so
`assay clean` finds it after a harness was killed, and restores the operator. It is not stored on
the Deployment itself, whose annotations Kubernetes copies to ReplicaSets, where they would never be
removed. While it is leased no other client may scale or configure the operator: such writes would
be lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import msgspec

from conformance.leased.deployments import is_ready, pods_of, scale
from conformance.left_behind import LeftBehindError
from conformance.stored_objects.lookup import Asked, stored
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP, DEPLOYMENT
from vocabulary.objects import Object, meta, namespace_of
from vocabulary.requests import Delete, Patch, create

NOTE: Final = "assay-borrowed"
"""The ConfigMap with the note; one, so that two suites never borrow the same operator."""
BEFORE: Final = "before"
GONE_SECONDS: Final = 60.0
READY_SECONDS: Final = 180.0
POLL_SECONDS: Final = 0.1


class Before(msgspec.Struct, frozen=True, kw_only=True):
    """A leased operator's original state; everything is in one namespace."""

    deployment: str
    replicas: int
    config_map: str = ""
    """Empty: it is not configured."""
    key: str = ""
    text: str = ""


class NotBorrowedError(LeftBehindError):
    """An operator cannot be borrowed, or not be given back; the message says what to do."""


def borrow(connection: Asked, namespace: str, before: Before, label: dict[str, str]) -> None:
    """Write down what it is like; NotBorrowedError if another suite has it."""
    metadata = {"name": NOTE, "namespace": namespace, "labels": label}
    data = {BEFORE: msgspec.json.encode(before).decode()}
    note = {"apiVersion": "v1", "kind": CONFIG_MAP.kind, "metadata": metadata, "data": data}
    try:
        connection.handle(create(note))
    except ApiError as error:
        if not error.is_already_exists:
            raise
        raise NotBorrowedError(
            f"Deployment {namespace}/{before.deployment} is borrowed by another suite, which is "
            "at work or was killed; wait for its end, or give back what it borrowed: "
            "assay clean --yes"
        ) from error


def is_note(config_map: Object) -> bool:
    """True if an operator has to be restored from it."""
    return meta(config_map).get("name") == NOTE and BEFORE in (config_map.get("data") or {})


def in_words(note: Object) -> str:
    """The operator to restore, in words."""
    return f"loan of Deployment {namespace_of(note)}/{_noted(note).deployment}"


def give_back(connection: Asked, note: Object) -> None:
    """Restore the operator's scale and configuration; delete the note last.

    Missing objects need no restoring: a configuration that outlived its operator is restored for
    its next installation.
    """
    before, namespace = _noted(note), namespace_of(note)
    deployment = stored(connection, DEPLOYMENT, namespace, before.deployment)
    is_changed = _is_configured_otherwise(connection, namespace, before)
    if is_changed and deployment is not None:
        # It reads its configuration as it starts.
        scale(connection, deployment, 0)
        _wait(lambda: not pods_of(connection, deployment), GONE_SECONDS)
    if is_changed:
        _configure(connection, namespace, before)
    if deployment is not None:
        scale(connection, deployment, before.replicas)
        # Its webhooks may be asked about what is removed next. If it does not come up, it did
        # not before either, or somebody has changed it meanwhile: that is not ours to wait for.
        _wait(lambda: _are_ready(connection, deployment, before.replicas), READY_SECONDS)
    name = str(meta(note)["name"])
    try:
        connection.handle(Delete(CONFIG_MAP, namespace, name))
    except ApiError as error:
        if not error.is_not_found:
            raise


def _is_configured_otherwise(connection: Asked, namespace: str, before: Before) -> bool:
    if not before.config_map:
        return False
    found = stored(connection, CONFIG_MAP, namespace, before.config_map)
    return found is not None and (found.get("data") or {}).get(before.key) != before.text


def _configure(connection: Asked, namespace: str, before: Before) -> None:
    body = {"data": {before.key: before.text}}
    connection.handle(Patch(CONFIG_MAP, namespace, before.config_map, body))


def _are_ready(connection: Asked, deployment: Object, count: int) -> bool:
    return sum(map(is_ready, pods_of(connection, deployment))) >= count


def _noted(note: Object) -> Before:
    try:
        return msgspec.json.decode(note["data"][BEFORE], type=Before)
    except msgspec.MsgspecError as error:
        raise NotBorrowedError(
            f"ConfigMap {namespace_of(note)}/{NOTE} is not what Assay wrote ({error}); put the "
            "operator of that namespace in order by hand, then delete the ConfigMap"
        ) from error


def _wait(done: Callable[[], bool], limit_seconds: float) -> None:
    deadline = time.monotonic() + limit_seconds
    while not done() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
