"""The EndpointSlice controller: the addresses of a Service's pods, in slices of up to 100."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from clusters.simulated.controllers.base import Controller, Work
from clusters.simulated.controllers.endpoints.desired import (
    Ports,
    desired,
    differs,
    ports_of,
    selects,
)
from clusters.simulated.store import Change
from vocabulary.clock import to_rfc3339
from vocabulary.kinds import ENDPOINT_SLICE, POD, SERVICE
from vocabulary.objects import Object, is_terminating, labels_of, meta, name_of, namespace_of
from vocabulary.requests import Create, Delete, Request, Update

_MAX_ENDPOINTS: Final = 100
_SERVICE: Final = "kubernetes.io/service-name"
_MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
_THIS: Final = "endpointslice-controller.k8s.io"
_HEADLESS: Final = "service.kubernetes.io/headless"
_TRIGGERED: Final = "endpoints.kubernetes.io/last-change-trigger-time"


class EndpointSliceController(Controller):
    """Slices go with their Service: the garbage collector deletes them."""

    name = "endpointslice-controller"

    def listen(self) -> None:
        self.on(SERVICE, self._service_changed)
        self.on(POD, self._pod_changed)
        self.on(ENDPOINT_SLICE, self._slice_changed)

    def everything(self) -> Iterable[tuple[str, str]]:
        services = self.informers.all_of(SERVICE)
        return [(namespace_of(service), name_of(service)) for service in services]

    def _service_changed(self, change: Change) -> None:
        self.enqueue((change.key.namespace, change.key.name))

    def _pod_changed(self, change: Change) -> None:
        old, new = change.old, change.object
        is_other = old is None or change.event == "DELETED" or differs(old, new)
        if not is_other and labels_of(old or {}) == labels_of(new):
            return
        for service in self.informers.all_of(SERVICE, change.key.namespace):
            is_chosen = selects(service, labels_of(new))
            was_chosen = old is not None and selects(service, labels_of(old))
            if is_chosen != was_chosen or (is_chosen and is_other):
                self.enqueue((change.key.namespace, name_of(service)))

    def _slice_changed(self, change: Change) -> None:
        labels = labels_of(change.object)
        if labels.get(_MANAGED_BY) == _THIS and labels.get(_SERVICE):
            self.enqueue((change.key.namespace, labels[_SERVICE]))

    def sync(self, key: Any) -> Work:
        namespace, name = key
        service = self.informers.get(SERVICE, namespace, name)
        if service is None or not service["spec"].get("selector"):
            return None
        if service["spec"].get("type") == "ExternalName":
            return None
        pods = self.informers.all_of(POD, namespace)
        requests = self._requests(service, desired(service, pods, self.informers))
        while requests:
            yield requests.pop(0)
        return None

    def _requests(
        self, service: Object, wanted: dict[Ports, dict[str, dict[str, Any]]]
    ) -> list[Request]:
        """The writes that bring the slices to what is wanted; none if they are so already."""
        labels = _labels(service)
        contents: list[tuple[Object, list[dict[str, Any]], Ports]] = []
        superfluous: list[Object] = []
        for slice_ in self._slices(service):
            ports = ports_of(slice_)
            left = wanted.get(ports, {})
            kept = [
                left.pop(uid) for uid in map(_pod_uid, slice_.get("endpoints") or ()) if uid in left
            ]
            if kept:
                contents.append((slice_, kept, ports))
            else:
                superfluous.append(slice_)
        for _, kept, ports in contents:
            left = wanted[ports]
            room = max(0, _MAX_ENDPOINTS - len(kept))
            kept += [left.pop(uid) for uid in list(left)[:room]]
        missing = [
            (list(left.values())[start : start + _MAX_ENDPOINTS], ports)
            for ports, left in wanted.items()
            for start in range(0, len(left), _MAX_ENDPOINTS)
        ]
        if not contents and not missing:
            # Without endpoints there is one slice, without ports.
            missing = [([], ())]
        # What would be deleted is written over where another slice is missing.
        reused = list(zip(superfluous, missing, strict=False))
        contents += [(slice_, kept, ports) for slice_, (kept, ports) in reused]
        created = [
            Create(ENDPOINT_SLICE, self._new(service, kept, ports), namespace_of(service))
            for kept, ports in missing[len(reused) :]
        ]
        updated = [
            Update(ENDPOINT_SLICE, self._filled(slice_, kept, ports, labels))
            for slice_, kept, ports in contents
            if (slice_.get("endpoints") or []) != kept
            or ports_of(slice_) != ports
            or labels_of(slice_) != labels
        ]
        deleted = [
            Delete(ENDPOINT_SLICE, namespace_of(slice_), name_of(slice_))
            for slice_ in superfluous[len(reused) :]
        ]
        return [*created, *updated, *deleted]

    def _slices(self, service: Object) -> list[Object]:
        """The slices that this controller has written for a Service, oldest first."""
        kind = str(ENDPOINT_SLICE)
        return [
            one
            for one in self.informers.store.labelled(kind, _SERVICE, name_of(service))
            if namespace_of(one) == namespace_of(service)
            and labels_of(one).get(_MANAGED_BY) == _THIS
            and not is_terminating(one)
        ]

    def _new(self, service: Object, endpoints: Sequence[Object], ports: Ports) -> dict[str, Any]:
        name = name_of(service)
        owner = {
            "apiVersion": "v1",
            "kind": "Service",
            "name": name,
            "uid": meta(service)["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
        blank: dict[str, Any] = {
            "apiVersion": ENDPOINT_SLICE.api_version,
            "kind": ENDPOINT_SLICE.kind,
            "metadata": {
                "generateName": f"{name}-",
                "namespace": namespace_of(service),
                "ownerReferences": [owner],
            },
            "addressType": "IPv4",
        }
        return self._filled(blank, endpoints, ports, _labels(service))

    def _filled(
        self, slice_: Object, endpoints: Sequence[Object], ports: Ports, labels: dict[str, str]
    ) -> dict[str, Any]:
        metadata = meta(slice_)
        annotations = {
            **(metadata.get("annotations") or {}),
            _TRIGGERED: to_rfc3339(self.loop.now_us),
        }
        return {
            **slice_,
            "metadata": {**metadata, "labels": labels, "annotations": annotations},
            "endpoints": endpoints or None,
            "ports": [dict(port) for port in ports] or None,
        }


def _labels(service: Object) -> dict[str, str]:
    labels = {**labels_of(service), _SERVICE: name_of(service), _MANAGED_BY: _THIS}
    labels.pop(_HEADLESS, None)
    if service["spec"].get("clusterIP") == "None":
        labels[_HEADLESS] = ""
    return labels


def _pod_uid(endpoint: Object) -> str:
    return str((endpoint.get("targetRef") or {}).get("uid", ""))
