"""The time per scheduling cycle of the reference Kueue, by how many Workloads wait.

    python ci/bench/kueue_cycles.py            print the figures; takes half a minute

They wait in 100 queues of 20 cohorts, whose quota is held by others. A Workload of each cohort
gives its quota back, so that all that wait are looked at again, and one of each is admitted.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from functools import partial
from typing import Any

from figures import Figure, processor_seconds

from conformance.running.collecting import collector_at_rest
from reference_controller.kueue.books import Books
from reference_controller.kueue.config import KueueConfig
from reference_controller.kueue.metrics import Metrics
from reference_controller.kueue.names import (
    CLUSTER_QUEUE,
    LOCAL_QUEUE,
    RESOURCE_FLAVOR,
    WORKLOAD,
)
from reference_controller.kueue.office import Office
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.scheduler import CYCLE, Scheduler
from reference_controller.kueue.workload import Workload
from vocabulary.clock import SECOND, Micros, to_rfc3339
from vocabulary.kinds import NAMESPACE, Kind
from vocabulary.objects import Object, meta, with_path
from vocabulary.requests import List, ObjectList, Request, Update

QUEUES, COHORTS = 100, 20
QUOTA = 5
"""The nominal quota of each queue: what is held of it in the beginning."""
SIZES = (1_000, 10_000)
MOST_GROWTH = 2.0


def growth(sizes: Sequence[int] = SIZES) -> Iterator[Figure]:
    """The time per cycle at each number of Workloads that wait."""
    cycle_ms(sizes[0])  # the first run of a process pays for what is loaded
    first_ms = 0.0
    for pending in sizes:
        taken_ms = min(cycle_ms(pending) for _ in range(3))
        ratio = taken_ms / (first_ms or taken_ms)
        yield Figure(
            f"time per scheduling cycle of Kueue, {pending:,} Workloads wait in {QUEUES} queues",
            f"{taken_ms:.2f} ms",
            f"≤ {MOST_GROWTH} × that at {sizes[0]:,}; is {ratio:.2f} ×" if first_ms else "",
            ratio <= MOST_GROWTH if first_ms else None,
        )
        first_ms = first_ms or taken_ms


def cycle_ms(pending: int) -> float:
    """Milliseconds per cycle, once all were looked at, and quota comes back."""
    cluster = _Cluster(pending)
    cluster.schedule()
    cluster.release()
    with collector_at_rest():
        cycles, seconds = processor_seconds(cluster.schedule)
    assert cycles >= pending // QUEUES
    return seconds / cycles * 1e3


class _CountedBooks(Books):
    """Books that count cycles: each begins by waking those whose back-off is over."""

    cycles = 0

    def wake(self, now_us: Micros) -> None:
        super().wake(now_us)
        self.cycles += 1


class _Cluster:
    """The objects that the scheduler reads and writes."""

    def __init__(self, pending: int) -> None:
        rules, config = Rules(), KueueConfig()
        rank = partial(rules.rank, requeuing=config.requeuing)
        self._books = _CountedBooks(rules.waits, rank, rules.held)
        office = Office((), config, rules, self._books, Metrics(self._books))
        self._scheduler = Scheduler(office)
        self._scheduler.use_clock(lambda: SECOND)
        self._stored = {
            RESOURCE_FLAVOR: [_made(RESOURCE_FLAVOR, "one", {})],
            NAMESPACE: [_made(NAMESPACE, "default", {})],
            CLUSTER_QUEUE: [_cluster_queue(n) for n in range(QUEUES)],
            LOCAL_QUEUE: [
                _made(LOCAL_QUEUE, f"q{n}", {"clusterQueue": f"q{n}"}) for n in range(QUEUES)
            ],
        }
        for n in range(QUEUES * QUOTA):
            self._books.take(_workload(f"holds{n:05}", n % QUEUES, holds=True))
        for n in range(pending):
            self._books.take(_workload(f"waits{n:05}", n % QUEUES))

    def schedule(self) -> int:
        """Run until there is nothing more to look at; returns how many cycles that took."""
        steps: Generator[Request, Any, Any] = self._scheduler.reconcile(CYCLE[0], 0)
        before, answer = self._books.cycles, None
        while True:
            try:
                answer = self._answer(steps.send(answer))
            except StopIteration:
                return self._books.cycles - before

    def release(self) -> None:
        """Let one Workload of each cohort give its quota back."""
        for cohort in range(COHORTS):
            self._books.drop(_workload(f"holds{cohort:05}", cohort).key)

    def _answer(self, request: Request) -> Any:
        if isinstance(request, List):
            return ObjectList(self._stored.get(request.kind, []), "1")
        assert isinstance(request, Update)
        version = str(int(meta(request.object)["resourceVersion"]) + 1)
        return with_path(request.object, "metadata.resourceVersion", version)


def _cluster_queue(n: int) -> Object:
    resources = [{"name": "cpu", "nominalQuota": QUOTA}]
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "one", "resources": resources}]}
    spec = {"cohort": f"c{n % COHORTS}", "namespaceSelector": {}, "resourceGroups": [group]}
    return _made(CLUSTER_QUEUE, f"q{n}", spec)


def _workload(name: str, queue: int, *, holds: bool = False) -> Workload:
    container = {"name": "main", "resources": {"requests": {"cpu": 1}}}
    template = {"spec": {"containers": [container]}}
    spec = {
        "queueName": f"q{queue}",
        "podSets": [{"name": "main", "count": 1, "template": template}],
    }
    made = _made(WORKLOAD, name, spec)
    if not holds:
        return Workload(made)
    assigned = {"name": "main", "count": 1, "flavors": {"cpu": "one"}, "resourceUsage": {"cpu": 1}}
    reserved = {
        "type": "QuotaReserved",
        "status": "True",
        "reason": "QuotaReserved",
        "lastTransitionTime": to_rfc3339(SECOND),
    }
    status = {
        "admission": {"clusterQueue": f"q{queue}", "podSetAssignments": [assigned]},
        "conditions": [reserved],
    }
    return Workload({**made, "status": status})


def _made(kind: Kind, name: str, spec: Object) -> Object:
    namespace = {"namespace": "default"} if kind.namespaced else {}
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {
            **namespace,
            "name": name,
            "uid": f"{kind.kind}-{name}",
            "resourceVersion": "1",
            "creationTimestamp": to_rfc3339(SECOND),
        },
        "spec": spec,
    }


if __name__ == "__main__":
    for figure in growth():
        print(f"{figure.name}: {figure.measured} {figure.target}")
