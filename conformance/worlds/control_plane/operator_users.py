"""API users for the operators of one role, so that an audit log tells operators apart."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

import yaml

from clusters.control_plane.users import User


class OperatorUsers(Protocol):
    """Lends each operator that runs a user with the rights of its role."""

    def take(self) -> User:
        """A user that no other operator has, where there can be several."""

    def give_back(self, user: User) -> None:
        """The operator that had it has ended."""

    def kubeconfig_through(self, user: User, server: str, path: Path) -> Path:
        """The user's kubeconfig with another server: that of the operator's proxy."""


class TokenUsers:
    """Users that a control plane of Assay's own has known since it started."""

    def __init__(self, users: Iterable[User], kubeconfig: Callable[[User], Path]) -> None:
        self._kubeconfig = kubeconfig
        self._free: queue.SimpleQueue[User] = queue.SimpleQueue()
        for user in users:
            self._free.put(user)

    def take(self) -> User:
        return self._free.get()

    def give_back(self, user: User) -> None:
        self._free.put(user)

    def kubeconfig_through(self, user: User, server: str, path: Path) -> Path:
        return kubeconfig_through(self._kubeconfig(user), server, path)


def kubeconfig_through(kubeconfig: Path, server: str, path: Path) -> Path:
    """Write the same kubeconfig with another server, for its owner alone."""
    config: dict[str, Any] = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    config["clusters"][0]["cluster"] = {"server": server}
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    path.chmod(0o600)
    return path
