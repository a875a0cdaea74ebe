"""Records what happens on a cluster that is not ours: by watching, and by that alone.

Watches show every change of the store and nothing else: not who wrote, with which options,
nor what was refused. The history's capabilities say so, and claims that need more are
inconclusive on it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from chaos.subject_kind import registered
from reference_controller.runtime.connection import Connection
from reference_controller.runtime.informer import Informer
from vocabulary.clock import Micros
from vocabulary.fault_effect import FaultEffect
from vocabulary.history import Entry, Event, Fault, Process, Write
from vocabulary.kinds import JOB, NODE, POD, Kind, known_kinds
from vocabulary.objects import Object, meta, name_of, namespace_of, uid_of

SETTLE_SECONDS: Final = 0.3
"""Watches of different kinds arrive in any order; so long is waited for the slowest."""
_UNWATCHED: Final = ("Event", "Lease.coordination.k8s.io", "Namespace")
LISTED_FIRST: Final = (JOB, POD, NODE)
"""No history begins before these and the kinds under test have been listed."""
LIST_SECONDS: Final = 30.0


class WatchRecorder:
    """Follows one namespace (and the nodes) from `start` on; safe to read from other threads."""

    def __init__(self, connection: Connection, namespace: str) -> None:
        self.began_us: Final = time.time_ns() // 1000
        self._lock = threading.Lock()
        self._writes: list[tuple[int, Micros, Write]] = []
        self._others: list[tuple[Micros, Entry]] = []
        self._known: dict[tuple[str, str, str], Object] = {}
        self.has_every_version = True
        """False once some may be missing: of what was there before, or while a watch was cut."""
        self._kinds_begun: set[str] = set()
        self._tested = {str(each.kind) for each in registered()}
        first = (*self._tested, *map(str, LISTED_FIRST))
        self._listed = {kind: threading.Event() for kind in first}
        self._informers = [
            Informer(connection, kind, namespace, self._replace, self._deliver)
            for kind in {str(kind): kind for kind in known_kinds()}.values()
            if str(kind) not in _UNWATCHED
        ]

    def start(self) -> None:
        """Begin to watch; returns when the kinds that matter most have been listed."""
        for informer in self._informers:
            threading.Thread(target=informer.run, daemon=True).start()
        deadline = time.monotonic() + LIST_SECONDS
        for listed in self._listed.values():
            listed.wait(max(0.0, deadline - time.monotonic()))

    def stop(self) -> None:
        for informer in self._informers:
            informer.stop()

    def fault(self, action: Any, data: dict[str, Any], text: str, effect: FaultEffect) -> None:
        """Something that chaos did or undid."""
        entry = Fault(n=0, t=0, action=action, fault=data, text=text, effect=effect)
        with self._lock:
            self._others.append((self._now_us(), entry))

    def process(self, process: str, change: Any) -> None:
        """A change in the life of an operator that the experiment runs itself."""
        with self._lock:
            self._others.append((self._now_us(), Process(n=0, t=0, process=process, change=change)))

    def entries(self) -> Sequence[Entry]:
        """All so far: commits in the store's order, the rest where their times fall."""
        time.sleep(SETTLE_SECONDS)
        with self._lock:
            writes = sorted(self._writes, key=lambda each: each[0])
            # The machine's clock may have been set back meanwhile.
            others = sorted(self._others, key=lambda each: each[0])
        ordered: list[Entry] = []
        last_us = 0
        for _, at_us, write in writes:
            last_us = max(last_us, at_us)
            while others and others[0][0] < last_us:
                ordered.append(_at(others[0][1], len(ordered), others.pop(0)[0]))
            ordered.append(_at(write, len(ordered), last_us))
        for at_us, entry in others:
            last_us = max(last_us, at_us)
            ordered.append(_at(entry, len(ordered), last_us))
        return ordered

    def _now_us(self) -> Micros:
        return time.time_ns() // 1000 - self.began_us

    def _replace(self, kind: Kind, objects: tuple[Object, ...], revision: str) -> None:
        """The first list: what existed before counts as added now. Or a later one: what changed.

        Objects that are gone by then were deleted at some unobserved point, at the latest at the
        list's own revision.
        """
        began_before = str(kind) in self._tested and bool(objects)
        if began_before or str(kind) in self._kinds_begun:
            self.has_every_version = False
        self._kinds_begun.add(str(kind))
        with self._lock:
            known = {key: obj for key, obj in self._known.items() if key[0] == str(kind)}
        listed = {_key(kind, obj): obj for obj in objects}
        for key, obj in listed.items():
            before = known.get(key)
            if before is None or _version(before) != _version(obj):
                self._deliver(kind, "ADDED" if before is None else "MODIFIED", obj)
        for key, obj in known.items():
            if key not in listed:
                gone = {**obj, "metadata": {**meta(obj), "resourceVersion": revision}}
                self._deliver(kind, "DELETED", gone)
        if str(kind) in self._listed:
            self._listed[str(kind)].set()

    def _deliver(self, kind: Kind, event: Event, obj: Object) -> None:
        key, version = _key(kind, obj), _version(obj)
        write = Write(
            n=0,
            t=0,
            actor="",
            verb="",
            kind=str(kind),
            namespace=namespace_of(obj),
            name=name_of(obj),
            event=event,
            rv=version,
            uid=uid_of(obj),
            object=dict(obj),
        )
        with self._lock:
            if event == "DELETED":
                self._known.pop(key, None)
            else:
                self._known[key] = obj
            self._writes.append((version, self._now_us(), write))


def _key(kind: Kind, obj: Object) -> tuple[str, str, str]:
    return str(kind), namespace_of(obj), name_of(obj)


def _version(obj: Object) -> int:
    return int(meta(obj)["resourceVersion"])


def _at(entry: Entry, n: int, t: Micros) -> Entry:
    return msgspec.structs.replace(entry, n=n, t=t)
