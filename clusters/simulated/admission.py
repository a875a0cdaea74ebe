"""Admission: hooks that change or refuse what is about to be written."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, TypeAlias

from clusters.simulated.strategy import Strategy
from vocabulary import requests as rq
from vocabulary.objects import Object

Mutating: TypeAlias = Callable[[rq.Request, str, dict[str, Any], Object | None], dict[str, Any]]
"""(request, actor, new object, old object) → the object to store; raises ApiError to refuse.

Called for creations (old is None) and for updates of the object and of its subresources;
`request.subresource` tells them apart. The new object's top level and metadata may be
changed in place, what is deeper has to be derived.
"""
Validating: TypeAlias = Callable[[rq.Request, str, Object | None, Object | None], None]
"""(request, actor, new object, old object): raises ApiError to refuse.

Called for valid objects only, and for deletions, where there is no new object.
"""


class Admission:
    """The hooks of one API server, in the order in which they are called."""

    def __init__(self) -> None:
        self.mutating: list[Mutating] = []
        self.validating: list[Validating] = []
        self.reviews = count(1)
        """The numbers of the webhooks' reviews."""

    def mutate(
        self,
        request: rq.Create | rq.Update | rq.Patch,
        actor: str,
        strategy: Strategy,
        obj: dict[str, Any],
        old: Object | None,
    ) -> dict[str, Any]:
        """Return the object after admission; fields that admission adds are defaulted too."""
        if not self.mutating:
            return obj
        before = dict(obj)
        for admit in self.mutating:
            obj = admit(request, actor, obj, old)
        if obj != before:
            strategy.default(obj, old)
        return obj

    def validate(
        self, request: rq.Request, actor: str, new: Object | None, old: Object | None
    ) -> None:
        """Raise ApiError if a hook refuses."""
        for admit in self.validating:
            admit(request, actor, new, old)
