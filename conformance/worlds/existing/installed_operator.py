"""An operator that is installed in the cluster: one for all runs, which come one after another.

For each run it is ended, configured and started again. Between runs it goes on, as it does for
everybody: its webhooks, if it has any, are asked about what is cleaned up after one. What it was
like before is noted by `conformance.borrowed_operator`, and comes back with `assay clean`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.borrowed_operator import Before, NotBorrowedError, borrow
from conformance.clean import RUN_LABEL
from conformance.deployments import pods_of, scale
from conformance.patience import PatientConnection
from conformance.stored import stored
from conformance.under_test import Installed
from conformance.worlds.control_plane.deployed_operator import (
    GONE_SECONDS,
    POLL_SECONDS,
    DeployedOperator,
    Signal,
)
from fixtures.control_plane.users import User
from fixtures.control_plane.waiting import wait_until
from vocabulary.kinds import CONFIG_MAP, DEPLOYMENT, LEASE, Kind
from vocabulary.objects import Object, get_path, name_of
from vocabulary.requests import Patch

DEFAULT_ACCOUNT: Final = "default"
"""The service account of pods that name none."""


class InstalledOperator(DeployedOperator):
    """It through one run: kills and restarts end with it being there."""

    lease: tuple[str, str] | None = None
    """Namespace and name of the Lease by which its replicas elect a leader."""

    def retire(self) -> None:
        """The run is over, and it goes on."""
        self.resume()
        self.start()

    def _is_ready(self) -> bool:
        return super()._is_ready() and self._has_leader()

    def _has_leader(self) -> bool:
        """Whether one of its pods holds the Lease: after a kill, the dead one's must run out."""
        if self.lease is None:
            return True
        lease = stored(self._connection, LEASE, *self.lease)
        holder = str(get_path(lease or {}, "spec.holderIdentity") or "")
        # As client-go's users do it: the name of the pod, and something that no other has.
        return any(holder.startswith(name_of(pod)) for pod in self._pods())


class Borrowing:
    """It for as long as a session has it."""

    def __init__(self, connection: PatientConnection, installed: Installed, run_label: str) -> None:
        """Notes what it is like, for the label of the session; NotBorrowedError if that is done."""
        self._connection = connection
        self._installed = installed
        self._deployment = _standing(connection, DEPLOYMENT, installed.namespace, installed.name)
        config = _standing(connection, CONFIG_MAP, installed.namespace, installed.config_map)
        self._text = str(config["data"][installed.key])
        replicas = int(get_path(self._deployment, "spec.replicas", 1))
        before = Before(
            deployment=installed.name,
            replicas=replicas,
            config_map=installed.config_map,
            key=installed.key,
            text=self._text,
        )
        borrow(connection, installed.namespace, before, {RUN_LABEL: run_label})
        self._replicas = max(1, replicas)

    @property
    def user(self) -> User:
        """Whom its requests are made by."""
        spec = get_path(self._deployment, "spec.template.spec")
        account = spec.get("serviceAccountName") or DEFAULT_ACCOUNT
        return User(f"system:serviceaccount:{self._installed.namespace}:{account}")

    def for_run(
        self,
        name: str,
        config: Mapping[str, Any],
        record: Callable[[str, Any], None],
        signal: Signal | None,
    ) -> InstalledOperator:
        """It under that name, ended and configured, so that it can be started.

        WaitTimeoutError if it does not end.
        """
        scale(self._connection, self._deployment, 0)
        wait_until(
            lambda: not pods_of(self._connection, self._deployment),
            f"{self._installed} has ended",
            limit_seconds=GONE_SECONDS,
            poll_seconds=POLL_SECONDS,
        )
        text = self._installed.configured(self._text, config)
        namespace, config_map = self._installed.namespace, self._installed.config_map
        body = {"data": {self._installed.key: text}}
        self._connection.handle(Patch(CONFIG_MAP, namespace, config_map, body))
        operator = InstalledOperator(
            name, self._deployment, self._connection, record, signal, replicas=self._replicas
        )
        if self._installed.lease:
            operator.lease = namespace, self._installed.lease
        return operator


def _standing(connection: PatientConnection, kind: Kind, namespace: str, name: str) -> Object:
    """What the preflight has found there; NotBorrowedError if it has gone since."""
    found = stored(connection, kind, namespace, name)
    if found is None:
        raise NotBorrowedError(f"{kind.kind} {namespace}/{name} has gone; install it again")
    return found
