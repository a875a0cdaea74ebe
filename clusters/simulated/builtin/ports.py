"""Validation of ports, which containers, Services and EndpointSlices have."""

from __future__ import annotations

from typing import Final

from clusters.simulated.field_errors import FieldError, not_supported, value_invalid

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_MAX_PORT: Final = 65535


def validate_port_number(number: int, path: str) -> list[FieldError]:
    if 1 <= number <= _MAX_PORT:
        return []
    return [value_invalid(path, number, f"must be between 1 and {_MAX_PORT}, inclusive")]


def validate_protocol(protocol: str, path: str) -> list[FieldError]:
    return [] if protocol in _PROTOCOLS else [not_supported(path, protocol, _PROTOCOLS)]


def validate_service_port(number: int, path: str) -> list[FieldError]:
    """Of a Service that a webhook or an APIService is reached by."""
    if 1 <= number <= _MAX_PORT:
        return []
    because = f"port is not valid: must be between 1 and {_MAX_PORT}, inclusive"
    return [value_invalid(path, number, because)]
