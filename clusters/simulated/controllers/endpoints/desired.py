"""The endpoints of a Service: which pods, under which ports, in which conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from clusters.simulated.controllers.informers import Informers
from clusters.simulated.controllers.workloads.pods import is_ready
from vocabulary.kinds import NODE
from vocabulary.objects import Object, is_terminating, labels_of, meta, name_of

Ports: TypeAlias = tuple[tuple[tuple[str, Any], ...], ...]
"""The ports of a slice, each as its fields, so that slices can be grouped by them."""

_ENDED: Final = ("Failed", "Succeeded")
_ZONE: Final = "topology.kubernetes.io/zone"


def selects(service: Object, labels: Mapping[str, str]) -> bool:
    """True if the Service selects pods with these labels."""
    selector = service["spec"].get("selector")
    if not selector or service["spec"].get("type") == "ExternalName":
        return False
    return bool(selector.items() <= labels.items())


def differs(old: Object, new: Object) -> bool:
    """True if a pod has become another endpoint; its phase alone does not make it one."""
    return _looked_at(old) != _looked_at(new)


def _looked_at(pod: Object) -> tuple[Any, ...]:
    status = pod.get("status") or {}
    return is_ready(pod), is_terminating(pod), status.get("podIP"), pod["spec"].get("nodeName")


def desired(
    service: Object, pods: Iterable[Object], informers: Informers
) -> dict[Ports, dict[str, dict[str, Any]]]:
    """The endpoints by the ports of their slice, and by the uid of their pod."""
    found: dict[Ports, dict[str, dict[str, Any]]] = {}
    for pod in pods:
        status = pod.get("status") or {}
        if not status.get("podIP") or status.get("phase") in _ENDED:
            continue
        if not selects(service, labels_of(pod)):
            continue
        node = informers.get(NODE, "", pod["spec"].get("nodeName", ""))
        if node is None and not service["spec"].get("publishNotReadyAddresses"):
            continue
        found.setdefault(_ports(service, pod), {})[meta(pod)["uid"]] = _endpoint(
            service, pod, node or {}
        )
    return found


def ports_of(slice_: Object) -> Ports:
    """The ports of an existing slice."""
    return _sorted(slice_.get("ports") or ())


def _sorted(ports: Iterable[Object]) -> Ports:
    return tuple(sorted(tuple(sorted(port.items())) for port in ports))


def _ports(service: Object, pod: Object) -> Ports:
    ports = []
    for port in service["spec"].get("ports") or ():
        number = _target(port, pod)
        if number is None:
            continue
        found = {
            "name": port.get("name", ""),
            "protocol": port["protocol"],
            "port": number,
        }
        if port.get("appProtocol"):
            found["appProtocol"] = port["appProtocol"]
        ports.append(found)
    return _sorted(ports)


def _target(port: Object, pod: Object) -> int | None:
    """The number of the pod's port; None if the pod has none of that name."""
    target = port.get("targetPort") or port["port"]
    if isinstance(target, int):
        return target
    for container in _lasting_containers(pod["spec"]):
        for one in container.get("ports") or ():
            same = one["protocol"] == port["protocol"]
            if one.get("name") == target and same:
                return int(one["containerPort"])
    return None


def _lasting_containers(spec: Object) -> Iterator[Object]:
    """The containers that run for as long as the pod: sidecars come last."""
    yield from spec.get("containers") or ()
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            yield container


def _endpoint(service: Object, pod: Object, node: Object) -> dict[str, Any]:
    serving, terminating = is_ready(pod), is_terminating(pod)
    early = bool(service["spec"].get("publishNotReadyAddresses"))
    metadata, spec = meta(pod), pod["spec"]
    endpoint: dict[str, Any] = {
        "addresses": [pod["status"]["podIP"]],
        "conditions": {
            "ready": early or (serving and not terminating),
            "serving": serving,
            "terminating": terminating,
        },
        "targetRef": {
            "kind": "Pod",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "uid": metadata["uid"],
        },
    }
    if spec.get("hostname") and spec.get("subdomain") == name_of(service):
        endpoint["hostname"] = spec["hostname"]
    if spec.get("nodeName"):
        endpoint["nodeName"] = spec["nodeName"]
    if node and labels_of(node).get(_ZONE):
        endpoint["zone"] = labels_of(node)[_ZONE]
    return endpoint
