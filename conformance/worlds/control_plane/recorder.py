"""Follows a real cluster: every commit by watch, every writer and option by the audit log.

The watches give the truth about what was stored and in which order; the audit log tells who
did it, how, and what was refused. Both are kept per scope (a namespace, or a node's name)
until `history_merge` makes a history of them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from fixtures.control_plane import audit
from fixtures.control_plane.launch import ControlPlane
from fixtures.control_plane.waiting import WaitTimeoutError
from reference_controller.runtime.connection import Connection
from reference_controller.runtime.informer import Informer
from reference_controller.runtime.logs import LOG
from vocabulary.clock import Micros
from vocabulary.history import Event, Write
from vocabulary.kinds import LEASE, NODE, Kind
from vocabulary.objects import (
    Object,
    get_path,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)

TAIL_SECONDS: Final = 0.05
"""How often the audit log is looked at."""
LIST_SECONDS: Final = 120.0
NOT_RECORDED: Final = (LEASE,)
"""Followed since they tell who leads; but renewed every other second, which tells nothing."""
# A watch that ends is opened again, which is nothing that whoever runs a suite wants to read.
LOG.addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Commit:
    """One change of the store, as its watch told it."""

    rv: int
    event: Event
    kind: Kind
    object: dict[str, Any]
    seen_us: Micros

    def as_write(self) -> Write:
        """As an entry of a history, all but what a watch does not tell: who wrote, how, when."""
        return Write(
            n=0,
            t=0,
            actor="",
            verb="",
            kind=str(self.kind),
            namespace=namespace_of(self.object),
            name=name_of(self.object),
            event=self.event,
            rv=self.rv,
            uid=uid_of(self.object),
            object=self.object,
        )


class Recorder:
    """One per session; safe to read from many runs' threads."""

    def __init__(self, plane: ControlPlane, connection: Connection, kinds: Iterable[Kind]) -> None:
        self.changed = threading.Condition()
        """Notified whenever a watch has told something new."""
        self._plane = plane
        self.kinds = tuple(kinds)
        self._commits: dict[str, list[Commit]] = defaultdict(list)
        self._stored: dict[str, dict[tuple[str, str], Object]] = defaultdict(dict)
        self._audited: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._listed: set[Kind] = set()
        self._offset = 0
        self._stopping = threading.Event()
        self.revision = 0
        """The newest resourceVersion that any watch has shown."""
        self.listeners: list[Callable[[str, Commit], None]] = []
        self._informers = [
            Informer(connection, kind, "", self._replaced, self._delivered)
            for kind in (*self.kinds, *NOT_RECORDED)
        ]
        self._threads = [
            threading.Thread(target=informer.run, name=f"recorder-{index}", daemon=True)
            for index, informer in enumerate(self._informers)
        ]
        self._threads.append(threading.Thread(target=self._tail, name="audit", daemon=True))

    def start(self) -> None:
        """Begin to follow; returns once everything that is there has been listed.

        What was done before is no part of what is recorded.
        """
        self._offset = audit.size(self._plane.audit_log)
        for thread in self._threads:
            thread.start()
        followed = {*self.kinds, *NOT_RECORDED}
        with self.changed:
            if not self.changed.wait_for(lambda: self._listed >= followed, LIST_SECONDS):
                missing = sorted(map(str, followed - self._listed))
                raise WaitTimeoutError(
                    f"the API server did not list {', '.join(missing)} within {LIST_SECONDS:g} s"
                )

    def stop(self) -> None:
        self._stopping.set()
        for informer in self._informers:
            informer.stop()

    # What runs read.

    def stored(self, kind: Kind, scope: str, name: str) -> Object | None:
        """The object as its watch showed it last."""
        with self.changed:
            return self._stored[scope if kind.namespaced else name].get((str(kind), name))

    def stored_of_kind(self, kind: Kind, scope: str) -> tuple[Object, ...]:
        """All objects of a kind in a namespace."""
        wanted = str(kind)
        with self.changed:
            return tuple(obj for (found, _), obj in self._stored[scope].items() if found == wanted)

    def heard(self, scopes: Iterable[str]) -> int:
        """How many changes and audit events there are in these scopes so far."""
        with self.changed:
            return sum(len(self._commits[s]) + len(self._audited[s]) for s in scopes)

    def commits(self, scopes: Iterable[str]) -> list[Commit]:
        """The changes in these scopes so far, in the order of the store."""
        with self.changed:
            found = [commit for scope in scopes for commit in self._commits[scope]]
        return sorted(found, key=lambda commit: commit.rv)

    def audited(self, scopes: Iterable[str]) -> list[dict[str, Any]]:
        """The audit events about these scopes so far, in the order of their arrival."""
        with self.changed:
            found = [event for scope in scopes for event in self._audited[scope]]
        return sorted(found, key=lambda event: str(event["requestReceivedTimestamp"]))

    # Watching.

    def _replaced(self, kind: Kind, objects: tuple[Object, ...], _revision: str) -> None:
        """A first list (or a relist after a restart of the API server)."""
        for obj in objects:
            known = self.stored(kind, namespace_of(obj), name_of(obj))
            if known is None or known["metadata"]["resourceVersion"] != _rv_text(obj):
                self._delivered(kind, "ADDED" if known is None else "MODIFIED", obj)
        listed = {(namespace_of(obj), name_of(obj)) for obj in objects}
        with self.changed:
            gone = [
                obj
                for held in self._stored.values()
                for (found, _), obj in held.items()
                if found == str(kind) and (namespace_of(obj), name_of(obj)) not in listed
            ]
        for obj in gone:
            self._delivered(kind, "DELETED", obj)
        with self.changed:
            self._listed.add(kind)
            self.changed.notify_all()

    def _delivered(self, kind: Kind, event: Event, obj: Object) -> None:
        scope = namespace_of(obj) or name_of(obj)
        self.revision = max(self.revision, int(_rv_text(obj)))
        plain = _without_managed_fields(obj)
        if kind == NODE and _is_heartbeat(self.stored(kind, "", name_of(obj)), plain):
            return
        commit = Commit(int(_rv_text(obj)), event, kind, plain, time.time_ns() // 1000)
        with self.changed:
            if kind not in NOT_RECORDED:
                self._commits[scope].append(commit)
            key = (str(kind), name_of(obj))
            standing = self._stored[scope].get(key)
            if event != "DELETED":
                self._stored[scope][key] = plain
            elif standing is not None and uid_of(standing) == uid_of(obj):
                del self._stored[scope][key]
            self.changed.notify_all()
        for listener in tuple(self.listeners):
            listener(scope, commit)

    def _tail(self) -> None:
        while not self._stopping.wait(TAIL_SECONDS):
            self._read_audit()

    def _read_audit(self) -> None:
        events, self._offset = audit.read(self._plane.audit_log, self._offset)
        with self.changed:
            for event in events:
                reference = event.get("objectRef") or {}
                scope = reference.get("namespace") or reference.get("name") or ""
                self._audited[scope].append(event)


def _is_heartbeat(before: Object | None, now: Object) -> bool:
    """Whether a node only said that it is still alive: nothing differs but the times of that."""
    return before is not None and _lasting(before) == _lasting(now)


def _lasting(node: Object) -> tuple[Any, ...]:
    conditions = get_path(node, "status.conditions") or ()
    return (
        node.get("spec"),
        labels_of(node),
        is_terminating(node),
        [(entry["type"], entry["status"]) for entry in conditions],
        get_path(node, "status.allocatable"),
    )


def _rv_text(obj: Object) -> str:
    return str(obj["metadata"]["resourceVersion"])


def _without_managed_fields(obj: Object) -> dict[str, Any]:
    """Field managers double an object's size, and no claim reads them."""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    return {**obj, "metadata": metadata}
