"""Revert faults that a killed run of the Chaos Toolkit left on a cluster, by its journal.

Foreign objects (nodes, users' workloads) have no label by which to find them:
only the experiment's `undo_journal` lists their changes.
"""

from __future__ import annotations

from pathlib import Path

from chaos.ground import FaultRefusedError, Ground
from chaos.undo_journal import Outstanding, outstanding, settle
from reference_controller.runtime.connection import connect
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError


def undo(
    journal: Path, kubeconfig: Path | None, *, context: str = "", really: bool
) -> tuple[list[str], list[str]]:
    """Return the outstanding reverts, in words, and those that failed, with the reason.

    Reverted if `really`, the latest injection first; failed ones stay in the journal.
    A deleted object needs no revert. Raises PlanError for a file that is no journal,
    and ApiError if the cluster does not answer.
    """
    from chaos.toolkit.kubernetes_ground import DeployedOperator, KubernetesGround
    from chaos.toolkit.kubernetes_stage import usual_deployment

    found: list[str] = []
    refused: list[str] = []
    connection = connect(
        kubeconfig, context or None, user_agent="assay-clean", timeout_us=30 * SECOND, pool_size=2
    )
    operator = DeployedOperator(connection, usual_deployment())
    for injection in outstanding(journal):
        found += [fault.describe() for fault in injection.faults]
        if really:
            ground = KubernetesGround(connection, injection.namespace, operator, seed=0)
            problem = _undo_one(injection, ground)
            if problem:
                refused.append(problem)
            else:
                settle(journal, injection)
    return found, refused


def _undo_one(injection: Outstanding, ground: Ground) -> str:
    """Why it could not be undone; empty if it was."""
    for fault in injection.faults:
        try:
            fault.inject(ground)
        except FaultRefusedError as error:
            return f"{fault.describe()}: {error}"
        except ApiError as error:
            if not error.code:
                raise
            if not (error.is_not_found or error.is_already_exists):
                return f"{fault.describe()}: {error.reason}: {error.message}"
    return ""
