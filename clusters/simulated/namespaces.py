"""Admission by namespace: it must exist, and not be terminating."""

from __future__ import annotations

from typing import Final

from clusters.simulated.store import Store
from vocabulary.errors import ApiError, not_found
from vocabulary.kinds import NAMESPACE, Kind
from vocabulary.objects import get_path

FIRST_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
"""The namespaces that every cluster has from the start."""
_IMMORTAL: Final = frozenset({"default", "kube-public", "kube-system"})


def require_namespace(store: Store, kind: Kind, namespace: str, name: str) -> None:
    """Refuse a creation in a namespace that is missing (404) or terminating (403)."""
    found = store.get((NAMESPACE.group_kind, "", namespace))
    if found is None:
        raise not_found(NAMESPACE, namespace)
    if get_path(found, "status.phase") == "Terminating":
        because = (
            f"unable to create new content in namespace {namespace} because it is being terminated"
        )
        cause = {
            "reason": "NamespaceTerminating",
            "message": f"namespace {namespace} is being terminated",
            "field": "metadata.namespace",
        }
        raise refused(kind, name, because, cause)


def require_mortal(kind: Kind, name: str) -> None:
    """Refuse to delete the namespaces that a cluster cannot be without (403)."""
    if kind == NAMESPACE and name in _IMMORTAL:
        raise refused(kind, name, "this namespace may not be deleted")


def refused(kind: Kind, name: str, because: str, cause: dict[str, str] | None = None) -> ApiError:
    """A 403 as an admission plugin words it."""
    plural = f"{kind.plural}.{kind.group}" if kind.group else kind.plural
    details: dict[str, object] = {"name": name}
    if kind.group:
        details["group"] = kind.group
    details["kind"] = kind.plural
    if cause:
        details["causes"] = [cause]
    return ApiError(403, "Forbidden", f'{plural} "{name}" is forbidden: {because}', details)
