"""EndpointSlices that the controller writes for Services."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import Predicate, count, gone
from tests.differential.script import script
from tests.differential.scripts.manifests import pod, unscheduled
from vocabulary.kinds import ENDPOINT_SLICE, POD, SERVICE

_APP = {"app": "a"}


def _service(name: str, **spec: Any) -> dict[str, Any]:
    spec.setdefault("selector", _APP)
    spec.setdefault("ports", [{"port": 80}])
    metadata = {"name": name, "labels": {"team": "blue"}}
    spec = {key: value for key, value in spec.items() if value is not None}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def _pod(name: str, **fields: Any) -> dict[str, Any]:
    obj = pod(name, **fields)
    obj["metadata"]["labels"] = _APP
    return obj


def _labels(service: str) -> str:
    return f"kubernetes.io/service-name={service}"


def _endpoints(number: int, **conditions: bool) -> Predicate:
    """The slice has so many endpoints, all in these conditions."""

    def holds(obj: Any) -> bool:
        found = obj.get("endpoints") or []
        return len(found) == number and all(
            one["conditions"].get(key) is value
            for one in found
            for key, value in conditions.items()
        )

    return Predicate(f"{number} endpoints {conditions or ''}".strip(), holds)


_one_terminates = Predicate(
    "one of two is terminating",
    lambda one: (
        sorted(found["conditions"]["terminating"] for found in one["endpoints"] or ())
        == [False, True]
    ),
)


def _until(c: Dialogue, service: str, wanted: Predicate, **more: Any) -> None:
    listed = c.until_listed(
        ENDPOINT_SLICE,
        count(1, wanted),
        labels=_labels(service),
        show=["addressType", "metadata.labels"],
        **more,
    )
    slices = listed.items
    told = [
        {
            **endpoint,
            "addresses": len(endpoint["addresses"]),
            "targetRef": {**endpoint["targetRef"], "uid": bool(endpoint["targetRef"]["uid"])},
        }
        for one in slices
        for endpoint in one["endpoints"] or ()
    ]
    # A real server orders ports by their hashes.
    ports = [port for one in slices for port in one["ports"] or ()]
    c.note(f"ports of {service}", sorted(ports, key=lambda port: port["name"]))
    c.note(f"endpoints of {service}", sorted(told, key=lambda one: one["targetRef"]["name"]))


@script("A Service has a slice of its own, which is empty while no pod is selected.", ["7.5"])
def slice_of_a_service(c: Dialogue) -> None:
    c.create(_service("s"), show=["metadata.name"])
    empty = _endpoints(0)
    c.until_listed(ENDPOINT_SLICE, count(1, empty), labels=_labels("s"))
    slices = c.peek(ENDPOINT_SLICE, _labels("s"))
    managed = slices[0]["metadata"].get("annotations", {})
    c.note("annotations", sorted(managed))
    c.delete(SERVICE, "s", show=["metadata.name"])
    c.until_listed(ENDPOINT_SLICE, count(0), labels=_labels("s"))


@script("A slice has the addresses of pods, ready, serving and terminating ones.", ["7.5"])
def slice_follows_pods(c: Dialogue) -> None:
    ports = [{"name": "web", "port": 80, "targetPort": 8080}, {"name": "named", "port": 81}]
    ports[1]["targetPort"] = "admin"
    c.create(_service("s", ports=ports), show=["metadata.name"])
    container = {"name": "main", "image": "example.org/main"}
    container["ports"] = [{"name": "admin", "containerPort": 9090}]  # type: ignore[assignment]
    c.create(_pod("a", containers=[container]), show=["metadata.name"])
    _until(c, "s", _endpoints(1, ready=True))
    c.create(_pod("b", containers=[container]), show=["metadata.name"])
    _until(c, "s", _endpoints(2, ready=True))
    c.patch(POD, "b", {"metadata": {"finalizers": ["example.org/held"]}}, show=["metadata.name"])
    c.delete(POD, "b", grace_seconds=30, show=["metadata.name"])
    c.patch(POD, "b", {"metadata": {"finalizers": None}}, show=["metadata.name"])
    c.until(POD, "b", gone)
    _until(c, "s", _endpoints(1, ready=True))
    c.patch(POD, "a", {"metadata": {"labels": {"app": "b"}}}, show=["metadata.labels"])
    c.until_listed(
        ENDPOINT_SLICE,
        count(1, _endpoints(0)),
        labels=_labels("s"),
        show=["ports", "endpoints", "metadata.labels"],
    )


@script("A headless Service names its pods, and may publish those that are not ready.", ["7.5"])
def headless_slices(c: Dialogue) -> None:
    c.create(_service("s", clusterIP="None", ports=None), show=["metadata.name"])
    c.create(_pod("a", hostname="a-0", subdomain="s"), show=["metadata.name"])
    c.create(_pod("b", hostname="b-0", subdomain="other"), show=["metadata.name"])
    _until(c, "s", _endpoints(2, ready=True))
    early = _service("early", clusterIP="None", publishNotReadyAddresses=True)
    c.create(early, show=["metadata.name"])
    _until(c, "early", _endpoints(2, ready=True))


@script(
    "Pods of a lost node are not ready as endpoints, deleted ones terminate, ended ones are none.",
    ["7.5"],
    exclusive=True,
)
def slices_of_lost_pods(c: Dialogue) -> None:
    node = "slices-of-lost-pods"
    c.add_node(node, labels={"topology.kubernetes.io/zone": "z"}, separate=True)
    c.create(_service("s"), show=["metadata.name"])
    early = _service("early", publishNotReadyAddresses=True)
    c.create(early, show=["metadata.name"])
    labels = {"kubernetes.io/hostname": node}
    for name in ("a", "b"):
        c.create(_pod(name, nodeSelector=labels), show=["metadata.name"])
    _until(c, "s", _endpoints(2, ready=True))
    with c.lost(node):
        _until(c, "s", _endpoints(2, ready=False, serving=False))
        _until(c, "early", _endpoints(2, ready=True, serving=False))
        c.delete(POD, "a", show=["metadata.name"])
        _until(c, "s", _one_terminates)
        ended = {"status": {"phase": "Succeeded"}}
        c.patch(POD, "b", ended, subresource="status", show=["status.phase"])
        # Neither the phase nor another label is a reason to look, but the Service is.
        more = {"metadata": {"labels": {"more": "1"}}}
        c.patch(POD, "b", more, show=["metadata.labels.more"])
        c.settle(1)
        _until(c, "s", _one_terminates)
        c.patch(SERVICE, "s", more, show=["metadata.labels"])
        _until(c, "s", _endpoints(1, terminating=True))


@script("A pod without a node is an endpoint only where pods that are not ready are.", ["7.5"])
def slices_of_unbound_pods(c: Dialogue) -> None:
    c.create(_service("s"), show=["metadata.name"])
    early = _service("early", publishNotReadyAddresses=True)
    c.create(early, show=["metadata.name"])
    obj = unscheduled("a")
    obj["metadata"]["labels"] = _APP
    c.create(obj, show=["metadata.name"])
    address = {"podIP": "10.1.2.3", "podIPs": [{"ip": "10.1.2.3"}], "phase": "Running"}
    c.patch(POD, "a", {"status": address}, subresource="status", show=["status.phase"])
    _until(c, "early", _endpoints(1, ready=True, serving=False))
    _until(c, "s", _endpoints(0))


@script("Services without a selector, and external ones, have no slices.", ["7.5"])
def services_without_slices(c: Dialogue) -> None:
    c.create(_service("none", selector=None), show=["metadata.name"])
    external = _service("external", ports=None, selector=None, type="ExternalName")
    external["spec"]["externalName"] = "example.org"
    c.create(external, show=["metadata.name"])
    c.create(_service("s"), show=["metadata.name"])
    c.until_listed(ENDPOINT_SLICE, count(1, _endpoints(0)), show=["metadata.labels"])
    c.patch(SERVICE, "s", {"metadata": {"labels": {"team": "red"}}}, show=["metadata.labels"])
    relabelled = Predicate(
        "it is relabelled", lambda one: one["metadata"]["labels"].get("team") == "red"
    )
    c.until_listed(ENDPOINT_SLICE, count(1, relabelled), show=["metadata.labels"])
    c.patch(SERVICE, "s", {"spec": {"ports": [{"port": 90}]}}, show=["spec.ports"])
    c.create(_pod("a"), show=["metadata.name"])
    _until(c, "s", _endpoints(1, ready=True))


@script("A slice that is deleted or changed by others is put right.", ["7.5"])
def slices_put_right(c: Dialogue) -> None:
    c.create(_service("s"), show=["metadata.name"])
    c.create(_pod("a"), show=["metadata.name"])
    _until(c, "s", _endpoints(1, ready=True))
    first = c.peek(ENDPOINT_SLICE, _labels("s"))[0]
    c.delete(ENDPOINT_SLICE, first["metadata"]["name"], show=["kind"])
    other = Predicate("another", lambda one: one["metadata"]["uid"] != first["metadata"]["uid"])
    c.until_listed(ENDPOINT_SLICE, count(1, other), labels=_labels("s"), show=["addressType"])
    second = c.peek(ENDPOINT_SLICE, _labels("s"))[0]
    c.consult(
        "PUT",
        ENDPOINT_SLICE.path(c.namespace, second["metadata"]["name"]),
        {**second, "endpoints": None},
    )
    _until(c, "s", _endpoints(1, ready=True))


@script("Ports are named by their protocols, too, and an external name has no slice.", ["7.5"])
def slices_of_protocols(c: Dialogue) -> None:
    container = {
        "name": "main",
        "image": "example.org/main",
        "ports": [
            {"name": "dns", "containerPort": 53, "protocol": "UDP"},
            {"name": "dns-tcp", "containerPort": 5353},
            {"name": "web", "containerPort": 8080},
        ],
    }
    second = {"name": "second", "image": "example.org/second"}
    second["ports"] = [{"name": "dns", "containerPort": 54}]  # type: ignore[assignment]
    c.create(_pod("a", containers=[container, second]), show=["metadata.name"])
    ports = [
        {"name": "udp", "port": 53, "protocol": "UDP", "targetPort": "dns"},
        {"name": "tcp", "port": 53, "targetPort": "dns"},
        {"name": "web", "port": 80, "targetPort": "web", "appProtocol": "kubernetes.io/h2c"},
        {"name": "none", "port": 81, "targetPort": "none"},
        {"name": "same", "port": 82},
    ]
    c.create(_service("s", ports=ports), show=["metadata.name"])
    _until(c, "s", _endpoints(1, ready=True))
    external = {"type": "ExternalName", "externalName": "example.org"}
    c.create(_service("e", **external), show=["spec.type"])
    c.create(_service("none", selector=None), show=["spec.selector"])
    c.create(_service("other", selector={"app": "b"}), show=["spec.selector"])
    c.until_listed(ENDPOINT_SLICE, count(1, _endpoints(0)), labels=_labels("other"), show=["ports"])
    for name in ("e", "none"):
        c.list(ENDPOINT_SLICE, labels=_labels(name), show=["metadata.name"])
    c.patch(SERVICE, "s", {"spec": {"selector": {"app": "b"}}}, show=["spec.selector"])
    c.until_listed(ENDPOINT_SLICE, count(1, _endpoints(0)), labels=_labels("s"), show=["ports"])
    labels = {"metadata": {"labels": {"team": "red"}}}
    c.patch(SERVICE, "s", labels, show=["metadata.labels"])
    red = Predicate("it is red", lambda one: one["metadata"]["labels"].get("team") == "red")
    c.until_listed(ENDPOINT_SLICE, count(1, red), labels=_labels("s"), show=["metadata.labels"])
    c.delete(POD, "a", show=["metadata.name"])
