"""The answer to a List that a cache serves: its objects in order, or counted by their traits.

A workload can have ten thousand pods, each of whose events leads to a reconcile. Putting them in
order each time, or only going through them, takes time that is quadratic in their number. So a
list is put in order when its objects are first asked for, and an index that every event keeps up
to date counts the objects that share the traits a controller decides by.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias, overload

from vocabulary.objects import Object, name_of, namespace_of

Indexer: TypeAlias = Callable[[Object], tuple[str, ...]]
"""The values under which an object is found in an index."""
Traits: TypeAlias = Callable[[Object], Hashable]
"""The part of an object that a decision depends on. Stays the same function from call to call."""
Place: TypeAlias = tuple[str, str]
"""Namespace and name: a plain tuple, since one is made for every look-up."""
Group: TypeAlias = tuple[str, Hashable]
"""Namespace and traits of the objects in a group."""
Groups: TypeAlias = Mapping[Group, Mapping[Place, None]]

FEW: Final = 32
_NOTHING: Final[Groups] = {}


class Index:
    """The places of objects by the values that an indexer files them under, in groups."""

    def __init__(self, indexer: Indexer, traits: Traits | None) -> None:
        """Without `traits`, objects are grouped by namespace alone."""
        self._indexer = indexer
        self._traits = traits
        self._groups: dict[str, dict[Group, dict[Place, None]]] = {}

    def groups(self, value: str) -> Groups:
        return self._groups.get(value, _NOTHING)

    def move(self, place: Place, old: Object | None, new: Object | None) -> None:
        """File an object where it belongs now; None stands for one that is not there."""
        before = () if old is None else self._indexer(old)
        after = () if new is None else self._indexer(new)
        left: Group = place[0], None
        entered: Group = left
        if self._traits is not None:
            left = place[0], self._traits(old) if old is not None and before else None
            entered = place[0], self._traits(new) if new is not None and after else None
        if before == after and left == entered:
            return
        for value in before:
            groups = self._groups[value]
            del groups[left][place]
            if not groups[left]:
                del groups[left]
            if not groups:
                del self._groups[value]
        for value in after:
            self._groups.setdefault(value, {}).setdefault(entered, {})[place] = None


class CachedList(Sequence[Object]):
    """The objects that an indexer files under a value, by namespace and name.

    The list does not change with the cache, which calls `fix` before it changes itself.
    """

    def __init__(
        self,
        objects: Mapping[Place, Object],
        groups: Callable[[Traits | None], Groups],
        namespace: str,
    ) -> None:
        """`groups` looks up the groups of the objects by their traits, in all namespaces."""
        self._objects = objects
        self._groups = groups
        self._namespace = namespace
        self._items: tuple[Object, ...] | None = None

    @property
    def is_long(self) -> bool:
        """True for more objects than are sooner gone through than counted by an index."""
        return sum(map(len, self._groups(None).values())) > FEW

    def fix(self) -> tuple[Object, ...]:
        """Put the objects in order, as they are now."""
        if self._items is None:
            places = [
                place
                for (namespace, _), group in self._groups(None).items()
                if self._namespace in ("", namespace)
                for place in group
            ]
            self._items = tuple(self._objects[place] for place in sorted(places))
        return self._items

    def counted(self, traits: Traits) -> list[tuple[Object, int]]:
        """One object of each group that shares these traits, and the number of its objects."""
        if self._items is not None:
            return counted(self._items, traits)
        return [
            (self._objects[next(iter(group))], len(group))
            for (namespace, _), group in self._groups(traits).items()
            if self._namespace in ("", namespace)
        ]

    def __len__(self) -> int:
        return len(self.fix())

    def __iter__(self) -> Iterator[Object]:
        return iter(self.fix())

    @overload
    def __getitem__(self, index: int) -> Object: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Object]: ...
    def __getitem__(self, index: int | slice) -> Object | Sequence[Object]:
        return self.fix()[index]


def counted(objects: Iterable[Object], traits: Traits) -> list[tuple[Object, int]]:
    """One object of each group that shares these traits, and the number of its objects."""
    if isinstance(objects, CachedList):
        return objects.counted(traits)
    groups: dict[Hashable, list[Object]] = {}
    for obj in objects:
        groups.setdefault(traits(obj), []).append(obj)
    return [(group[0], len(group)) for group in groups.values()]


def place_of(obj: Object) -> Place:
    return namespace_of(obj), name_of(obj)
