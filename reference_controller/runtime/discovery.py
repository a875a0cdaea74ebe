"""Plural and scope of kinds that are not known by name, asked of the API server itself.

A component of a workload may be of any kind. `vocabulary.kinds.kind_of` guesses the plural by
convention; the server's discovery documents know it. Found kinds are kept for good, since a
served kind does not change its plural; what is not found is asked for again, since a CRD may
be installed at any time.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Protocol

from vocabulary.errors import ApiError
from vocabulary.kinds import BUILT_IN_KINDS, Kind
from vocabulary.requests import AnyRequest, as_served


class Getter(Protocol):
    """A client of the API server."""

    def get(self, path: str, /) -> Any:
        """The decoded JSON at a path; raises ApiError."""


class Discovery:
    """Kinds as one API server serves them; safe to share between threads."""

    def __init__(self, connection: Getter) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._served: dict[tuple[str, str, str], Kind] = {
            (kind.group, kind.version, kind.kind): kind for kind in BUILT_IN_KINDS
        }

    def resolve(self, request: AnyRequest) -> AnyRequest:
        """The request with its kind as served; raises ApiError 404 if it is not served."""
        return as_served(request, self.served(request.kind))

    def served(self, kind: Kind) -> Kind:
        """The kind with the plural and scope that the server gives it."""
        address = (kind.group, kind.version, kind.kind)
        with self._lock:
            known = self._served.get(address)
        if known is not None:
            return known
        self._ask(kind.group, kind.version)
        with self._lock:
            known = self._served.get(address)
        if known is None:
            raise ApiError(
                404,
                "NotFound",
                f"the server serves no kind {kind.kind} in {kind.api_version}; "
                "is its CustomResourceDefinition installed?",
            )
        return known

    def served_or_unknown(self, kind: Kind) -> Kind:
        """The same; the kind itself if the server does not serve it."""
        try:
            return self.served(kind)
        except ApiError as error:
            if not error.is_not_found:
                raise
            return kind

    def of_resource(self, group: str, version: str, plural: str) -> Kind | None:
        """The kind behind a resource in a URL path; None if the server does not serve it."""
        known = self._known(group, plural)
        if known is None:
            with contextlib.suppress(ApiError):
                self._ask(group, version)
            known = self._known(group, plural)
        return known

    def _known(self, group: str, plural: str) -> Kind | None:
        with self._lock:
            found = (k for k in self._served.values() if (k.group, k.plural) == (group, plural))
            return next(found, None)

    def _ask(self, group: str, version: str) -> None:
        root = f"/apis/{group}" if group else "/api"
        document = self._connection.get(f"{root}/{version}")
        with self._lock:
            for resource in document.get("resources") or ():
                if "/" not in resource["name"]:
                    found = (group, version, resource["kind"])
                    self._served[found] = Kind(*found, resource["name"], resource["namespaced"])
