"""What lies between the operator and the API server: the wire, and whatever chaos put on it."""

from __future__ import annotations

from typing import Any

from chaos.connection_rules import ConnectionRules
from chaos.happening import Happening, Place
from chaos.injector import Injector
from fixtures.simulated.api_server import ApiServer
from vocabulary.errors import ApiError
from vocabulary.objects import Object
from vocabulary.requests import Request, verb_of


class Connection:
    """Carries requests to the API server and tells the injector of each place they pass."""

    def __init__(self, api: ApiServer, rules: ConnectionRules) -> None:
        self._api = api
        self.rules = rules
        self.injector: Injector | None = None
        """Set while a plan is carried out; the places of a request cost nothing without."""

    def carry(self, actor: str, request: Request) -> Any:
        """The server's answer; a refusal is returned, not raised, since it travels back too."""
        try:
            return self._api.handle(request, actor)
        except ApiError as error:
            return error

    def pass_by(self, place: Place, actor: str, request: Any) -> None:
        """A write passes a place on its way: a fault may strike there."""
        if self.injector is None or not self.injector.listens(place):
            return
        body: Object | None = getattr(request, "object", None) or getattr(request, "body", None)
        self.injector.observe(
            Happening(
                place=place,
                actor=actor,
                verb=verb_of(request),
                kind=str(request.kind),
                namespace=request.namespace,
                name=getattr(request, "name", ""),
                subresource=getattr(request, "subresource", ""),
                object=body,
            )
        )
