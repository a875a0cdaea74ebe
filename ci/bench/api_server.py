"""Measure the simulated API server's time per request, for the requests of runs.

    python ci/bench/api_server.py

Prints microseconds of processor time per request, recording included (the best of several
rounds), each as a ratio to a bare patch of a status, and how the time per request grows with
the number of objects.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

from clusters.simulated.api_server import ApiServer
from clusters.simulated.loop import Loop
from clusters.simulated.recorder import Recorder
from clusters.simulated.store import Store
from conformance.suites.appwrapper.api import APPWRAPPER
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION, JOB, POD
from vocabulary.requests import Create, Delete, Get, List, Patch, Update

ROUNDS = 7
REQUESTS = 400
FEW, MANY = 100, 10_000

Request = Callable[[int], Any]


def new_server() -> ApiServer:
    loop = Loop(1)
    return ApiServer(loop, Store(), Recorder(loop))


def pod(name: str, job: str = "j") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"job-name": job}},
        "spec": {
            "restartPolicy": "Never",
            "containers": [
                {"name": "main", "image": "x:1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
            ],
        },
    }


def job(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"parallelism": 2, "completions": 2, "template": {"spec": pod("x")["spec"]}},
    }


def wrapper(name: str) -> dict[str, Any]:
    return {
        "apiVersion": APPWRAPPER.api_version,
        "kind": "AppWrapper",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"components": [{"template": job("a")}]},
    }


def definition() -> dict[str, Any]:
    """A definition of AppWrappers of a realistic shape."""
    condition = {
        "type": "object",
        "required": ["type", "status"],
        "properties": {
            "type": {"type": "string", "maxLength": 316},
            "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
            "reason": {"type": "string", "minLength": 1},
            "message": {"type": "string"},
            "lastTransitionTime": {"type": "string", "format": "date-time"},
            "observedGeneration": {"type": "integer", "minimum": 0},
        },
    }
    template = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "required": ["components"],
                "properties": {
                    "suspend": {"type": "boolean", "default": False},
                    "components": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "annotations": {
                                    "type": "object",
                                    "additionalProperties": {"type": "string"},
                                },
                                "template": template,
                            },
                        },
                    },
                },
            },
            "status": {
                "type": "object",
                "properties": {
                    "phase": {"type": "string"},
                    "resettingCount": {"type": "integer"},
                    "conditions": {
                        "type": "array",
                        "items": condition,
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["type"],
                    },
                },
            },
        },
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{APPWRAPPER.plural}.{APPWRAPPER.group}"},
        "spec": {
            "group": APPWRAPPER.group,
            "scope": "Namespaced",
            "names": {"plural": APPWRAPPER.plural, "kind": APPWRAPPER.kind},
            "versions": [
                {
                    "name": APPWRAPPER.version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def conditions(n: int) -> list[dict[str, Any]]:
    return [
        {
            "type": type_,
            "status": "True" if n % 2 else "False",
            "reason": "Because",
            "message": f"{n}",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        for type_ in ("QuotaReserved", "ResourcesDeployed", "PodsReady", "Unhealthy")
    ]


def microseconds(prepare: Callable[[], Request]) -> float:
    """The best round's time per request."""
    best = float("inf")
    for _ in range(ROUNDS):
        request = prepare()
        began = time.process_time()
        for n in range(REQUESTS):
            request(n)
        best = min(best, time.process_time() - began)
    return best / REQUESTS * 1e6


def status_patch(*, schema: bool, full: bool = False) -> Callable[[], Request]:
    def prepare() -> Request:
        api = new_server()
        if schema:
            api.handle(Create(CUSTOM_RESOURCE_DEFINITION, definition()), "harness")
        api.handle(Create(APPWRAPPER, wrapper("a")), "user")

        def request(n: int) -> Any:
            status: dict[str, Any] = {"phase": f"phase-{n}"}
            if full:
                status["conditions"] = conditions(n)
            body = {"status": status}
            return api.handle(
                Patch(APPWRAPPER, "default", "a", body, subresource="status"), "operator"
            )

        return request

    return prepare


