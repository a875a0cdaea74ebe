"""The rights of users: by roles and bindings in the store, and by roles that a run grants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from clusters.simulated.access import bootstrap
from clusters.simulated.access.rules import Attributes, Rules
from clusters.simulated.access.users import MASTERS, User, service_account_name
from clusters.simulated.store import Change, Key, Store
from vocabulary.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, RBAC_KINDS, ROLE, ROLE_BINDING
from vocabulary.objects import Object, name_of, namespace_of

_Subjects: TypeAlias = tuple[str, tuple[str, ...], str]
"""A user's name and groups, and the namespace of the request."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to a question about a right."""

    allowed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Grant:
    rules: Rules
    reason: str


class Rbac:
    """Decides about rights, as the authorizer of that name does."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._granted: dict[str, Rules] = {}
        self._grants: dict[_Subjects, tuple[list[_Grant], str]] = {}
        self._follows = False

    def grant(self, user: str, rules: Rules) -> None:
        """Give a user, by its name, rights that no stored role has, in every namespace."""
        self._granted[user] = rules

    def grants_all_of(self, user: str, group: str, resource: str, verb: str) -> bool:
        """True if roles that the run grants name this right; most requests need no more."""
        granted = self._granted.get(user)
        return granted is not None and granted.name((group, resource, verb))

    def decide(self, user: User, asked: Attributes) -> Decision:
        if MASTERS in user.groups:
            return Decision(True)
        granted = self._granted.get(user.name)
        if granted is not None and granted.allow(asked):
            return Decision(True, "RBAC: allowed by the roles that the run grants")
        grants, errors = self._grants_of(user, asked.namespace)
        for grant in grants:
            if grant.rules.allow(asked):
                return Decision(True, f"RBAC: allowed by {grant.reason}")
        return Decision(False, f"RBAC: {errors}" if errors else "")

    def rules_of(self, user: User, namespace: str) -> tuple[list[Object], str]:
        """All rules that apply to a user in a namespace, and the errors met while finding them."""
        grants, errors = self._grants_of(user, namespace)
        found = [rule for grant in grants for rule in grant.rules.rules]
        granted = self._granted.get(user.name)
        return [*found, *(granted.rules if granted else ())], errors

    def _grants_of(self, user: User, namespace: str) -> tuple[list[_Grant], str]:
        if not self._follows:
            self._follows = True
            self._store.watch(self._changed, frozenset(str(kind) for kind in RBAC_KINDS))
        subjects = (user.name, user.groups, namespace)
        found = self._grants.get(subjects)
        if found is None:
            found = self._grants[subjects] = self._found(user, namespace)
        return found

    def _changed(self, change: Change) -> None:  # noqa: ARG002 - a watcher's parameters
        self._grants.clear()

    def _found(self, user: User, namespace: str) -> tuple[list[_Grant], str]:
        grants = [
            _Grant(
                Rules(bootstrap.CLUSTER_ROLES[role]),
                f'ClusterRoleBinding "{role}" of ClusterRole "{role}" to Group "{group}"',
            )
            for role, group in bootstrap.BOUND
            if group in user.groups
        ]
        missing = []
        for binding in self._bindings(namespace):
            subject = _subject_for(binding, user)
            if subject is None:
                continue
            role = binding["roleRef"]
            rules = self.rules_of_role(role["kind"], role["name"], namespace_of(binding))
            if rules is None:
                plural = f"{role['kind'].lower()}.{bootstrap.GROUP}"
                missing.append(f'{plural} "{role["name"]}" not found')
                continue
            kind = "RoleBinding" if namespace_of(binding) else "ClusterRoleBinding"
            named = f"{name_of(binding)}/{namespace_of(binding)}".rstrip("/")
            grants.append(
                _Grant(
                    Rules(rules),
                    f'{kind} "{named}" of {role["kind"]} "{role["name"]}" to {subject}',
                )
            )
        distinct = list(dict.fromkeys(missing))
        errors = distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"
        return grants, errors if missing else ""

    def _bindings(self, namespace: str) -> Iterator[Object]:
        yield from sorted(self._store.of_kind(str(CLUSTER_ROLE_BINDING)), key=name_of)
        if namespace:
            yield from sorted(self._store.of_kind(str(ROLE_BINDING), namespace), key=name_of)

    def rules_of_role(self, kind: str, name: str, namespace: str) -> Iterable[Object] | None:
        """The rules of a role that a binding in a namespace refers to; None if there is none."""
        key = (
            Key(str(ROLE), namespace, name)
            if kind == ROLE.kind
            else Key(str(CLUSTER_ROLE), "", name)
        )
        role = self._store.get(key)
        if role is not None:
            return role.get("rules") or ()
        return bootstrap.CLUSTER_ROLES.get(name) if kind == CLUSTER_ROLE.kind else None


def _subject_for(binding: Object, user: User) -> str | None:
    """The subject of a binding that is this user, in words; None if none is."""
    for subject in binding.get("subjects") or ():
        kind, name = subject.get("kind"), subject.get("name", "")
        if kind == "User" and name == user.name:
            return f'User "{name}"'
        if kind == "Group" and name in user.groups:
            return f'Group "{name}"'
        if kind == "ServiceAccount":
            namespace = subject.get("namespace") or namespace_of(binding)
            if namespace and service_account_name(namespace, name) == user.name:
                return f'ServiceAccount "{name}/{namespace}"'
    return None
