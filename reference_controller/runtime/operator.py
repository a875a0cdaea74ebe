"""One operator process as a state machine: shared informer caches, and its controllers' queues.

It does no I/O and knows no clock. A driver feeds it what informers see (`replace`, `deliver`),
sends the requests it asks for (`poll`) and brings the replies (`answer`). The simulation
drives it in virtual time, `process` drives it on a real cluster; the code between is the same.

Every request that leaves through `poll` is a point at which the process can die. Restarting
it means building a new `Operator`: nothing survives but what the API server stores.

Its controllers share the caches (one LIST and WATCH per kind) and the election. Each has a work
queue and workers of its own; the queues take turns, so that no controller holds up another.

Beside the kinds that a controller always watches, it is fed those whose objects a reconcile
has read. A driver that may not list such a kind changes nothing: reads of it stay live.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from reference_controller.runtime.caches import Caches, Change, KindCache, is_cacheable
from reference_controller.runtime.controller import ClockUser, Controller, Key
from reference_controller.runtime.leader_election import LeaderElection
from reference_controller.runtime.observer import Observer, Outcome
from reference_controller.runtime.work_queue import MAX_BACKOFF_US
from reference_controller.runtime.workers import Run, Workers
from vocabulary.clock import MILLISECOND, Micros
from vocabulary.errors import ApiError, not_found
from vocabulary.kinds import Kind
from vocabulary.objects import Object
from vocabulary.requests import Get, List, ObjectList, Request

MIN_REQUEUE_US: Final = MILLISECOND
"""A reconcile that asks to come back at once does so this much later: virtual time must move."""
MAX_REQUESTS_PER_RECONCILE: Final = 1_000_000
"""More than any cluster needs: a reconcile that reads its cache endlessly ends here."""
MAX_CRASHES_KEPT: Final = 16

EventType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED"]
Reply: TypeAlias = Object | ObjectList | ApiError


class Pending(NamedTuple):
    """A request to be sent; its reply comes back under the ticket."""

    ticket: int
    request: Request


class Operator:
    """The state of one operator process. Not thread-safe: a driver with threads locks it."""

    def __init__(
        self,
        controllers: Sequence[Controller],
        *,
        workers: int = 1,
        concurrency: Mapping[str, int] | None = None,
        resync_us: Micros | None = None,
        max_backoff_us: Micros = MAX_BACKOFF_US,
        election: LeaderElection | None = None,
        observer: Observer | None = None,
    ) -> None:
        """Each controller reconciles with so many `workers` side by side, never two on one key;
        `concurrency` has other numbers, by controller name. With `resync_us`, all cached objects
        are reconciled again after each such span. With `election`, nothing is reconciled except
        while this operator leads."""
        names = [controller.name for controller in controllers]
        assert len(set(names)) == len(names), f"controllers need names of their own: {names}"
        self.watches: tuple[Kind, ...] = tuple(
            dict.fromkeys(kind for controller in controllers for kind in controller.watches)
        )
        self.caches = Caches(self.watches)
        self.crashes: deque[Exception] = deque(maxlen=MAX_CRASHES_KEPT)
        """The latest that escaped from reconciles and were no ApiError: bugs of controllers."""
        self.unwatched: deque[Kind] = deque()
        """Kinds that need an informer from now on. A driver takes each out and starts one, after
        any call of `poll` or `answer`."""
        self._readers: dict[Kind, dict[tuple[Workers, Key], None]] = {}
        """Per kind not listed yet: the keys that read it live, and may have missed an event."""
        self._now_us: Micros = 0
        self._workers = tuple(
            Workers(each, (concurrency or {}).get(each.name, workers), max_backoff_us)
            for each in controllers
        )
        self._turns = deque(self._workers)
        """The order in which they begin reconciles; the first comes next."""
        self._fed: dict[KindCache, list[Workers]] = {}
        """Per cache: the controllers that are fed its changes."""
        for one in self._workers:
            for kind in one.controller.watches:
                self._feed(one, self.caches[kind])
            if isinstance(one.controller, ClockUser):
                one.controller.use_clock(lambda: self._now_us)
        self._resync_us = resync_us
        self._next_resync_us: Micros | None = None
        self._election = election
        self._election_ticket = 0
        self._observer = observer
        self._leads = election is None
        self._stopping = False
        self._unsynced = len(self.watches)
        self._runs: dict[int, Run] = {}  # by ticket: in flight, or in the outbox
        self._outbox: deque[Pending] = deque()
        self._last_ticket = 0

    # What informers see

    def replace(
        self, kind: Kind, objects: Iterable[Object], now_us: Micros, revision: str = ""
    ) -> None:
        """The result of a LIST of a watched kind, at start or after a watch was lost.

        Objects that it lacks count as deleted. Nothing is reconciled before each watched kind
        was listed once: an empty cache must not be mistaken for an empty cluster.
        """
        cache = self.caches[kind]
        if not cache.is_synced and kind in self.watches:
            self._unsynced -= 1
            if not self._unsynced and self._resync_us:
                self._next_resync_us = now_us + self._resync_us
        for change in cache.replace(objects, revision):
            self._changed(cache, change)
        for one, key in self._readers.pop(kind, ()):
            if self._leads:
                one.queue.add(key)

    def deliver(self, kind: Kind, event: EventType, obj: Object, now_us: Micros) -> None:
        """One watch event of a kind that was listed before."""
        del now_us  # queues and caches need no time here; the seam gives it to all calls alike
        cache = self.caches[kind]
        assert cache.is_synced, f"{kind}: a watch event before the first list; call replace()"
        self._changed(cache, cache.apply(event, obj))

    # What leaves, and what comes back

    def poll(self, now_us: Micros) -> Pending | None:
        """The next request to send; None if there is nothing to do or all workers wait.

        Call it again until it returns None, after every other call and at `wake_at_us`.
        """
        self._now_us = now_us
        if self._election is not None:
            pending = self._poll_election(self._election, now_us)
            if pending is not None:
                return pending
        if self._outbox:
            return self._outbox.popleft()
        if not self._may_begin:
            return None
        if self._next_resync_us is not None and now_us >= self._next_resync_us:
            assert self._resync_us is not None
            self._next_resync_us = now_us + self._resync_us
            self._enqueue_all()
        passed = 0
        while passed < len(self._turns):
            self._turns.rotate(-1)
            run = self._turns[-1].begin(now_us)
            passed = 0 if run is not None else passed + 1
            if run is not None and (pending := self._advance(run, None, now_us)) is not None:
                return pending
        return None

    def answer(self, ticket: int, reply: Reply, now_us: Micros) -> None:
        """The reply to a polled request; an ApiError is thrown into the reconcile.

        Every ticket must be answered, after a timeout with `errors.no_answer(...)`. A reply to
        a reconcile that has been cut off meanwhile is dropped.
        """
        self._now_us = now_us
        if self._election is not None:
            if ticket == self._election_ticket:
                assert not isinstance(reply, ObjectList)
                self._election_ticket = 0
                self._election.answer(reply, now_us)
            self._follow_election(self._election, now_us)
        run = self._runs.pop(ticket, None)
        if run is None:
            return
        if self._stopping:
            self._cut_off(run, now_us)
            return
        if run.sought is not None and not isinstance(reply, ApiError):
            self._watch(run.sought, run)
        pending = self._advance(run, reply, now_us)
        if pending is not None:
            self._outbox.append(pending)

    def wake_at_us(self) -> Micros | None:
        """When to poll next though nothing arrives; None if only events and replies matter."""
        wake_at_us = self.work_due_us()
        if self._next_resync_us is not None and self._may_begin:
            wake_at_us = _earlier(wake_at_us, self._next_resync_us)
        if self._election is not None:
            wake_at_us = _earlier(wake_at_us, self._election.wake_at_us())
        return wake_at_us

    def work_due_us(self) -> Micros | None:
        """As `wake_at_us` without housekeeping (resync, lease): the timers that do work.

        While all workers of a controller wait for replies its timers do not count: the next
        reply polls anyway, and a driver that slept until a time already past would spin.
        """
        due_us: Micros | None = None
        if self._may_begin:
            for one in self._workers:
                one_us = one.due_us()
                if due_us is None or (one_us is not None and one_us < due_us):
                    due_us = one_us
        return due_us

    @property
    def is_idle(self) -> bool:
        """Nothing is under way and no key waits; timers may be set."""
        return not self._runs and not any(len(one.queue) for one in self._workers)

    @property
    def only_retries(self) -> bool:
        """True if nothing is under way, and each timer is the back-off of a reconcile that
        failed."""
        return not self._runs and all(one.queue.only_retries for one in self._workers)

    @property
    def is_synced(self) -> bool:
        """True once every kind that a controller always watches was listed."""
        return not self._unsynced

    @property
    def leads(self) -> bool:
        """True while it reconciles; always, if there is no election."""
        return self._leads

    def queue_depth(self, controller: str) -> int:
        """The number of keys that wait for a worker of the controller of that name."""
        return sum(len(one.queue) for one in self._workers if one.controller.name == controller)

    # The end

    def stop(self, now_us: Micros) -> None:
        """Begin an orderly end: no reconcile goes on, only the Lease is still given back.

        Requests in flight are to be answered as ever; poll until `is_stopped`.
        """
        self._stopping = True
        for pending in self._outbox:
            self._cut_off(self._runs.pop(pending.ticket), now_us)
        self._outbox.clear()

    @property
    def is_stopped(self) -> bool:
        """True once an orderly end is complete."""
        is_released = self._election is None or self._election.is_released
        return self._stopping and not self._runs and is_released

    # Inside

    @property
    def _may_begin(self) -> bool:
        """True if reconciles may begin, as far as that does not depend on free workers."""
        return self._leads and not self._unsynced and not self._stopping

    def _feed(self, one: Workers, cache: KindCache) -> None:
        """Feed a controller the changes of a cache from now on."""
        one.caches[cache.kind] = cache
        self._fed.setdefault(cache, []).append(one)

    def _watch(self, kind: Kind, reader: Run) -> None:
        """Have an informer for a kind, of which there are objects, from now on."""
        if self.caches.get(kind) is None:
            self.caches.add(kind)
            self.unwatched.append(kind)
        cache = self._cache_for(reader.workers, kind)
        if cache is None:
            self._readers.setdefault(kind, {})[reader.workers, reader.key] = None

    def _changed(self, cache: KindCache, change: Change) -> None:
        if self._observer is not None:
            self._observer.changed(cache.kind, change)
        if self._leads:
            for one in self._fed[cache]:
                one.enqueue(cache.kind, change.object, change.old, self.caches)

    def _enqueue_all(self) -> None:
        for cache, fed in self._fed.items():
            for obj in cache:
                for one in fed:
                    one.enqueue(cache.kind, obj, obj, self.caches)

    def _advance(self, run: Run, reply: Reply | None, now_us: Micros) -> Pending | None:
        """Run the reconcile up to its next request that has to leave; None if it ended."""
        reconcile = run.reconcile
        try:
            while True:
                if isinstance(reply, ApiError):
                    request = reconcile.throw(reply)
                else:
                    request = reconcile.send(reply)
                run.requests += 1
                if run.requests > MAX_REQUESTS_PER_RECONCILE:
                    raise RuntimeError(
                        f"the reconcile of {run.key} made {run.requests} requests and goes on"
                    )
                reply = self._from_caches(run.workers, request)
                if reply is None:
                    is_read = type(request) is Get and not request.live
                    run.sought = request.kind if is_read else None
                    self._last_ticket = ticket = self._last_ticket + 1
                    self._runs[ticket] = run
                    return Pending(ticket, request)
        except StopIteration as returned:
            wake_at_us: Micros | None = returned.value
            if wake_at_us is not None:
                wake_at_us = max(wake_at_us, now_us + MIN_REQUEUE_US)
            run.workers.queue.succeeded(run.key, wake_at_us)
            self._ended(run, "done", None, now_us)
        except ApiError as error:
            run.workers.queue.failed(run.key, now_us)
            self._ended(run, "failed", error, now_us)
        except Exception as error:  # noqa: BLE001 - one object must not take all others down
            self.crashes.append(error)
            run.workers.queue.failed(run.key, now_us)
            self._ended(run, "crashed", error, now_us)
        finally:
            if isinstance(reply, ApiError):
                reply.__traceback__ = None  # its frames may hold it
        return None

    def _from_caches(self, one: Workers, request: Request) -> Object | ObjectList | ApiError | None:
        """The answer to a read that an informer serves; None if the request has to leave."""
        if type(request) is Get:
            if request.live:
                return None
            cache = self._cache_for(one, request.kind)
            if cache is None:
                return None
            return cache.get(request.namespace, request.name) or not_found(
                request.kind, request.name
            )
        if type(request) is List and is_cacheable(request):
            cache = self._cache_for(one, request.kind)
            if cache is None:
                return None
            try:
                return cache.answer(request)
            except ValueError as error:
                return ApiError(400, "BadRequest", str(error))
        return None

    def _cache_for(self, one: Workers, kind: Kind) -> KindCache | None:
        """The cache of a kind that a controller reads, if a list has come in.

        A controller that reads a kind for the first time is fed its changes from then on,
        also if the kind is cached because another controller watches it.
        """
        cache = one.caches.get(kind)
        if cache is None:
            cache = self.caches.get(kind)
            if cache is None:
                return None
            self._feed(one, cache)
        return cache if cache.is_synced else None

    def _ended(self, run: Run, outcome: Outcome, error: Exception | None, now_us: Micros) -> None:
        if self._observer is not None:
            name = run.workers.controller.name
            self._observer.reconciled(name, run.key, outcome, error, run.began_us, now_us)

    def _cut_off(self, run: Run, now_us: Micros) -> None:
        run.reconcile.close()
        self._ended(run, "abandoned", None, now_us)

    def _poll_election(self, election: LeaderElection, now_us: Micros) -> Pending | None:
        if self._stopping and not self._runs and not election.is_releasing:
            election.release(now_us)
        request = election.poll(now_us)
        self._follow_election(election, now_us)
        if request is None:
            return None
        self._last_ticket = self._election_ticket = self._last_ticket + 1
        return Pending(self._election_ticket, request)

    def _follow_election(self, election: LeaderElection, now_us: Micros) -> None:
        """Begin or cease to reconcile, at once, as the election says."""
        leads = election.leads(now_us)
        if leads == self._leads:
            return
        self._leads = leads
        if leads:
            # The leader before us may have left any key half done.
            self._enqueue_all()
        else:
            for run in self._runs.values():
                self._cut_off(run, now_us)
            self._runs.clear()
            self._outbox.clear()
            for one in self._workers:
                one.forget()
        if self._observer is not None:
            self._observer.leadership_changed(leads)


def _earlier(one_us: Micros | None, other_us: Micros | None) -> Micros | None:
    """The earlier of two points in time, either of which may be none."""
    if one_us is None or other_us is None:
        return other_us if one_us is None else one_us
    return min(one_us, other_us)
