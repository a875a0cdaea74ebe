"""Probes: what an experiment can ask of the cluster, and of all that has happened on it.

Annotations are evaluated here, since discovery shows parameter types only if they are.
"""
# ruff: noqa: ARG001, UP006, UP035  # signatures are chaostoolkit's; it knows Dict, not dict

import logging
from typing import Any, Dict, List

from chaoslib.exceptions import ActivityFailed
from chaoslib.types import Configuration, Secrets

from chaos.toolkit.stage import stage_of
from conformance.norm.claim import CLAIMS
from conformance.norm.verdict import Outcome, Verdict
from vocabulary.kinds import POD
from vocabulary.objects import condition_status, get_path

__all__ = [
    "claim_holds",
    "claim_verdict",
    "condition",
    "count_pods",
    "no_claim_violated",
    "phase",
    "pods_in_phase",
]

logger = logging.getLogger("chaostoolkit")


def claim_holds(
    claim: str,
    armed: bool = False,
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> bool:
    """
    True if a claim, for example `AW-015`, holds of everything that has happened since the
    experiment began: a temporal claim as a steady state.

    It holds as long as nothing contradicts it. With `armed`, its precondition must have
    occurred as well: use that after the method, so that the experiment does
    not succeed because nothing was put to the test.
    """
    verdict = stage_of(configuration, ns).verdict(claim)
    if armed and not verdict.armed:
        logger.warning(f"{claim} was never armed: {verdict.because}")
        return False
    return _holds(verdict)


def claim_verdict(
    claim: str,
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> Dict[str, Any]:
    """
    The verdict of a claim so far: outcome, how often it was armed, and because.
    """
    return _plain(stage_of(configuration, ns).verdict(claim))


def no_claim_violated(
    profile: str = "",
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> bool:
    """
    True if nothing that has happened since the experiment began contradicts any claim, or
    any claim of a profile.
    """
    verdicts = stage_of(configuration, ns).verdicts()
    judged = [v for v in verdicts if not profile or CLAIMS[v.claim].suite == profile]
    if not judged:
        raise ActivityFailed(f"{profile!r} is not a profile of any claim")
    return sum(not _holds(verdict) for verdict in judged) == 0


def phase(
    object: str,
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> str:
    """
    The phase of an object such as `JobSet/a`; empty if it has none, or is gone.
    """
    return str(get_path(stage_of(configuration, ns).named(object), "status.phase", ""))


def condition(
    object: str,
    type: str,
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> str:
    """
    The status of a condition of an object such as `JobSet/a`: True, False, Unknown, or empty
    if it has none.
    """
    return condition_status(stage_of(configuration, ns).named(object) or {}, type)


def count_pods(
    label_selector: str = "",
    phase: str = "",
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> int:
    """
    How many pods there are with these labels, in that phase if one is given.
    """
    return len(_phases(configuration, ns, label_selector, phase))


def pods_in_phase(
    label_selector: str,
    phase: str = "Running",
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> bool:
    """
    True if there are pods with these labels, all of them in that phase.
    """
    phases = _phases(configuration, ns, label_selector, "")
    return bool(phases) and all(found == phase for found in phases)


def _holds(verdict: Verdict) -> bool:
    """True if nothing contradicts the claim; the log says what does."""
    for violation in verdict.violations:
        logger.warning(f"{verdict.claim} is violated: {violation.because}")
    return verdict.outcome is not Outcome.FAILED


def _phases(configuration: Configuration, ns: str, label_selector: str, phase: str) -> List[str]:
    pods = stage_of(configuration, ns).objects(POD, label_selector)
    phases = [str(get_path(pod, "status.phase", "")) for pod in pods]
    return [found for found in phases if not phase or found == phase]


def _plain(verdict: Verdict) -> Dict[str, Any]:
    return {
        "claim": verdict.claim,
        "outcome": str(verdict.outcome),
        "armed": verdict.armed,
        "because": verdict.because,
        "violations": [violation.because for violation in verdict.violations],
    }
