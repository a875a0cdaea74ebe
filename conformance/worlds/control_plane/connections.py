"""Where rules for the connection go: to the operators' proxies, or to the webhooks themselves."""

from __future__ import annotations

from typing import Protocol

from chaos.ground import FaultRefusedError, RequestRule, Rule
from conformance.worlds.control_plane.proxy import Proxy


class Webhooks(Protocol):
    """The server of webhooks, which can be taken down."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Connections:
    """Implements `chaos.ground.ConnectionFaults`: rules for every proxy, webhooks for real."""

    def __init__(self, proxies: tuple[Proxy, ...], webhooks: tuple[Webhooks, ...]) -> None:
        self._proxies = proxies
        self._webhooks = webhooks

    def add(self, rule: Rule) -> None:
        if is_webhook_outage(rule):
            for webhooks in self._webhooks:
                webhooks.stop()
            return
        if not self._proxies:
            raise FaultRefusedError(
                "the operator runs in the cluster, on a connection that nothing of ours is part "
                "of; run it as a process: leave out --operator-image"
            )
        for proxy in self._proxies:
            proxy.rules.add(rule)

    def remove(self, rule: Rule) -> None:
        if is_webhook_outage(rule):
            for webhooks in self._webhooks:
                webhooks.start()
            return
        for proxy in self._proxies:
            proxy.rules.remove(rule)


def is_webhook_outage(rule: Rule) -> bool:
    """A rule for everybody's writes is no proxy's business: the webhook itself goes down."""
    return isinstance(rule, RequestRule) and not rule.actor
