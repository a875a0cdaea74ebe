"""Operators that run in the cluster: made by the suite, or installed there before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import ClassVar

from clusters.control_plane.users import User
from conformance.implementations.under_test import DeployedPlace, UnderTest
from conformance.stored_objects.retrying_connection import RetryingConnection
from conformance.worlds.control_plane.deployed_operator import DeployedOperator, Signal
from conformance.worlds.control_plane.host import Host, Hosted, RunPlace
from conformance.worlds.control_plane.operator_users import OperatorUsers
from conformance.worlds.existing.accounts import Another
from conformance.worlds.existing.deploying import deploy
from conformance.worlds.existing.installed_operator import Tested
from vocabulary.history import label_of


class DeployedHost(Host):
    """Deployments that the suite makes, on nodes that no run borrows."""

    def __init__(
        self,
        connection: RetryingConnection,
        implementation: UnderTest,
        users: OperatorUsers,
        signal: Signal | None,
        *,
        home: str,
        image: str,
        borrowed: Sequence[str],
    ) -> None:
        """`home` is their namespace; `borrowed` are the nodes that runs break."""
        super().__init__(implementation, users)
        self._connection = connection
        self._signal = signal
        self._home = home
        self._image = image
        self._borrowed = borrowed

    def operators(self, run: RunPlace, users: Mapping[str, User], begun: ExitStack) -> Hosted:
        del begun  # what is deployed goes with its namespace
        return Hosted(
            operators={name: self._operator(name, user, run) for name, user in users.items()}
        )

    def _operator(self, name: str, user: User, run: RunPlace) -> DeployedOperator:
        label = label_of(name)
        place = DeployedPlace(
            name=f"{run.namespace}-{label}",
            home=self._home,
            account=user.name.rpartition(":")[2],
            image=self._image,
            identity=label,
            namespace=run.namespace,
            config=run.config,
            elects=run.elects,
        )
        deployment = deploy(self._connection, self.implementation, place, self._borrowed)
        return DeployedOperator(name, deployment, self._connection, run.record, self._signal)


class InstalledHost(Host):
    """One operator for all runs, which come one at a time."""

    replicas: ClassVar[int] = 1

    def __init__(self, tested: Tested, implementation: UnderTest, signal: Signal | None) -> None:
        super().__init__(implementation, Another(tested.user))
        self.tested = tested
        self._signal = signal

    def operators(self, run: RunPlace, users: Mapping[str, User], begun: ExitStack) -> Hosted:
        del begun  # it stays
        (name,) = users
        found = self.tested.for_run(name, run.config, run.record, self._signal)
        return Hosted(operators={name: found})
