"""A simulated cluster and short words for what these tests do to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusters.behaviour import expand, with_time_to_stop
from clusters.simulated.cluster import NodeSpec, SimulatedCluster
from conformance.manifests.pod_templates import map_pods
from vocabulary import history
from vocabulary.clock import SECOND, Micros
from vocabulary.kinds import JOB, NODE, POD, Kind, kind_of
from vocabulary.objects import (
    Object,
    condition,
    condition_status,
    get_path,
    is_terminating,
    name_of,
)
from vocabulary.requests import Create, Delete, Patch, Update

DEFAULT = "default"


class Lab:
    """One cluster; namespace `default` unless said otherwise."""

    def __init__(self, seed: int = 1, **options: Any) -> None:
        options.setdefault("nodes", 2)
        self.cluster = SimulatedCluster(seed, **options)
        self.loop = self.cluster.loop
        self.processes = self.cluster.processes

    def handle(self, request: Any, actor: str = "user") -> Any:
        return self.cluster.api.handle(request, actor)

    def create(self, obj: Object, actor: str = "user") -> Any:
        """Its pods get the time to stop that they need, as those of scenarios do."""
        kind, played = kind_of(obj), map_pods(expand(obj), with_time_to_stop)
        namespace = DEFAULT if kind.namespaced else ""
        return self.handle(Create(kind, played, namespace, name_of(obj)), actor)

    def patch(self, kind: Kind, name: str, body: Any, **options: Any) -> Any:
        namespace = DEFAULT if kind.namespaced else ""
        return self.handle(Patch(kind, namespace, name, body, **options))

    def annotate(self, pod: str, annotations: Mapping[str, str | None]) -> None:
        self.patch(POD, pod, {"metadata": {"annotations": dict(annotations)}})

    def delete(self, kind: Kind, name: str, **options: Any) -> Any:
        namespace = DEFAULT if kind.namespaced else ""
        return self.handle(Delete(kind, namespace, name, **options))

    def taint(self, node: str, *taints: Object) -> None:
        self.patch(NODE, node, {"spec": {"taints": list(taints) or None}})

    def set_status(self, obj: Object, status: Object) -> Any:
        return self.handle(Update(kind_of(obj), {**obj, "status": status}, subresource="status"))

    def run(self, seconds: float) -> None:
        self.loop.run_for(round(seconds * SECOND))

    def until(self, done: Any, within_seconds: float = 3600) -> Micros:
        """Run until something holds; the virtual time of it, in µs since the run began."""
        deadline_us = self.loop.now_us + round(within_seconds * SECOND)
        assert self.loop.run_until(done, deadline_us), "did not come true in time"
        return self.loop.elapsed_us

    def get(self, kind: Kind, name: str) -> Any:
        namespace = DEFAULT if kind.namespaced else ""
        return self.cluster.informers.get(kind, namespace, name)

    def all(self, kind: Kind) -> list[Any]:
        return list(self.cluster.informers.all_of(kind))

    @property
    def pods(self) -> list[Any]:
        return self.all(POD)

    def pod(self, name: str = "p") -> Any:
        found = self.get(POD, name)
        assert found is not None, f"there is no pod {name}"
        return found

    def phase(self, name: str = "p") -> str:
        return str(get_path(self.pod(name), "status.phase"))

    def job(self, name: str = "j") -> Any:
        return self.get(JOB, name)

    def job_status(self, name: str = "j") -> Any:
        return self.job(name).get("status") or {}

    def conditions(self, obj: Object) -> dict[str, tuple[str, str]]:
        """Status and reason by type."""
        return {
            entry["type"]: (entry["status"], entry.get("reason", ""))
            for entry in get_path(obj, "status.conditions") or ()
        }

    def writes(self, kind: Kind | None = None, **fields: Any) -> list[history.Write]:
        """The recorded entries, filtered by kind and by fields."""
        return [
            entry
            for entry in self.cluster.recorder.entries
            if isinstance(entry, history.Write)
            and (kind is None or entry.kind == str(kind))
            and all(getattr(entry, name) == value for name, value in fields.items())
        ]

    def events(self, kind: Kind, name: str) -> list[str]:
        """An object as seen by watches: event, phase, and whether it was being deleted."""
        seen = []
        for entry in self.writes(kind, name=name):
            if entry.event and entry.object is not None:
                phase = get_path(entry.object, "status.phase", "")
                mark = " terminating" if is_terminating(entry.object) else ""
                seen.append(f"{entry.event} {phase}{mark}")
        return seen


def pod(name: str = "p", behaviour: str = "", **spec: Any) -> dict[str, Any]:
    """A pod that restarts never, with one container."""
    metadata: dict[str, Any] = {"name": name, "namespace": DEFAULT}
    if behaviour:
        metadata["annotations"] = {"assay.dev/behaviour": behaviour}
    containers = [{"name": "main", "image": "busybox"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"restartPolicy": "Never", "containers": containers, **spec},
    }


def job(
    name: str = "j",
    behaviour: str = "",
    pods: int = 1,
    template: Mapping[str, Any] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """A Job of so many pods; `template` overrides fields of the pods' spec."""
    annotations = {"assay.dev/behaviour": behaviour} if behaviour else {}
    pod_spec = {
        "restartPolicy": "Never",
        "containers": [{"name": "main", "image": "busybox"}],
        **(template or {}),
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": DEFAULT},
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "template": {"metadata": {"annotations": annotations}, "spec": pod_spec},
            **spec,
        },
    }


def requests(**quantities: str) -> dict[str, Any]:
    """A container list that asks for resources: `requests(cpu="1")`."""
    wanted = {name.replace("_", "/"): value for name, value in quantities.items()}
    container = {"name": "main", "image": "busybox", "resources": {"requests": wanted}}
    return {"containers": [container]}


__all__ = [
    "DEFAULT",
    "Lab",
    "NodeSpec",
    "condition",
    "condition_status",
    "job",
    "pod",
    "requests",
]
