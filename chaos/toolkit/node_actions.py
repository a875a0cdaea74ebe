"""Actions on nodes: by name, by label, or those that host certain pods.

Annotations are evaluated here, since discovery shows parameter types only if they are.
"""
# ruff: noqa: ARG001, UP006, UP035  # signatures are chaostoolkit's; it knows Dict, not dict

from typing import List, Literal

from chaoslib.exceptions import ActivityFailed
from chaoslib.types import Configuration, Secrets

from chaos.faults import Cordon, EvictPod, LabelNode, Taint, Uncordon, Untaint
from chaos.toolkit.selection import select_nodes
from chaos.toolkit.stage import POLL_US, Stage, stage_of
from vocabulary.clock import SECOND
from vocabulary.kinds import POD
from vocabulary.objects import Object, get_path, is_terminating, name_of

__all__ = [
    "cordon_node",
    "drain_nodes",
    "label_node",
    "taint_node",
    "uncordon_node",
    "untaint_node",
]


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


def _by_name(stage: Stage) -> List[Object]:
    return sorted(stage.objects(POD), key=name_of)
