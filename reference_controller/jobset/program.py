"""The JobSet controller as a program that others run, install and mutate."""

from __future__ import annotations

from functools import partial
from typing import Final

from reference_controller.jobset.admission import mutate, validate
from reference_controller.jobset.config import JobSetConfig
from reference_controller.jobset.decision_code import DECISION_CODE
from reference_controller.jobset.job_set_controller import JobSetController
from reference_controller.jobset.manifests import MANIFESTS
from reference_controller.jobset.mutants import MUTANTS
from reference_controller.jobset.names import JOB_SET
from reference_controller.jobset.rules import Rules
from reference_controller.reference_program import ReferenceProgram
from reference_controller.runtime.admission_review import Asking, Webhook, Webhooks


def _controllers(config: JobSetConfig, rules: Rules) -> tuple[JobSetController]:
    return (JobSetController(config, rules),)


def _webhooks(config: JobSetConfig, rules: Rules, asking: Asking) -> Webhooks:
    del config, asking
    return {JOB_SET: Webhook(partial(mutate, rules=rules), partial(validate, rules=rules))}


PROGRAM: Final = ReferenceProgram(
    name="jobset",
    config=JobSetConfig,
    section="jobset",
    controllers=_controllers,
    webhooks=_webhooks,
    kinds=(JOB_SET,),
    manifests=MANIFESTS,
    rules=Rules,
    mutants=MUTANTS,
    decision_code=DECISION_CODE,
)
