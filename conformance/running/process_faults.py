"""Faults that take an operator which is a process of this machine, and the scenarios with such.

An operator that runs in the cluster has its own connection, on which nothing of Assay lies, and
only its node could pause it.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from chaos.fault import Fault, fault_from_data
from chaos.faults import ConnectionFault, Pause, WebhookOutage
from chaos.ground import OPERATOR
from conformance.running.fault_use import injected_in

CONNECTION: Final = "breaks the operator's connection, which in the cluster nobody else is part of"
PAUSE: Final = "pauses the operator's process, which in the cluster only its node could"


@cache
def needs_process_beside(scenario: str, *, reaches_nodes: bool) -> str:
    """Why an operator in the cluster cannot be under test in that scenario; empty if it can.

    `reaches_nodes`: whether signals can be sent to processes of pods.
    """
    faults = [fault_from_data(data) for data in injected_in(scenario)]
    if any(map(_is_on_connection, faults)):
        return CONNECTION
    if not reaches_nodes and any(map(_pauses_operator, faults)):
        return PAUSE
    return ""


def _is_on_connection(fault: Fault) -> bool:
    return isinstance(fault, ConnectionFault) and not isinstance(fault, WebhookOutage)


def _pauses_operator(fault: Fault) -> bool:
    return isinstance(fault, Pause) and fault.actor.startswith(OPERATOR)
