"""An operator's metrics for Prometheus, and the observer that counts them.

Metrics that controller-runtime has too bear its names and labels, so that dashboards and
alerts made for operators in Go take this one as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, Protocol, runtime_checkable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from reference_controller.runtime import http_request
from reference_controller.runtime.caches import Change
from reference_controller.runtime.controller import Key, key_of
from reference_controller.runtime.logs import LOG, fields
from reference_controller.runtime.observer import Outcome
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
    """One of a controller's own counters, whose name ends in `_total`, or gauges."""

    @property
    def name(self) -> str: ...
    @property
    def labels(self) -> Mapping[str, str]: ...
    @property
    def value(self) -> float: ...


class Counters(Protocol):
    """The counters of one controller."""

    @property
    def help(self) -> Mapping[str, str]:
        """One line about each counter, by name."""
        ...

    def samples(self) -> Iterable[Sample]:
        """All counters and gauges, as they stand."""
        ...


@runtime_checkable
class Counting(Protocol):
    """A controller that has counters of its own."""

    @property
    def metrics(self) -> Counters: ...


class Metrics:
    """The metrics of one operator; an `Observer` of it. Safe to share between threads."""

    def __init__(self, operator: str, kinds: Collection[Kind], host: str) -> None:
        """`operator` is the program's name, `kinds` are those whose phases are logged, and `host`
        is that of the API server, with its port."""
        self._kinds = kinds
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
        ).labels(operator)
        self.queue_depth = Gauge(
            "workqueue_depth", "Keys that wait for a worker.", ["name"], registry=self.registry
        )
        self.synced = Gauge(
            "caches_synced", "1 once every watched kind was listed.", registry=self.registry
        )

    def add(self, counters: Counters) -> None:
        """Expose a controller's own counters too."""
        self.registry.register(_Collector(counters))

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
        if change.old is None or kind not in self._kinds:
            return  # what the first list shows was entered before our time
        phase = get_path(change.object, "status.phase")
        before = get_path(change.old, "status.phase")
        if phase and phase != before:
            details = fields(key=key_of(change.object), before=before or "", phase=phase)
            LOG.info("phase", extra=details)

    def reconciled(
        self,
        controller: str,
        key: Key,
        outcome: Outcome,
        error: Exception | None,
        began_us: Micros,
        now_us: Micros,
    ) -> None:
        result = "success" if outcome == "done" else "error"
        self._reconciles.labels(controller, result).inc()
        self._reconcile_seconds.labels(controller).observe((now_us - began_us) / SECOND)
        told = {"controller": controller, "key": key}
        if outcome == "crashed":
            self._panics.labels(controller).inc()
            LOG.error("a bug ended a reconcile", extra=fields(**told), exc_info=error)
        elif isinstance(error, ApiError):
            # Conflicts are part of a controller's normal work: it comes back.
            level = "info" if error.is_conflict else "warning"
            details = fields(**told, code=error.code, reason=error.reason, error=error.message)
            getattr(LOG, level)("reconcile will be tried again", extra=details)
        else:
            LOG.debug("reconciled", extra=fields(**told, outcome=outcome))

    def leadership_changed(self, leads: bool) -> None:
        self.leader.set(leads)
        LOG.info("leading" if leads else "not leading any more")


class _Collector(Collector):
    """A controller's counters and gauges as Prometheus wants them: one family per name."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters

    def collect(self) -> Iterator[Metric]:
        families: dict[str, CounterMetricFamily | GaugeMetricFamily] = {}
        for sample in self._counters.samples():
            names = tuple(sample.labels)
            family = families.get(sample.name)
            if family is None:
                is_counter = sample.name.endswith("_total")
                family = (CounterMetricFamily if is_counter else GaugeMetricFamily)(
                    sample.name,
                    self._counters.help.get(sample.name, sample.name),
                    labels=names,
                )
                families[sample.name] = family
            family.add_metric([sample.labels[name] for name in names], sample.value)
        yield from families.values()
