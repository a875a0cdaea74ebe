"""Validation of a container's resource requests and limits.

Devices such as GPUs cannot be overcommitted: they are integers, and the request must equal the
limit. A request without a limit is the usual mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from clusters.simulated.field_errors import FieldError, forbidden, required, value_invalid
from clusters.simulated.names import qualified_name
from vocabulary.objects import Object
from vocabulary.quantities import parse_quantity

_OF_CONTAINERS: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_OF_QUOTAS: Final = frozenset(
    {
        *(f"{kind}.{name}" for kind in ("requests", "limits") for name in _OF_CONTAINERS),
        "configmaps",
        "persistentvolumeclaims",
        "pods",
        "replicationcontrollers",
        "requests.storage",
        "resourcequotas",
        "secrets",
        "services",
        "services.loadbalancers",
        "services.nodeports",
    }
)
_HUGE_PAGES: Final = "hugepages-"
_ORDINARY: Final = ("cpu", "memory")


def validate_resources(resources: Object, path: str) -> Iterator[FieldError]:
    """Validate a container's `resources` at that path: limits first, then requests."""
    limits: Mapping[str, Any] = resources.get("limits") or {}
    for name, amount in limits.items():
        yield from _validate_amount(name, amount, f"{path}.limits[{name}]")
    requests: Mapping[str, Any] = resources.get("requests") or {}
    for name, amount in requests.items():
        yield from _validate_amount(name, amount, f"{path}.requests[{name}]")
        limit = limits.get(name)
        may_differ = may_be_overcommitted(name)
        if limit is None:
            if not may_differ:
                because = "Limit must be set for non overcommitable resources"
                yield required(f"{path}.limits", because)
            continue
        beyond = parse_quantity(amount) - parse_quantity(limit)
        if beyond and not may_differ:
            because = f"must be equal to {name} limit of {limit}"
            yield value_invalid(f"{path}.requests", str(amount), because)
        elif beyond > 0:
            because = f"must be less than or equal to {name} limit of {limit}"
            yield value_invalid(f"{path}.requests", str(amount), because)
    names = {*limits, *requests}
    if any(name.startswith(_HUGE_PAGES) for name in names) and names.isdisjoint(_ORDINARY):
        yield forbidden(path, "HugePages require cpu or memory")


def _validate_amount(name: str, amount: Any, field: str) -> Iterator[FieldError]:
    for complaint in complaints_about_name(name):
        yield value_invalid(field, name, complaint)
    value = parse_quantity(amount)
    if value < 0:
        yield value_invalid(field, str(amount), "must be greater than or equal to 0")
    if value.denominator != 1 and _is_extended(name):
        yield value_invalid(field, str(amount), "must be an integer")


def complaints_about_resource(name: str) -> tuple[str, ...]:
    """Validate the name of any resource."""
    complaints = qualified_name(name)
    if complaints or "/" in name or name == "storage" or is_of_quotas(name):
        return complaints
    return ("must be a standard resource type or fully qualified",)


def is_of_quotas(name: str) -> bool:
    """True for a resource that a quota may name without a domain."""
    return name in _OF_CONTAINERS | _OF_QUOTAS or _is_huge_pages(name)


def _is_huge_pages(name: str) -> bool:
    return name.removeprefix("requests.").startswith(_HUGE_PAGES)


def complaints_about_quota(name: str) -> tuple[str, ...]:
    """Validate the name of a resource of a quota."""
    complaints = complaints_about_resource(name)
    if "/" in name or is_of_quotas(name):
        return complaints
    return (*complaints, "must be a standard resource for quota")


@lru_cache(maxsize=1024)
def complaints_about_name(name: str) -> tuple[str, ...]:
    """Validate the name of a container's resource."""
    complaints = complaints_about_resource(name)
    if "/" not in name:
        if name in _OF_CONTAINERS or name.startswith(_HUGE_PAGES):
            return complaints
        return (*complaints, "must be a standard resource for containers")
    if not _is_native(name) and not _is_extended(name):
        return (*complaints, "doesn't follow extended resource name standard")
    return complaints


def _is_native(name: str) -> bool:
    """True if Kubernetes itself defines the resource."""
    return "/" not in name or "kubernetes.io/" in name


@lru_cache(maxsize=1024)
def _is_extended(name: str) -> bool:
    """True for an extended resource, such as a device; quotas prefix its name."""
    return (
        not _is_native(name)
        and not name.startswith("requests.")
        and not qualified_name(f"requests.{name}")
    )


def may_be_overcommitted(name: str) -> bool:
    """True if the resource can be overcommitted, so that a limit may exceed a request."""
    return _is_native(name) and not name.startswith(_HUGE_PAGES)
