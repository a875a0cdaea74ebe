"""An operator as a real process: threads around the same state machine that simulations drive.

One lock guards the `Operator`. Informer threads feed it, worker threads send what it asks
for, outside of the lock, and bring the replies; one worker more than there are reconciles
keeps the Lease renewed while all others wait for slow answers. The main thread waits for
signals. Whatever an API server does (refuse, hang, vanish for minutes) arrives as an
ApiError in a reconcile or as a retry of an informer; nothing of it ends the process.

Exit codes: 0 after an orderly end (SIGTERM, SIGINT), 1 after a bug, 2 for unusable options.
"""

from __future__ import annotations

import signal
import socket
import threading
import uuid
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from types import FrameType
from typing import Final
from urllib.parse import urlsplit

from reference_controller.runtime import logs
from reference_controller.runtime.connection import Connection, connect, own_namespace
from reference_controller.runtime.discovery import Discovery
from reference_controller.runtime.endpoints import Endpoints, Page, Pages, probe
from reference_controller.runtime.informer import Informer
from reference_controller.runtime.leader_election import LeaderElection, LeaseSettings
from reference_controller.runtime.logs import LOG, fields
from reference_controller.runtime.metrics import CONTENT_TYPE, Counting, Metrics
from reference_controller.runtime.operator import EventType, Operator, Pending, Reply
from reference_controller.runtime.options import OperatorOptions, OptionsError
from reference_controller.runtime.program import Program
from reference_controller.runtime.wall_clock import now_us
from reference_controller.runtime.webhook_server import WebhookServer
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind
from vocabulary.objects import Object
from vocabulary.requests import Request

STOP_SECONDS: Final = 8.0
"""How long an orderly end may take: less than the 10 s that the manifests' pods are given. What
is still in flight then is left unanswered, as if the process had been killed."""


