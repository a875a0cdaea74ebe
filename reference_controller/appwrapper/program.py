"""The AppWrapper controller as a program that others run, install and mutate."""

from __future__ import annotations

from functools import partial
from typing import Final

from reference_controller.appwrapper.admission import mutate, validate
from reference_controller.appwrapper.appwrapper_controller import AppWrapperController
from reference_controller.appwrapper.config import OperatorConfig
from reference_controller.appwrapper.decision_code import DECISION_CODE
from reference_controller.appwrapper.manifests import MANIFESTS
from reference_controller.appwrapper.mutants import MUTANTS
from reference_controller.appwrapper.names import APPWRAPPER
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.slack import SlackController
from reference_controller.reference_program import ReferenceProgram
from reference_controller.runtime.admission_review import Asking, Webhook, Webhooks
from reference_controller.runtime.controller import Controller


def _controllers(config: OperatorConfig, rules: Rules) -> tuple[Controller, ...]:
    slack = (SlackController(config, rules),) if config.slack_queue_name else ()
    return (AppWrapperController(config, rules), *slack)


def _webhooks(config: OperatorConfig, rules: Rules, asking: Asking) -> Webhooks:
    return {
        APPWRAPPER: Webhook(
            partial(mutate, config=config, rules=rules),
            partial(validate, config=config, rules=rules, may_create=asking.may_create),
        )
    }


PROGRAM: Final = ReferenceProgram(
    name="appwrapper",
    config=OperatorConfig,
    section="appwrapper",
    # Keys of the released operator's file.
    other_sections=("certManagement", "controllerManager", "webhooksEnabled"),
    controllers=_controllers,
    webhooks=_webhooks,
    kinds=(APPWRAPPER,),
    manifests=MANIFESTS,
    rules=Rules,
    mutants=MUTANTS,
    decision_code=DECISION_CODE,
)
