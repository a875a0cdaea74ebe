"""A history made by hand: an AppWrapper that fails, resets, and releases its quota too early.

It has what a real one has (operator crashes, taints, refused requests, folded waits), so that
the renderings can be looked at and tested before, and apart from, any run.
"""

from __future__ import annotations

from typing import Any

from conformance.norm.verdict import Violation
from tests.headers import header_of
from vocabulary.clock import MILLISECOND, SIMULATION_EPOCH_US, to_rfc3339
from vocabulary.history import Entry, Fault, Header, Mark, Process, Write

SEED = 1729
SCENARIO = "appwrapper/quota-release/slow-pods-hold-their-quota"


class Scribe:
    """Writes a history down, entry by entry."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.t = 0
        self._rv = 100
        self._objects: dict[tuple[str, str], dict[str, Any]] = {}
        self._uids = 0

    def wait(self, milliseconds: float) -> None:
        self.t += round(milliseconds * MILLISECOND)

    def write(self, actor: str, verb: str, kind: str, name: str, **more: Any) -> int:
        """Append a Write; `object` with `event` becomes the stored state."""
        self.wait(0.4)
        event = more.get("event", "")
        key = (kind, name)
        obj = more.pop("object", None)
        if event:
            self._rv += 1
            if event == "ADDED":
                self._uids += 1
                obj = self._with_meta(obj, f"uid-{self._uids:04}")
            elif obj is None:
                obj = self._objects[key]
            obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self._rv)}}
            more["rv"] = self._rv
            more["uid"] = obj["metadata"]["uid"]
            self._objects[key] = obj
            if event == "DELETED":
                del self._objects[key]
        entry = Write(
            n=len(self.entries),
            t=self.t,
            actor=actor,
            verb=verb,
            kind=kind,
            namespace="" if kind == "Node" else "lab",
            name=name,
            object=obj,
            **more,
        )
        self.entries.append(entry)
        return entry.n

    def _with_meta(self, obj: dict[str, Any], uid: str) -> dict[str, Any]:
        created = to_rfc3339(SIMULATION_EPOCH_US + self.t)
        return {**obj, "metadata": {**obj["metadata"], "uid": uid, "creationTimestamp": created}}

    def change(self, actor: str, kind: str, name: str, **parts: Any) -> int:
        """A status update; `metadata` and `spec` may be given whole as well."""
        obj = {**self._objects[kind, name]}
        for key, value in parts.items():
            obj[key] = {**obj.get(key, {}), **value}
        subresource = "status" if set(parts) == {"status"} else ""
        return self.write(
            actor, "update", kind, name, event="MODIFIED", object=obj, subresource=subresource
        )

    def uid(self, kind: str, name: str) -> str:
        return str(self._objects[kind, name]["metadata"]["uid"])

    def add(self, entry_type: Any, **fields: Any) -> int:
        self.wait(0.2)
        self.entries.append(entry_type(n=len(self.entries), t=self.t, **fields))
        return len(self.entries) - 1


def _conditions(scribe: Scribe, **statuses: str) -> list[dict[str, str]]:
    at = to_rfc3339(SIMULATION_EPOCH_US + scribe.t)
    return [
        {"type": type_, "status": status, "reason": "Sample", "lastTransitionTime": at}
        for type_, status in statuses.items()
    ]


AW = "AppWrapper.workload.codeflare.dev"


def quota_released_too_early(pods: int = 3) -> tuple[Header, list[Entry], Violation]:
    """The history, and the contradiction in it."""
    s = Scribe()
    for node in ("n0", "n1"):
        s.write(
            "harness",
            "create",
            "Node",
            node,
            event="ADDED",
            code=201,
            object={
                "metadata": {"name": node, "labels": {"assay.dev/run": "sample"}},
                "spec": {},
                "status": {"conditions": [{"type": "Ready", "status": "True"}]},
            },
        )
    s.add(Process, process="appwrapper", change="started")
    s.add(Process, process="appwrapper", change="leading")
    s.wait(30)
    s.write("user", "create", AW, "a", event="ADDED", code=201, object=_appwrapper())
    s.add(Mark, mark="step", text="submitted slow_pods.yaml")
    _phase(s, "Suspended", QuotaReserved="False", ResourcesDeployed="False")
    attempt = 0
    while attempt < 2:
        _run_attempt(s, attempt, pods)
        if attempt == 0:
            _fail_and_reset(s, pods)
        attempt += 1
    return header(), s.entries, _fail_for_good(s, pods)


def _appwrapper() -> dict[str, Any]:
    return {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {
            "name": "a",
            "namespace": "lab",
            "annotations": {"workload.codeflare.dev.appwrapper/retryLimit": "1"},
            "finalizers": ["workload.codeflare.dev/finalizer"],
        },
        "spec": {"suspend": False, "components": [{"template": {"kind": "Job"}}]},
        "status": {},
    }


def _phase(s: Scribe, phase: str, resets: int = 0, **conditions: str) -> int:
    status: dict[str, Any] = {"phase": phase, "conditions": _conditions(s, **conditions)}
    if resets:
        status["resettingCount"] = resets
    return s.change("appwrapper", AW, "a", status=status)


def _run_attempt(s: Scribe, attempt: int, pods: int) -> None:
    up = {"QuotaReserved": "True", "ResourcesDeployed": "True"}
    _phase(s, "Resuming", attempt, **up, PodsReady="False", Unhealthy="False")
    s.wait(3)
    owner = {"kind": "AppWrapper", "name": "a", "uid": s.uid(AW, "a"), "controller": True}
    s.write(
        "appwrapper",
        "create",
        "Job.batch",
        "a-job",
        event="ADDED",
        code=201,
        object={
            "metadata": {"name": "a-job", "namespace": "lab", "ownerReferences": [owner]},
            "spec": {"parallelism": pods},
            "status": {},
        },
    )
    if attempt == 0:
        s.write("appwrapper", "update", AW, "a", code=409, reason="Conflict", subresource="status")
        s.wait(8)
    _phase(s, "Running", attempt, **up, PodsReady="False", Unhealthy="False")
    for index in range(pods):
        s.wait(2)
        s.write(
            "job-controller",
            "create",
            "Pod",
            _pod(attempt, index),
            event="ADDED",
            code=201,
            object={
                "metadata": {
                    "name": _pod(attempt, index),
                    "namespace": "lab",
                    "labels": {"workload.codeflare.dev/appwrapper": "a"},
                    "ownerReferences": [{"kind": "Job", "uid": s.uid("Job.batch", "a-job")}],
                },
                "spec": {"terminationGracePeriodSeconds": 60},
                "status": {"phase": "Pending"},
            },
        )
    for index in range(pods):
        s.wait(12)
        node = f"n{index % 2}"
        s.change("scheduler", "Pod", _pod(attempt, index), spec={"nodeName": node})
        s.wait(340)
        s.change(f"kubelet/{node}", "Pod", _pod(attempt, index), status={"phase": "Running"})
    _phase(s, "Running", attempt, **up, PodsReady="True", Unhealthy="False")
    s.wait(42_000)


def _pod(attempt: int, index: int) -> str:
    return f"a-job-{'xq' if attempt == 0 else 'zt'}{index}"


def _fail_and_reset(s: Scribe, pods: int) -> None:
    s.add(
        Fault,
        action="injected",
        fault={"kill_pod": {"pod": _pod(0, 0), "exit_code": 1}},
        text=f"kill pod {_pod(0, 0)} with exit code 1",
    )
    s.change("kubelet/n0", "Pod", _pod(0, 0), status={"phase": "Failed"})
    s.wait(15)
    up = {"QuotaReserved": "True", "ResourcesDeployed": "True", "PodsReady": "False"}
    _phase(s, "Running", 0, **up, Unhealthy="True")
    s.wait(60_000)
    _phase(s, "Resetting", 1, **up, Unhealthy="True")
    _delete_all(s, 0, pods, stop_ms=2_000)
    _phase(s, "Resetting", 1, QuotaReserved="True", ResourcesDeployed="False", PodsReady="False")
    s.wait(90_000)


def _delete_all(s: Scribe, attempt: int, pods: int, stop_ms: float) -> None:
    options = {"propagationPolicy": "Foreground"}
    s.write(
        "appwrapper", "delete", "Job.batch", "a-job", event="DELETED", options=options, code=200
    )
    for index in range(pods):
        at = to_rfc3339(SIMULATION_EPOCH_US + s.t + 60_000_000)
        s.change(
            "garbage-collector",
            "Pod",
            _pod(attempt, index),
            metadata={"deletionTimestamp": at, "deletionGracePeriodSeconds": 60},
        )
    s.wait(stop_ms)
    for index in range(pods):
        s.write("kubelet/n0", "delete", "Pod", _pod(attempt, index), event="DELETED")
        s.wait(5)


def _fail_for_good(s: Scribe, pods: int) -> Violation:
    taint = {"key": "autopilot.ibm.com/gpuhealth", "value": "EVICT", "effect": "NoExecute"}
    s.add(
        Fault,
        action="injected",
        fault={"taint": {"node": "n0", **taint}},
        text="taint n0 with autopilot.ibm.com/gpuhealth=EVICT:NoExecute",
    )
    s.change("chaos", "Node", "n0", spec={"taints": [taint]})
    running = s.change("kubelet/n1", "Pod", _pod(1, 1), status={"phase": "Running", "ready": True})
    s.change("kubelet/n0", "Pod", _pod(1, 0), status={"phase": "Failed"})
    s.wait(15)
    up = {"QuotaReserved": "True", "ResourcesDeployed": "True", "PodsReady": "False"}
    _phase(s, "Running", 1, **up, Unhealthy="True")
    s.wait(60_000)
    failed = _phase(s, "Failed", 1, **up, Unhealthy="True")
    s.add(
        Fault,
        action="injected",
        fault={"kill": {"actor": "appwrapper", "restart_after": "4s"}},
        text="kill operator after its write of status.phase=Failed to appwrapper/a",
    )
    s.add(Process, process="appwrapper", change="killed")
    s.wait(4_000)
    s.add(Process, process="appwrapper", change="started")
    s.add(Process, process="appwrapper", change="leading")
    s.wait(20)
    s.write("appwrapper", "delete", "Job.batch", "a-job", event="DELETED")
    for index in range(pods):
        at = to_rfc3339(SIMULATION_EPOCH_US + s.t + 60_000_000)
        s.change("garbage-collector", "Pod", _pod(1, index), metadata={"deletionTimestamp": at})
    s.wait(800)
    released = _phase(
        s,
        "Failed",
        1,
        QuotaReserved="False",
        ResourcesDeployed="True",
        PodsReady="False",
        Unhealthy="True",
    )
    s.wait(59_000)
    for index in range(pods):
        s.write("kubelet/n1", "delete", "Pod", _pod(1, index), event="DELETED")
    _phase(s, "Failed", 1, QuotaReserved="False", ResourcesDeployed="False", Unhealthy="True")
    s.add(Fault, action="reverted", fault={"taint": {"node": "n0"}}, text="taint of n0")
    s.change("chaos", "Node", "n0", spec={"taints": []})
    s.add(Mark, mark="faults-stopped")
    s.wait(5_000)
    s.add(Mark, mark="stable")
    s.add(Mark, mark="end")
    rv = s.entries[released]
    assert isinstance(rv, Write)
    return Violation(
        at=released,
        evidence=(running, failed, released),
        because=f"QuotaReserved of appwrapper/a became False at rv{rv.rv}, while pod "
        f"{_pod(1, 1)} was Running and had 59.2 s left: it used quota that was not reserved.",
    )


def header() -> Header:
    return header_of(
        scenario=SCENARIO,
        seed=SEED,
        cluster="simulated",
        implementation="mutant:quota-released-when-failed",
        clock="virtual",
        began_us=SIMULATION_EPOCH_US,
        kubernetes_version="v1.34.1",
        parameters={"faultTolerance": {"retryLimit": 3}},
        facts={"detection_latency_us": 2_000_000},
    )
