"""Operators that are processes of this machine: each has a network, a proxy and its own files."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from clusters.control_plane.ports import free_ports
from clusters.control_plane.users import User
from conformance.implementations.under_test import UnderTest
from conformance.worlds.control_plane import operator_command
from conformance.worlds.control_plane.host import Host, Hosted, RunPlace
from conformance.worlds.control_plane.network import (
    MachineNetwork,
    Network,
    NetworkNamespace,
    why_none_can_be_made,
)
from conformance.worlds.control_plane.operator_process import RealOperator
from conformance.worlds.control_plane.operator_users import OperatorUsers
from conformance.worlds.control_plane.process_webhooks import ProcessWebhooks
from conformance.worlds.control_plane.proxy import Proxy
from conformance.worlds.control_plane.shown import Shown

if TYPE_CHECKING:
    from conformance.worlds.control_plane.session import Session


class ProcessHost(Host):
    """Servers made for a run listen from the beginning."""

    def __init__(self, session: Session, implementation: UnderTest, users: OperatorUsers) -> None:
        super().__init__(implementation, users)
        self._session = session

    def new_network(self) -> Network:
        """The network of one operator process."""
        if self.implementation.fixed_port is None or why_none_can_be_made():
            return MachineNetwork()
        return NetworkNamespace()

    def operators(self, run: RunPlace, users: Mapping[str, User], begun: ExitStack) -> Hosted:
        session = self._session
        networks: dict[str, Network] = {}
        proxies: dict[str, Proxy] = {}
        for name in users:
            network = networks[name] = self.new_network()
            begun.callback(network.close)
            build = partial(
                Proxy, name, session.plane.server, session.tls(), session.discovery.of_resource
            )
            proxies[name] = network.make(build)
            begun.callback(proxies[name].stop)
            sees_all = self.implementation.sees_whole_cluster or bool(run.beside)
            proxies[name].shown = Shown(run.namespaces if sees_all else (), run.namespace)
        webhooks = ProcessWebhooks(session, self.implementation, run.namespaces)
        begun.callback(webhooks.close)
        operators = {
            name: self._operator(name, user, run, networks[name], proxies[name], webhooks)
            for name, user in users.items()
        }
        webhooks.start()
        return Hosted(operators=operators, proxies=proxies, webhooks=webhooks)

    def _operator(
        self,
        name: str,
        user: User,
        run: RunPlace,
        network: Network,
        proxy: Proxy,
        webhooks: ProcessWebhooks,
    ) -> RealOperator:
        """An operator that is not running yet, with its whole environment."""
        health_port, webhook_port = free_ports(2)
        launch = operator_command.launch_of(
            self,
            name,
            user,
            proxy.url,
            run,
            health_port=health_port,
            webhook_port=webhook_port,
        )
        proxy.token = operator_command.token_of(run.folder, name)
        network.show(health_port)
        if launch.webhooks is not None:
            webhooks.expect(launch.webhooks, partial(network.connect, launch.webhooks.port))
            proxy.keys = webhooks.secrets
        return RealOperator(
            name,
            operator_command.command_line(launch),
            health_port,
            operator_command.log_of(run.folder, name),
            run.record,
            partial(self._session.starter.start, network=network.path),
            launch.ready_path,
            partial(operator_command.prepare, launch, self._session.connections["harness"]),
        )
