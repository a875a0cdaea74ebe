"""Where the operator processes of a run live: each has a network, a proxy and files of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from conformance.worlds.control_plane import operator_command
from conformance.worlds.control_plane.network import Network
from conformance.worlds.control_plane.operator_process import RealOperator
from conformance.worlds.control_plane.process_webhooks import ProcessWebhooks
from conformance.worlds.control_plane.proxy import Proxy
from conformance.worlds.control_plane.session import Session
from fixtures.control_plane.ports import free_ports
from fixtures.control_plane.users import User


class OperatorPlaces:
    """One run's. What is made here listens from the beginning; `close` it after its operators."""

    def __init__(
        self, session: Session, namespace: str, folder: Path, names: Iterable[str]
    ) -> None:
        """`folder` is for the files of all of them; `names` are theirs."""
        self._session = session
        self._namespace = namespace
        self._folder = folder
        self._networks: dict[str, Network] = {}
        self.proxies: dict[str, Proxy] = {}
        """Each operator's way to the API server."""
        with ExitStack() as opened:
            for name in names:
                network = self._networks[name] = session.new_network()
                opened.callback(network.close)
                build = partial(Proxy, name, session.plane.server, session.tls())
                proxy = self.proxies[name] = network.make(build)
                opened.callback(proxy.stop)
            self.webhooks = ProcessWebhooks(session, namespace)
            opened.callback(self.webhooks.close)
            self._opened = opened.pop_all()

    def operator(
        self,
        name: str,
        user: User,
        config: Mapping[str, Any],
        record: Callable[[str, Any], None],
        *,
        elects: bool,
    ) -> RealOperator:
        """Return an operator that is not running yet, with its whole environment.

        `record` is called with (name, change) on each change in its life; `elects`: it is one of
        several.
        """
        health_port, webhook_port = free_ports(2)
        proxy, network = self.proxies[name], self._networks[name]
        launch = operator_command.launch_of(
            self._session,
            name,
            user,
            proxy.url,
            folder=self._folder,
            config=config,
            namespace=self._namespace,
            health_port=health_port,
            webhook_port=webhook_port,
            elects=elects,
        )
        proxy.token = operator_command.token_of(self._folder, name)
        operator_command.prepare(launch, self._session.connections["harness"])
        network.show(health_port)
        if launch.webhooks is not None:
            self.webhooks.expect(launch.webhooks, partial(network.connect, launch.webhooks.port))
            proxy.keys = self.webhooks.secrets
        return RealOperator(
            name,
            operator_command.command_line(launch),
            health_port,
            operator_command.log_of(self._folder, name),
            record,
            partial(self._session.starter.start, network=network.path),
            launch.ready_path,
        )

    def close(self) -> None:
        """Nothing listens any more."""
        self._opened.close()
