"""Notify the injector of each commit once, with its writer if a plan may ask for it.

A watch shows every commit without its writer; an operator's proxy sees the results of the
operator's own writes, and no others. So the proxy reports the operator's commits, at the moment
that counts: committed, and not reported to any watcher. A watch event of a kind waits while the
proxy has a write of that kind in flight, and is reported if it was not that one.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from chaos.happening import Follower, Happening
from vocabulary.history import Event, Write
from vocabulary.objects import is_terminating, uid_of
from vocabulary.requests import Create, Delete, Request, verb_of


class CommitTeller:
    """For one run with a plan. Not thread-safe: call it while you hold the run's chaos lock."""

    def __init__(self, observe: Callable[[Happening], None]) -> None:
        self._observe = observe
        self._follower = Follower()
        self._on_their_way: Counter[str] = Counter()
        self._told: set[tuple[str, int]] = set()
        """(kind, resourceVersion) of commits that a proxy has reported."""
        self._told_gone: set[str] = set()
        """Uids of objects whose removal a proxy has reported."""
        self._revisions: dict[tuple[str, str, str], int] = {}
        self._waiting: deque[Write] = deque()

    def begins(self, kind: str) -> None:
        """A proxy carries a write of this kind to the server."""
        self._on_their_way[kind] += 1

    def ends(self, kind: str) -> None:
        """It has the answer, or there is none."""
        self._on_their_way[kind] -= 1
        self._drain()

    def answered(self, actor: str, request: Request, code: int, answer: bytes) -> Happening:
        """Tell what became of an operator's write; what it was, for the places of the reply."""
        write = self._write(actor, request, code, answer)
        if write.event == "DELETED":
            self._told_gone.add(write.uid)
        elif write.event:
            self._told.add((write.kind, write.rv))
        return self._tell(write)

    def seen(self, write: Write) -> None:
        """Process a commit seen by a watch, of any writer."""
        self._waiting.append(write)
        self._drain()

    def _drain(self) -> None:
        while self._waiting and not self._on_their_way[self._waiting[0].kind]:
            write = self._waiting.popleft()
            is_told = (write.kind, write.rv) in self._told
            if not is_told and not (write.event == "DELETED" and write.uid in self._told_gone):
                self._tell(write)

    def _tell(self, write: Write) -> Happening:
        if write.event:
            self._revisions[write.kind, write.namespace, write.name] = write.rv
        happening = self._follower.committed(write)
        self._observe(happening)
        return happening

    def _write(self, actor: str, request: Request, code: int, answer: bytes) -> Write:
        body: dict[str, Any] = json.loads(answer) if answer[:1] == b"{" else {}
        is_object = code < 400 and body.get("kind") != "Status"
        metadata = body.get("metadata") or {} if is_object else {}
        kind, namespace = str(request.kind), request.namespace
        name = str(metadata.get("name") or getattr(request, "name", ""))
        rv = int(metadata.get("resourceVersion") or 0)
        event: Event = "MODIFIED"
        if code >= 400 or (rv and self._revisions.get((kind, namespace, name)) == rv):
            event = ""
        elif isinstance(request, Create):
            event = "ADDED"
        elif isinstance(request, Delete) and not (is_object and is_terminating(body)):
            event = "DELETED"
        uid = uid_of(body) if is_object else str((body.get("details") or {}).get("uid", ""))
        return Write(
            n=0,
            t=0,
            actor=actor,
            verb=verb_of(request),
            kind=kind,
            namespace=namespace,
            name=name,
            subresource=getattr(request, "subresource", ""),
            code=code,
            event=event,
            rv=rv,
            uid=uid,
            object=body if is_object else None,
        )


@contextmanager
def on_its_way(teller: CommitTeller, lock: Any, kind: str) -> Iterator[None]:
    """Around a proxy's exchange with the server."""
    with lock:
        teller.begins(kind)
    try:
        yield
    finally:
        with lock:
            teller.ends(kind)
