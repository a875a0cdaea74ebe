"""Pods with requirements that are drawn at random, and the nodes that suit them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.manifests import Manifest, container, pod
from tests.differential.scripts.scheduling import POOL, REQUIRED
from vocabulary.kinds import POD
from vocabulary.objects import condition, get_path

_NODES: Final[Sequence[tuple[Manifest, list[dict[str, str]]]]] = (
    ({"rack": "a", "size": "3"}, []),
    ({"rack": "a", "size": "12"}, [{"key": "t", "value": "u", "effect": "NoSchedule"}]),
    ({"rack": "b"}, [{"key": "t", "value": "v", "effect": "PreferNoSchedule"}]),
    ({"size": "x"}, [{"key": "w", "effect": "NoSchedule"}]),
)
_STANDING: Final[Sequence[Manifest]] = (
    {"app": "x"},
    {"app": "y", "tier": "1"},
    {"app": "x", "tier": "2"},
    {},
)
"""The labels of a pod on each node."""
_REQUIREMENTS: Final = (
    *({"key": "rack", "operator": "In", "values": it} for it in (["a"], ["b", "c"], ["z"])),
    *({"key": "rack", "operator": "NotIn", "values": it} for it in (["a"], ["b"])),
    *({"key": key, "operator": "Exists"} for key in ("rack", "size")),
    *({"key": key, "operator": "DoesNotExist"} for key in ("rack", "size")),
    *({"key": "size", "operator": how, "values": ["5"]} for how in ("Gt", "Lt")),
    *({"key": "size", "operator": how, "values": ["12"]} for how in ("Gt", "Lt")),
)
_SELECTORS: Final = (
    *({"matchLabels": it} for it in ({"app": "x"}, {"app": "y"}, {"tier": "2"}, {"app": "z"})),
    {},
    {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
    {"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]},
    {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["y", "z"]}]},
    None,
)
_TOLERATIONS: Final = (
    *({"key": "t", "operator": "Equal", "value": value} for value in "uv"),
    *({"key": key, "operator": "Exists"} for key in "tw"),
    {"key": "t", "operator": "Exists", "effect": "NoExecute"},
    {"key": "w", "effect": "NoSchedule"},
    {"operator": "Exists", "effect": "NoSchedule"},
    {"operator": "Exists"},
)


def _term(rng: random.Random) -> Manifest:
    selector = rng.choice(_SELECTORS)
    term: Manifest = {"topologyKey": rng.choice(("rack", "rack", POOL, "kubernetes.io/hostname"))}
    if selector is not None:
        term["labelSelector"] = selector
        if rng.randrange(5) == 0:
            term[rng.choice(("matchLabelKeys", "mismatchLabelKeys"))] = ["app"]
    return term


def _wish(rng: random.Random) -> Manifest:
    """The requirements of a pod on its node, and on the pods there."""
    spec: Manifest = {"tolerations": rng.sample(_TOLERATIONS, rng.randrange(3)), "affinity": {}}
    affinity = spec["affinity"]
    if rng.randrange(4) == 0:
        spec["nodeSelector"] = rng.choice(
            ({"rack": "a"}, {"rack": "b"}, {"rack": "a", "size": "3"})
        )
    if rng.randrange(2):
        terms = [
            {"matchExpressions": rng.sample(_REQUIREMENTS, rng.randint(1, 2))}
            for _ in range(rng.randint(1, 2))
        ]
        affinity["nodeAffinity"] = {REQUIRED: {"nodeSelectorTerms": terms}}
    for kind in ("podAffinity", "podAntiAffinity"):
        if rng.randrange(3) == 0:
            affinity[kind] = {REQUIRED: [_term(rng) for _ in range(rng.randint(1, 2))]}
    if rng.randrange(3) == 0:
        amount = rng.choice(("1", "31", "32", "33", "100"))
        spec["containers"] = [container(resources={"requests": {"cpu": amount}})]
    return spec


@script("A pod is placed on a node that suits it, and waits if none does.", ["6.1", "6.2", "6.3"])
def drawn_placements(c: Dialogue) -> None:
    rng = c.random("placements")
    for number, (labels, taints) in enumerate(_NODES):
        name = f"{c.namespace}-{number}"
        c.add_node(name, labels={POOL: c.namespace, **labels}, taints=taints)
        standing = pod(f"standing-{number}", nodeName=name)
        standing["metadata"]["labels"] = _STANDING[number]
        c.consult("POST", POD.path(c.namespace), standing)
    for number in range(45):
        wish, labels = _wish(rng), rng.choice(({"app": "x"}, {"app": "y"}, {}))
        suits = []
        for node in range(len(_NODES)):
            obj: Any = pod(f"p{number}-{node}", **wish)
            selector = {"kubernetes.io/hostname": f"{c.namespace}-{node}"}
            obj["spec"]["nodeSelector"] = {**obj["spec"].get("nodeSelector", {}), **selector}
            obj["metadata"]["labels"] = labels
            suits.append(_suits(c, obj))
        c.note(f"{number} {labels} {wish}", suits)


def _suits(c: Dialogue, obj: Manifest) -> Any:
    """Try whether a pod is placed, and take it away again; what is said where it is refused."""
    name = obj["metadata"]["name"]
    path = POD.path(c.namespace, name)
    answer = c.consult("POST", POD.path(c.namespace), obj)
    if answer.code >= 300:
        return answer.body["message"]

    def is_decided() -> bool:
        told = condition(c.consult("GET", path).body, "PodScheduled")
        return told is not None and (told["status"] == "True" or bool(told.get("reason")))

    c.until_true(f"{name} is placed or waits", is_decided)
    is_placed = get_path(c.consult("GET", path).body, "spec.nodeName") is not None
    c.consult("DELETE", path, {"gracePeriodSeconds": 0})
    c.until_true(f"{name} is gone", lambda: c.consult("GET", path).code == 404)
    return is_placed
