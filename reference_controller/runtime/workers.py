"""One controller's share of an operator: a work queue, its workers, and their reconciles."""

from __future__ import annotations

from reference_controller.runtime.caches import Caches, KindCache
from reference_controller.runtime.controller import Controller, Key
from reference_controller.runtime.work_queue import WorkQueue
from vocabulary.clock import Micros
from vocabulary.kinds import Kind
from vocabulary.objects import Object
from vocabulary.requests import Reconcile


class Workers:
    """At most `limit` reconciles of one controller run side by side, each of another key."""

    __slots__ = ("_limit", "_max_backoff_us", "caches", "controller", "queue")

    def __init__(self, controller: Controller, limit: int, max_backoff_us: Micros) -> None:
        assert limit > 0, f"controller {controller.name} needs a worker"
        self.controller = controller
        self._limit = limit
        self._max_backoff_us = max_backoff_us
        self.forget()
        self.caches: dict[Kind, KindCache] = {}
        """The caches whose changes the controller is fed."""

    def forget(self) -> None:
        """Drop all keys, also those that workers have: their reconciles were cut off."""
        self.queue = WorkQueue(max_backoff_us=self._max_backoff_us)

    def enqueue(self, kind: Kind, obj: Object, old: Object | None, caches: Caches) -> None:
        """Add the keys that an object's change matters to."""
        for key in self.controller.keys_for(kind, obj, old, caches):
            self.queue.add(key)

    def begin(self, now_us: Micros) -> Run | None:
        """The next reconcile; None if no key waits, or no worker is free."""
        if len(self.queue.taken) >= self._limit:
            return None
        key = self.queue.take(now_us)
        return None if key is None else Run(self, key, now_us)

    def due_us(self) -> Micros | None:
        """The time of the next timer; None while no worker is free, or without a timer."""
        if len(self.queue.taken) >= self._limit:
            return None
        return self.queue.next_due_us()


class Run:
    """A reconcile that is under way: one worker is busy with it."""

    __slots__ = ("began_us", "key", "reconcile", "requests", "sought", "workers")

    def __init__(self, workers: Workers, key: Key, now_us: Micros) -> None:
        self.workers = workers
        self.key = key
        self.reconcile: Reconcile = workers.controller.reconcile(key, now_us)
        self.began_us = now_us
        self.requests = 0
        self.sought: Kind | None = None
        """The kind that the request under way reads, if a cache would have answered it."""
