"""Aggregation: local APIServices for the groups served here, and remote ones.

Local APIServices are stored when a client first requests them, so that they do not change the
revisions of clusters without such clients. No remote server is reached: its APIService is not
available, with the reason, and requests for its group are rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from clusters.simulated.identities import Identities
from clusters.simulated.loop import Loop
from clusters.simulated.store import Change, Key, Store
from clusters.simulated.strategy import Strategy
from vocabulary.clock import to_rfc3339
from vocabulary.kinds import (
    API_SERVICE,
    CUSTOM_RESOURCE_DEFINITION,
    ENDPOINT_SLICE,
    SERVICE,
)
from vocabulary.objects import Object, condition, labels_of, name_of
from vocabulary.requests import Update, Write

ACTOR: Final = "kube-aggregator"
_AUTOMANAGED: Final = "kube-aggregator.kubernetes.io/automanaged"
_SERVICE_NAME: Final = "kubernetes.io/service-name"
_EVENTS: Final = ("events.k8s.io", "v1")
_PRIORITIES: Final[Mapping[str, int]] = {
    "apiregistration.k8s.io": 20000,
    "": 18000,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "admissionregistration.k8s.io": 16700,
    "apiextensions.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "node.k8s.io": 16300,
    "discovery.k8s.io": 16200,
    "resource.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100,
}
_OF_CUSTOM_RESOURCES: Final = 1000


def priority_of(group: str) -> int:
    """How far ahead a group of this server stands of others."""
    return _PRIORITIES.get(group, _OF_CUSTOM_RESOURCES)


class Aggregation:
    """The APIServices of one cluster."""

    def __init__(
        self,
        loop: Loop,
        store: Store,
        strategies: Mapping[str, Strategy],
        identities: Identities,
        handle: Callable[[Write, str], object],
    ) -> None:
        self._loop = loop
        self._store = store
        self._strategies = strategies
        self._identities = identities
        self._handle = handle
        self._is_asked_for = False
        self._remote: dict[tuple[str, str], int] = {}

    @property
    def remote(self) -> Mapping[tuple[str, str], int]:
        """Groups and versions of other servers, with the priorities of their groups."""
        return self._remote

    def ask(self) -> None:
        """Store the local APIServices, once, and follow what comes."""
        if self._is_asked_for:
            return
        self._is_asked_for = True
        self._store_local()
        kinds = (API_SERVICE, CUSTOM_RESOURCE_DEFINITION, SERVICE, ENDPOINT_SLICE)
        self._store.watch(self._changed, frozenset(str(kind) for kind in kinds))

    def _store_local(self) -> None:
        served = {
            (strategy.kind.group, version): strategy.is_built_in
            for strategy in self._strategies.values()
            for version in strategy.versions
            if strategy.kind.group != API_SERVICE.group
        }
        for (group, version), is_built_in in sorted({**served, _EVENTS: True}.items()):
            key = Key(str(API_SERVICE), "", f"{version}.{group}")
            if self._store.get(key) is None:
                self._store.put(key, self._local(key.name, group, version, is_built_in))
        for stored in list(self._store.of_kind(str(API_SERVICE))):
            spec = stored["spec"]
            is_custom = labels_of(stored).get(_AUTOMANAGED) == "true"
            if is_custom and (spec["group"], spec["version"]) not in served:
                self._store.remove(Key(str(API_SERVICE), "", name_of(stored)))

    def _local(self, name: str, group: str, version: str, is_built_in: bool) -> dict[str, Any]:
        now = to_rfc3339(self._loop.now_us)
        spec: dict[str, Any] = {"group": group} if group else {}
        available = {
            "type": "Available",
            "status": "True",
            "lastTransitionTime": now,
            "reason": "Local",
            "message": "Local APIServices are always available",
        }
        return {
            "apiVersion": API_SERVICE.api_version,
            "kind": API_SERVICE.kind,
            "metadata": {
                "name": name,
                "uid": self._identities.uid(),
                "creationTimestamp": now,
                "labels": {_AUTOMANAGED: "onstart" if is_built_in else "true"},
            },
            "spec": {
                **spec,
                "version": version,
                "groupPriorityMinimum": priority_of(group),
                "versionPriority": (1 if not group else 15) if is_built_in else 100,
            },
            "status": {"conditions": [available]},
        }

    def _changed(self, change: Change) -> None:
        if change.key.kind == str(CUSTOM_RESOURCE_DEFINITION):
            # What it defines is served, or withdrawn, by whoever else hears of the change.
            self._loop.call_later(0, self._store_local)
            return
        if change.key.kind == str(API_SERVICE):
            self._note(change)
        for stored in self._store.of_kind(str(API_SERVICE)):
            if stored["spec"].get("service"):
                self._loop.call_later(0, self._judge, name_of(stored))

    def _note(self, change: Change) -> None:
        spec = change.object["spec"]
        place = spec.get("group", ""), spec["version"]
        if change.event == "DELETED" or not spec.get("service"):
            self._remote.pop(place, None)
        else:
            self._remote[place] = spec["groupPriorityMinimum"]

    def _judge(self, name: str) -> None:
        """Write the condition of an APIService of another server, if it is another one."""
        stored = self._store.get(Key(str(API_SERVICE), "", name))
        if stored is None or not stored["spec"].get("service"):
            return
        reason, message = self._why_unavailable(stored["spec"]["service"])
        before: Object = condition(stored, "Available") or {}
        if (before.get("reason"), before.get("message")) == (reason, message):
            return
        since = before.get("lastTransitionTime") if before.get("status") == "False" else None
        unavailable = {
            "type": "Available",
            "status": "False",
            "lastTransitionTime": since or to_rfc3339(self._loop.now_us),
            "reason": reason,
            "message": message,
        }
        status = {"conditions": [unavailable]}
        self._handle(Update(API_SERVICE, {**stored, "status": status}, "status"), ACTOR)

    def _why_unavailable(self, reference: Object) -> tuple[str, str]:
        name, namespace = reference["name"], reference["namespace"]
        place = f'service/{name} in "{namespace}"'
        service = self._store.get(Key(str(SERVICE), namespace, name))
        if service is None:
            return "ServiceNotFound", f"{place} is not present"
        port = reference["port"]
        if service["spec"].get("type") == "ClusterIP":
            ports: Iterable[Object] = service["spec"].get("ports") or ()
            if not any(each["port"] == port for each in ports):
                return "ServicePortError", f"{place} is not listening on port {port}"
            if not any(
                labels_of(each).get(_SERVICE_NAME) == name
                for each in self._store.of_kind(str(ENDPOINT_SLICE), namespace)
            ):
                return "EndpointsNotFound", f"cannot find endpointslices for {place}"
        because = "failing or missing response: other servers are not reached"
        return "FailedDiscoveryCheck", because
