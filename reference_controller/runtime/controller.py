"""The interface of a controller: four members, none of which does I/O.

The runtime calls `keys_for` for each event of a watched kind and `reconcile` for each key
that is due. A controller that needs the time in the middle of a long reconcile takes a clock
(`Callable[[], Micros]`) when it is built, or is a `ClockUser`; it never
reads the wall clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from vocabulary.clock import Micros
from vocabulary.kinds import Kind
from vocabulary.objects import Object, name_of, namespace_of
from vocabulary.requests import Reconcile

if TYPE_CHECKING:
    from reference_controller.runtime.caches import Caches


class Key(NamedTuple):
    """The object to reconcile: its namespace ("" for cluster-scoped) and name."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def key_of(obj: Object) -> Key:
    """The key of the object itself."""
    return Key(namespace_of(obj), name_of(obj))


class Controller(Protocol):
    """One controller: the kinds that wake it, the keys it is woken for, and a pass over a key."""

    @property
    def name(self) -> str:
        """Unique among the controllers of an operator; labels its metrics."""
        ...

    @property
    def watches(self) -> tuple[Kind, ...]:
        """The kinds that informers feed to it from the start, before anything is reconciled.

        A kind of which a reconcile reads an object, other than live, is fed to it from then on,
        where the operator may list it. Other kinds of the operator's caches are not.
        """
        ...

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        """The keys to reconcile because `obj`, of a watched kind, changed.

        `old` is what the cache held before: None for an object that is new to it. For a
        deleted object `obj` is its last known state. The caches hold the new state already.
        Called often: it should cost a lookup, not a scan.
        """
        ...

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        """One pass over one key: yields requests, returns when to come back, or None.

        The time that is returned replaces any that an earlier pass of this key asked for.
        It may be called for keys that do not exist (any more).
        """
        ...


@runtime_checkable
class ClockUser(Protocol):
    """A controller that wants to know the time in the middle of a reconcile."""

    def use_clock(self, clock: Callable[[], Micros]) -> None:
        """Take the clock of the operator that runs it: the time of its latest call."""
        ...
