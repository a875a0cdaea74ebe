"""Plural and scope of kinds that are not known by name, asked of the API server itself.

A component of a workload may be of any kind. `vocabulary.kinds.kind_of` guesses the plural by
convention; the server's discovery documents know it. Found kinds are kept for good, since a
served kind does not change its plural; what is not found is asked for again, since a CRD may
be installed at any time.
"""

from __future__ import annotations

import threading
from typing import TypeVar

from msgspec.structs import replace

from reference_controller.runtime.connection import Connection
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind, known_kinds
from vocabulary.requests import Request

AnyRequest = TypeVar("AnyRequest", bound=Request)


class Discovery:
    """Kinds as one API server serves them; safe to share between threads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._served: dict[tuple[str, str, str], Kind] = {
            (kind.group, kind.version, kind.kind): kind for kind in known_kinds()
        }

    def resolve(self, request: AnyRequest) -> AnyRequest:
        """The request with its kind as served; raises ApiError 404 if it is not served."""
        kind = self.served(request.kind)
        return request if kind == request.kind else replace(request, kind=kind)

    def served(self, kind: Kind) -> Kind:
        """The kind with the plural and scope that the server gives it."""
        address = (kind.group, kind.version, kind.kind)
        with self._lock:
            known = self._served.get(address)
        if known is not None:
            return known
        root = f"/apis/{kind.group}" if kind.group else "/api"
        document = self._connection.get(f"{root}/{kind.version}")
        with self._lock:
            for resource in document.get("resources") or ():
                if "/" not in resource["name"]:
                    found = (kind.group, kind.version, resource["kind"])
                    self._served[found] = Kind(*found, resource["name"], resource["namespaced"])
            known = self._served.get(address)
        if known is None:
            raise ApiError(
                404,
                "NotFound",
                f"the server serves no kind {kind.kind} in {kind.api_version}; "
                "is its CustomResourceDefinition installed?",
            )
        return known