class OperatorProcess:
    """Everything that runs in one operator process. `run` is the whole life of a real one;
    tests that want several in one process use `start` and `stop`."""

    def __init__(self, program: Program, options: OperatorOptions) -> None:
        """Connects nowhere yet, but takes its ports; raises OptionsError."""
        self.exit_code = 0
        self._options = options
        watches = {kind for each in program.controllers for kind in each.watches}
        reconciles = sum(
            program.concurrency.get(each.name, options.workers) for each in program.controllers
        )
        self._connection: Connection = connect(
            options.kubeconfig,
            options.context,
            user_agent=options.user_agent,
            timeout_us=options.request_timeout_us,
            pool_size=len(watches) + reconciles + 1,
        )
        host = urlsplit(self._connection.server).netloc
        self._metrics = Metrics(program.name, program.kinds, host)
        self._discovery = Discovery(self._connection)
        self._operator = Operator(
            program.controllers,
            workers=options.workers,
            concurrency=program.concurrency,
            resync_us=options.resync_us,
            election=_election(program, options),
            observer=self._metrics,
        )
        for each in program.controllers:
            depth = self._metrics.queue_depth.labels(each.name)
            depth.set_function(partial(self._operator.queue_depth, each.name))
            if isinstance(each, Counting):
                self._metrics.add(each.metrics)
        self._metrics.synced.set_function(lambda: self._operator.is_synced)
        self._metrics.leader.set(self._operator.leads)
        self._changed = threading.Condition()
        self._informers = [self._informer(kind) for kind in self._operator.watches]
        self._workers = [self._thread(self._work, f"worker-{n}") for n in range(reconciles + 1)]
        self._ended = threading.Event()
        self.endpoints: list[Endpoints] = []
        self.webhooks: WebhookServer | None = None
        self._open_ports(program)

    def run(self) -> int:
        """Run until SIGTERM or SIGINT, or until a bug; returns the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        self.start()
        self._ended.wait()
        self.stop()
        return self.exit_code

    def start(self) -> None:
        """Begin to serve, to watch and to reconcile."""
        LOG.info("started", extra=fields(server=self._connection.server))
        for endpoints in self.endpoints:
            endpoints.start()
        if self.webhooks is not None:
            self.webhooks.start()
        for informer in self._informers:
            self._start(informer)
        for worker in self._workers:
            worker.start()

    def stop(self) -> None:
        """Send nothing new, wait for what is in flight, give the Lease back, close all ports."""
        with self._changed:
            self._operator.stop(now_us())
            self._changed.notify_all()
        for informer in self._informers:
            informer.stop()
        deadline_us = now_us() + round(STOP_SECONDS * SECOND)
        for worker in self._workers:
            worker.join(max(0, deadline_us - now_us()) / SECOND)
        for endpoints in self.endpoints:
            endpoints.stop()
        if self.webhooks is not None:
            self.webhooks.stop()
        self._connection.close()
        is_complete = self._operator.is_stopped
        LOG.info("stopped", extra=fields(complete=is_complete))

    # Informers' threads

    def _replace(self, kind: Kind, objects: tuple[Object, ...], revision: str) -> None:
        with self._changed:
            self._operator.replace(kind, objects, now_us(), revision)
            self._changed.notify_all()
        LOG.info("listed", extra=fields(kind=kind, objects=len(objects), revision=revision))

    def _deliver(self, kind: Kind, event: EventType, obj: Object) -> None:
        with self._changed:
            self._operator.deliver(kind, event, obj, now_us())
            self._changed.notify_all()

    def _informer(self, kind: Kind) -> Informer:
        return Informer(
            self._connection,
            kind,
            self._options.namespace,
            self._replace,
            self._deliver,
            self._discovery.served,
        )

    def _start(self, informer: Informer) -> None:
        number = self._informers.index(informer)
        self._thread(informer.run, f"informer-{number}").start()

    def _watch_more(self) -> None:
        """Start the informers that reconciles have come to need; the lock is held."""
        while self._operator.unwatched:
            kind = self._operator.unwatched.popleft()
            LOG.info("watching one more kind", extra=fields(kind=kind))
            informer = self._informer(kind)
            self._informers.append(informer)
            self._start(informer)

    # Workers' threads

    def _work(self) -> None:
        while (pending := self._next()) is not None:
            reply = self._send(pending.request)
            with self._changed:
                self._operator.answer(pending.ticket, reply, now_us())
                self._watch_more()
                self._changed.notify_all()

    def _next(self) -> Pending | None:
        """The next request to send, as soon as there is one; None if there will be no more."""
        with self._changed:
            while True:
                pending = self._operator.poll(now_us())
                if pending is not None:
                    self._changed.notify()  # another has to mind the timers while we are away
                    return pending
                if self._operator.is_stopped or self.exit_code:
                    self._changed.notify_all()
                    return None
                wake_at_us = self._operator.wake_at_us()
                if wake_at_us is None:
                    self._changed.wait()
                else:
                    self._changed.wait(max(0, wake_at_us - now_us()) / SECOND)

    def _send(self, request: Request) -> Reply:
        began_us = now_us()
        reply: Reply
        try:
            reply = self._connection.handle(self._discovery.resolve(request))
        except ApiError as error:
            reply = error
        refusal = reply if isinstance(reply, ApiError) else None
        self._metrics.answered(request, refusal, now_us() - began_us)
        return reply

    # Life and health

    def _thread(self, target: Callable[[], None], name: str) -> threading.Thread:
        return threading.Thread(target=self._guarded, args=(target,), name=name, daemon=True)

    def _guarded(self, target: Callable[[], None]) -> None:
        """A thread that died unseen would leave an operator that only looks alive."""
        try:
            target()
        except Exception:  # noqa: BLE001 - whatever it was, the process has to end
            LOG.exception("a bug ends this process", extra=fields(thread=target.__qualname__))
            self.exit_code = 1
            self._ended.set()

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        LOG.info("stopping", extra=fields(signal=signal.Signals(number).name))
        signal.signal(number, signal.SIG_DFL)  # a second one ends it the hard way
        self._ended.set()

    def _open_ports(self, program: Program) -> None:
        options = self._options
        health: Pages = {"/healthz": self._healthz, "/readyz": self._readyz}
        metrics: Pages = {"/metrics": self._metrics_page}
        served = [(options.health_port, health), (options.metrics_port, metrics)]
        if options.health_port and options.health_port == options.metrics_port:
            served = [(options.health_port, {**health, **metrics})]
        for port, pages in served:
            if port is not None:
                endpoints = Endpoints(options.listen_host, port, pages)
                LOG.info("listening", extra=fields(port=endpoints.port, pages=" ".join(pages)))
                self.endpoints.append(endpoints)
        if options.webhook_port is None:
            return
        if not program.webhooks:
            raise OptionsError(f"webhook_port: {program.name} has no webhooks; leave it out")
        assert options.webhook_certificate is not None
        assert options.webhook_key is not None
        self.webhooks = WebhookServer(
            options.listen_host,
            options.webhook_port,
            options.webhook_certificate,
            options.webhook_key,
            program.webhooks,
            program.convert,
        )
        details = fields(port=self.webhooks.port, pages=" ".join(self.webhooks.paths))
        LOG.info("listening", extra=details)

    def _healthz(self) -> Page:
        return probe("a thread has died" if self.exit_code else "")

    def _readyz(self) -> Page:
        caches = self._operator.caches
        missing = [str(kind) for kind in self._operator.watches if not caches[kind].is_synced]
        return probe(f"not listed yet: {', '.join(missing)}" if missing else "")

    def _metrics_page(self) -> Page:
        with self._changed:  # a controller's counters may change only under the lock
            text = self._metrics.expose()
        return Page(HTTPStatus.OK, text, CONTENT_TYPE)


def run(program: Program, options: OperatorOptions) -> int:
    """Run one operator until it is stopped; returns its exit code."""
    logs.set_up(options.log_level)
    try:
        process = OperatorProcess(program, options)
    except OptionsError as error:
        LOG.error(str(error))
        return 2
    return process.run()


def _election(program: Program, options: OperatorOptions) -> LeaderElection | None:
    if not options.leader_elect:
        return None
    try:
        return LeaderElection(
            LeaseSettings(
                namespace=options.lease_namespace or own_namespace(),
                name=options.lease_name or f"{program.name}-leader",
                identity=options.identity or f"{socket.gethostname()}_{uuid.uuid4()}",
                lease_duration_us=options.lease_duration_us,
                renew_deadline_us=options.renew_deadline_us,
                retry_period_us=options.retry_period_us,
            )
        )
    except ValueError as error:
        raise OptionsError(f"leader election: {error}") from error
