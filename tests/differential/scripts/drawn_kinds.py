"""Autoscalers in both of their versions, and types of schemas, drawn at random.

A generator with a seed draws them, so both sides get the same ones.
"""

from __future__ import annotations

import random
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.custom_resources import definition, version
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION
from vocabulary.objects import get_path

_TARGET: Final = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}
_CPU: Final = "targetCPUUtilizationPercentage"


def _metric(rng: random.Random, side: str) -> dict[str, Any]:
    percent = {"averageUtilization": rng.choice((1, 50, 150))}
    value = {"averageValue": rng.choice(("1", "500m", "1Gi"))}
    told: dict[str, Any] = rng.choice((percent, value))
    if side == "target":
        told = {"type": "Utilization" if "averageUtilization" in told else "AverageValue", **told}
    name = rng.choice(("cpu", "cpu", "memory"))
    return {"type": "Resource", "resource": {"name": name, side: told}}


def _policies(rng: random.Random) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if rng.randrange(2):
        told["selectPolicy"] = rng.choice(("Min", "Max", "Disabled"))
    if rng.randrange(2):
        told["stabilizationWindowSeconds"] = rng.choice((0, 300))
    if rng.randrange(2):
        told["policies"] = [
            {"type": rng.choice(("Pods", "Percent")), "value": 1, "periodSeconds": 15}
        ]
    return told


def _autoscaler(rng: random.Random, name: str) -> dict[str, Any]:
    spec: dict[str, Any] = {"maxReplicas": rng.choice((3, 5)), "scaleTargetRef": _TARGET}
    if rng.randrange(2):
        spec["minReplicas"] = rng.choice((1, 2, 3))
    in_v1 = rng.randrange(3) == 0
    if in_v1 and rng.randrange(2):
        spec[_CPU] = rng.choice((1, 80))
    if not in_v1 and rng.randrange(3):
        spec["metrics"] = [_metric(rng, "target") for _ in range(rng.randint(1, 2))]
    if not in_v1 and rng.randrange(2):
        sides = rng.sample(("scaleUp", "scaleDown"), rng.randint(1, 2))
        spec["behavior"] = {side: _policies(rng) for side in sides}
    return {
        "apiVersion": f"autoscaling/{'v1' if in_v1 else 'v2'}",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name},
        "spec": spec,
    }


@script("An autoscaler of any form is completed, and shown in both versions.", ["4.16"])
def drawn_autoscalers(c: Dialogue) -> None:
    rng = c.random("autoscalers")
    for number in range(25):
        obj = _autoscaler(rng, f"h{number}")
        paths = {
            each: f"/apis/autoscaling/{each}/namespaces/{c.namespace}/horizontalpodautoscalers"
            for each in ("v1", "v2")
        }
        api_version = obj["apiVersion"].rpartition("/")[2]
        answer = c.consult("POST", paths[api_version], obj)
        c.note(f"{obj['spec']}", answer.body.get("message") or answer.body["spec"])
        if answer.code >= 300:
            continue
        for each, path in paths.items():
            told = c.consult("GET", f"{path}/h{number}").body["spec"]
            c.note(f"in {each}", told)
            status: dict[str, Any] = {}
            for name in ("currentReplicas", "desiredReplicas"):
                if rng.randrange(2):
                    status[name] = rng.randrange(3)
            if each == "v1" and rng.randrange(2):
                status["currentCPUUtilizationPercentage"] = rng.choice((0, 70))
            if each == "v2" and rng.randrange(2):
                status["currentMetrics"] = [_metric(rng, "current")]
            for other in paths.values():
                target = f"{other}/h{number}/status"
                body = {"status": status} if other == path else {"metadata": {"labels": {"a": "b"}}}
                how = "application/merge-patch+json"
                found = c.consult("PATCH", f"{target}?dryRun=All", body, content_type=how).body
                shown = found.get("status", {})
                shown.pop("conditions", None)
                c.note(f"{status}", found.get("message") or shown)


_TYPES: Final = ("string", "integer", "object", "array", "odd", "Integer", "null", "text")


def _schema(rng: random.Random, depth: int) -> dict[str, Any]:
    kind = rng.choice(_TYPES)
    told: dict[str, Any] = {"type": kind}
    if depth == 0 or kind not in ("object", "array"):
        return {**told, "items": {"type": "string"}} if kind == "array" else told
    if kind == "array":
        return {**told, "items": _schema(rng, depth - 1)}
    if rng.randrange(2):
        return {**told, "additionalProperties": _schema(rng, depth - 1)}
    told["properties"] = {name: _schema(rng, depth - 1) for name in "ab"}
    if rng.randrange(3) == 0:
        told["not"] = {"properties": {"a": _schema(rng, 0)}}
    if rng.randrange(3) == 0:
        told[rng.choice(("allOf", "anyOf", "oneOf"))] = [_schema(rng, 1), {}]
    return told


@script("A type that no value has is refused wherever it stands.", ["4.16"])
def drawn_types(c: Dialogue) -> None:
    rng = c.random("types")
    path = f"{CUSTOM_RESOURCE_DEFINITION.path()}?dryRun=All"
    for _ in range(120):
        schema = _schema(rng, 3)
        answer = c.consult("POST", path, definition("shims", "Shim", version("v1", it=schema)))
        causes = get_path(answer.body, "details.causes") or ()
        told = [
            f"{it['field']}: {it['message']}"
            for it in causes
            if it["field"].endswith(".type") and "Unsupported" in it["message"]
        ]
        c.note(f"{schema}", sorted(told))
