"""Choosing pods and nodes as chaostoolkit-kubernetes does, by the same parameters."""

import math

from chaoslib.exceptions import ActivityFailed

from chaos.toolkit.stage import Stage
from vocabulary.kinds import NODE, POD
from vocabulary.objects import get_path, is_terminating, meta, name_of
from vocabulary.patterns import PatternError, compile_pattern


def select_pods(
    stage: Stage,
    *,
    label_selector: str,
    name_pattern: str,
    all: bool,
    rand: bool,
    mode: str,
    qty: int,
    order: str,
) -> list[str]:
    """Names of pods that are not being deleted; ActivityFailed if there are none."""
    if mode not in ("fixed", "percentage"):
        raise ActivityFailed(f"mode is {mode!r}, expected fixed or percentage")
    if order not in ("alphabetic", "oldest"):
        raise ActivityFailed(f"order is {order!r}, expected alphabetic or oldest")
    if qty < 0:
        raise ActivityFailed(f"qty is {qty}, expected a number from 0")
    try:
        pattern = compile_pattern(name_pattern)
    except PatternError as error:
        raise ActivityFailed(f"name_pattern is {name_pattern!r}: {error}") from error
    pods = [
        pod
        for pod in stage.objects(POD, label_selector)
        if pattern.search(name_of(pod)) and not is_terminating(pod)
    ]
    pods.sort(key=name_of)
    if order == "oldest":
        pods.sort(key=lambda pod: str(meta(pod).get("creationTimestamp")))
    names = [name_of(pod) for pod in pods]
    if not names:
        raise ActivityFailed(
            f"no pod in {stage.ground.namespace} matches label selector {label_selector!r} "
            f"and name pattern {name_pattern!r}; strike later, or widen the selection"
        )
    if all:
        return names
    count = math.ceil(qty * len(names) / 100) if mode == "percentage" else qty
    count = min(count, len(names))
    if rand:
        return stage.ground.rng("chaos/choice").sample(names, count)
    return names[:count]


def select_nodes(
    stage: Stage,
    name: str,
    label_selector: str,
    pod_label_selector: str = "",
    count: int = 0,
) -> list[str]:
    """Names of nodes, those that host the chosen pods; ActivityFailed if there are none.

    Given a `count`, so many of them at random; 0 means all.
    """
    nodes = sorted(name_of(node) for node in stage.objects(NODE, label_selector))
    if name:
        nodes = [node for node in nodes if node == name]
    if pod_label_selector:
        hosts = {get_path(pod, "spec.nodeName") for pod in stage.objects(POD, pod_label_selector)}
        nodes = [node for node in nodes if node in hosts]
    if not nodes:
        raise ActivityFailed(
            f"no node matches name {name!r}, label selector {label_selector!r} and pods "
            f"{pod_label_selector!r}; widen the selection"
        )
    if count:
        return stage.ground.rng("chaos/choice").sample(nodes, min(count, len(nodes)))
    return nodes
