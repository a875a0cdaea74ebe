"""An operator installed in the cluster: one for all runs, which are sequential.

A Deployment is stopped for each run, configured, and started again. Between runs it continues:
its webhooks, if it has any, are called during the cleanup of a run. `conformance.leased.operator`
stores its original state, which `assay clean` restores.

An operator known only by its pods is not changed. Its own controller recreates killed pods at
its own time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, Protocol

from chaos.ground import FaultRefusedError
from clusters.control_plane.users import User
from clusters.control_plane.waiting import WaitTimeoutError, wait_until
from conformance.implementations.under_test import Installed, InstalledDeployment, InstalledPods
from conformance.leased.deployments import listed_pods, pods_of, scale
from conformance.leased.operator import Before, NotBorrowedError, borrow
from conformance.left_behind.clean import RUN_LABEL
from conformance.stored_objects.lookup import stored
from conformance.stored_objects.retrying_connection import RetryingConnection
from conformance.worlds.control_plane.deployed_operator import (
    GONE_SECONDS,
    POLL_SECONDS,
    DeployedOperator,
    Signal,
)
from conformance.worlds.control_plane.operator_process import OperatorStartError
from conformance.worlds.control_plane.probe import unreached
from vocabulary.history import role_of
from vocabulary.kinds import CONFIG_MAP, DEPLOYMENT, LEASE, Kind
from vocabulary.objects import Object, get_path, name_of, namespace_of, uid_of
from vocabulary.requests import Patch

DEFAULT_ACCOUNT: Final = "default"
"""The service account of pods that name none."""
Record = Callable[[str, Any], None]


class Tested(Protocol):
    """An installed operator, for as long as a session has it."""

    @property
    def user(self) -> User:
        """The user of its requests."""

    def for_run(
        self, name: str, config: Mapping[str, Any], record: Record, signal: Signal | None
    ) -> InstalledOperator:
        """Return the operator under a run's name, configured and ready to be started.

        Raises WaitTimeoutError if its pods do not end, which they must before it is configured.
        """

    def let_run(self) -> None:
        """Let the operator run as between runs, also after a run that was aborted."""


def tested(connection: RetryingConnection, installed: Installed, run_label: str) -> Tested:
    """Return the installed operator, leased by this session.

    Raises NotBorrowedError if another session holds it or it no longer exists.
    """
    if isinstance(installed, InstalledPods):
        return Finding(connection, installed)
    assert isinstance(installed, InstalledDeployment)
    return Borrowing(connection, installed, run_label)


class Borrowing:
    """A Deployment, which is noted to be given back."""

    def __init__(
        self, connection: RetryingConnection, installed: InstalledDeployment, run_label: str
    ) -> None:
        self._connection = connection
        self._installed = installed
        self._deployment = _standing(connection, DEPLOYMENT, installed.namespace, installed.name)
        self._text = ""
        if installed.config_map:
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
        self._operator: InstalledOperator | None = None
        """It in the last run."""

    @property
    def user(self) -> User:
        return _account(self._installed, get_path(self._deployment, "spec.template.spec"))

    def for_run(
        self, name: str, config: Mapping[str, Any], record: Record, signal: Signal | None
    ) -> InstalledOperator:
        operator = InstalledOperator(
            name, self._deployment, self._connection, record, signal, replicas=self._replicas
        )
        operator.role, operator.lease = role_of(name), _lease(self._installed)
        self._operator = operator
        scale(self._connection, self._deployment, 0)
        pod_spec = self._deployment["spec"]["template"]["spec"]
        grace_seconds = pod_spec.get("terminationGracePeriodSeconds") or 0
        wait_until(
            lambda: not pods_of(self._connection, self._deployment),
            f"{self._installed} has ended",
            limit_seconds=GONE_SECONDS + grace_seconds,
            poll_seconds=POLL_SECONDS,
        )
        if self._installed.config_map:
            self._configure(self._installed.configured(self._text, config))
        return operator

    def let_run(self) -> None:
        if self._operator is not None:
            self._operator.retire()

    def _configure(self, text: str) -> None:
        namespace, config_map = self._installed.namespace, self._installed.config_map
        body = {"data": {self._installed.key: text}}
        self._connection.handle(Patch(CONFIG_MAP, namespace, config_map, body))


class Finding:
    """An operator of which only the pods are known."""

    def __init__(self, connection: RetryingConnection, installed: InstalledPods) -> None:
        self._connection = connection
        self._installed = installed
        self._found = listed_pods(connection, installed.namespace, installed.selector)
        if not self._found:
            raise NotBorrowedError(f"{installed}: they have gone; start the operator again")

    @property
    def user(self) -> User:
        return _account(self._installed, self._found[0]["spec"])

    def for_run(
        self, name: str, config: Mapping[str, Any], record: Record, signal: Signal | None
    ) -> InstalledOperator:
        del config  # it has its own
        operator = FoundOperator(
            name, self._installed, self._connection, record, signal, replicas=len(self._found)
        )
        operator.role, operator.lease = role_of(name), _lease(self._installed)
        return operator

    def let_run(self) -> None:
        """Do nothing: its own controller runs it."""


class InstalledOperator(DeployedOperator):
    """It through one run: kills and restarts end with it being there."""

    role: str
    lease: tuple[str, str] | None = None
    """Namespace and name of the Lease by which its replicas elect a leader."""

    def retire(self) -> None:
        """End the run; the operator continues, since its webhooks are called by the next cleanup.

        If it does not start, the next run reports it.
        """
        self.resume()
        self.start()
        with suppress(OperatorStartError):
            self.wait_ready()

    def _is_ready(self) -> bool:
        return super()._is_ready() and self._has_leader() and self._is_asked()

    def _is_asked(self) -> bool:
        """True if its webhooks, if it has any, are reached: that its pods are ready, the way to
        them learns a moment later."""
        return not unreached(self._connection, self.role, namespace_of(self._deployment))

    def _has_leader(self) -> bool:
        """True if one of its pods holds the Lease: after a kill, the dead one's must run out."""
        if self.lease is None:
            return True
        lease = stored(self._connection, LEASE, *self.lease)
        holder = str(get_path(lease or {}, "spec.holderIdentity") or "")
        # As client-go's users do it: the name of the pod, and something that no other has.
        return any(holder.startswith(name_of(pod)) for pod in self._pods())


