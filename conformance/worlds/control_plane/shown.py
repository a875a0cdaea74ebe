"""The part of a shared cluster that a proxy shows to an operator which asks for all of it.

Of kinds with a namespace it shows the namespaces of its run, of a suite's cluster-scoped kinds
the objects with the run's label. Kubernetes' own cluster-scoped objects, such as nodes, are shown
to every operator.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from conformance.left_behind.clean import RUN_LABEL
from conformance.worlds.control_plane.http_requests import KindOf
from vocabulary.kinds import BUILT_IN_KINDS, Kind


@dataclass(frozen=True, slots=True)
class Shown:
    """One run's part; the default shows everything."""

    namespaces: tuple[str, ...] = ()
    """Empty: all of them."""
    run: str = ""
    """The value of the run's label; empty: cluster-scoped objects are shown whosoever they are."""

    def narrowed(self, target: str, kind_of: KindOf) -> str:
        """The same list or watch of what is shown, as far as a request can say that."""
        kind = _of_all(target, kind_of)
        if kind is None:
            return target
        if kind.namespaced:
            return (
                _in_namespace(target, self.namespaces[0]) if len(self.namespaces) == 1 else target
            )
        if self.run and str(kind) not in _BUILT_IN:
            return _with_label(target, f"{RUN_LABEL}={self.run}")
        return target

    def picks(self, target: str, kind_of: KindOf) -> bool:
        """True if the answer to a list or watch has to be picked over."""
        if len(self.namespaces) < 2:
            return False
        kind = _of_all(target, kind_of)
        return kind is not None and kind.namespaced

    def listed(self, body: bytes) -> bytes:
        """A list's answer with what is shown alone."""
        answer = json.loads(body)
        answer["items"] = [item for item in answer.get("items") or () if self._shows(item)]
        return json.dumps(answer).encode()

    def watched(self, line: bytes) -> bool:
        """True if an event of a watch is shown; what concerns no object always is."""
        return self._shows(json.loads(line).get("object") or {})

    def _shows(self, obj: dict[str, object]) -> bool:
        metadata = obj.get("metadata")
        namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
        return not namespace or namespace in self.namespaces


EVERYTHING = Shown()
_BUILT_IN: Final = frozenset(map(str, BUILT_IN_KINDS))
"""In any version."""


def _of_all(target: str, kind_of: KindOf) -> Kind | None:
    """The kind of a request for a collection in no namespace; None for others."""
    parts = urlsplit(target).path.strip("/").split("/")
    prefix = 2 if parts[0] == "api" else 3
    if len(parts) != prefix + 1 or parts[0] not in ("api", "apis"):
        return None
    return kind_of("" if prefix == 2 else parts[1], parts[prefix - 1], parts[-1])


def _in_namespace(target: str, namespace: str) -> str:
    parts = urlsplit(target)
    collection, _, plural = parts.path.rpartition("/")
    return parts._replace(path=f"{collection}/namespaces/{namespace}/{plural}").geturl()


def _with_label(target: str, label: str) -> str:
    parts = urlsplit(target)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    selectors = (query.get("labelSelector", ""), label)
    query["labelSelector"] = ",".join(filter(None, selectors))
    return parts._replace(query=urlencode(query)).geturl()
