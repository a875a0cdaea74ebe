"""A cluster's report: a pure function of its objects, with typed numbers and findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from mlbatch_tools.cluster_checker.cluster import Cluster, effects_on
from mlbatch_tools.cluster_checker.finding import Condition, Finding
from mlbatch_tools.cluster_checker.workloads import findings_of_namespaces
from mlbatch_tools.problems import (
    ToolError,
    amount_in,
    object_at,
    objects_at,
    reading,
    value_at,
)
from mlbatch_tools.resources import GPU
from vocabulary.objects import Object, name_of


@dataclass(frozen=True, slots=True)
class QueueRow:
    """GPUs and workloads of a ClusterQueue."""

    name: str
    quota: Fraction
    lendable: Fraction
    """Its lending limit; its quota where it has none."""
    usage: Fraction
    borrowed: Fraction
    admitted: int
    pending: int


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """The numbers are GPUs."""

    queues: tuple[QueueRow, ...]
    """By name, without the slack queue."""
    slack: QueueRow | None
    """The operator adjusts its lending limit to unschedulable GPUs."""
    total: Fraction
    unschedulable: Fraction
    findings: tuple[Finding, ...] = ()

    @property
    def schedulable(self) -> Fraction:
        return self.total - self.unschedulable

    @property
    def nominal(self) -> Fraction:
        """The quota of all queues but the slack queue."""
        return sum((each.quota for each in self.queues), Fraction())

    @property
    def slack_nominal(self) -> Fraction:
        return self.slack.quota if self.slack else Fraction()

    @property
    def slack_lendable(self) -> Fraction:
        return self.slack.lendable if self.slack else Fraction()

    @property
    def quota(self) -> Fraction:
        """All quota that can be used at present."""
        return self.nominal + self.slack_lendable

    @property
    def used(self) -> Fraction:
        """By admitted workloads of all queues, those of the slack queue too."""
        return sum((each.usage for each in self._all()), Fraction())

    @property
    def borrowed(self) -> Fraction:
        return sum((each.borrowed for each in self._all()), Fraction())

    @property
    def has_warnings(self) -> bool:
        return not all(each.condition.is_note for each in self.findings)

    def _all(self) -> tuple[QueueRow, ...]:
        return self.queues if self.slack is None else (*self.queues, self.slack)


def report(objects: Iterable[Object], *, slack_queue: str = "") -> ClusterReport:
    """Return the report on a cluster that has these objects, in any order.

    Nodes, Namespaces, Pods, ConfigMaps and Kueue's kinds are read, all others ignored.
    `slack_queue` is preferred to the one that the operator's configuration names. Raises ToolError
    for a field that cannot be read.
    """
    cluster = Cluster(objects)
    slack_queue = slack_queue or cluster.slack_queue
    rows = sorted(map(_row, cluster.of("ClusterQueue")), key=lambda row: row.name)
    total, unschedulable = _capacity(cluster)
    found = ClusterReport(
        queues=tuple(row for row in rows if row.name != slack_queue),
        slack=next((row for row in rows if row.name == slack_queue), None),
        total=total,
        unschedulable=unschedulable,
    )
    findings = (
        *_findings_of_cluster(found, cluster, slack_queue),
        *findings_of_namespaces(cluster),
    )
    return replace(found, findings=findings)


def _capacity(cluster: Cluster) -> tuple[Fraction, Fraction]:
    """All GPUs, and those of nodes with a taint or a mark that keeps pods away.

    Cordoned nodes, and those that are not ready, are tainted by Kubernetes itself.
    """
    total = unschedulable = Fraction()
    for node in cluster.of("Node"):
        with reading(node):
            on_node = amount_in(object_at(node, "status.capacity"), GPU, "status.capacity")
            effects = effects_on(node, cluster.marks)
        total += on_node
        if "NoSchedule" in effects or "NoExecute" in effects:
            unschedulable += on_node
    return total, unschedulable


def _row(queue: Object) -> QueueRow:
    with reading(queue):
        return _row_of(queue)


def _row_of(queue: Object) -> QueueRow:
    quota, lendable = _quota(queue)
    used = [
        (each, f"status.flavorsUsage[{index}].resources")
        for index, flavor in enumerate(objects_at(queue, "status.flavorsUsage"))
        for each in objects_at(flavor, "resources")
        if each.get("name") == GPU
    ]
    return QueueRow(
        name=name_of(queue),
        quota=quota,
        lendable=lendable,
        usage=sum((amount_in(each, "total", path) for each, path in used), Fraction()),
        borrowed=sum((amount_in(each, "borrowed", path) for each, path in used), Fraction()),
        admitted=_count(queue, "status.admittedWorkloads"),
        pending=_count(queue, "status.pendingWorkloads"),
    )


def _quota(queue: Object) -> tuple[Fraction, Fraction]:
    """The nominal quota and the lending limit, over all flavors."""
    quota = lendable = Fraction()
    for index, group in enumerate(objects_at(queue, "spec.resourceGroups")):
        for position, flavor in enumerate(objects_at(group, "flavors")):
            path = f"spec.resourceGroups[{index}].flavors[{position}].resources"
            for each in objects_at(flavor, "resources"):
                if each.get("name") == GPU:
                    nominal = amount_in(each, "nominalQuota", path)
                    quota += nominal
                    limited = each.get("lendingLimit") is not None
                    lendable += amount_in(each, "lendingLimit", path) if limited else nominal
    return quota, lendable


def _count(queue: Object, path: str) -> int:
    value = value_at(queue, path)
    if value is None:
        return 0
    if type(value) is not int or value < 0:
        raise ToolError(f"{path} is {value!r}; write a whole number")
    return value


def _findings_of_cluster(
    found: ClusterReport, cluster: Cluster, slack_queue: str
) -> Iterator[Finding]:
    if not cluster.is_configured:
        yield Finding(
            Condition.NO_CONFIGURATION,
            "",
            "the AppWrapper operator's configuration was not found; its marks for bad GPUs are "
            "taken to be the defaults, and only --slack-queue can name a slack queue",
        )
    if slack_queue and found.slack is None:
        yield Finding(
            Condition.NO_SLACK_QUEUE, "", f"the slack queue {slack_queue} does not exist; create it"
        )
    if found.nominal > found.schedulable:
        yield Finding(
            Condition.NOMINAL_ABOVE_SCHEDULABLE,
            "",
            f"the queues are promised {gpus(found.nominal)} GPUs, but only "
            f"{gpus(found.schedulable)} can be scheduled; repair nodes or reduce nominal quotas",
        )
    promised = found.nominal + found.slack_nominal
    if promised > found.total:
        yield Finding(
            Condition.QUOTA_ABOVE_CLUSTER,
            "",
            f"nominal and slack quota add up to {gpus(promised)} GPUs, more than the cluster's "
            f"{gpus(found.total)}; reduce one of them",
        )
    if promised < found.total:
        yield Finding(
            Condition.QUOTA_BELOW_CLUSTER,
            "",
            f"nominal and slack quota add up to {gpus(promised)} GPUs, fewer than the cluster's "
            f"{gpus(found.total)}; raise the slack quota, or the others will never be used",
        )


def gpus(number: Fraction) -> str:
    """A number of GPUs as text: `8`, `0.5`."""
    return str(number.numerator) if number.denominator == 1 else f"{float(number):g}"
