"""Observations of an AppWrapper and its components, made by hand for pure decisions."""

from __future__ import annotations

from typing import Any

from reference_controller.appwrapper import OperatorConfig
from reference_controller.appwrapper.observation import Component, Observation
from reference_controller.appwrapper.rules import RIGHT
from vocabulary.clock import SECOND, SIMULATION_EPOCH_US, Micros, to_rfc3339_micro
from vocabulary.kinds import JOB, Kind
from vocabulary.objects import Object

NOW = SIMULATION_EPOCH_US + 3600 * SECOND
FINALIZER = "workload.codeflare.dev/finalizer"
OWNER = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "name": "a"}
DELETING = {"ResourcesDeployed": "True", "QuotaReserved": "True", "DeletingResources": "True"}


def at(us: Micros) -> str:
    return to_rfc3339_micro(us)


def owned(uid: str = "aw-1") -> dict[str, Any]:
    return {"ownerReferences": [{**OWNER, "uid": uid, "controller": True}]}


def component(
    kind: Kind = JOB, *, expected: int = 1, state: str = "True", found: Object | None = None
) -> Component:
    record = {
        "name": "x",
        "kind": kind.kind,
        "apiVersion": kind.api_version,
        "uid": "x-1",
        "attempt": 1,
        "podSets": [{"path": "template.spec.template", "replicas": expected}],
        "conditions": [{"type": "ResourcesDeployed", "status": state, "reason": "r"}],
    }
    return Component(0, kind, record, found)


def job(*conditions: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "x", "namespace": "team", "uid": "x-1", **owned()},
        "spec": spec,
        "status": {"conditions": [{"type": name, "status": "True"} for name in conditions]},
    }


def pod(
    phase: str,
    *,
    terminating: bool = False,
    index: str = "0",
    attempt: str = "1",
    restarts: str = "Never",
    ended: str = "",
) -> Object:
    """The pod of a component; `ended` is when its container did."""
    prefix = "workload.codeflare.dev.appwrapper/"
    labels = {
        prefix + "component": index,
        prefix + "attempt": attempt,
        prefix + "owner-uid": "aw-1",
    }
    metadata: dict[str, Any] = {
        "name": phase.lower(),
        "namespace": "team",
        "uid": phase,
        "labels": labels,
    }
    if terminating:
        metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}
    status: dict[str, Any] = {"phase": phase}
    if ended:
        terminated = {"exitCode": 0, "finishedAt": ended}
        status["containerStatuses"] = [{"name": "main", "state": {"terminated": terminated}}]
    spec = {"nodeName": "n0", "restartPolicy": restarts}
    return {"metadata": metadata, "spec": spec, "status": status}


def appwrapper(
    phase: str, *, suspend: bool = False, meta: Object | None = None, **status: Any
) -> Object:
    conditions = status.pop("conditions", {"ResourcesDeployed": "True", "QuotaReserved": "True"})
    return {
        "metadata": {
            "name": "a",
            "namespace": "team",
            "uid": "aw-1",
            "finalizers": [FINALIZER],
            **(meta or {}),
        },
        "spec": {"suspend": suspend, "components": [{"template": {"metadata": {"name": "x"}}}]},
        "status": {
            "phase": phase,
            "attempt": 1,
            "conditions": [
                {"type": name, "status": value, "reason": "r"} for name, value in conditions.items()
            ],
            "componentStatus": [component().record],
            **status,
        },
    }


def seen(
    aw: Object, *components: Component, pods: tuple[Object, ...] = (), **more: Any
) -> Observation:
    annotations = more.pop("annotations", {})
    parameters = RIGHT.parameters(annotations, OperatorConfig().fault_tolerance)
    return Observation(aw, NOW, NOW, parameters, components, pods, **more)
