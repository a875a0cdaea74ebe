"""Something a trigger can wait for: a write, or a watch event, at one of six places.

A write passes four places on its way (before and after its commit, before and after its
reply); a watch event passes two (before and after it reaches a watcher). The carriers of
requests and events report each place to the injector as it is passed, so that a fault can strike
exactly there.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from vocabulary.history import Event, Write
from vocabulary.objects import Object


class Place(StrEnum):
    """Where on its way something is. The values are how plans spell them."""

    BEFORE_COMMIT = "before commit"
    """The request is sent and not yet carried out; its outcome is unknown."""
    AFTER_COMMIT = "after commit"
    """The server has decided; neither the writer nor any watcher knows it yet."""
    BEFORE_REPLY = "before reply"
    """The answer is about to reach the writer."""
    AFTER_REPLY = "after reply"
    """The writer has the answer and has not yet asked for anything else."""
    BEFORE_DELIVERY = "before delivery"
    """A watch event is about to reach a watcher."""
    AFTER_DELIVERY = "after delivery"
    """The watcher has taken the event into its cache."""


class Happening(NamedTuple):
    """One write or watch event at one place.

    `actor` is who wrote; at the delivery places it is who watches. `object` is what is
    stored after it (before the commit: the body of the request), `old` what was before.
    """

    place: Place
    actor: str
    verb: str
    kind: str
    namespace: str
    name: str
    subresource: str = ""
    code: int = 200
    event: Event = ""
    object: Object | None = None
    old: Object | None = None


class Follower:
    """Tells happenings from recorded writes alone, where no store can be asked for `old`."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str, str], Object] = {}

    def committed(self, write: Write) -> Happening:
        """The write as it was just after its commit; call it for every write, in order."""
        key = (write.kind, write.namespace, write.name)
        old = self._last.get(key)
        if write.event == "DELETED":
            self._last.pop(key, None)
        elif write.event and write.object is not None:
            self._last[key] = write.object
        return Happening(
            place=Place.AFTER_COMMIT,
            actor=write.actor,
            verb=write.verb,
            kind=write.kind,
            namespace=write.namespace,
            name=write.name,
            subresource=write.subresource,
            code=write.code,
            event=write.event,
            object=write.object,
            old=old,
        )


Observer = Callable[[Happening], None]
"""Called by carriers of requests; `chaos.injector.Injector.observe` is one."""
