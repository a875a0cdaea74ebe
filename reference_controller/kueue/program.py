"""The Kueue controller as a program that others run, install and mutate."""

from __future__ import annotations

from functools import partial
from typing import Final

from reference_controller.kueue.admission import suspend
from reference_controller.kueue.books import Books
from reference_controller.kueue.config import KueueConfig
from reference_controller.kueue.integrations.app_wrapper import AppWrapper
from reference_controller.kueue.integrations.batch_job import BatchJob
from reference_controller.kueue.integrations.job_set import JobSet
from reference_controller.kueue.job_controller import JobController
from reference_controller.kueue.manifests import MANIFESTS
from reference_controller.kueue.mutants import MUTANTS
from reference_controller.kueue.names import KINDS
from reference_controller.kueue.office import Office
from reference_controller.kueue.queue_controllers import (
    ClusterQueueController,
    LocalQueueController,
)
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.scheduler import Scheduler
from reference_controller.kueue.workload_controller import WorkloadController
from reference_controller.reference_program import ReferenceProgram
from reference_controller.runtime.admission_review import MayCreate, Webhook, Webhooks
from reference_controller.runtime.controller import Controller

INTEGRATIONS: Final = (BatchJob(), JobSet(), AppWrapper())


def _controllers(config: KueueConfig, rules: Rules) -> tuple[Controller, ...]:
    books = Books(rules.waits, partial(rules.rank, requeuing=config.requeuing))
    office = Office(INTEGRATIONS, config, rules, books)
    jobs = (JobController(each, office) for each in INTEGRATIONS)
    queues = ClusterQueueController(rules, books), LocalQueueController(rules, books)
    return (WorkloadController(office), *queues, *jobs, Scheduler(office))


def _webhooks(config: KueueConfig, rules: Rules, may_create: MayCreate | None) -> Webhooks:
    del config, rules, may_create
    kinds = [each.kind for each in INTEGRATIONS]
    return {kind: Webhook(partial(suspend, kinds=kinds)) for kind in kinds}


PROGRAM: Final = ReferenceProgram(
    name="kueue",
    config=KueueConfig,
    section="kueue",
    controllers=_controllers,
    webhooks=_webhooks,
    kinds=KINDS,
    manifests=MANIFESTS,
    rules=Rules,
    mutants=MUTANTS,
)
