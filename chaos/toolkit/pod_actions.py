"""Actions on pods, chosen as chaostoolkit-kubernetes chooses them.

Annotations are evaluated here, since discovery shows parameter types only if they are.
"""
# ruff: noqa: ARG001, UP006, UP035  # signatures are chaostoolkit's; it knows Dict, not dict

from typing import List, Literal

from chaoslib.types import Configuration, Secrets

from chaos.faults import DeletePod, EvictPod, KillPod, StickPod
from chaos.toolkit.selection import select_pods
from chaos.toolkit.stage import stage_of

__all__ = [
    "evict_pods",
    "kill_pods",
    "stick_pods",
    "terminate_pods",
]


def terminate_pods(
    label_selector: str = "",
    name_pattern: str = "",
    all: bool = False,
    rand: bool = False,
    mode: str = "fixed",
    qty: int = 1,
    grace_period: int = -1,
    ns: str = "",
    order: str = "alphabetic",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Delete pods, gracefully unless `grace_period` is 0. As in chaostoolkit-kubernetes, but
    a random choice repeats for the same seed.
    """
    stage = stage_of(configuration, ns)
    pods = select_pods(
        stage,
        label_selector=label_selector,
        name_pattern=name_pattern,
        all=all,
        rand=rand,
        mode=mode,
        qty=qty,
        order=order,
    )
    grace = grace_period if grace_period >= 0 else None
    return stage.inject(*(DeletePod(pod, grace) for pod in pods))


def kill_pods(
    exit_code: int = 1,
    reason: str = "",
    label_selector: str = "",
    name_pattern: str = "",
    all: bool = False,
    rand: bool = False,
    mode: str = "fixed",
    qty: int = 1,
    ns: str = "",
    order: str = "alphabetic",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    End the containers of pods with an exit code and a reason, as a crash would. The pods
    must follow Assay's annotations: simulated ones, KWOK's, and Assay's own image do.
    """
    stage = stage_of(configuration, ns)
    pods = select_pods(
        stage,
        label_selector=label_selector,
        name_pattern=name_pattern,
        all=all,
        rand=rand,
        mode=mode,
        qty=qty,
        order=order,
    )
    return stage.inject(*(KillPod(pod, exit_code, reason) for pod in pods))


def evict_pods(
    label_selector: str = "",
    name_pattern: str = "",
    all: bool = False,
    rand: bool = False,
    mode: str = "fixed",
    qty: int = 1,
    ns: str = "",
    order: str = "alphabetic",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Evict pods through the Eviction API; they get the condition DisruptionTarget.
    """
    stage = stage_of(configuration, ns)
    pods = select_pods(
        stage,
        label_selector=label_selector,
        name_pattern=name_pattern,
        all=all,
        rand=rand,
        mode=mode,
        qty=qty,
        order=order,
    )
    return stage.inject(*(EvictPod(pod) for pod in pods))


def stick_pods(
    state: Literal["terminating", "pending", "init", "image", "not_ready"] = "terminating",
    label_selector: str = "",
    name_pattern: str = "",
    all: bool = False,
    rand: bool = False,
    mode: str = "fixed",
    qty: int = 1,
    ns: str = "",
    order: str = "alphabetic",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Keep pods where they are: terminating once deleted, pending, in their init container or
    image pull, or not ready.
    """
    stage = stage_of(configuration, ns)
    pods = select_pods(
        stage,
        label_selector=label_selector,
        name_pattern=name_pattern,
        all=all,
        rand=rand,
        mode=mode,
        qty=qty,
        order=order,
    )
    return stage.inject(*(StickPod(pod, state) for pod in pods))
