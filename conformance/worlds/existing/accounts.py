"""The accounts of operators under test on an existing cluster.

If the permissions allow it, each has its own service account, bound to the roles that the
implementation requests and to nothing else. Otherwise operators act as the suite's
user: then no audit log can distinguish them.
"""

from __future__ import annotations

import queue
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from clusters.control_plane.users import User
from conformance.implementations.under_test import UnderTest
from conformance.left_behind.clean import RUN_LABEL
from conformance.stored_objects.retrying_connection import RetryingConnection
from conformance.worlds.control_plane.operator_rights import grant
from conformance.worlds.existing.access import Access, write_kubeconfig
from vocabulary.kinds import SERVICE_ACCOUNT, Kind
from vocabulary.objects import get_path
from vocabulary.requests import Create, create

TOKEN_SECONDS_MIN: Final = 3600


class Oneself:
    """The kubeconfig's own user, for everybody."""

    def __init__(self, access: Access, username: str) -> None:
        self._access = access
        self._user = User(username)

    def take(self) -> User:
        return self._user

    def give_back(self, user: User) -> None:
        """There are as many as it takes."""

    def kubeconfig_through(self, user: User, server: str, path: Path) -> Path:
        del user
        return self._access.kubeconfig_through(server, path)


class Another:
    """The account of an installed operator, whose requests do not pass the suite."""

    def __init__(self, user: User) -> None:
        self._user = user

    def take(self) -> User:
        return self._user

    def give_back(self, user: User) -> None:
        """It stays the operator's."""

    def kubeconfig_through(self, user: User, server: str, path: Path) -> Path:
        raise NotImplementedError(f"{user.name} has a connection of its own")


class ServiceAccounts:
    """So many accounts in one namespace, each with the implementation's rights."""

    def __init__(
        self,
        connection: RetryingConnection,
        implementation: UnderTest,
        extra_kinds: Iterable[Kind],
        namespace: str,
        count: int,
        seconds: int,
    ) -> None:
        """Creates them, for so many seconds, in a namespace that bears the label of its name."""
        self._connection = connection
        self._users: queue.SimpleQueue[User] = queue.SimpleQueue()
        self._tokens: dict[str, str] = {}
        names = [f"{implementation.role}-{number}" for number in range(count)]
        subjects = [
            {"kind": "ServiceAccount", "name": name, "namespace": namespace} for name in names
        ]
        grant(
            connection,
            implementation,
            extra_kinds,
            subjects,
            run_label=namespace,
            prefix=f"{namespace}-{implementation.role}-",
        )
        for name in names:
            metadata = {"name": name, "namespace": namespace, "labels": {RUN_LABEL: namespace}}
            manifest = {"apiVersion": "v1", "kind": SERVICE_ACCOUNT.kind, "metadata": metadata}
            connection.handle(create(manifest))
            user = User(f"system:serviceaccount:{namespace}:{name}")
            self._tokens[user.name] = self._token(namespace, name, seconds)
            self._users.put(user)

    def take(self) -> User:
        return self._users.get()

    def give_back(self, user: User) -> None:
        self._users.put(user)

    def kubeconfig_through(self, user: User, server: str, path: Path) -> Path:
        return write_kubeconfig(path, server, "operator", {"token": self._tokens[user.name]})

    def _token(self, namespace: str, name: str, seconds: int) -> str:
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": max(seconds, TOKEN_SECONDS_MIN)},
        }
        answer = self._connection.handle(
            Create(SERVICE_ACCOUNT, request, namespace, name, subresource="token")
        )
        return str(get_path(answer, "status.token"))
