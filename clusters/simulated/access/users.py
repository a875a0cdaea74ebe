"""Users, as authentication reports them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from clusters.simulated.names import dns_label, dns_subdomain

MASTERS: Final = "system:masters"
"""The group whose members may do everything."""
AUTHENTICATED: Final = "system:authenticated"
UNAUTHENTICATED: Final = "system:unauthenticated"
SERVICE_ACCOUNTS: Final = "system:serviceaccounts"
NODES: Final = "system:nodes"
ANONYMOUS: Final = "system:anonymous"
_NODE: Final = "system:node:"
_SERVICE_ACCOUNT: Final = "system:serviceaccount:"


class User(msgspec.Struct, frozen=True):
    """Kubernetes' `UserInfo`."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, Sequence[str]] = {}

    def to_info(self) -> dict[str, Any]:
        """The user in JSON, as reviews show it."""
        info: dict[str, Any] = {}
        if self.name:
            info["username"] = self.name
        if self.uid:
            info["uid"] = self.uid
        if self.groups:
            info["groups"] = list(self.groups)
        if self.extra:
            info["extra"] = {key: list(values) for key, values in self.extra.items()}
        return info


def administrator(name: str) -> User:
    """A user with all rights."""
    return User(name, (MASTERS, AUTHENTICATED), uid_of_actor(name))


def uid_of_actor(actor: str) -> str:
    """The uid of an actor that no identity provider gives one."""
    return f"uid-of-{actor}"


def service_account_name(namespace: str, name: str) -> str:
    """The name of the user that a service account is."""
    return f"{_SERVICE_ACCOUNT}{namespace}:{name}"


def service_account(
    namespace: str, name: str, uid: str = "", extra: Mapping[str, Sequence[str]] | None = None
) -> User:
    """The user that a service account is."""
    groups = (*service_account_groups(namespace), AUTHENTICATED)
    return User(service_account_name(namespace, name), groups, uid, extra or {})


def service_account_groups(namespace: str) -> tuple[str, ...]:
    """The groups of a namespace's service accounts."""
    return SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{namespace}"


def service_account_of(user: str) -> tuple[str, str] | None:
    """Namespace and name of the service account that a user is; None for other users."""
    if not user.startswith(_SERVICE_ACCOUNT):
        return None
    namespace, _, name = user.removeprefix(_SERVICE_ACCOUNT).partition(":")
    return None if dns_label(namespace) or dns_subdomain(name) else (namespace, name)


def node_of(user: str) -> str:
    """The node that a user is the kubelet of; "" for other users."""
    name = user.removeprefix(_NODE)
    return "" if name == user or dns_subdomain(name) else name


def user_of(actor: str, known: Mapping[str, User]) -> User:
    """The user that an actor of the history is known as.

    Actors that are neither listed nor service accounts are administrators.
    """
    user = known.get(actor)
    if user is None and actor.startswith(_SERVICE_ACCOUNT):
        namespace, _, name = actor.removeprefix(_SERVICE_ACCOUNT).partition(":")
        return service_account(namespace, name)
    return administrator(actor) if user is None else user
