"""A host: how the operators of one role run. A session has one per role.

The cluster and the host are chosen apart: in one run the operator of one role may be a process
beside the cluster, and that of another be deployed in it.

- `process_host`: processes of this machine, each behind a proxy.
- `worlds.existing.cluster_hosts`: Deployments that the suite makes, or an installed operator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

from clusters.control_plane.users import User
from conformance.implementations.under_test import UnderTest
from conformance.worlds.control_plane.deployed_operator import DeployedOperator
from conformance.worlds.control_plane.operator_process import RealOperator
from conformance.worlds.control_plane.operator_users import OperatorUsers
from conformance.worlds.control_plane.process_webhooks import ProcessWebhooks
from conformance.worlds.control_plane.proxy import Proxy

REPLICAS: Final = 2
"""Of an operator that the suite starts; the second one is started by some scenarios and faults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlace:
    """The data that the operators of one role get about their run."""

    namespace: str
    beside: tuple[str, ...]
    """The further namespaces of the run."""
    folder: Path
    """For the files of all of them."""
    config: Mapping[str, Any]
    record: Callable[[str, Any], None]
    """Called with (name, change) on each change in an operator's life."""
    elects: bool
    """True if one of several replicas leads."""

    @property
    def namespaces(self) -> tuple[str, ...]:
        """All namespaces of the run, its first one first."""
        return (self.namespace, *self.beside)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """The operators of one role in one run, by name; none is up yet."""

    operators: Mapping[str, RealOperator | DeployedOperator]
    proxies: Mapping[str, Proxy] = field(default_factory=dict)
    """Their ways to the API server, where these can be broken."""
    webhooks: ProcessWebhooks | None = None
    """The admission webhooks that they serve themselves."""


class Host(ABC):
    """How the operators of one role run in a session's cluster."""

    replicas: ClassVar[int] = REPLICAS

    def __init__(self, implementation: UnderTest, users: OperatorUsers) -> None:
        self.implementation = implementation
        self.users = users

    @abstractmethod
    def operators(self, run: RunPlace, users: Mapping[str, User], begun: ExitStack) -> Hosted:
        """The operators with these names and users; `begun` ends what they need."""
