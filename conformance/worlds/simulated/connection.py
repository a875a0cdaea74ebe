"""The connection between the operator and the API server, with chaos rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chaos.connection_rules import ConnectionRules
from chaos.happening import Happening, Place
from chaos.injector import Injector
from clusters.simulated.api_server import ApiServer
from clusters.simulated.store import Change, Key
from vocabulary.errors import ApiError
from vocabulary.objects import Object
from vocabulary.requests import Request, as_served, verb_of


class Connection:
    """Carries requests to the API server and tells the injector of each place they pass."""

    def __init__(self, api: ApiServer, rules: ConnectionRules) -> None:
        self._api = api
        self.rules = rules
        self.injector: Injector | None = None
        """Set while a plan is carried out; the places of a request cost nothing without."""
        self.on_observed: Callable[[], None] = lambda: None
        """Called after the injector was notified: its next due time may have changed."""
        self._outcome: Happening | None = None
        self.carried = 0
        """How many requests of operators were carried out."""

    def carry(self, actor: str, request: Request) -> Any:
        """The server's answer; a refusal is returned, not raised, since it travels back too.

        It travels without its traceback, whose frames hold it: a cycle.
        """
        self.begin()
        try:
            return self._api.handle(request, actor)
        except ApiError as error:
            return error.with_traceback(None)

    def as_served(self, request: Request) -> Request:
        """The request as a client sends it that has asked the server by discovery."""
        return as_served(request, self._api.served(request.kind))

    def begin(self) -> None:
        """A request is about to be carried out: its outcome is what is committed next."""
        self._outcome = None
        self.carried += 1

    def take_outcome(self) -> Happening | None:
        """The outcome of the last write; None without a plan."""
        outcome, self._outcome = self._outcome, None
        return outcome

    def committed(self, happening: Happening) -> None:
        """Process the server's decision on a write of any client."""
        if self._outcome is None:  # what faults write meanwhile is not what is being carried
            self._outcome = happening
        self.tell(happening)

    def pass_by(self, place: Place, actor: str, request: Any) -> None:
        """A write is about to be committed: a fault may strike there."""
        if self.injector is None or not self.injector.listens(place):
            return
        body: Object | None = getattr(request, "object", None) or getattr(request, "body", None)
        key = Key(str(request.kind), request.namespace, getattr(request, "name", ""))
        self.tell(
            Happening(
                place=place,
                actor=actor,
                verb=verb_of(request),
                kind=key.kind,
                namespace=key.namespace,
                name=key.name,
                subresource=getattr(request, "subresource", ""),
                object=body,
                old=self._api.store.get(key),
            )
        )

    def deliver(self, place: Place, actor: str, change: Change) -> None:
        """A watch event reaches a watcher: a fault may strike there."""
        if self.injector is None or not self.injector.listens(place):
            return
        self.tell(
            Happening(
                place=place,
                actor=actor,
                verb="",
                kind=change.key.kind,
                namespace=change.key.namespace,
                name=change.key.name,
                event=change.event,
                object=change.object,
                old=change.old,
            )
        )

    def tell(self, happening: Happening) -> None:
        """Let the injector hear of it, if it waits for anything there."""
        if self.injector is not None and self.injector.listens(happening.place):
            self.injector.observe(happening)
            self.on_observed()