class FoundOperator(InstalledOperator):
    """One of which only the pods are known: killed, it is not kept down."""

    def __init__(
        self,
        name: str,
        installed: InstalledPods,
        connection: RetryingConnection,
        record: Record,
        signal: Signal | None,
        *,
        replicas: int,
    ) -> None:
        """`replicas`: how many pods there are while it is well."""
        unknown = {"metadata": {"namespace": installed.namespace}}
        super().__init__(name, unknown, connection, record, signal, replicas=replicas)
        self._installed = installed

    def _end(self, change: str, grace_seconds: int | None) -> None:
        with self._lock:
            if not self._is_wanted:
                return
            dying = set(map(uid_of, self._pods()))
            if grace_seconds is None:
                self.resume()
            else:
                self._send("SIGKILL")
            self._delete_pods(grace_seconds)
            try:
                wait_until(
                    lambda: dying.isdisjoint(map(uid_of, self._pods())),
                    f"{self.name} has ended",
                    limit_seconds=GONE_SECONDS,
                    poll_seconds=POLL_SECONDS,
                )
            except WaitTimeoutError as error:
                raise FaultRefusedError(f"{error}; see what its node's kubelet says") from error
            self._record(self.name, change)
            self._is_wanted = False
            self.start()

    def _scale(self, replicas: int) -> None:
        """Do nothing: its own controller decides the scale."""

    def _pods(self) -> tuple[Object, ...]:
        return listed_pods(self._connection, self._installed.namespace, self._installed.selector)


def _account(installed: Installed, pod_spec: Object) -> User:
    account = pod_spec.get("serviceAccountName") or DEFAULT_ACCOUNT
    return User(f"system:serviceaccount:{installed.namespace}:{account}")


def _lease(installed: Installed) -> tuple[str, str] | None:
    return (installed.namespace, installed.lease) if installed.lease else None


def _standing(connection: RetryingConnection, kind: Kind, namespace: str, name: str) -> Object:
    """Return the installed object. Raises NotBorrowedError if it no longer exists since the
    preflight."""
    found = stored(connection, kind, namespace, name)
    if found is None:
        raise NotBorrowedError(f"{kind.kind} {namespace}/{name} has gone; install it again")
    return found
