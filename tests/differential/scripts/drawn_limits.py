"""Limits and quotas that are drawn at random, and the pods that they allow."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.manifests import Manifest, metadata, pod
from vocabulary.kinds import LIMIT_RANGE, PERSISTENT_VOLUME_CLAIM, POD, RESOURCE_QUOTA

_AMOUNTS: Final[Mapping[str, Sequence[str]]] = {
    "cpu": ("100m", "500m", "1", "2", "4"),
    "memory": ("64Mi", "128Mi", "1Gi", "2G"),
    "example.org/gpu": ("1", "2"),
}
_HARD: Final[Mapping[str, Sequence[str]]] = {
    "pods": ("0", "1", "2"),
    "count/pods": ("0", "3"),
    "cpu": ("1", "3"),
    "requests.cpu": ("0", "1500m", "3"),
    "limits.cpu": ("2", "4"),
    "requests.memory": ("128Mi", "2Gi"),
    "limits.memory": ("1Gi",),
    "requests.example.org/gpu": ("1", "2"),
    "requests.ephemeral-storage": ("1Gi",),
    "storage": ("1Gi",),
    "secrets": ("1",),
    "odd": ("1",),
    "requests.hugepages-2Mi": ("2Mi",),
}
_SCOPES: Final = (
    *([it] for it in ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating")),
    ["BestEffort", "NotBestEffort"],
    ["Odd"],
    *(None,) * 6,
)


def _resources(rng: random.Random, part: float = 0.6) -> dict[str, str]:
    return {name: rng.choice(values) for name, values in _AMOUNTS.items() if rng.random() < part}


def _pod(rng: random.Random, number: int) -> Manifest:
    containers = []
    for name in ("one", "two")[: rng.randint(1, 2)]:
        resources = {kind: _resources(rng, 0.4) for kind in ("limits", "requests")}
        containers.append({"name": name, "image": "x:1", "resources": resources})
    spec: Manifest = {"containers": containers}
    if rng.randrange(4) == 0:
        requests = {"requests": _resources(rng, 0.4)}
        spec["initContainers"] = [{"name": "init", "image": "x:1", "resources": requests}]
    if rng.randrange(3) == 0:
        spec["activeDeadlineSeconds"] = 5
    return pod(f"p{number}", **spec)


def _try(c: Dialogue, label: str, obj: Manifest) -> None:
    """Write down why a pod is refused, or what its resources become."""
    answer = c.consult("POST", f"{POD.path(c.namespace)}?dryRun=All", obj)
    if answer.code >= 300:
        # A real server goes through the resources in any order.
        c.note(
            label,
            [
                answer.code,
                *sorted(
                    re.split(r"[\[\]]|, (?=spec)|, (?=maximum|minimum)", answer.body["message"])
                ),
            ],
        )
        return
    spec = answer.body["spec"]
    every = [*spec["containers"], *spec.get("initContainers", ())]
    told = [{kind: it for kind, it in each["resources"].items() if it} for each in every]
    c.note(label, told)


@script("Limits complete a pod's resources, and refuse those beyond them.", ["4.16"])
def drawn_limit_ranges(c: Dialogue) -> None:
    rng = c.random("limit ranges")
    for number in range(14):
        limits = []
        for type_ in rng.sample(("Container", "Pod", "PersistentVolumeClaim"), rng.randint(1, 2)):
            kinds = ["min", "max", "maxLimitRequestRatio"]
            kinds += ["default", "defaultRequest"] if type_ == "Container" else []
            told = {kind: _resources(rng, 0.3) for kind in kinds if rng.randrange(2)}
            if type_ == "PersistentVolumeClaim":
                told = {"min": {"storage": "1Gi"}, "max": {"storage": rng.choice(("1Gi", "3Gi"))}}
            limits.append({"type": type_, **told})
        obj = {
            "apiVersion": "v1",
            "kind": "LimitRange",
            "metadata": metadata("l"),
            "spec": {"limits": limits},
        }
        answer = c.consult("POST", LIMIT_RANGE.path(c.namespace), obj)
        c.note(f"{number}: {limits}", answer.body.get("message") or answer.body["spec"])
        if answer.code >= 300:
            continue
        c.settle(0.5)
        for place in range(7):
            made = _pod(rng, place)
            _try(c, f"{[each['resources'] for each in made['spec']['containers']]}", made)
        storage = rng.choice(("512Mi", "2Gi", "4Gi"))
        claim: Any = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": metadata("c"),
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": storage}},
            },
        }
        path = f"{PERSISTENT_VOLUME_CLAIM.path(c.namespace)}?dryRun=All"
        c.note(f"claim of {storage}", c.consult("POST", path, claim).body.get("message"))
        c.consult("DELETE", LIMIT_RANGE.path(c.namespace, "l"))
        c.settle(0.5)


@script("A quota counts what a pod asks for, if the pod is in its scope.", ["4.16"])
def drawn_quotas(c: Dialogue) -> None:
    rng = c.random("quotas")
    for number in range(30):
        scopes = rng.choice(_SCOPES)
        names = rng.sample(sorted(_HARD), rng.randint(1, 3))
        hard = {name: rng.choice(_HARD[name]) for name in names}
        spec = {"hard": hard, **({} if scopes is None else {"scopes": scopes})}
        obj = {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": metadata("q"),
            "spec": spec,
        }
        answer = c.consult("POST", RESOURCE_QUOTA.path(c.namespace), obj)
        c.note(f"{number}: {spec}", sorted(re.split(r", |[\[\]]", answer.body.get("message", ""))))
        if answer.code >= 300:
            continue
        path = RESOURCE_QUOTA.path(c.namespace, "q")
        c.until_true(
            "the quota is counted",
            lambda path=path: "used" in c.consult("GET", path).body.get("status", {}),  # type: ignore[misc]
        )
        c.settle(1.0)
        for place in range(6):
            made = _pod(rng, place)
            _try(c, f"{[each['resources'] for each in made['spec']['containers']]}", made)
        c.consult("DELETE", path)
        c.settle(0.3)
