"""Histories written by hand, second by second, so that a checker sees exactly what a test means.

A `Story` is about one AppWrapper, `a`. `at(seconds)` sets the clock, every other method
writes what happens then and returns its position, which is what a violation names:

    story = Story(pod("a-0"))
    story.at(0).submitted()
    story.at(1).started()
    early = story.at(30).enters("Resetting", resets=1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.history import History
from conformance.suites.appwrapper.history_format1 import effect_of
from conformance.suites.appwrapper.view import AppWrapperHistory
from tests.claims.templates import GPU_HEALTH, pod
from tests.headers import header_of
from vocabulary.clock import SIMULATION_EPOCH_US, seconds, to_rfc3339
from vocabulary.history import (
    Capabilities,
    Entry,
    Fault,
    Mark,
    Process,
    Write,
)
from vocabulary.kinds import kind_of
from vocabulary.objects import with_path

LABEL = "workload.codeflare.dev/appwrapper"
PREFIX = "workload.codeflare.dev.appwrapper/"
FINALIZER = "workload.codeflare.dev/finalizer"
LATENCY_SECONDS = 1


class Story:
    """A history in the making."""

    def __init__(
        self,
        *components: Mapping[str, Any],
        annotations: Mapping[str, str] | None = None,
        parameters: Mapping[str, Any] | None = None,
        capabilities: Capabilities | None = None,
        facts: Mapping[str, Any] | None = None,
        suspended: bool = False,
    ) -> None:
        self.components = components or (pod("a-0"),)
        self.entries: list[Entry] = []
        self.now = 0.0
        self.stored: dict[str, dict[str, Any]] = {}
        """The stored objects, by `kind/name`."""
        self._uids = 0
        self._annotations = {PREFIX + key: text for key, text in (annotations or {}).items()}
        self._suspended = suspended
        self.header = header_of(
            began_us=SIMULATION_EPOCH_US,
            capabilities=capabilities or Capabilities(),
            parameters=parameters,
            facts={"detection_latency_us": seconds(LATENCY_SECONDS), **(facts or {})},
        )

    @property
    def history(self) -> AppWrapperHistory:
        return AppWrapperHistory(History(self.header, self.entries))

    def at(self, time: float) -> Story:
        """Set the time of the following events, in seconds since the run began."""
        assert time >= self.now, "a story is told in order"
        self.now = time
        return self

    # The AppWrapper.

    @property
    def spec(self) -> dict[str, Any]:
        """The user's changes."""
        spec: dict[str, Any] = {"components": [{"template": dict(c)} for c in self.components]}
        return {**spec, "suspend": True} if self._suspended else spec

    def submitted(self, asked: Mapping[str, str] | None = None, **labels: str) -> int:
        """The user creates the AppWrapper; it is stored with `labels`, asked for with `asked`."""
        asked_labels = dict(labels if asked is None else asked)
        asked = {
            "apiVersion": "workload.codeflare.dev/v1beta2",
            "kind": "AppWrapper",
            "metadata": {"name": "a", "annotations": self._annotations, "labels": asked_labels},
            "spec": self.spec,
        }
        filled_in = {"workload.codeflare.dev/user": "user", "workload.codeflare.dev/userid": "u1"}
        return self.creates(
            with_path(asked, "metadata.labels", {**filled_in, **labels}), by="user", submitted=asked
        )

    def enters(self, phase: str, resets: int | None = None, **conditions: str) -> int:
        """The operator writes a phase; conditions that are not named stay as they are."""
        obj = with_path(self.stored["AppWrapper/a"], "status.phase", phase)
        return self._status(obj, resets, conditions)

    def shows(self, resets: int | None = None, **conditions: str) -> int:
        """The operator writes conditions and leaves the phase."""
        return self._status(self.stored["AppWrapper/a"], resets, conditions)

    def _status(
        self, obj: Mapping[str, Any], resets: int | None, conditions: Mapping[str, str]
    ) -> int:
        status = dict(obj.get("status") or {})
        if resets is not None:
            status["resettingCount"] = resets
        known = {entry["type"]: entry for entry in status.get("conditions") or ()}
        is_over = status.get("phase") not in ("Running", "Succeeded")
        is_down = (
            conditions.get("Unhealthy") == "True" or conditions.get("ResourcesDeployed") == "False"
        )
        if "PodsReady" in known and (is_over or is_down):
            conditions = {"PodsReady": "False", **conditions}
        for type_, value in conditions.items():
            if (known.get(type_) or {}).get("status") != value:
                known[type_] = {
                    "type": type_,
                    "status": value,
                    "lastTransitionTime": to_rfc3339(SIMULATION_EPOCH_US + seconds(self.now)),
                }
        status["conditions"] = list(known.values())
        return self.changes({**obj, "status": status}, by="appwrapper", subresource="status")

    def suspends(self, value: bool = True, by: str = "user") -> int:
        """Another actor sets spec.suspend."""
        return self.changes(with_path(self.stored["AppWrapper/a"], "spec.suspend", value), by=by)

    def annotated(self, **annotations: str) -> int:
        """The user adds parameter annotations."""
        obj = self.stored["AppWrapper/a"]
        merged = {**obj["metadata"]["annotations"]}
        merged.update((PREFIX + key, text) for key, text in annotations.items())
        return self.changes(with_path(obj, "metadata.annotations", merged), by="user")

    def finalizer(self, present: bool = True) -> int:
        """The operator adds or removes its finalizer."""
        finalizers = [FINALIZER] if present else []
        obj = with_path(self.stored["AppWrapper/a"], "metadata.finalizers", finalizers)
        return self.changes(obj, by="appwrapper")

    def resumes(self) -> int:
        """Finalizer, then Resuming with quota reserved: the beginning of an attempt."""
        if not self.stored["AppWrapper/a"]["metadata"].get("finalizers"):
            self.finalizer()
        return self.enters(
            "Resuming", QuotaReserved="True", ResourcesDeployed="True", Unhealthy="False"
        )

    # Its components and pods.

    def makes(self, *names: str, by: str = "appwrapper", **changes: Any) -> int:
        """The operator creates components, all or those named; the last one's position."""
        n = -1
        for template in self.components:
            name = template["metadata"]["name"]
            if names and name not in names:
                continue
            obj: Mapping[str, Any] = {**template}
            for path, value in changes.items():
                obj = with_path(obj, path.replace("__", "."), value)
            labels = {**(obj["metadata"].get("labels") or {}), LABEL: "a"}
            metadata = {**obj["metadata"], "ownerReferences": [self.owner("AppWrapper/a")]}
            n = self.creates({**obj, "metadata": {**metadata, "labels": labels}}, by=by)
        return n

    def spawns(
        self, owner: str, name: str, by: str = "job-controller", label: str | None = "a"
    ) -> int:
        """A controller creates a pod for `Job/name`."""
        spec = self.stored[owner]["spec"]["template"]["spec"]
        metadata: dict[str, Any] = {"name": name, "ownerReferences": [self.owner(owner)]}
        if label is not None:
            metadata["labels"] = {LABEL: label}
        return self.creates(
            {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}, by=by
        )

    def owner(self, key: str) -> dict[str, Any]:
        """The controller reference to what is stored under a key."""
        obj = self.stored[key]
        return {
            "apiVersion": obj["apiVersion"],
            "kind": obj["kind"],
            "name": obj["metadata"]["name"],
            "uid": obj["metadata"]["uid"],
            "controller": True,
        }

    def binds(self, name: str, node: str = "n0") -> int:
        """The scheduler puts a pod on a node."""
        obj = with_path(self.stored[f"Pod/{name}"], "spec.nodeName", node)
        return self.changes(obj, by="scheduler")

    def becomes(self, name: str, phase: str) -> int:
        """The kubelet reports a pod's phase."""
        obj = with_path(self.stored[f"Pod/{name}"], "status.phase", phase)
        return self.changes(obj, by="kubelet/n0", subresource="status")

    def runs(self, *names: str, node: str = "n0") -> int:
        """Pods are bound and run; the last one's position."""
        n = -1
        for name in names:
            self.binds(name, node)
            n = self.becomes(name, "Running")
        return n

    def fails_job(self, name: str) -> int:
        """The Job controller says that a Job has failed."""
        conditions = [{"type": "Failed", "status": "True"}]
        obj = with_path(self.stored[f"Job/{name}"], "status.conditions", conditions)
        return self.changes(obj, by="job-controller", subresource="status")

    def node(self, name: str = "n0", **labels: str) -> int:
        """A node appears."""
        metadata = {"name": name, "labels": labels}
        return self.creates({"apiVersion": "v1", "kind": "Node", "metadata": metadata}, "harness")

    def tags(self, value: str | None, name: str = "n0", key: str = GPU_HEALTH) -> int:
        """Autopilot labels a node; None removes the label."""
        labels = {} if value is None else {key: value}
        obj = with_path(self.stored[f"Node/{name}"], "metadata.labels", labels)
        return self.changes(obj, by="chaos")

    # Any object.

    def creates(
        self, obj: Mapping[str, Any], by: str, submitted: Mapping[str, Any] | None = None
    ) -> int:
        self._uids += 1
        metadata = {**obj["metadata"], "uid": f"uid-{self._uids}"}
        if obj["kind"] != "Node":
            metadata["namespace"] = "default"
        stored = {**obj, "metadata": metadata}
        return self._write("create", stored, by, "ADDED", submitted=submitted)

    def changes(self, obj: Mapping[str, Any], by: str, subresource: str = "") -> int:
        return self._write("update", dict(obj), by, "MODIFIED", subresource)

    def deletes(
        self,
        key: str,
        by: str = "appwrapper",
        grace: int | None = None,
        propagation: str = "",
        gone: bool = False,
        held_by: Sequence[str] = (),
    ) -> int:
        """Request a deletion; unless `gone`, the object lingers, terminating."""
        obj = self.stored[key]
        options: dict[str, Any] = {} if grace is None else {"gracePeriodSeconds": grace}
        if propagation:
            options["propagationPolicy"] = propagation
        if gone:
            return self._write("delete", obj, by, "DELETED", options=options)
        when = to_rfc3339(SIMULATION_EPOCH_US + seconds(self.now))
        terminating = with_path(obj, "metadata.deletionTimestamp", when)
        if held_by:
            terminating = with_path(terminating, "metadata.finalizers", list(held_by))
        return self._write("delete", terminating, by, "MODIFIED", options=options)

    def vanishes(self, key: str, by: str = "kubelet/n0") -> int:
        """Remove an object, as the actor that removes its last finalizer."""
        return self._write(
            "delete", self.stored[key], by, "DELETED", options={"gracePeriodSeconds": 0}
        )

    def _write(
        self,
        verb: str,
        obj: dict[str, Any],
        by: str,
        event: Any,
        subresource: str = "",
        options: Mapping[str, Any] | None = None,
        submitted: Mapping[str, Any] | None = None,
    ) -> int:
        n = len(self.entries)
        key = f"{obj['kind']}/{obj['metadata']['name']}"
        if event == "DELETED":
            self.stored.pop(key, None)
        else:
            self.stored[key] = obj
        has_writers = self.header.capabilities.writers
        self.entries.append(
            Write(
                n=n,
                t=seconds(self.now),
                actor=by if has_writers else "",
                verb=verb if has_writers else "",
                kind=str(kind_of(obj)),
                namespace=obj["metadata"].get("namespace", ""),
                name=obj["metadata"]["name"],
                subresource=subresource,
                options=dict(options or {}),
                event=event,
                rv=n + 100,
                uid=obj["metadata"]["uid"],
                object=obj,
                submitted=None if submitted is None or not has_writers else dict(submitted),
            )
        )
        return n

    def refused(
        self,
        verb: str,
        kind: str,
        name: str,
        code: int,
        by: str = "appwrapper",
        *,
        reason: str = "",
        message: str = "",
        submitted: dict[str, Any] | None = None,
    ) -> int:
        """A request that failed."""
        n = len(self.entries)
        self.entries.append(
            Write(
                n=n,
                t=seconds(self.now),
                actor=by,
                verb=verb,
                kind=kind,
                namespace="default",
                name=name,
                code=code,
                reason=reason,
                message=message,
                submitted=submitted,
            )
        )
        return n

    # What is not an object.

    def process(self, change: Any, process: str = "appwrapper") -> int:
        n = len(self.entries)
        self.entries.append(Process(n=n, t=seconds(self.now), process=process, change=change))
        return n

    def fault(self, action: Any, fault: Mapping[str, Any], text: str = "a fault") -> int:
        n = len(self.entries)
        self.entries.append(
            Fault(
                n=n,
                t=seconds(self.now),
                action=action,
                fault=dict(fault),
                text=text,
                effect=effect_of(fault),
            )
        )
        return n

    def mark(self, mark: Any) -> int:
        n = len(self.entries)
        self.entries.append(Mark(n=n, t=seconds(self.now), mark=mark))
        return n

    def ends(self) -> Story:
        """The run comes to its end."""
        self.mark("end")
        return self
