"""A controller's keys in order: client-go's rate-limited work queue, without threads or clock.

Its laws, each of which some controller bug has broken somewhere:

- A key that is added many times before a worker takes it is handed out once.
- A key is never handed out while a worker still has it. If it is added in the meantime, it is
  handed out again after that worker is done: the worker may have read the old state.
- A key that failed comes back after an exponential delay; success forgets the failures. The delay
  grows with the time that the key has failed, not with the events that woke it meanwhile.
- A key has at most one timer.

Time is given by the caller, in microseconds, so the queue runs under virtual time too.
"""

from __future__ import annotations

import heapq
from collections import deque
from typing import Final

from reference_controller.runtime.controller import Key
from vocabulary.clock import MILLISECOND, SECOND, Micros

BASE_BACKOFF_US: Final = 5 * MILLISECOND
MAX_BACKOFF_US: Final = 30 * SECOND
"""client-go waits up to 1,000 s. That is longer than most grace periods a batch controller
has to keep, so the delay is cut at half of the shortest default one (a minute)."""


class WorkQueue:
    """Keys in order of arrival, and timers that add keys later."""

    def __init__(
        self, base_backoff_us: Micros = BASE_BACKOFF_US, max_backoff_us: Micros = MAX_BACKOFF_US
    ) -> None:
        assert 0 < base_backoff_us <= max_backoff_us
        self._base_backoff_us = base_backoff_us
        self._max_backoff_us = max_backoff_us
        self.taken: set[Key] = set()
        """The keys that workers have."""
        self._waiting: deque[Key] = deque()
        self._dirty: set[Key] = set()  # to be handed out; a superset of what waits
        self._due_us: dict[Key, Micros] = {}
        self._timers: list[tuple[Micros, int, Key]] = []  # valid where `_due_us` agrees
        self._sequence = 0
        self._failures: dict[Key, int] = {}

    def __len__(self) -> int:
        """The number of keys that wait to be handed out now; timers and taken keys do not count."""
        return len(self._waiting)

    def add(self, key: Key) -> None:
        """Hand the key out as soon as no worker has it."""
        if key in self._dirty:
            return
        self._dirty.add(key)
        if key not in self.taken:
            self._waiting.append(key)

    def add_at(self, key: Key, at_us: Micros) -> None:
        """Add the key at a point in time, or earlier if an earlier timer is set for it."""
        due_us = self._due_us.get(key)
        if due_us is None or at_us < due_us:
            self._due_us[key] = at_us
            self._sequence += 1
            heapq.heappush(self._timers, (at_us, self._sequence, key))

    def take(self, now_us: Micros) -> Key | None:
        """The next key for a worker, which must call `done` with it; None if none waits."""
        timers = self._timers
        while timers and timers[0][0] <= now_us:
            at_us, _, key = heapq.heappop(timers)
            if self._due_us.get(key) == at_us:
                del self._due_us[key]
                self.add(key)
        if not self._waiting:
            return None
        key = self._waiting.popleft()
        self.taken.add(key)
        self._dirty.discard(key)
        return key

    def succeeded(self, key: Key, wake_at_us: Micros | None) -> None:
        """The worker is done; the key's failures are forgotten, its timer is set or cleared."""
        self._failures.pop(key, None)
        self._due_us.pop(key, None)
        if wake_at_us is not None:
            self.add_at(key, wake_at_us)
        self._done(key)

    def failed(self, key: Key, now_us: Micros) -> Micros:
        """The worker is done and wants the key again after its backoff; returns that span."""
        failures = self._failures.get(key, 0)
        due_us = self._due_us.get(key)
        if failures and due_us is not None:
            # An event woke it ahead of its next attempt, which stays due. client-go counts that.
            self._done(key)
            return max(due_us - now_us, 0)
        self._failures[key] = failures + 1
        # The shift is bounded because a big enough one would build an enormous number first.
        backoff_us = min(self._base_backoff_us << min(failures, 40), self._max_backoff_us)
        self.add_at(key, now_us + backoff_us)
        self._done(key)
        return backoff_us

    def next_due_us(self) -> Micros | None:
        """When the next timer adds its key; None if no timer is set."""
        timers = self._timers
        while timers and self._due_us.get(timers[0][2]) != timers[0][0]:
            heapq.heappop(timers)
        return timers[0][0] if timers else None

    @property
    def only_retries(self) -> bool:
        """True if no worker has a key, none waits, and each timer is the back-off of a failed
        key."""
        return not (self.taken or self._waiting) and self._due_us.keys() <= self._failures.keys()

    def _done(self, key: Key) -> None:
        self.taken.remove(key)
        if key in self._dirty:
            self._waiting.append(key)
