"""What an operator tells Prometheus, and the observer that counts it.

Whatever controller-runtime counts too has its name and labels here, so that dashboards and
alerts made for operators in Go take this one as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Protocol

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from reference_controller.runtime import http_request
from reference_controller.runtime.caches import Change
from reference_controller.runtime.controller import Key, key_of
from reference_controller.runtime.logs import LOG, fields
from reference_controller.runtime.operator import Outcome
from vocabulary.clock import SECOND, Micros
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind
from vocabulary.objects import get_path
from vocabulary.requests import Create, Request

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

NO_ANSWER: Final = "<error>"
"""The code of a request that was never answered, as client-go has it."""

_BUCKETS: Final = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)

# They would be a gauge beside each counter, which no client in Go has.
disable_created_metrics()  # type: ignore[no-untyped-call]


class Sample(Protocol):
    """One of a controller's own counters: its name ends in `_total`."""

    @property
    def name(self) -> str: ...
    @property
    def labels(self) -> Mapping[str, str]: ...
    @property
    def value(self) -> int: ...


class Metrics:
    """The metrics of one operator; an `Observer` of it. Safe to share between threads."""

    def __init__(self, primary: Kind, controller: str, host: str) -> None:
        """`primary` is the kind whose phases are logged, `controller` the name of what reconciles
        it, and `host` that of the API server, with its port."""
        self._primary = primary
        self._controller = controller
        self._host = host
        self.registry = CollectorRegistry()
        self._reconciles = Counter(
            "controller_runtime_reconcile",
            "Reconciles by how they ended: success or error.",
            ["controller", "result"],
            registry=self.registry,
        )
        self._panics = Counter(
            "controller_runtime_reconcile_panics",
            "Reconciles that a bug ended; errors, too.",
            ["controller"],
            registry=self.registry,
        )
        self._reconcile_seconds = Histogram(
            "controller_runtime_reconcile_time_seconds",
            "Time from the first to the last request of a reconcile.",
            ["controller"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._requests = Counter(
            "rest_client_requests",
            f"Requests sent, watches not included, by answer; {NO_ANSWER} means that none came.",
            ["code", "method", "host"],
            registry=self.registry,
        )
        self._request_seconds = Histogram(
            "rest_client_request_duration_seconds",
            "Time until a request was answered.",
            ["verb", "host"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.leader = Gauge(
            "leader_election_master_status",
            "1 while this replica may reconcile.",
            ["name"],
            registry=self.registry,
        ).labels(controller)
        self.queue_depth = Gauge(
            "workqueue_depth", "Keys that wait for a worker.", ["name"], registry=self.registry
        ).labels(controller)
        self.synced = Gauge(
            "caches_synced", "1 once every watched kind was listed.", registry=self.registry
        )

    def add_samples(
        self, samples: Callable[[], Iterable[Sample]], texts: Mapping[str, str]
    ) -> None:
        """Expose a controller's own counters too; `texts` says what each of them counts."""
        self.registry.register(_Samples(samples, texts))

    def expose(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)

    def answered(self, request: Request, error: ApiError | None, span_us: Micros) -> None:
        """A request was answered, refused, or given up (an error with code 0)."""
        method = http_request.encode(request).method
        if error is None:
            code = "201" if isinstance(request, Create) else "200"
        else:
            code = str(error.code) if error.code else NO_ANSWER
        self._requests.labels(code, method, self._host).inc()
        self._request_seconds.labels(method, self._host).observe(span_us / SECOND)

    def changed(self, kind: Kind, change: Change) -> None:
        if kind != self._primary or change.old is None:
            return  # what the first list shows was entered before our time
        phase = get_path(change.object, "status.phase")
        before = get_path(change.old, "status.phase")
        if phase and phase != before:
            details = fields(key=key_of(change.object), before=before or "", phase=phase)
            LOG.info("phase", extra=details)

    def reconciled(
        self, key: Key, outcome: Outcome, error: Exception | None, began_us: Micros, now_us: Micros
    ) -> None:
        result = "success" if outcome == "done" else "error"
        self._reconciles.labels(self._controller, result).inc()
        self._reconcile_seconds.labels(self._controller).observe((now_us - began_us) / SECOND)
        if outcome == "crashed":
            self._panics.labels(self._controller).inc()
            LOG.error("a bug ended a reconcile", extra=fields(key=key), exc_info=error)
        elif isinstance(error, ApiError):
            # Conflicts and lost answers are a controller's daily bread: it comes back.
            level = "info" if error.is_conflict else "warning"
            details = fields(key=key, code=error.code, reason=error.reason, error=error.message)
            getattr(LOG, level)("reconcile will be tried again", extra=details)
        else:
            LOG.debug("reconciled", extra=fields(key=key, outcome=outcome))

    def leadership_changed(self, leads: bool) -> None:
        self.leader.set(leads)
        LOG.info("leading" if leads else "not leading any more")


class _Samples(Collector):
    """A controller's counters as Prometheus wants them: one family per name."""

    def __init__(self, samples: Callable[[], Iterable[Sample]], texts: Mapping[str, str]) -> None:
        self._samples = samples
        self._texts = texts

    def collect(self) -> Iterator[Metric]:
        families: dict[str, CounterMetricFamily] = {}
        for sample in self._samples():
            names = tuple(sample.labels)
            family = families.get(sample.name)
            if family is None:
                family = CounterMetricFamily(
                    sample.name, self._texts.get(sample.name, sample.name), labels=names
                )
                families[sample.name] = family
            family.add_metric([sample.labels[name] for name in names], sample.value)
        yield from families.values()
