"""Actions: what an experiment's method and rollbacks can do.

Annotations are evaluated here, since discovery shows parameter types only if they are.
"""
# ruff: noqa: ARG001, UP006, UP035  # signatures are chaostoolkit's; it knows Dict, not dict

from typing import Any, Dict, List, Literal

from chaoslib.exceptions import ActivityFailed
from chaoslib.types import Configuration, Secrets

from chaos.choice import named_kind
from chaos.faults import (
    Cordon,
    DeleteObject,
    DeletePod,
    EditObject,
    EvictPod,
    Kill,
    KillPod,
    LabelNode,
    Pause,
    Restart,
    Resume,
    StickPod,
    Suspend,
    Taint,
    Uncordon,
    Untaint,
)
from chaos.ground import OPERATOR
from chaos.toolkit.selection import select_nodes, select_pods
from chaos.toolkit.stage import Stage, stage_of
from vocabulary.clock import SECOND
from vocabulary.clock import seconds as span_of
from vocabulary.kinds import APPWRAPPER, POD
from vocabulary.objects import Object, get_path, is_terminating, name_of
from vocabulary.requests import create

__all__ = [
    "cordon_node",
    "delete_object",
    "drain_nodes",
    "edit_object",
    "evict_pods",
    "inject_fault",
    "kill_operator",
    "kill_pods",
    "label_node",
    "pause_operator",
    "restart_operator",
    "resume_appwrapper",
    "resume_operator",
    "revert_faults",
    "stick_pods",
    "submit",
    "suspend_appwrapper",
    "taint_node",
    "terminate_pods",
    "uncordon_node",
    "untaint_node",
    "wait",
    "wait_for_phase",
]

POLL_US = SECOND // 2


