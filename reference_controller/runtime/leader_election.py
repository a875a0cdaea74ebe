"""One of several operators leads: client-go's Lease protocol, without I/O, threads or clock.

A candidate reads the Lease. If it has no holder, or if its holder has not changed it for
`lease_duration` *as this candidate saw it* (clocks of machines are never compared), the
candidate writes its own identity; the resourceVersion lets one of two rivals win. The leader
renews every `retry_period`, and gives up leading by itself `renew_deadline` after it *sent*
the last renewal that succeeded. Since that is shorter than `lease_duration`, the old leader
has stopped before a new one can start, as long as their clocks run at about the same speed
and no request that was sent before stays on its way for longer than the difference.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from vocabulary.clock import SECOND, Micros, to_rfc3339_micro
from vocabulary.errors import ApiError
from vocabulary.kinds import LEASE
from vocabulary.objects import Object, get_path
from vocabulary.requests import Create, Get, Request, Update

JITTER = 1.2
"""A candidate waits up to this much of `retry_period` longer, so that rivals spread out."""


@dataclass(frozen=True, slots=True)
class LeaseSettings:
    """The Lease, the identity, and the three spans (client-go's defaults).

    The identity must differ from that of every other candidate: a Lease that bears it is
    taken for one's own.
    """

    namespace: str
    name: str
    identity: str
    lease_duration_us: Micros = 15 * SECOND
    renew_deadline_us: Micros = 10 * SECOND
    retry_period_us: Micros = 2 * SECOND

    def __post_init__(self) -> None:
        if not self.identity:
            raise ValueError("a lease needs an identity; give each replica a name of its own")
        if not self.lease_duration_us > self.renew_deadline_us > JITTER * self.retry_period_us > 0:
            raise ValueError(
                "lease_duration must be longer than renew_deadline, and that longer than "
                f"{JITTER} retry periods; for example 15 s, 10 s, 2 s"
            )
        if self.lease_duration_us % SECOND:
            raise ValueError("lease_duration must be whole seconds: the Lease stores it so")


class LeaderElection:
    """One candidate. Driven like the operator: `poll` for a request, `answer` its reply."""

    def __init__(self, settings: LeaseSettings) -> None:
        self.settings = settings
        self.is_releasing = False
        """True once `release` was called."""
        self.is_released = False
        """True once that is complete (or there was nothing to release)."""
        self._rng = random.Random(settings.identity)
        self._lease: Object | None = None  # as last seen
        self._lease_changed_us: Micros = 0  # when it was last seen to change, by our clock
        self._must_read = True  # whether `_lease` may be out of date
        self._leads_until_us: Micros = 0
        self._next_try_us: Micros = 0
        self._sent_us: Micros = 0
        self._in_flight: Request | None = None
        self._is_absent = False

    def leads(self, now_us: Micros) -> bool:
        """True if this candidate may act as the leader at this instant."""
        return now_us < self._leads_until_us

    def poll(self, now_us: Micros) -> Request | None:
        """The request to send now, if any. It must be answered before there is another."""
        if not self.leads(now_us):
            self._leads_until_us = 0
        if self._in_flight is not None or self.is_released:
            return None
        if self.is_releasing:
            return self._send(self._release_request(now_us), now_us)
        if now_us < self._next_try_us:
            return None
        if self._must_read:
            return self._send(Get(LEASE, *self._address, live=True), now_us)
        if self._is_absent:
            lease = {
                "apiVersion": LEASE.api_version,
                "kind": LEASE.kind,
                "metadata": {"namespace": self.settings.namespace, "name": self.settings.name},
                "spec": self._held_spec(now_us, None),
            }
            return self._send(Create(LEASE, lease, *self._address), now_us)
        assert self._lease is not None
        renewed = {**self._lease, "spec": self._held_spec(now_us, self._lease)}
        return self._send(Update(LEASE, renewed), now_us)

    def answer(self, reply: Object | ApiError, now_us: Micros) -> None:
        """Take in what the server said to the last polled request."""
        request, self._in_flight = self._in_flight, None
        assert request is not None, "answer() without a polled request"
        if self.is_releasing:
            # A renewal that was under way still has to be taken back. Anything else ends it
            # here, whether or not it worked: a lease that is not released runs out by itself.
            if isinstance(reply, ApiError) or not self._is_held_by_us(reply):
                self.is_released = True
            else:
                self._observe(reply, now_us)
        elif isinstance(reply, ApiError):
            self._refused(request, reply, now_us)
        elif isinstance(request, Get):
            self._has_read(reply, now_us)
        else:
            self._observe(reply, now_us)
            self._leads_until_us = self._sent_us + self.settings.renew_deadline_us
            self._next_try_us = self._sent_us + self.settings.retry_period_us

    def release(self, now_us: Micros) -> None:
        """Stop leading at once and give the Lease back, so that a rival need not wait for it."""
        self.is_releasing = True
        self.is_released = not self.leads(now_us) and self._in_flight is None
        self._leads_until_us = 0

    def wake_at_us(self) -> Micros | None:
        """When to poll next even if nothing is answered; None while only an answer counts."""
        leads_until_us = self._leads_until_us or None
        if self._in_flight is not None or self.is_releasing:
            return leads_until_us
        if leads_until_us is None:
            return self._next_try_us
        return min(self._next_try_us, leads_until_us)

    @property
    def _address(self) -> tuple[str, str]:
        return self.settings.namespace, self.settings.name

    def _is_held_by_us(self, lease: Object) -> bool:
        return bool(get_path(lease, "spec.holderIdentity") == self.settings.identity)

    def _send(self, request: Request, now_us: Micros) -> Request:
        self._in_flight = request
        self._sent_us = now_us
        return request

    def _has_read(self, lease: Object, now_us: Micros) -> None:
        self._observe(lease, now_us)
        is_held = bool(get_path(lease, "spec.holderIdentity"))
        duration_us = get_path(lease, "spec.leaseDurationSeconds", 0) * SECOND
        runs_out_us = self._lease_changed_us + duration_us
        if is_held and not self._is_held_by_us(lease) and now_us < runs_out_us:
            self._leads_until_us = 0
            self._must_read = True
            wait_us = self.settings.retry_period_us * (1 + JITTER * self._rng.random())
            self._next_try_us = now_us + round(wait_us)

    def _refused(self, request: Request, error: ApiError, now_us: Micros) -> None:
        self._next_try_us = now_us + self.settings.retry_period_us
        self._must_read = True
        if isinstance(request, Get) and error.is_not_found:
            self._must_read, self._is_absent = False, True
            self._next_try_us = now_us
        elif isinstance(request, Update) and error.is_conflict and self.leads(now_us):
            self._next_try_us = now_us  # somebody wrote to it: find out at once who

    def _observe(self, lease: Object, now_us: Micros) -> None:
        if self._lease is None or lease.get("spec") != self._lease.get("spec"):
            self._lease_changed_us = now_us
        self._lease = lease
        self._must_read = self._is_absent = False

    def _held_spec(self, now_us: Micros, lease: Object | None) -> dict[str, object]:
        """The Lease's spec that says: I hold it, and was alive just now."""
        now = to_rfc3339_micro(now_us)
        old: Object = (lease or {}).get("spec") or {}
        keeps = lease is not None and self._is_held_by_us(lease)
        transitions = int(old.get("leaseTransitions") or 0)
        return {
            "holderIdentity": self.settings.identity,
            "leaseDurationSeconds": self.settings.lease_duration_us // SECOND,
            "acquireTime": old.get("acquireTime", now) if keeps else now,
            "renewTime": now,
            "leaseTransitions": transitions if keeps or lease is None else transitions + 1,
        }

    def _release_request(self, now_us: Micros) -> Request:
        assert self._lease is not None, "only a leader releases, and it has seen its lease"
        now = to_rfc3339_micro(now_us)
        spec = {
            **self._lease["spec"],
            "holderIdentity": "",
            "leaseDurationSeconds": 1,
            "acquireTime": now,
            "renewTime": now,
        }
        return Update(LEASE, {**self._lease, "spec": spec})
