"""A trivial driver: one operator on a simulated cluster, with faults that tests ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml

from conformance.suites.appwrapper.api import APPWRAPPER
from fixtures.behaviour import expand
from fixtures.simulated.cluster import NodeSpec, SimulatedCluster
from fixtures.simulated.store import Change
from reference_controller.appwrapper import OperatorConfig, Rules, controller
from reference_controller.runtime.operator import Operator, Pending
from vocabulary import requests as rq
from vocabulary.clock import MILLISECOND, SECOND, Micros
from vocabulary.errors import ApiError, no_answer
from vocabulary.kinds import EVENT, POD, Kind
from vocabulary.objects import Object, condition_status, labels_of, name_of

NAMESPACE = "team"
AW_LABEL = "workload.codeflare.dev/appwrapper"
PREFIX = "workload.codeflare.dev.appwrapper/"


@lru_cache(maxsize=1)
def crd() -> Object:
    text = files("reference_controller.appwrapper").joinpath("manifests/crd.yaml").read_text()
    loaded: Object = yaml.safe_load(text)
    return loaded


Spoil = Callable[[rq.Request, int], ApiError | None]
"""(request, its number) → the error to answer instead, or None."""


class World:
    """A cluster, and one operator process that can be killed and started again."""

    def __init__(
        self,
        *,
        seed: int = 1,
        config: Mapping[str, Any] | None = None,
        rules: Rules | None = None,
        nodes: int | Iterable[NodeSpec] = 3,
        gpus: int = 0,
        cache_lag_us: Micros = 5 * MILLISECOND,
        latency_us: Micros = 1 * MILLISECOND,
    ) -> None:
        self.cluster = SimulatedCluster(
            seed, nodes=nodes, gpus=gpus, crds=[crd()], namespaces=[NAMESPACE]
        )
        self.loop = self.cluster.loop
        self.config = OperatorConfig.from_data(config or {})
        self.rules = rules or Rules()
        self.cache_lag_us = cache_lag_us
        self.latency_us = latency_us
        self.spoil: Spoil = lambda request, number: None
        self.lose_reply_of: set[int] = set()
        self.crash_before: set[int] = set()
        self.crash_after: set[int] = set()
        self.requests: list[rq.Request] = []
        self.crashes: list[Exception] = []
        self.user = self.cluster.client("user")
        self._client = self.cluster.client("operator")
        self._incarnation = 0
        self._wake: Any = None
        self._stop_watch: Callable[[], None] = lambda: None
        self.operator: Operator | None = None
        self.start()

    # the process

    def start(self) -> None:
        self._incarnation += 1
        made = controller(self.config, self.rules, lambda: self.loop.now_us)
        self.controller = made
        self.operator = Operator((made,))
        kinds = {str(kind): kind for kind in made.watches}
        for kind in made.watches:
            try:
                listed = self._client(rq.List(kind)).items
            except ApiError:
                listed = ()
            self.operator.replace(kind, listed, self.loop.now_us)
        incarnation = self._incarnation

        def heard(change: Change) -> None:
            kind = kinds[change.key.kind]
            self.loop.call_later(self.cache_lag_us, self._deliver, incarnation, kind, change)

        self._stop_watch = self.cluster.store.watch(heard, frozenset(kinds))
        self.loop.call_later(0, self._poll, incarnation)

    def kill(self, restart_after_us: Micros | None = 1 * SECOND) -> None:
        self._incarnation += 1
        self._stop_watch()
        if self.operator is not None:
            self.crashes.extend(self.operator.crashes)
        self.operator = None
        if restart_after_us is not None:
            self.loop.call_later(restart_after_us, self.start)

    def _deliver(self, incarnation: int, kind: Kind, change: Change) -> None:
        if incarnation == self._incarnation and self.operator is not None:
            self.operator.deliver(kind, change.event, change.object, self.loop.now_us)
            self._poll(incarnation)

    def _poll(self, incarnation: int) -> None:
        if incarnation != self._incarnation or self.operator is None:
            return
        while (pending := self.operator.poll(self.loop.now_us)) is not None:
            self.loop.call_later(self.latency_us, self._send, incarnation, pending)
        if self._wake is not None:
            self._wake.cancel()
        at_us = self.operator.wake_at_us()
        is_ahead = at_us is not None and at_us > self.loop.now_us  # else a reply will poll again
        self._wake = self.loop.call_at(at_us or 0, self._poll, incarnation) if is_ahead else None

    def _send(self, incarnation: int, pending: Pending) -> None:
        if incarnation != self._incarnation or self.operator is None:
            return
        number = len(self.requests)
        self.requests.append(pending.request)
        if number in self.crash_before:
            self.kill()
            return
        reply: Any = self.spoil(pending.request, number)
        if reply is None:
            try:
                reply = self._client(pending.request)
            except ApiError as error:
                reply = error
        if number in self.crash_after:
            self.kill()
            return
        if number in self.lose_reply_of:
            reply = no_answer("the reply was lost")
        self.operator.answer(pending.ticket, reply, self.loop.now_us)
        self._poll(incarnation)

    # what tests ask

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
        namespace = NAMESPACE if kind.namespaced else ""
        self.user(rq.Patch(kind, namespace, name, body))

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

    def get(self, kind: Kind, name: str) -> Object | None:
        try:
            found: Object = self.user(rq.Get(kind, NAMESPACE, name))
        except ApiError:
            return None
        return found

    def events(self) -> list[str]:
        return [event["message"] for event in self.user(rq.List(EVENT, NAMESPACE)).items]

    def exit_pods(self, code: int, name: str = "a") -> None:
        for pod in self.pods(name):
            patch = {"metadata": {"annotations": {"assay.dev/exit": str(code)}}}
            self.patch(patch, name_of(pod), POD)

    def until(self, done: Callable[[], bool], within_us: Micros = 3600 * SECOND) -> bool:
        reached = self.loop.run_until(done, self.loop.now_us + within_us)
        if self.operator is not None and self.operator.crashes:
            raise self.operator.crashes[0]
        if self.crashes:
            raise self.crashes[0]
        return reached

    def until_phase(self, phase: str, within_us: Micros = 3600 * SECOND, name: str = "a") -> Micros:
        """Let time pass until the phase is reached; when that was, since the run began."""
        reached = self.until(lambda: self.status("phase", name) == phase, within_us)
        assert reached, f"not {phase} but {self.aw(name)}"
        return self.loop.elapsed_us

    def run_for(self, span_us: Micros) -> None:
        self.loop.run_for(span_us)

    def phases(self, name: str = "a") -> list[str]:
        """The phases that the AppWrapper went through, in order."""
        seen: list[str] = []
        for change in self.cluster.store.changes:
            if change.key.kind == str(APPWRAPPER) and change.key.name == name:
                phase = (change.object.get("status") or {}).get("phase", "")
                if not seen or seen[-1] != phase:
                    seen.append(phase)
        return seen

    def snapshots(self, kind: Kind, name: str) -> list[Change]:
        return [
            change
            for change in self.cluster.store.changes
            if change.key.kind == str(kind) and change.key.name == name
        ]


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
