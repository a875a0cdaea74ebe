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
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from clusters.control_plane import audit
from clusters.control_plane.waiting import WaitTimeoutError
from conformance.stored_objects.recorded import recorded
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
SHOWN_SECONDS: Final = 5.0
"""A watch that shows a write no sooner is broken."""
NOT_RECORDED: Final = (LEASE,)
"""Followed since they tell who leads; but renewed every other second, which tells nothing."""
# A watch that ends is opened again, which is nothing that whoever runs a suite wants to read.
LOG.addHandler(logging.NullHandler())


def wall_us() -> Micros:
    """The time by this machine's clock, which histories of real clusters go by."""
    return time.time_ns() // 1000


@dataclass(frozen=True, slots=True)
class Commit:
    """One change of the store, from its watch or the audit log."""

    rv: int
    event: Event
    kind: Kind
    object: dict[str, Any]
    seen_us: Micros
    told_by: Literal["", "audit-log"] = ""
    """As of an entry of a history."""

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
            told_by=self.told_by,
        )


class Recorder:
    """One per session; safe to read from many runs' threads."""

    def __init__(
        self,
        connection: Connection,
        kinds: Iterable[Kind],
        audit_log: Path | None,
        keeps: Callable[[Kind, Object], bool] | None = None,
    ) -> None:
        """`audit_log` is the file that the API server writes; None: there is none to be had.

        Without `keeps` everything on the cluster is recorded. With it, only the namespaces
        that runs `follow`, and such objects without a namespace as it keeps.
        """
        self.changed = threading.Condition()
        """Notified whenever a watch reports something new."""
        self.kinds = tuple(kinds)
        self._commits: dict[str, list[Commit]] = defaultdict(list)
        self._stored: dict[str, dict[tuple[str, str], Object]] = defaultdict(dict)
        self._audited: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._connection = connection
        self._keeps = keeps
        self._listed: set[tuple[Kind, str]] = set()
        """The lists that were made: a kind, in a namespace or ("") everywhere."""
        self._listed_again: dict[str, Micros] = {}
        """By namespace ("" is all): when a watch of it last began anew, with a gap before."""
        self._offset = 0
        self._stopping = threading.Event()
        self.revision = 0
        """The newest resourceVersion that any watch has shown."""
        self.listeners: list[Callable[[str, Commit], None]] = []
        self._informers: dict[str, list[Informer]] = defaultdict(list)
        """By the namespace that they watch; "" is all."""
        self.hears_requests = audit_log is not None
        """True if there is an audit log to tell of requests, their writers and their options."""
        self._unreadable: Exception | None = None
        """The error that has ended the reading of the audit log."""
        self._tails: list[threading.Thread] = []
        if audit_log is not None:
            self._offset = audit.end(audit_log)
            tail = threading.Thread(target=self._tail, args=(audit_log,), name="audit", daemon=True)
            self._tails.append(tail)

    def start(self) -> None:
        """Begin to follow; returns once everything that is there has been listed.

        What was done before is no part of what is recorded.
        """
        for thread in self._tails:
            thread.start()
        kinds = (*self.kinds, *NOT_RECORDED)
        everywhere = self._keeps is None
        self._watch("", [kind for kind in kinds if everywhere or not kind.namespaced])

    def follow(self, namespace: str) -> None:
        """From now on what happens in a namespace is recorded, where not everything is."""
        if self._keeps is not None:
            kinds = (*self.kinds, *NOT_RECORDED)
            self._watch(namespace, [kind for kind in kinds if kind.namespaced])

    def unfollow(self, namespace: str) -> None:
        """Stop following a run that is over: its watches end, and their events stay."""
        for informer in self._informers.pop(namespace, ()):
            informer.stop()

    def stop(self) -> None:
        self._stopping.set()
        for namespace in tuple(self._informers):
            self.unfollow(namespace)

    def was_interrupted(self, scopes: Iterable[str], since_us: Micros) -> bool:
        """True if a watch of one of these, or of all, may have missed what was in between."""
        with self.changed:
            return any(self._listed_again.get(each, 0) >= since_us for each in ("", *scopes))

    @property
    def is_watching(self) -> bool:
        """True if no watch is broken just now: what happens is heard of, sooner or later."""
        with self.changed:
            informers = [each for found in self._informers.values() for each in found]
        return all(informer.is_watching for informer in informers)

    def _watch(self, namespace: str, kinds: Iterable[Kind]) -> None:
        """Begin to watch these kinds; returns once all of them have been listed."""
        wanted = {(kind, namespace) for kind in kinds}
        replaced = partial(self.replaced, namespace)
        for kind, _ in sorted(wanted, key=lambda pair: str(pair[0])):
            informer = Informer(self._connection, kind, namespace, replaced, self._delivered)
            self._informers[namespace].append(informer)
            name = f"recorder-{namespace}-{kind}"
            threading.Thread(target=informer.run, name=name, daemon=True).start()
        with self.changed:
            if not self.changed.wait_for(lambda: self._listed >= wanted, LIST_SECONDS):
                missing = sorted(str(kind) for kind, _ in wanted - self._listed)
                raise WaitTimeoutError(
                    f"the API server did not list {', '.join(missing)} within {LIST_SECONDS:g} s"
                )

    # What runs read.

    def stored(self, kind: Kind, scope: str, name: str) -> Object | None:
        """The object as its watch showed it last."""
        with self.changed:
            return self._stored[scope if kind.namespaced else name].get((str(kind), name))

    def await_shown(self, kind: Kind, written: Object) -> None:
        """Return once a watch has shown what a client has written, if it is followed."""
        scope = namespace_of(written) or name_of(written)
        uid, rv = uid_of(written), int(_rv_text(written))

        def is_shown() -> bool:
            of_it = (
                each.rv for each in reversed(self._commits[scope]) if uid_of(each.object) == uid
            )
            return next(of_it, 0) >= rv

        if str(kind) in map(str, self.kinds):
            with self.changed:
                self.changed.wait_for(is_shown, SHOWN_SECONDS)

    def stored_of_kind(self, kind: Kind, scope: str) -> tuple[Object, ...]:
        """All objects of a kind in a namespace."""
        wanted = str(kind)
        with self.changed:
            return tuple(obj for (found, _), obj in self._stored[scope].items() if found == wanted)

    def scopes(self, run: str) -> tuple[str, ...]:
        """The namespace of a run, and the scopes that are named after it: further namespaces,
        and cluster-scoped objects."""
        with self.changed:
            known = {*self._commits, *self._audited}
        return run, *sorted(scope for scope in known if scope.startswith(f"{run}-"))

    def heard(self, scopes: Iterable[str]) -> int:
        """How many changes and audit events there are in these scopes so far. RuntimeError: the
        audit log cannot be read any more."""
        if self._unreadable is not None:
            raise RuntimeError(
                f"the audit log cannot be read: {self._unreadable}"
            ) from self._unreadable
        with self.changed:
            return sum(len(self._commits[s]) + len(self._audited[s]) for s in scopes)

    def commits(self, scopes: Iterable[str]) -> list[Commit]:
        """The changes in these scopes so far, in the order of the store."""
        with self.changed:
            found = [commit for scope in dict.fromkeys(scopes) for commit in self._commits[scope]]
        return sorted(found, key=lambda commit: commit.rv)

    def audited(self, scopes: Iterable[str]) -> list[dict[str, Any]]:
        """The audit events about these scopes so far, in the order of their arrival."""
        with self.changed:
            found = [event for scope in dict.fromkeys(scopes) for event in self._audited[scope]]
        return sorted(found, key=lambda event: str(event["requestReceivedTimestamp"]))

    # Watching.

    def replaced(
        self, namespace: str, kind: Kind, objects: tuple[Object, ...], revision: str
    ) -> None:
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
                if found == str(kind)
                and namespace in ("", namespace_of(obj))
                and (namespace_of(obj), name_of(obj)) not in listed
            ]
        for obj in gone:
            self._delivered(kind, "DELETED", obj, int(revision or 0))
        with self.changed:
            if (kind, namespace) in self._listed:
                self._listed_again[namespace] = wall_us()
            self._listed.add((kind, namespace))
            self.changed.notify_all()

    def _delivered(self, kind: Kind, event: Event, obj: Object, revision: int = 0) -> None:
        """`revision` is that of the list in which a deletion was found out. The object bears an
        earlier one: whatever was committed since then was committed before that."""
        if self._keeps is not None and not kind.namespaced and not self._keeps(kind, obj):
            return
        scope = namespace_of(obj) or name_of(obj)
        self.revision = max(self.revision, int(_rv_text(obj)))
        plain = recorded(obj)
        if kind == NODE and is_heartbeat(self.stored(kind, "", name_of(obj)), plain):
            return
        revision = revision or int(_rv_text(obj))
        commit = Commit(revision, event, kind, plain, wall_us())
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

    def _tail(self, log: Path) -> None:
        try:
            while not self._stopping.wait(TAIL_SECONDS):
                self._read_audit(log)
        except (OSError, ValueError, AttributeError) as error:
            self._unreadable = error  # for the runs, which would wait for what is never heard

    def _read_audit(self, log: Path) -> None:
        events, self._offset = audit.read(log, self._offset)
        with self.changed:
            for event in events:
                reference = event.get("objectRef") or {}
                scope = reference.get("namespace") or reference.get("name") or ""
                self._audited[scope].append(event)


def is_heartbeat(before: Object | None, now: Object) -> bool:
    """True if a node only said that it is still alive: nothing differs but the times of that."""
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
