"""Events that show a controller nothing but its own writes.

One that is woken by those would look for nothing.
"""

from __future__ import annotations

from reference_controller.runtime.controller import Key
from reference_controller.shared.own_writes import OwnWrites, revision_of
from vocabulary.objects import Object, uid_of


class EchoedWrites(OwnWrites):
    """The controller's own writes, and what it hears of them."""

    def is_echo(self, key: Key, obj: Object) -> bool:
        """True if an event shows no more than the last write, or what that was based on."""
        written = self._written.get(key)
        return (
            written is not None
            and uid_of(written) == uid_of(obj)
            and revision_of(obj) <= revision_of(written)
        )