def status_update() -> Request:
    api = new_server()
    api.handle(Create(CUSTOM_RESOURCE_DEFINITION, definition()), "harness")
    latest = [api.handle(Create(APPWRAPPER, wrapper("a")), "user")]

    def request(n: int) -> Any:
        obj = {**latest[0], "status": {"phase": f"phase-{n}", "conditions": conditions(n)}}
        latest[0] = api.handle(Update(APPWRAPPER, obj, "status"), "operator")

    return request


def no_op_patch() -> Request:
    api = new_server()
    api.handle(Create(APPWRAPPER, wrapper("a")), "user")
    same = Patch(APPWRAPPER, "default", "a", {"spec": {"suspend": True}})
    return lambda n: api.handle(same, "operator")  # noqa: ARG005


def creation(make: Callable[[str], dict[str, Any]], kind: Any) -> Callable[[], Request]:
    def prepare() -> Request:
        api = new_server()
        return lambda n: api.handle(Create(kind, make(f"o{n}")), "user")

    return prepare


def pod_status() -> Request:
    api = new_server()
    api.handle(Create(POD, pod("a")), "user")

    def request(n: int) -> Any:
        body = {"status": {"phase": "Running", "podIP": f"10.0.0.{n}"}}
        return api.handle(Patch(POD, "default", "a", body, "merge", "status"), "kubelet/n")

    return request


def pod_life() -> Request:
    """Create, bind, stop, remove: four requests."""
    api = new_server()
    binding = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n"}}

    def request(n: int) -> Any:  # noqa: ARG001
        api.handle(Create(POD, pod("a")), "job-controller")
        api.handle(Create(POD, binding, "default", "a", "binding"), "scheduler")
        api.handle(Delete(POD, "default", "a"), "job-controller")
        api.handle(Delete(POD, "default", "a", grace_period_seconds=0), "kubelet/n")

    return request


def get() -> Request:
    api = new_server()
    api.handle(Create(POD, pod("a")), "user")
    wanted = Get(POD, "default", "a", live=True)
    return lambda n: api.handle(wanted, "operator")  # noqa: ARG005


def at_size(pods: int, kind: str) -> Callable[[], Request]:
    """Requests about one of so many pods, two of which carry each label."""
    api = new_server()
    for n in range(pods):
        api.handle(Create(POD, pod(f"p{n}", f"j{n // 2}")), "user")
    numbers = itertools.count()

    def patch(n: int) -> Any:
        body = {"status": {"podIP": f"{next(numbers)}"}}
        return api.handle(Patch(POD, "default", f"p{n % pods}", body, "merge", "status"), "k")

    def select(n: int) -> Any:
        chosen = api.handle(List(POD, "default", f"job-name=j{n % (pods // 2)}"), "operator")
        assert len(chosen.items) == 2

    return lambda: patch if kind == "patch" else select


def start() -> float:
    """Milliseconds for a server with a definition, its schema compiled before."""
    best = float("inf")
    for _ in range(20):
        began = time.process_time()
        new_server().handle(Create(CUSTOM_RESOURCE_DEFINITION, definition()), "harness")
        best = min(best, time.process_time() - began)
    return best * 1e3


def main() -> None:
    bare = microseconds(status_patch(schema=False))
    for name, prepare in (
        ("status patch, no schema", status_patch(schema=False)),
        ("status patch, schema", status_patch(schema=True)),
        ("status patch, schema, four conditions", status_patch(schema=True, full=True)),
        ("status update, schema, four conditions", status_update),
        ("patch that changes nothing", no_op_patch),
        ("pod status patch", pod_status),
        ("create a pod", creation(pod, POD)),
        ("create a Job", creation(job, JOB)),
        ("a pod's life, four requests", pod_life),
        ("get", get),
    ):
        taken = microseconds(prepare)
        print(f"{name:42} {taken:8.1f} µs {taken / bare:6.2f} ×")
    for kind in ("patch", "select"):
        few, many = (microseconds(at_size(pods, kind)) for pods in (FEW, MANY))
        print(f"{kind} one of {MANY:,} pods {' ' * 20} {many:8.1f} µs {many / few:6.2f} × of {FEW}")
    print(f"{'start with one definition':42} {start():8.2f} ms")


if __name__ == "__main__":
    main()
