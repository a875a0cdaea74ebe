"""EndpointSlices that a client writes."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from vocabulary.kinds import ENDPOINT_SLICE


def _slice(name: str, family: str = "IPv4", **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": name, "labels": {"kubernetes.io/service-name": "s"}},
        "addressType": family,
        **fields,
    }


def _endpoint(*addresses: str, **fields: Any) -> dict[str, Any]:
    return {"addresses": list(addresses), **fields}


@script("A slice gets its defaults; changes of what it says are counted.", ["7.5"])
def endpoint_slices(c: Dialogue) -> None:
    c.create(_slice("empty"))
    ports = [{"port": 80}, {"name": "dns", "port": 53, "protocol": "UDP"}]
    ready = {"ready": True, "serving": True, "terminating": False}
    endpoints = [_endpoint("10.0.0.1", conditions=ready), _endpoint("10.0.0.2")]
    c.create(_slice("a", endpoints=endpoints, ports=ports))
    c.update(_slice("a", endpoints=endpoints[:1], ports=ports))
    patch = {"metadata": {"annotations": {"a": "b"}}}
    c.patch(ENDPOINT_SLICE, "a", patch)
    c.patch(ENDPOINT_SLICE, "a", {"metadata": {"labels": {"a": "b"}}})
    c.patch(ENDPOINT_SLICE, "a", {"endpoints": []})
    c.list(ENDPOINT_SLICE, labels="kubernetes.io/service-name=s", show=["metadata.name"])
    c.delete(ENDPOINT_SLICE, "a")


@script("A slice's addresses fit its type, which is for good.", ["7.5"])
def endpoint_slice_addresses(c: Dialogue) -> None:
    c.create(_slice("none", ""))
    c.create(_slice("odd", "Odd"))
    c.create(_slice("a", endpoints=[_endpoint("2001:db8::1")]))
    c.create(_slice("a", endpoints=[_endpoint("x")]))
    c.create(_slice("a", endpoints=[_endpoint()]))
    c.create(_slice("a", "IPv6", endpoints=[_endpoint("10.0.0.1")]))
    c.create(_slice("a", "FQDN", endpoints=[_endpoint("UPPER")]))
    c.create(_slice("a", "FQDN", endpoints=[_endpoint("example.org", hostname="a.b")]))
    c.create(_slice("a", endpoints=[_endpoint("10.0.0.1")]))
    c.update(_slice("a", "IPv6", endpoints=[_endpoint("2001:db8::1")]))


@script("A slice's ports have names of their own and known protocols.", ["7.5"])
def endpoint_slice_ports(c: Dialogue) -> None:
    c.create(_slice("a", ports=[{"port": 1}, {"port": 2}]))
    c.create(_slice("a", ports=[{"port": 1, "name": "Upper"}]))
    c.create(_slice("a", ports=[{"port": 1, "protocol": "ICMP"}]))
    c.create(_slice("a", ports=[{"name": "any"}]))
