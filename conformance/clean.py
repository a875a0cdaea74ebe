"""Finds what a killed run left on a cluster, by its run label, and removes it.

Everything that Assay makes for itself carries the label `assay.dev/run`: namespaces, nodes,
webhook configurations, role bindings. What holds deletion up (a foreign finalizer that a
fault put on an object) is taken off first, or a namespace would never go.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from conformance.worlds.control_plane.scratch import abandoned, remove_abandoned
from reference_controller.runtime.connection import Connection, connect
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.kinds import KNOWN_KINDS, NAMESPACE, NODE, Kind
from vocabulary.objects import Object, finalizers_of, name_of, namespace_of
from vocabulary.requests import Delete, List, ObjectList, Patch

RUN_LABEL: Final = "assay.dev/run"
OURS: Final = "assay.dev/"
"""What the names of finalizers begin with that faults put on objects."""
_REGISTRATION: Final = "admissionregistration.k8s.io"
_RBAC: Final = "rbac.authorization.k8s.io"
_CLUSTER_WIDE: Final = (
    Kind(
        _REGISTRATION,
        "v1",
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        namespaced=False,
    ),
    Kind(
        _REGISTRATION,
        "v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        namespaced=False,
    ),
    Kind(_RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False),
    Kind(_RBAC, "v1", "ClusterRole", "clusterroles", namespaced=False),
    NAMESPACE,
    NODE,
)
"""Webhooks first: one whose server is gone would refuse the writes that follow."""


def clean_folders(*, remove: bool) -> list[str]:
    """The folders of control planes whose harness was killed, in words; removed if `remove`."""
    found = remove_abandoned() if remove else abandoned()
    return [f"folder {folder}" for folder in found]


def clean_cluster(
    kubeconfig: Path | None, *, context: str = "", run_label: str = "", remove: bool
) -> list[str]:
    """What carries the run label (of one run, or any), in words; removed if `remove`.

    Raises ApiError if the cluster cannot be asked.
    """
    connection = connect(
        kubeconfig, context or None, user_agent="assay-clean", timeout_us=30 * SECOND, pool_size=2
    )
    selector = f"{RUN_LABEL}={run_label}" if run_label else RUN_LABEL
    found: list[str] = []
    for kind in _CLUSTER_WIDE:
        for obj in _listed(connection, List(kind, label_selector=selector, live=True)):
            if kind == NAMESPACE:
                found += _release(connection, name_of(obj), remove=remove)
            found.append(f"{kind.kind} {name_of(obj)}")
            if remove:
                _delete(connection, kind, obj)
    return found


def _release(connection: Connection, namespace: str, *, remove: bool) -> list[str]:
    """Take foreign finalizers off what is in a namespace."""
    found: list[str] = []
    for kind in KNOWN_KINDS:
        if not kind.namespaced:
            continue
        for obj in _listed(connection, List(kind, namespace, live=True)):
            held = [entry for entry in finalizers_of(obj) if entry.startswith(OURS)]
            if not held:
                continue
            found.append(f"finalizer {held[0]} of {kind.kind} {namespace}/{name_of(obj)}")
            if remove:
                kept = [entry for entry in finalizers_of(obj) if entry not in held]
                body = {"metadata": {"finalizers": kept or None}}
                connection.handle(Patch(kind, namespace, name_of(obj), body))
    return found


def _listed(connection: Connection, request: List) -> tuple[Object, ...]:
    """The objects of a kind; none if the cluster does not serve it."""
    try:
        answer = connection.handle(request)
    except ApiError as error:
        if error.is_not_found:
            return ()
        raise
    assert isinstance(answer, ObjectList)
    return answer.items


def _delete(connection: Connection, kind: Kind, obj: Object) -> None:
    try:
        connection.handle(Delete(kind, namespace_of(obj), name_of(obj)))
    except ApiError as error:
        if not error.is_not_found:
            raise
