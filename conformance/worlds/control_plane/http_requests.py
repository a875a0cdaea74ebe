"""Translate an HTTP request to the vocabulary's request, for faults to inspect."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from vocabulary.kinds import Kind, known_kinds
from vocabulary.requests import (
    Create,
    Delete,
    DeleteCollection,
    Get,
    List,
    Patch,
    Request,
    Update,
)

PROTOBUF: Final = b"k8s\x00"
"""How a body begins that is in Kubernetes' other encoding; what it says, the audit log tells."""
KindOf: TypeAlias = Callable[[str, str, str], Kind | None]
"""(group, version, plural) → the kind that is served there; None: there is none."""


def known_kind(group: str, _version: str, plural: str) -> Kind | None:
    """The kind behind a resource, of those that are known without asking."""
    found = (kind for kind in known_kinds() if (kind.group, kind.plural) == (group, plural))
    return next(found, None)


def parse_request(
    method: str, target: str, body: bytes, kind_of: KindOf = known_kind
) -> Request | None:
    """The request that an HTTP request is; None for discovery and the like, and for resources
    that are not served."""
    parts = urlsplit(target).path.strip("/").split("/")
    if parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource = (*rest, "", "")[:3]
    kind = kind_of(group, version, plural)
    if kind is None:
        return None
    content: Any = json.loads(body) if body and not body.startswith(PROTOBUF) else {}
    match method:
        case "GET":
            if name:
                return Get(kind, namespace, name, live=True)
            return List(kind, namespace, live=True)
        case "POST":
            named = name or (content.get("metadata") or {}).get("name", "")
            return Create(kind, content, namespace, named, subresource)
        case "PUT":
            # What cannot be read has a name all the same.
            unread = {"metadata": {"namespace": namespace, "name": name}}
            return Update(kind, content or unread, subresource)
        case "PATCH":
            return Patch(kind, namespace, name, content, subresource=subresource)
        case "DELETE" if name:
            return Delete(kind, namespace, name)
        case "DELETE":
            return DeleteCollection(kind, namespace)
    return None


def in_json(accept: str) -> str:
    """Remove Kubernetes' binary encoding from an Accept header, since it cannot be decoded here."""
    wanted = [item for item in accept.split(",") if "protobuf" not in item]
    return ",".join(wanted) or "application/json"
