"""A ground in memory: just enough of a cluster to inject every fault and to see what it left."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from chaos.connection_rules import ConnectionRules
from chaos.ground import FaultRefusedError, ProcessState
from conformance.suites.appwrapper.api import APPWRAPPER
from vocabulary.clock import Micros
from vocabulary.errors import ApiError, already_exists, conflict, not_found
from vocabulary.kinds import kind_of
from vocabulary.objects import (
    Object,
    finalizers_of,
    is_terminating,
    labels_of,
    meta,
    name_of,
    namespace_of,
    uid_of,
    with_path,
)
from vocabulary.requests import (
    Create,
    Delete,
    Get,
    List,
    ObjectList,
    Patch,
    Request,
    Write,
)
from vocabulary.selectors import parse_selector

NAMESPACE = "test"
ROLES = ("operator",)
PROCESSES = ("operator", "job-controller", "scheduler", "kubelet/n0", "kubelet/n1")


class FakeProcesses:
    """Processes as a table of states; a restart comes when `tick` is called."""

    def __init__(self) -> None:
        self.states: dict[str, ProcessState] = dict.fromkeys(PROCESSES, "running")
        self.states["operator/1"] = "down"

    def state(self, name: str) -> ProcessState:
        if name not in self.states:
            raise FaultRefusedError(f"there is no process {name}")
        return self.states[name]

    def kill(
        self, name: str, *, graceful: bool = False, restart_after_us: Micros | None = None
    ) -> None:
        if self.state(name) in ("down", "restarting"):
            return
        self.states[name] = "down" if restart_after_us is None else "restarting"

    def start(self, name: str) -> None:
        self.state(name)
        self.states[name] = "running"

    def pause(self, name: str) -> None:
        if self.state(name) == "running":
            self.states[name] = "paused"

    def resume(self, name: str) -> None:
        if self.state(name) == "paused":
            self.states[name] = "running"

    def tick(self) -> None:
        """All restarts that were promised come."""
        for name, state in self.states.items():
            if state == "restarting":
                self.states[name] = "running"


class FakeGround:
    """Implements `chaos.ground.Ground` on a dict of objects."""

    namespace = NAMESPACE
    roles = ROLES

    def __init__(self, *objects: Object, seed: int = 0) -> None:
        self.processes = FakeProcesses()
        self.connection = ConnectionRules()
        self.now_us = 0
        self.calls: list[tuple[str, Request]] = []
        self.failing: ApiError | None = None
        self.on_write: Any = None
        self._objects: dict[tuple[str, str], Object] = {}
        self._revision = 0
        self._seed = seed
        self._streams: dict[str, random.Random] = {}
        for obj in objects:
            self.put(obj)

    def concerned(self, kind: str) -> Sequence[str]:
        del kind
        return self.roles

    def elapsed_us(self) -> Micros:
        return self.now_us

    def rng(self, name: str) -> random.Random:
        return self._streams.setdefault(name, random.Random(f"{self._seed}/{name}"))

    def put(self, obj: Object) -> Object:
        """Store an object as it is, with the next resourceVersion and a uid of its own."""
        self._revision += 1
        metadata = {**meta(obj), "resourceVersion": str(self._revision)}
        metadata.setdefault("uid", f"uid-{self._revision}")
        stored = {**obj, "metadata": metadata}
        self._objects[str(kind_of(obj)), name_of(obj)] = stored
        return stored

    def get(self, kind: str, name: str) -> Object | None:
        return self._objects.get((kind, name))

    def world(self) -> dict[str, Any]:
        """All that a fault could have changed: objects (without versions), processes, rules."""
        objects = {}
        for key, obj in sorted(self._objects.items()):
            metadata = {k: v for k, v in meta(obj).items() if k not in ("resourceVersion", "uid")}
            objects["/".join(key)] = _without_empty({**obj, "metadata": metadata})
        return {
            "objects": objects,
            "processes": dict(self.processes.states),
            "rules": self.connection.rules,
        }

    def call(self, request: Request, actor: str = "chaos") -> Any:
        self.calls.append((actor, request))
        if isinstance(request, Get):
            return self._require(request)
        if isinstance(request, List):
            selects = parse_selector(request.label_selector)
            kind = str(request.kind)
            items = [
                obj
                for (of, _), obj in self._objects.items()
                if of == kind
                and selects(labels_of(obj))
                and (not request.namespace or namespace_of(obj) == request.namespace)
            ]
            return ObjectList(tuple(reversed(items)), str(self._revision))
        if self.failing is not None:
            raise self.failing
        answer = self._write(request)
        if self.on_write is not None:
            self.on_write(request, actor)
        return answer

    def _write(self, request: Write) -> Any:
        if isinstance(request, Create):
            if request.subresource == "eviction":
                return self._delete(Delete(request.kind, request.namespace, request.name))
            if (str(request.kind), request.name) in self._objects:
                raise already_exists(request.kind, request.name)
            return self.put(request.object)
        if isinstance(request, Delete):
            return self._delete(request)
        assert isinstance(request, Patch)
        return self._patch(request)

    def _patch(self, request: Patch) -> Object:
        old = self._require(request)
        wanted = request.body.get("metadata", {}).get("resourceVersion")
        if wanted not in (None, meta(old)["resourceVersion"]):
            raise conflict(request.kind, request.name, "the object has been modified")
        merged = _merge(old, request.body)
        if request.subresource == "status":
            merged = {**old, "status": merged.get("status", {})}
        elif "status" in old:
            merged["status"] = old["status"]
        if is_terminating(merged) and not finalizers_of(merged):
            del self._objects[str(request.kind), request.name]
            return merged
        return self.put(merged)

    def _delete(self, request: Delete) -> Object:
        old = self._require(request)
        if finalizers_of(old):
            return self.put(with_path(old, "metadata.deletionTimestamp", "2026-01-01T00:00:00Z"))
        del self._objects[str(request.kind), request.name]
        return old

    def _require(self, request: Get | Patch | Delete) -> Object:
        found = self._objects.get((str(request.kind), request.name))
        if found is None or namespace_of(found) != request.namespace:
            raise not_found(request.kind, request.name)
        return found


def node(name: str, **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }


def owner(api_version: str, kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "name": name, "controller": True}


def pod(
    name: str,
    *,
    on: str = "n0",
    appwrapper: str = "a",
    phase: str = "Running",
    by: Mapping[str, Any] | None = None,
) -> Any:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {"workload.codeflare.dev/appwrapper": appwrapper},
            "ownerReferences": [by or owner("batch/v1", "Job", "job-a")],
        },
        "spec": {"nodeName": on},
        "status": {"phase": phase},
    }


def job(name: str = "job-a", appwrapper: str = "a") -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {"team": "x"},
            "annotations": {"note": "y"},
            "ownerReferences": [owner(APPWRAPPER.api_version, "AppWrapper", appwrapper)],
        },
        "spec": {"parallelism": 2},
        "status": {"active": 2},
    }


def appwrapper(name: str = "a") -> dict[str, Any]:
    return {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "finalizers": ["workload.codeflare.dev/finalizer"],
        },
        "spec": {"suspend": False, "components": []},
        "status": {"phase": "Running"},
    }


def small_cluster(seed: int = 0) -> FakeGround:
    """Two nodes, one AppWrapper with a Job and three pods."""
    return FakeGround(
        node("n0", zone="x"),
        node("n1"),
        appwrapper(),
        lease(),
        job(),
        pod("a-0"),
        pod("a-1", on="n1"),
        pod("a-2", on="n1", phase="Pending"),
        seed=seed,
    )


def lease() -> dict[str, Any]:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "leader", "namespace": NAMESPACE},
        "spec": {"holderIdentity": "operator", "leaseDurationSeconds": 15},
    }


def uid(ground: FakeGround, kind: str, name: str) -> str:
    found = ground.get(kind, name)
    assert found is not None
    return uid_of(found)


def _merge(target: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge(merged.get(key), value)
    return merged


def _without_empty(value: Any) -> Any:
    """Empty maps left out, as the API server's JSON leaves them out."""
    if not isinstance(value, Mapping):
        return value
    kept = {key: _without_empty(each) for key, each in value.items()}
    return {key: each for key, each in kept.items() if each != {}}
