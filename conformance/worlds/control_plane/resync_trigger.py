"""Pokes the objects under test of a run, for implementations that poll where others watch.

A controller that looks again once a minute would make every scenario last for minutes, and its
slowness would hide its order. An edit of an annotation makes it look at once. So while a run
lasts they are edited at a stated interval, which the history's header names: what
is noticed later than that is late, and what is done in the wrong order stays wrong.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable
from typing import Final

from conformance.suite import KindUse
from vocabulary.clock import SECOND, Micros
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind
from vocabulary.objects import Object, annotations_of, name_of, namespace_of, uid_of
from vocabulary.requests import Patch, Request

POKE: Final = "assay.dev/poke"


class ResyncTrigger:
    """Edits the objects of some kinds, every so often, until it is stopped."""

    def __init__(
        self,
        every_us: Micros | None,
        uses: Iterable[KindUse],
        objects: Callable[[Kind], Iterable[Object]],
        call: Callable[[Request], object],
    ) -> None:
        """`every_us` is None for implementations that need no poking: nothing happens then.
        `objects` lists the run's objects of a kind."""
        self._every_us = every_us
        self._kinds = frozenset(use.kind for use in uses)
        self._objects = objects
        self._call = call
        self._stopping = threading.Event()
        self._seen: dict[str, str] = {}

    def start(self) -> None:
        if self._every_us is not None:
            every_seconds = self._every_us / SECOND
            threading.Thread(
                target=self._poke, args=(every_seconds,), name="resync-trigger", daemon=True
            ).start()

    def stop(self) -> None:
        self._stopping.set()

    def made(self, kind: Kind, obj: Object) -> bool:
        """True if a new version of an object is nothing but a poke. Ask once of each version."""
        if self._every_us is None or str(kind) not in map(str, self._kinds):
            return False
        value = annotations_of(obj).get(POKE, "")
        before, self._seen[uid_of(obj)] = self._seen.get(uid_of(obj), ""), value
        return value != before

    def _poke(self, every_seconds: float) -> None:
        number, due = 0, time.monotonic()
        # How long the edits take comes off the interval, which histories promise.
        while not self._stopping.wait(max(0.0, due + every_seconds - time.monotonic())):
            number, due = number + 1, time.monotonic()
            body = {"metadata": {"annotations": {POKE: str(number)}}}
            for kind in self._kinds:
                for obj in self._objects(kind):
                    # It may be gone by now, or the API server may be away: the next poke will do.
                    with contextlib.suppress(ApiError):
                        self._call(Patch(kind, namespace_of(obj), name_of(obj), body))
