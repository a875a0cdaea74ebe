"""EndpointSlices: the addresses of Services."""
# ruff: noqa: ARG002 - a hook is given all that some kind may want to look at

from __future__ import annotations

import ipaddress
from typing import Any, Final

from clusters.simulated.builtin.ports import validate_protocol
from clusters.simulated.field_errors import (
    FieldError,
    duplicate,
    not_supported,
    required,
    too_many,
    value_invalid,
)
from clusters.simulated.names import dns_label, dns_subdomain
from clusters.simulated.strategy import Strategy
from vocabulary.objects import Object

_ADDRESS_TYPES: Final = ("FQDN", "IPv4", "IPv6")
_MAX_ENDPOINTS: Final = 1000
_MAX_ADDRESSES: Final = 100
_MAX_PORTS: Final = 20_000


class EndpointSliceStrategy(Strategy):
    has_generation = True

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        obj["endpoints"] = [
            {"conditions": {}, **endpoint} for endpoint in obj.get("endpoints") or ()
        ] or None
        obj["ports"] = [
            {"name": "", "protocol": "TCP", **port} for port in obj.get("ports") or ()
        ] or None

    def validate(self, obj: Object) -> list[FieldError]:
        family = obj.get("addressType", "")
        errors = []
        if not family:
            errors.append(required("addressType"))
        elif family not in _ADDRESS_TYPES:
            errors.append(not_supported("addressType", family, _ADDRESS_TYPES))
        endpoints, ports = obj.get("endpoints") or (), obj.get("ports") or ()
        if len(endpoints) > _MAX_ENDPOINTS:
            errors.append(too_many("endpoints", len(endpoints), _MAX_ENDPOINTS))
            return errors
        for position, endpoint in enumerate(endpoints):
            errors += _validate_endpoint(endpoint, family, f"endpoints[{position}]")
        if len(ports) > _MAX_PORTS:
            errors.append(too_many("ports", len(ports), _MAX_PORTS))
            return errors
        return errors + _validate_ports(ports)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        errors = self.validate(new)
        if new.get("addressType") != old.get("addressType"):
            because = "field is immutable"
            errors.append(value_invalid("addressType", new.get("addressType"), because))
        return errors

    def desires_other(self, new: Object, old: Object) -> bool:
        fields = ("addressType", "endpoints", "ports")
        return any(new.get(field) != old.get(field) for field in fields) or (
            new["metadata"].get("labels") != old["metadata"].get("labels")
        )


def _validate_endpoint(endpoint: Object, family: str, path: str) -> list[FieldError]:
    addresses = endpoint.get("addresses") or ()
    if not addresses:
        because = "must contain at least 1 address"
        return [required(f"{path}.addresses", because)]
    if len(addresses) > _MAX_ADDRESSES:
        return [too_many(f"{path}.addresses", len(addresses), _MAX_ADDRESSES)]
    errors = []
    for position, address in enumerate(addresses):
        errors += _validate_address(address, family, f"{path}.addresses[{position}]")
    host = endpoint.get("hostname")
    if host:
        errors += [value_invalid(f"{path}.hostname", host, text) for text in dns_label(host)]
    return errors


def _validate_address(address: str, family: str, path: str) -> list[FieldError]:
    if family == "FQDN":
        return [value_invalid(path, address, text) for text in dns_subdomain(address)]
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        because = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
        return [value_invalid(path, address, because)]
    if family in ("IPv4", "IPv6") and found.version != int(family[-1]):
        # A real server names no position here.
        return [value_invalid(path.rpartition("[")[0], address, f"must be an {family} address")]
    return []


def _validate_ports(ports: Any) -> list[FieldError]:
    errors = []
    names = set[str]()
    for position, port in enumerate(ports):
        path = f"ports[{position}]"
        name = port["name"]
        if name:
            errors += [value_invalid(f"{path}.name", name, text) for text in dns_label(name)]
        if name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.add(name)
        errors += validate_protocol(port["protocol"], f"{path}.protocol")
    return errors
