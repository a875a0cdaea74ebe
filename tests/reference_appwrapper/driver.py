"""One AppWrapper operator on a simulated cluster, with faults that tests ask for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml

from clusters.behaviour import expand
from conformance.suites.appwrapper.api import APPWRAPPER
from reference_controller.appwrapper import (
    AppWrapperController,
    OperatorConfig,
    Rules,
    controller,
)
from tests.operator_world import NAMESPACE, OperatorWorld
from vocabulary import requests as rq
from vocabulary.clock import SECOND, Micros
from vocabulary.errors import ApiError
from vocabulary.kinds import POD, Kind
from vocabulary.objects import Object, condition_status, labels_of, name_of

__all__ = ["NAMESPACE", "World", "config_map", "crd", "job", "pod", "service"]

AW_LABEL = "workload.codeflare.dev/appwrapper"
PREFIX = "workload.codeflare.dev.appwrapper/"


@lru_cache(maxsize=1)
def crd() -> Object:
    text = files("reference_controller.appwrapper").joinpath("manifests/crd.yaml").read_text()
    loaded: Object = yaml.safe_load(text)
    return loaded


class World(OperatorWorld):
    """A cluster, and one AppWrapper operator process."""

    controller: AppWrapperController

    def __init__(
        self, *, config: Mapping[str, Any] | None = None, rules: Rules | None = None, **more: Any
    ) -> None:
        self.config = OperatorConfig.from_data(config or {})
        self.rules = rules or Rules()
        super().__init__(crd(), **more)

    def controllers_of_process(self) -> tuple[AppWrapperController]:
        self.controller = controller(self.config, self.rules, lambda: self.loop.now_us)
        return (self.controller,)

    def submit(self, *components: Object, name: str = "a", **more: Any) -> None:
        annotations = {PREFIX + key: value for key, value in more.pop("annotations", {}).items()}
        aw = {
            "apiVersion": "workload.codeflare.dev/v1beta2",
            "kind": "AppWrapper",
            "metadata": {"name": name, "namespace": NAMESPACE, "annotations": annotations},
            "spec": {
                "suspend": False,
                "components": [
                    entry if "template" in entry else {"template": entry} for entry in components
                ],
                **more,
            },
        }
        self.user(rq.create(aw))

    def patch(self, body: Object, name: str = "a", kind: Kind = APPWRAPPER) -> None:
        self.patch_object(kind, name, body)

    def suspend(self, suspend: bool = True) -> None:
        self.patch({"spec": {"suspend": suspend}})

    def aw(self, name: str = "a") -> Object | None:
        try:
            found: Object = self.user(rq.Get(APPWRAPPER, NAMESPACE, name))
        except ApiError:
            return None
        return found

    def status(self, path: str = "phase", name: str = "a") -> Any:
        aw = self.aw(name)
        return None if aw is None else (aw.get("status") or {}).get(path)

    def condition(self, type_: str, name: str = "a") -> str:
        aw = self.aw(name)
        return "" if aw is None else condition_status(aw, type_)

    def pods(self, name: str = "a") -> list[Object]:
        pods = self.user(rq.List(POD, NAMESPACE)).items
        return [pod for pod in pods if labels_of(pod).get(AW_LABEL) == name]

    def exit_pods(self, code: int, name: str = "a") -> None:
        for pod in self.pods(name):
            patch = {"metadata": {"annotations": {"assay.dev/exit": str(code)}}}
            self.patch(patch, name_of(pod), POD)

    def until_phase(self, phase: str, within_us: Micros = 3600 * SECOND, name: str = "a") -> Micros:
        """Let time pass until the phase is reached; when that was, since the run began."""
        reached = self.until(lambda: self.status("phase", name) == phase, within_us)
        assert reached, f"not {phase} but {self.aw(name)}"
        return self.loop.elapsed_us

    def phases(self, name: str = "a") -> list[str]:
        """The phases that the AppWrapper went through, in order."""
        seen: list[str] = []
        for change in self.cluster.store.changes:
            if change.key.kind == str(APPWRAPPER) and change.key.name == name:
                phase = (change.object.get("status") or {}).get("phase", "")
                if not seen or seen[-1] != phase:
                    seen.append(phase)
        return seen


def pod(name: str = "p", behaviour: str = "", **spec: Any) -> dict[str, Any]:
    """A bare pod with one container, with the annotated behaviour."""
    annotations = {"assay.dev/behaviour": behaviour} if behaviour else {}
    container = {"name": "main", "image": "registry.invalid/main"}
    if "resources" in spec:
        container = {**container, "resources": spec.pop("resources")}
    return dict(
        expand(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "annotations": annotations},
                "spec": {"restartPolicy": "Never", "containers": [container], **spec},
            }
        )
    )


def job(name: str = "j", behaviour: str = "", pods: int = 1, **spec: Any) -> dict[str, Any]:
    template = pod("unused", behaviour)
    template = {
        "metadata": {"annotations": template["metadata"].get("annotations", {})},
        "spec": template["spec"],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"parallelism": pods, "completions": pods, "template": template, **spec},
    }


def config_map(name: str = "c") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "v"}}


def service(name: str = "s") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}]},
    }
