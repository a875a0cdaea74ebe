"""Resolve URL paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import unquote

from clusters.simulated.names import path_segment
from clusters.simulated.reading import no_such_resource, no_such_version
from clusters.simulated.strategy import Strategy
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind


class PlainTextError(Exception):
    """A refusal in plain text."""

    code: ClassVar = 404
    text: ClassVar = "404 page not found\n"


class NoSuchPathError(PlainTextError):
    """No API is served below the path."""


class UnavailableError(PlainTextError):
    """Another server would have to respond, and is not reached."""

    code: ClassVar = 503
    text: ClassVar = "service unavailable\n"


@dataclass(frozen=True, slots=True)
class Route:
    """A collection (name is ""), an object, or a subresource of one."""

    kind: Kind
    """The kind, in the version in the path."""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    watch: bool = False
    """True for the deprecated form of path that begins with `watch`."""


def _require_segment(name: str) -> None:
    for because in () if "/" in name else path_segment(name):
        raise ApiError(400, "BadRequest", f'Name parameter invalid: "{name}": {because}')


def route(path: str, strategies: Mapping[str, Strategy], verb: str = "") -> Route:
    """Resolve a path below `/api` or `/apis`; 404 if it is not served.

    Raises NoSuchPathError if its group is not served either, but for a creation in a version of a
    custom kind that is not served: its user learns those that are."""
    parts = [unquote(part) for part in path.strip("/").split("/")]
    if parts[:2] == ["api", "v1"]:
        group, version, rest = "", "v1", parts[2:]
    elif parts[0] == "apis" and len(parts) > 2 and parts[1]:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        raise NoSuchPathError
    watch = rest[:1] == ["watch"]
    rest = rest[1:] if watch else rest
    namespace = ""
    # /namespaces/x is a namespace itself, /namespaces/x/status its subresource.
    if rest[:1] == ["namespaces"] and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    if not 1 <= len(rest) <= 3 or not all(rest):
        raise no_such_resource()
    of_group = [strategy for strategy in strategies.values() if strategy.kind.group == group]
    for strategy in of_group:
        kind = strategy.kind
        if kind.plural == rest[0]:
            if namespace and not kind.namespaced:
                break
            served = Kind(group, version, kind.kind, kind.plural, kind.namespaced)
            if version in strategy.versions:
                name, subresource = (*rest[1:], "", "")[:2]
                _require_segment(name)
                return Route(served, namespace, name, subresource, watch)
            if verb == "POST" and not strategy.is_built_in:
                raise no_such_version(served, strategy)
    if not any(version in strategy.versions for strategy in of_group):
        raise NoSuchPathError
    raise no_such_resource()