def inject_fault(
    fault: Dict[str, Any],
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Inject any fault that a plan can hold, spelled as there, for example
    `{"kill_pod": {"pod": {"appwrapper": "a", "which": "random"}, "exit_code": 137}}`.

    What was done is returned in English; `revert_faults` undoes it.
    """
    return stage_of(configuration, ns).inject_data(fault)


def revert_faults(
    ns: str = "", configuration: Configuration = None, secrets: Secrets = None
) -> List[str]:
    """
    Undo every fault that was injected into the namespace, the latest first.
    Put this into an experiment's rollbacks.
    """
    return stage_of(configuration, ns).revert()


def wait(seconds: float, configuration: Configuration = None, secrets: Secrets = None) -> None:
    """
    Let time pass: real time on a cluster, virtual time in the simulation.
    """
    stage_of(configuration).wait(span_of(seconds))


def submit(
    manifest: Dict[str, Any],
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> str:
    """
    Create an object from its manifest, as a user does; its name is returned.
    """
    stage = stage_of(configuration, ns)
    stored = stage.call(create(stage.prepare(manifest)))
    return name_of(stored)


def wait_for_phase(
    name: str,
    phase: str,
    timeout: int = 300,
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> str:
    """
    Wait until an AppWrapper is in a phase, or in one of several (`"Failed|Succeeded"`).
    Fails if it is not there after `timeout` seconds.
    """
    stage = stage_of(configuration, ns)
    wanted = phase.split("|")
    waited_us = 0
    while True:
        found = str(get_path(stage.find(APPWRAPPER, name), "status.phase", ""))
        if found in wanted:
            return found
        if waited_us >= timeout * SECOND:
            raise ActivityFailed(
                f"AppWrapper {name} is in phase {found!r} after {timeout}s, expected {phase}"
            )
        stage.wait(POLL_US)
        waited_us += POLL_US


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


def taint_node(
    key: str,
    value: str = "",
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule",
    name: str = "",
    label_selector: str = "",
    pod_label_selector: str = "",
    count: int = 0,
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Taint nodes: by name, by label, or those that host certain pods.
    """
    stage = stage_of(configuration, ns)
    nodes = select_nodes(stage, name, label_selector, pod_label_selector, count)
    return stage.inject(*(Taint(node, key, value, effect) for node in nodes))


def untaint_node(
    key: str,
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule",
    name: str = "",
    label_selector: str = "",
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Take a taint off nodes, whatever its value.
    """
    stage = stage_of(configuration, ns)
    nodes = select_nodes(stage, name, label_selector)
    return stage.inject(*(Untaint(node, key, effect) for node in nodes))


def label_node(
    key: str,
    value: str,
    name: str = "",
    label_selector: str = "",
    pod_label_selector: str = "",
    count: int = 0,
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Label nodes, for example as Autopilot does: `autopilot.ibm.com/gpuhealth` = `EVICT`.
    """
    stage = stage_of(configuration, ns)
    nodes = select_nodes(stage, name, label_selector, pod_label_selector, count)
    return stage.inject(*(LabelNode(node, key, value) for node in nodes))


def cordon_node(
    name: str = "",
    label_selector: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Cordon nodes by name or label, so that no pods are scheduled on them any longer.
    """
    stage = stage_of(configuration)
    nodes = select_nodes(stage, name, label_selector)
    return stage.inject(*(Cordon(node) for node in nodes))


def uncordon_node(
    name: str = "",
    label_selector: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Uncordon nodes by name or label.
    """
    stage = stage_of(configuration)
    nodes = select_nodes(stage, name, label_selector)
    return stage.inject(*(Uncordon(node) for node in nodes))


def drain_nodes(
    name: str = "",
    label_selector: str = "",
    timeout: int = 120,
    count: int = 0,
    pod_label_selector: str = "",
    pod_namespace: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Cordon nodes and evict their pods in `pod_namespace`, then wait until those are gone.
    Fails if some are left after `timeout` seconds.
    """
    stage = stage_of(configuration, pod_namespace)
    nodes = select_nodes(stage, name, label_selector, pod_label_selector, count)
    pods = [pod for pod in _by_name(stage) if get_path(pod, "spec.nodeName") in nodes]
    done = stage.inject(
        *(Cordon(node) for node in nodes),
        *(EvictPod(name_of(pod)) for pod in pods if not is_terminating(pod)),
    )
    on_nodes = [name_of(pod) for pod in pods]
    waited_us = 0
    while left := [pod for pod in on_nodes if stage.find(POD, pod) is not None]:
        if waited_us >= timeout * SECOND:
            raise ActivityFailed(f"after {timeout}s not gone: {', '.join(left)}")
        stage.wait(POLL_US)
        waited_us += POLL_US
    return done


def kill_operator(
    restart_after: float = 2,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Kill the operator (SIGKILL). It comes back after `restart_after` seconds in the
    simulation, and when its Deployment brings it back elsewhere; negative: it stays down.
    """
    span_us = span_of(restart_after) if restart_after >= 0 else None
    return stage_of(configuration).inject(Kill(OPERATOR, restart_after=span_us))


def restart_operator(
    downtime: float = 2, configuration: Configuration = None, secrets: Secrets = None
) -> List[str]:
    """
    Stop the operator gracefully and start it again, as a rollout does.
    """
    return stage_of(configuration).inject(Restart(OPERATOR, span_of(downtime)))


def pause_operator(configuration: Configuration = None, secrets: Secrets = None) -> List[str]:
    """
    Stop the operator in its tracks (SIGSTOP); `resume_operator` lets it go on.
    """
    return stage_of(configuration).inject(Pause(OPERATOR))


def resume_operator(configuration: Configuration = None, secrets: Secrets = None) -> List[str]:
    """
    Let a paused operator go on.
    """
    return stage_of(configuration).inject(Resume(OPERATOR))


def delete_object(
    kind: str,
    name: str,
    propagation: Literal["Background", "Foreground", "Orphan"] = "Background",
    finalizer: str = "",
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Delete an object of any kind as a user does. With a `finalizer`, that is put on it first,
    so it stays, terminating, until the faults are reverted.
    """
    _require_kind(kind)
    fault = DeleteObject(kind, name, propagation, finalizer=finalizer)
    return stage_of(configuration, ns).inject(fault)


def edit_object(
    kind: str,
    name: str,
    patch: Dict[str, Any],
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Apply a merge patch to an object as a user does.
    """
    _require_kind(kind)
    return stage_of(configuration, ns).inject(EditObject(kind, name, patch))


def suspend_appwrapper(
    name: str,
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Suspend an AppWrapper, as Kueue does to preempt it.
    """
    return stage_of(configuration, ns).inject(Suspend(name))


def resume_appwrapper(
    name: str,
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Resume a suspended AppWrapper.
    """
    return stage_of(configuration, ns).inject(Suspend(name, suspended=False))


def _by_name(stage: Stage) -> List[Object]:
    return sorted(stage.objects(POD), key=name_of)


def _require_kind(kind: str) -> None:
    try:
        named_kind(kind)
    except ValueError as error:
        raise ActivityFailed(str(error)) from error
