"""The permissions that an implementation requests: granted to its operators in a run, and what they
tell of the kinds that it has to do with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from clusters.simulated.access.rules import Rules
from conformance.implementations.under_test import UnderTest
from conformance.left_behind.clean import RUN_LABEL
from conformance.stored_objects.retrying_connection import RetryingConnection
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind, known_kinds
from vocabulary.objects import Object, name_of
from vocabulary.requests import Create

_GROUP = "rbac.authorization.k8s.io"
_BINDING = Kind(_GROUP, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False)
_ROLE = Kind(_GROUP, "v1", "ClusterRole", "clusterroles", namespaced=False)

OBJECT_VERBS: Final = ("get", "list", "watch", "create", "update", "patch", "delete")
"""Verbs on the objects of a kind. Never all: an account can grant only permissions it has."""


def grant(
    connection: RetryingConnection,
    implementation: UnderTest,
    extra_kinds: Iterable[Kind],
    subjects: Sequence[dict[str, Any]],
    *,
    run_label: str,
    prefix: str = "",
) -> None:
    """Create the roles, and bind the subjects to them; `prefix` begins the roles' names.

    In addition to the implementation's own, they get the permissions on kinds that only scenarios
    know, as granted by a cluster's administrator.
    """
    roles = [role for role in map(_everywhere, implementation.rbac()) if role]
    roles += _extra_rights(extra_kinds)
    for role in roles:
        name = f"{prefix}{name_of(role)}"
        metadata = {"name": name, "labels": {RUN_LABEL: run_label}}
        _create(connection, _ROLE, {**role, "metadata": metadata})
        binding = {
            "apiVersion": f"{_GROUP}/v1",
            "kind": _BINDING.kind,
            "metadata": {**metadata, "name": f"assay-operators-{name}"},
            "roleRef": {"apiGroup": _GROUP, "kind": _ROLE.kind, "name": name},
            "subjects": list(subjects),
        }
        _create(connection, _BINDING, binding)


def may_have_to_do_with(kind: str, implementation: UnderTest) -> bool:
    """False if its operators have exactly the permissions that it requests, and of these none on
    objects of a kind, spelled as in a history.

    Others may have granted more to an operator that they installed, as an administrator does on
    kinds that only scenarios know.
    """
    rules = [rule for role in implementation.rbac() for rule in role.get("rules") or ()]
    known = next((each for each in known_kinds() if str(each) == kind), None)
    if known is None or not rules or implementation.installed is not None:
        return True
    return Rules(rules).apply_to(known)


def _create(connection: RetryingConnection, kind: Kind, manifest: Object) -> None:
    try:
        connection.handle(Create(kind, manifest, "", name_of(manifest)))
    except ApiError as error:
        if not error.is_already_exists:
            raise


def _everywhere(manifest: Object) -> Object | None:
    """The role that the implementation requests; a Role for its own namespace becomes one for any:
    each run has its own. None for other objects."""
    if manifest["kind"] not in ("Role", "ClusterRole"):
        return None
    return {**manifest, "kind": "ClusterRole"}


def _extra_rights(kinds: Iterable[Kind]) -> list[Object]:
    rules = [
        {"apiGroups": [kind.group], "resources": [kind.plural], "verbs": list(OBJECT_VERBS)}
        for kind in kinds
    ]
    role = {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "scenario-kinds"},
        "rules": rules,
    }
    return [role] if rules else []
