"""The Kueue controller as a program that others run, install and mutate."""

from __future__ import annotations

from functools import partial
from typing import Final

from reference_controller.kueue.admission import (
    gate,
    group_pods,
    keep_queue,
    keep_reserved,
    keep_size,
    queue_pods,
    suspend,
)
from reference_controller.kueue.books import Books
from reference_controller.kueue.config import KueueConfig
from reference_controller.kueue.conversion import converted
from reference_controller.kueue.integrations import Integration
from reference_controller.kueue.integrations.app_wrapper import AppWrapper
from reference_controller.kueue.integrations.batch_job import BatchJob
from reference_controller.kueue.integrations.job_set import JobSet
from reference_controller.kueue.integrations.pods import PodGroup, SinglePod
from reference_controller.kueue.integrations.pytorch_job import PyTorchJob
from reference_controller.kueue.integrations.ray import RayCluster, RayJob
from reference_controller.kueue.job_controller import JobController
from reference_controller.kueue.manifests import MANIFESTS
from reference_controller.kueue.metrics import Metrics
from reference_controller.kueue.mutants import MUTANTS
from reference_controller.kueue.names import KINDS, WORKLOAD
from reference_controller.kueue.office import Office
from reference_controller.kueue.queue_controllers import (
    ClusterQueueController,
    FlavorController,
    LocalQueueController,
)
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.scheduler import Scheduler
from reference_controller.kueue.workload_controller import WorkloadController
from reference_controller.reference_program import DecisionCode, ReferenceProgram
from reference_controller.runtime.admission_review import Asking, Webhook, Webhooks
from reference_controller.runtime.controller import Controller
from vocabulary.kinds import DEPLOYMENT, POD, STATEFUL_SET


def _jobs(
    rules: Rules,
) -> tuple[BatchJob | JobSet | AppWrapper | PyTorchJob | RayCluster | RayJob, ...]:
    """The kinds that are one object."""
    kinds = AppWrapper(), PyTorchJob(), RayCluster(), RayJob()
    return (BatchJob(rules), JobSet(rules), *kinds)


def _controllers(config: KueueConfig, rules: Rules) -> tuple[Controller, ...]:
    books = Books(rules.waits, partial(rules.rank, requeuing=config.requeuing), rules.held)
    integrations: tuple[Integration, ...] = (*_jobs(rules), SinglePod(), PodGroup(rules))
    office = Office(integrations, config, rules, books, Metrics(books))
    jobs = (JobController(each, office) for each in integrations)
    queues = ClusterQueueController(office), LocalQueueController(office), FlavorController(office)
    return (WorkloadController(office), *queues, *jobs, Scheduler(office))


def _webhooks(config: KueueConfig, rules: Rules, asking: Asking) -> Webhooks:
    suspended = _jobs(rules)
    jobs = [each.kind for each in suspended]

    def is_managed(namespace: str) -> bool:
        known = {"kubernetes.io/metadata.name": namespace}
        if config.manages_unqueued and asking.namespace_labels is not None:
            known |= asking.namespace_labels(namespace)
        return rules.waits_unqueued(config.manages(rules.selected_by(known)))

    suspending = {
        each.kind: Webhook(
            partial(suspend, job=each, is_managed=is_managed, kinds=jobs, rules=rules),
            partial(keep_queue, job=each),
        )
        for each in suspended
    }
    return {
        **suspending,
        POD: Webhook(partial(gate, kinds=jobs, rules=rules)),
        DEPLOYMENT: Webhook(queue_pods),
        STATEFUL_SET: Webhook(group_pods, keep_size),
        WORKLOAD: Webhook(validate=keep_reserved),
    }


_DECIDE: Final = (
    *("books", "flavors", "preemption", "priorities", "quota", "release", "scheduler"),
    *("job_controller", "workload_controller"),
    *(f"rules.{each}" for each in ("admission", "flavors", "order", "pods", "preemption")),
    *("rules.release", "rules.requeuing"),
)
"""The modules that decide who has quota, and until when."""
PROGRAM: Final = ReferenceProgram(
    name="kueue",
    config=KueueConfig,
    section="kueue",
    controllers=_controllers,
    webhooks=_webhooks,
    convert=converted,
    kinds=KINDS,
    manifests=MANIFESTS,
    rules=Rules,
    mutants=MUTANTS,
    decision_code=DecisionCode(
        modules=tuple(f"reference_controller.kueue.{each}" for each in _DECIDE)
    ),
)
