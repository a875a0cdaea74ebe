"""Faults that take an operator which is a process of this machine, and the scenarios with such.

An operator that runs in the cluster has its own connection, on which nothing of Assay lies, and
only its node could pause it. One that is installed there is one, and has its webhooks to itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from chaos.fault import Fault, fault_from_data
from chaos.faults import ConnectionFault, DoubleOperator, Kill, Pause, Start, WebhookOutage
from conformance.implementations.under_test import Installed, InstalledPods
from conformance.running.fault_use import injected_in
from conformance.scenario_type import Scenario
from vocabulary.history import role_of

CONNECTION: Final = "breaks the operator's connection, which in the cluster nobody else is part of"
PAUSE: Final = "pauses the operator's process, which in the cluster only its node could"

BESIDE: Final = "takes a second operator beside the first"
SECOND: Final = f"{BESIDE}, and one is installed"
WEBHOOKS: Final = (
    "takes down webhooks that the suite serves, and an installed operator's are its own"
)


DOWN: Final = "keeps the operator down, and somebody brings back its pods"


def needs_more_than_installed(
    scenario: Scenario, role: str, installed: Installed, *, reaches_nodes: bool
) -> str:
    """Why an operator that is installed cannot be under test in it; empty if it can."""
    config = scenario.config_of(role)
    if installed.settings is not None and not _is_within(config, installed.settings):
        return f"needs the operator configured otherwise: {', '.join(config)}"
    if needs_second(scenario):
        return SECOND
    faults = _faults_of(scenario.id)
    if any(isinstance(fault, WebhookOutage) for fault in faults):
        return WEBHOOKS
    if isinstance(installed, InstalledPods) and any(_keeps_down(fault, role) for fault in faults):
        return DOWN
    return needs_process_beside(scenario.id, role, reaches_nodes=reaches_nodes)


def needs_second(scenario: Scenario) -> bool:
    """True if two operators run in it at a time."""
    faults = _faults_of(scenario.id)
    return scenario.operators > 1 or any(isinstance(fault, DoubleOperator) for fault in faults)


@cache
def needs_process_beside(scenario: str, role: str, *, reaches_nodes: bool) -> str:
    """Why the operator of a role cannot run in the cluster in that scenario; empty if it can.

    `reaches_nodes`: whether signals can be sent to processes of pods.
    """
    faults = _faults_of(scenario)
    if any(map(_is_on_connection, faults)):
        return CONNECTION
    if not reaches_nodes and any(_pauses(fault, role) for fault in faults):
        return PAUSE
    return ""


@cache
def _faults_of(scenario: str) -> tuple[Fault, ...]:
    return tuple(fault_from_data(data) for data in injected_in(scenario))


def _is_within(wanted: Mapping[str, Any], settings: Mapping[str, Any]) -> bool:
    """True if so much of the settings is as wanted."""
    return all(
        _is_within(value, settings[name])
        if isinstance(value, Mapping) and isinstance(settings.get(name), Mapping)
        else settings.get(name) == value
        for name, value in wanted.items()
    )


def _keeps_down(fault: Fault, role: str) -> bool:
    """True if it has the operator of a role down until it is started, or starts it."""
    if isinstance(fault, Kill) and fault.restart_after is not None:
        return False
    return isinstance(fault, Kill | Start) and role_of(fault.actor) == role


def _is_on_connection(fault: Fault) -> bool:
    return isinstance(fault, ConnectionFault) and not isinstance(fault, WebhookOutage)


def _pauses(fault: Fault, role: str) -> bool:
    return isinstance(fault, Pause) and role_of(fault.actor) == role
