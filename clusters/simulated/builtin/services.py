"""Services: an address is made up for each, since some clients wait for one."""
# ruff: noqa: ARG002 - a hook is given all that some kind may want to look at

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from clusters.simulated.builtin.ports import validate_port_number, validate_protocol
from clusters.simulated.field_errors import FieldError, not_supported, required, value_invalid
from clusters.simulated.names import NameCheck, dns_label
from clusters.simulated.strategy import METADATA_FIELDS, FieldOf, Strategy, path_field
from vocabulary.clock import Micros
from vocabulary.objects import Object, uid_of

_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")


class ServiceStrategy(Strategy):
    lists_selectable: ClassVar = False
    subresources = frozenset({"status"})
    returns_deleted = True
    short_names = ("svc",)
    categories = ("all",)
    selectable: Mapping[str, FieldOf] = {
        **METADATA_FIELDS,
        "spec.clusterIP": path_field("spec.clusterIP"),
        "spec.type": path_field("spec.type"),
    }

    @property
    def check_name(self) -> NameCheck:
        return dns_label

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        spec = obj.get("spec") or {}
        if old is not None and spec is old.get("spec"):
            return
        spec = {"sessionAffinity": "None", "type": "ClusterIP", **spec}
        if spec["type"] != "ExternalName":
            spec.setdefault("internalTrafficPolicy", "Cluster")
        if spec.get("ports"):
            spec["ports"] = list(map(_default_port, spec["ports"]))
        if old is not None:
            # An update that leaves the address out keeps it.
            for field in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
                if field in (old.get("spec") or {}):
                    spec.setdefault(field, old["spec"][field])
        obj["spec"] = spec

    def prepare_for_create(self, obj: dict[str, Any], now_us: Micros) -> None:
        obj["status"] = {"loadBalancer": {}}
        spec = obj["spec"]
        if spec["type"] == "ExternalName":
            return
        address = spec.get("clusterIP")
        if not address:
            # The strategy is shared by all clusters of a process, so it must not count.
            of_uid = int(uid_of(obj)[:4], 16)
            address = f"10.96.{of_uid >> 8}.{of_uid & 255}"
        # The addresses of a headless one without a selector may be of any family.
        is_free = address == "None" and not spec.get("selector")
        obj["spec"] = {
            **spec,
            "clusterIP": address,
            "clusterIPs": [address],
            "ipFamilies": ["IPv4", "IPv6"] if is_free else ["IPv4"],
            "ipFamilyPolicy": "RequireDualStack" if is_free else "SingleStack",
        }

    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj["spec"]
        needs_ports = spec["type"] != "ExternalName" and spec.get("clusterIP") != "None"
        if needs_ports and not spec.get("ports"):
            return [required("spec.ports")]
        errors = []
        ports = spec.get("ports") or ()
        for position, port in enumerate(ports):
            errors += _validate_port(port, f"spec.ports[{position}]", is_one=len(ports) == 1)
        if spec["type"] not in _TYPES:
            errors.append(not_supported("spec.type", spec["type"], _TYPES))
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        errors = self.validate(new)
        before = old["spec"].get("clusterIP")
        after = new["spec"].get("clusterIP")
        if before and after != before and new["spec"]["type"] != "ExternalName":
            errors.append(value_invalid("spec.clusterIPs[0]", [after], "may not change once set"))
        return errors


def _default_port(port: Object) -> Object:
    # A client that sends protobuf sends a zero, where one that sends JSON leaves the field out.
    return {"protocol": "TCP", **port, "targetPort": port.get("targetPort") or port.get("port")}


def _validate_port(port: Object, path: str, *, is_one: bool) -> list[FieldError]:
    errors = [] if is_one or port.get("name") else [required(f"{path}.name")]
    errors += validate_port_number(port.get("port") or 0, f"{path}.port")
    errors += validate_protocol(port["protocol"], f"{path}.protocol")
    target = port.get("targetPort") or 0
    if isinstance(target, int):
        errors += validate_port_number(target, f"{path}.targetPort")
    return errors
