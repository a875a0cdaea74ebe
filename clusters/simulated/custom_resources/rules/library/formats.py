"""Named formats of texts: each its name. See `optional_results` for what they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from cel_expr_python import cel

from clusters.simulated import names
from clusters.simulated.custom_resources.formats import (
    is_base64,
    is_date,
    is_date_time,
    is_uuid,
)
from clusters.simulated.custom_resources.rules.library.declaring import (
    STRING,
    STRINGS,
    Types,
    method,
    plain,
)
from clusters.simulated.custom_resources.uris import complaint

Validate = Callable[[str], Sequence[str]]
"""The complaints about a text; none if it has the format."""


def functions(types: Types) -> list[cel.FunctionDecl]:
    """The library `kubernetes.format`; for an optional value, a list of none or one is returned."""
    return [
        plain(
            "format.named",
            cel.Type.List(types.format),
            [STRING],
            lambda name: [name] if name in _FORMATS else [],
        ),
        method("validate", cel.Type.List(STRINGS), [types.format, STRING], _validated),
        *(plain(f"format.{name}", types.format, [], lambda name=name: name) for name in _FORMATS),
    ]


def _validated(name: str, text: str) -> list[list[str]]:
    complaints = _FORMATS[name](text)
    return [[*complaints]] if complaints else []


def _of_prefixes(validate: Validate) -> Validate:
    """The format of what names may begin with: it may end with a dash."""

    def validate_prefix(text: str) -> Sequence[str]:
        is_masked = len(text) > 1 and text.endswith("-")
        return validate(f"{text[:-2]}a" if is_masked else text)

    return validate_prefix


def _unless(is_valid: Callable[[str], object], complaint: str) -> Validate:
    return lambda text: () if is_valid(text) else (complaint,)


def _uri(text: str) -> Sequence[str]:
    reason = complaint(text)
    return (reason,) if reason else ()


_FORMATS: Final[Mapping[str, Validate]] = {
    "dns1123Label": names.dns_label,
    "dns1123Subdomain": names.dns_subdomain,
    "dns1035Label": names.dns_1035_label,
    "qualifiedName": names.qualified_name,
    "dns1123LabelPrefix": _of_prefixes(names.dns_label),
    "dns1123SubdomainPrefix": _of_prefixes(names.dns_subdomain),
    "dns1035LabelPrefix": _of_prefixes(names.dns_1035_label),
    "labelValue": names.label_value,
    "uri": _uri,
    "uuid": _unless(is_uuid, "does not match the UUID format"),
    "byte": _unless(is_base64, "invalid base64"),
    "date": _unless(is_date, "invalid date"),
    "datetime": _unless(is_date_time, "invalid datetime"),
}
