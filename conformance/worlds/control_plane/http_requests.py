"""What an HTTP request asks of the API: the vocabulary's request, for faults to look at."""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import urlsplit

from vocabulary.kinds import KNOWN_KINDS, Kind
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

_BY_RESOURCE: Final = {(kind.group, kind.plural): kind for kind in KNOWN_KINDS}


def parse_request(method: str, target: str, body: bytes) -> Request | None:
    """The request that an HTTP request is; None for discovery and the like."""
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
    kind = _BY_RESOURCE.get((group, plural)) or Kind(group, version, plural, plural)
    content: Any = json.loads(body) if body else {}
    match method:
        case "GET":
            if name:
                return Get(kind, namespace, name, live=True)
            return List(kind, namespace, live=True)
        case "POST":
            named = name or (content.get("metadata") or {}).get("name", "")
            return Create(kind, content, namespace, named, subresource)
        case "PUT":
            return Update(kind, content, subresource)
        case "PATCH":
            return Patch(kind, namespace, name, content, subresource=subresource)
        case "DELETE" if name:
            return Delete(kind, namespace, name)
        case "DELETE":
            return DeleteCollection(kind, namespace)
    return None
