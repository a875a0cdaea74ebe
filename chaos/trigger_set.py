"""Watches triggers: hears of every happening and of time, and returns which are due.

A campaign runs hundreds of thousands of plans, and each tells every place of every write,
so a happening without a waiting trigger must cost one dictionary lookup.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

from chaos.ground import is_same_actor, is_same_kind, named_actors
from chaos.happening import Happening, Place
from chaos.trigger import ANYTHING, At, Combined, FieldChange, Named, On, Trigger
from vocabulary.clock import Micros
from vocabulary.objects import Object, labels_of
from vocabulary.selectors import parse_selector

_EVENTS: Final = {"created": "ADDED", "updated": "MODIFIED", "deleted": "DELETED"}
_MISSING: Final = object()


class TriggerSet:
    """The triggers that are being watched; each is due once, under the token it was given."""

    def __init__(self, named: Mapping[str, Trigger], roles: Sequence[str] = ()) -> None:
        """`named` are triggers by the names that others call them; `roles` those of the operators
        under test."""
        self._named = named
        self._roles = roles
        self._waiting: dict[Place, list[_Waiting]] = {}
        self._timers: list[tuple[Micros, int, _Node]] = []
        self._sequence = 0
        self._due: list[Hashable] = []

    def watch(self, token: Hashable, trigger: Trigger, now_us: Micros) -> None:
        """Look out for the trigger from now on."""
        self._arm(trigger, _Root(self, token), now_us)

    def forget(self) -> None:
        """Nothing is due any more."""
        self._waiting.clear()
        self._timers.clear()

    @property
    def is_waiting(self) -> bool:
        """True while anything is still looked out for."""
        return self.next_due_us() is not None or any(self._waiting.values())

    def listens(self, place: Place) -> bool:
        """True if a happening at this place can make anything due now."""
        return bool(self._waiting.get(place))

    def observe(self, happening: Happening, now_us: Micros) -> list[Hashable]:
        """The tokens of what this happening makes due, in the order they were watched."""
        waiting = self._waiting.get(happening.place)
        if not waiting:
            return []
        hits = [leaf for leaf in waiting if not leaf.parent.is_over and leaf.fits(happening)]
        if hits:
            self._waiting[happening.place] = [leaf for leaf in waiting if leaf not in hits]
            for leaf in hits:
                if leaf.on.delay:
                    self._set_timer(now_us + leaf.on.delay, leaf.parent)
                else:
                    leaf.parent.child_due(now_us)
        return self._take_due()

    def advance(self, now_us: Micros) -> list[Hashable]:
        """The tokens of what is due by time alone."""
        while self._timers and self._timers[0][0] <= now_us:
            _, _, node = heapq.heappop(self._timers)
            if not node.is_over:
                node.child_due(now_us)
        return self._take_due()

    def next_due_us(self) -> Micros | None:
        """When `advance` has something to do, in time since the run began; None if never."""
        while self._timers and self._timers[0][2].is_over:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def set_timer(self, token: Hashable, at_us: Micros) -> None:
        """Have the token due at a time."""
        self._set_timer(at_us, _Root(self, token))

    def _arm(self, trigger: Trigger, parent: _Node, now_us: Micros) -> None:
        match trigger:
            case Named(name):
                self._arm(self._named[name], parent, now_us)
            case At(at_us):
                self._set_timer(at_us, parent)
            case On():
                self._waiting.setdefault(trigger.place, []).append(
                    _Waiting(trigger, parent, self._roles)
                )
            case Combined("then", parts):
                _Sequence(self, parent, parts).arm_next(now_us)
            case Combined(how, parts):
                node = _Count(self, parent, len(parts) if how == "all" else 1)
                for part in parts:
                    self._arm(part, _Once(self, node), now_us)

    def _set_timer(self, at_us: Micros, node: _Node) -> None:
        self._sequence += 1
        heapq.heappush(self._timers, (at_us, self._sequence, node))

    def _take_due(self) -> list[Hashable]:
        due, self._due = self._due, []
        if due:  # what has become pointless, such as the other parts of an `any`, is dropped
            for place, waiting in self._waiting.items():
                self._waiting[place] = [leaf for leaf in waiting if not leaf.parent.is_over]
        return due


class _Node(ABC):
    """A trigger that is made of others, and hears when one of them is due."""

    __slots__ = ("_was_due", "parent", "triggers")

    def __init__(self, triggers: TriggerSet, parent: _Node | None) -> None:
        self.triggers = triggers
        self.parent = parent
        self._was_due = False

    @property
    def is_over(self) -> bool:
        """True if it was due, or something that it is a part of was."""
        return self._was_due or (self.parent is not None and self.parent.is_over)

    @abstractmethod
    def child_due(self, now_us: Micros) -> None:
        """One of the parts is due; a part is due once."""

    def _end(self, now_us: Micros) -> None:
        self._was_due = True
        if self.parent is not None:
            self.parent.child_due(now_us)


class _Root(_Node):
    """The whole trigger: reports its token."""

    __slots__ = ("token",)

    def __init__(self, triggers: TriggerSet, token: Hashable) -> None:
        super().__init__(triggers, None)
        self.token = token

    def child_due(self, now_us: Micros) -> None:
        self.triggers._due.append(self.token)
        self._end(now_us)


class _Once(_Node):
    """One part of several: is over when it is due, while its siblings go on."""

    __slots__ = ()

    def child_due(self, now_us: Micros) -> None:
        self._end(now_us)


class _Count(_Node):
    """Due when so many of its parts are: all of them, or one."""

    __slots__ = ("missing",)

    def __init__(self, triggers: TriggerSet, parent: _Node, missing: int) -> None:
        super().__init__(triggers, parent)
        self.missing = missing

    def child_due(self, now_us: Micros) -> None:
        self.missing -= 1
        if self.missing == 0:
            self._end(now_us)


class _Sequence(_Node):
    """Due when its last part is; each is looked out for only after the one before."""

    __slots__ = ("parts",)

    def __init__(self, triggers: TriggerSet, parent: _Node, parts: Iterable[Trigger]) -> None:
        super().__init__(triggers, parent)
        self.parts = list(parts)

    def arm_next(self, now_us: Micros) -> None:
        self.triggers._arm(self.parts.pop(0), _Once(self.triggers, self), now_us)

    def child_due(self, now_us: Micros) -> None:
        if self.parts:
            self.arm_next(now_us)
        else:
            self._end(now_us)


class _Waiting:
    """An event trigger that has not happened often enough yet."""

    __slots__ = ("actors", "missing", "on", "parent", "selects")

    def __init__(self, on: On, parent: _Node, roles: Sequence[str]) -> None:
        self.actors = named_actors(on.by or on.to, roles)
        self.on = on
        self.parent = parent
        self.missing = on.occurrence
        self.selects = parse_selector(on.labels) if on.labels else None

    def fits(self, happening: Happening) -> bool:
        """True if this happening is the one; counts it if it fits."""
        if not self._matches(happening):
            return False
        self.missing -= 1
        return self.missing == 0

    def _matches(self, happening: Happening) -> bool:
        on = self.on
        return (
            any(is_same_actor(wanted, happening.actor) for wanted in self.actors)
            and (not on.kind or is_same_kind(on.kind, happening.kind))
            and (not on.verb or happening.verb in on.verb)
            and (not on.name or _is_name(on.name, happening.name))
            and (not on.event or _EVENTS[on.event] == happening.event)
            and on.subresource in (None, happening.subresource)
            and (on.outcome == "any" or (happening.code < 400) == (on.outcome == "done"))
            and (self.selects is None or self._selects(happening.object))
            and (not on.field or all(_changed(change, happening) for change in on.field))
        )

    def _selects(self, obj: Object | None) -> bool:
        """True if the labels fit; a JSON patch that is not committed is a list and has none."""
        assert self.selects is not None
        return isinstance(obj, Mapping) and self.selects(labels_of(obj))


def _is_name(wanted: str, name: str) -> bool:
    return name.startswith(wanted[:-1]) if wanted.endswith("*") else name == wanted


def _changed(change: FieldChange, happening: Happening) -> bool:
    """True if the field changed as wanted. A patch that is not committed changes what it names."""
    if happening.object is None or happening.event == "DELETED":
        return False
    after = _value(happening.object, change.steps)
    before = None if happening.old is None else _value(happening.old, change.steps)
    if after is _MISSING:
        if happening.place is Place.BEFORE_COMMIT and happening.verb == "patch":
            return False
        after = None
    before = None if before is _MISSING else before
    return (
        not _is_equal(before, after)
        and (change.before == ANYTHING or _is_equal(before, change.before))
        and (change.after == ANYTHING or _is_equal(after, change.after))
    )


def _is_equal(found: Any, wanted: Any) -> bool:
    """By value, or by text: a condition's status is the text "True", YAML reads a boolean."""
    return found == wanted or (
        found is not None and wanted is not None and str(found) == str(wanted)
    )


def _value(obj: Object, steps: tuple[str, ...]) -> Any:
    value: Any = obj
    for step in steps:
        if step[0] == "[":
            wanted = step[1:-1]
            entries = value if isinstance(value, list | tuple) else ()
            value = next(
                (
                    entry
                    for entry in entries
                    if isinstance(entry, Mapping)
                    and wanted in (entry.get("type"), entry.get("name"))
                ),
                _MISSING,
            )
        elif isinstance(value, Mapping):
            value = value.get(step, _MISSING)
        else:
            return _MISSING
    return value
