"""Requests of a test in its own namespace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clusters.control_plane import Api, ControlPlane, users, wait_until

LIMIT_SECONDS = 30.0


class Namespace:
    """A namespace of a test's own, and what the tests ask of it."""

    def __init__(self, plane: ControlPlane, name: str) -> None:
        self.name = name
        self.path = f"/api/v1/namespaces/{name}"
        self.api: Api = plane.api(users.SCENARIO_USER)
        self.chaos: Api = plane.api(users.CHAOS)

    def pod(
        self,
        name: str,
        annotations: dict[str, str] | None = None,
        *,
        node: str | None = None,
        **spec: Any,
    ) -> dict[str, Any]:
        """Creates a pod with one container; `spec` adds to its spec."""
        pod_spec: dict[str, Any] = {
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "example.org/main"}],
            **spec,
        }
        if node is not None:
            pod_spec["nodeSelector"] = {"kubernetes.io/hostname": node}
        return self.api.post(
            f"{self.path}/pods",
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "annotations": annotations or {}},
                "spec": pod_spec,
            },
        )

    def get(self, name: str) -> dict[str, Any]:
        return self.api.get(f"{self.path}/pods/{name}")

    def annotate(self, name: str, **annotations: str | None) -> None:
        """Patches annotations below assay.dev/; None removes one, _ stands for -."""
        patch = {f"assay.dev/{key.replace('_', '-')}": value for key, value in annotations.items()}
        self.chaos.patch(f"{self.path}/pods/{name}", {"metadata": {"annotations": patch}})

    def until(
        self, name: str, holds: Callable[[dict[str, Any]], bool], what: str
    ) -> dict[str, Any]:
        """Waits until the pod satisfies `holds`, and returns it."""
        last: dict[str, Any] = {}

        def check() -> bool:
            last.update(self.get(name))
            return holds(last)

        wait_until(check, f"{name} {what}", limit_seconds=LIMIT_SECONDS)
        return last

    def until_phase(self, name: str, phase: str) -> dict[str, Any]:
        return self.until(name, lambda pod: phase_of(pod) == phase, f"is {phase}")

    def until_gone(self, name: str) -> None:
        wait_until(
            lambda: not self.api.exists(f"{self.path}/pods/{name}"),
            f"{name} is gone",
            limit_seconds=LIMIT_SECONDS,
        )


def phase_of(pod: dict[str, Any]) -> str:
    return str(pod["status"].get("phase"))


def condition_of(pod: dict[str, Any], kind: str) -> dict[str, Any]:
    """The condition of that type, empty while there is none."""
    conditions = pod["status"].get("conditions", [])
    return next((condition for condition in conditions if condition["type"] == kind), {})


def is_ready(pod: dict[str, Any]) -> bool:
    return condition_of(pod, "Ready").get("status") == "True"
