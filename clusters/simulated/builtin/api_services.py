"""APIServices: who serves a group and version, this server or another one."""
# ruff: noqa: ARG002 - a hook is given all that some kind may want to look at

from __future__ import annotations

import base64
from typing import Any, Final

from clusters.simulated.builtin.ports import validate_service_port
from clusters.simulated.field_errors import FieldError, required, value_invalid
from clusters.simulated.names import NameCheck, dns_1035_label, path_segment
from clusters.simulated.strategy import Strategy
from vocabulary.clock import Micros
from vocabulary.objects import Object

_DEFAULT_PORT: Final = 443
_MAX_GROUP_PRIORITY: Final = 20_000
_MAX_VERSION_PRIORITY: Final = 1000


class ApiServiceStrategy(Strategy):
    subresources = frozenset({"status"})
    unconditional_update = False
    categories = ("api-extensions",)

    @property
    def check_name(self) -> NameCheck:
        return path_segment

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        spec: Object = obj.get("spec") or {}
        service = spec.get("service")
        if service and service.get("port") is None:
            obj["spec"] = {**spec, "service": {**service, "port": _DEFAULT_PORT}}

    def prepare_for_create(self, obj: dict[str, Any], now_us: Micros) -> None:
        obj["status"] = {}

    def validate(self, obj: Object) -> list[FieldError]:
        spec: Object = obj.get("spec") or {}
        version, group = spec.get("version", ""), spec.get("group", "")
        service = spec.get("service")
        name, wanted = obj["metadata"].get("name", ""), f"{version}.{group}"
        errors = []
        if name != wanted:
            because = f'must be `spec.version+"."+spec.group`: "{wanted}"'
            errors.append(value_invalid("metadata.name", name, because))
        errors += [value_invalid("spec.version", version, text) for text in dns_1035_label(version)]
        for field, most in (
            ("groupPriorityMinimum", _MAX_GROUP_PRIORITY),
            ("versionPriority", _MAX_VERSION_PRIORITY),
        ):
            value = spec.get(field, 0)
            if not 0 < value <= most:
                because = f"must be positive and less than {most}"
                errors.append(value_invalid(f"spec.{field}", value, because))
        if service is None:
            errors += _validate_local(spec)
        else:
            errors += [
                required(f"spec.service.{field}")
                for field in ("namespace", "name")
                if not service.get(field)
            ]
            errors += validate_service_port(service["port"], "spec.service.port")
            if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
                because = "may not be true if caBundle is present"
                errors.append(value_invalid("spec.insecureSkipTLSVerify", True, because))
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        return self.validate(new)


def _validate_local(spec: Object) -> list[FieldError]:
    errors = []
    if spec.get("caBundle"):
        because = "local APIServices may not have a caBundle"
        size = len(base64.b64decode(spec["caBundle"]))
        errors.append(value_invalid("spec.caBundle", f"{size} bytes", because))
    if spec.get("insecureSkipTLSVerify"):
        because = "local APIServices may not have insecureSkipTLSVerify"
        errors.append(value_invalid("spec.insecureSkipTLSVerify", True, because))
    return errors
