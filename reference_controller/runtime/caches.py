"""The objects that informers have seen, per kind, and indexes over them.

A cache is the operator's only memory of the cluster. It may be behind; it is never half
updated. Indexes are built when they are first asked for and kept up to date from then on, so
a controller declares none, and looking up the pods of one workload among ten thousand costs
a lookup.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from typing import Final, NamedTuple

from reference_controller.runtime.cached_list import (
    CachedList,
    Groups,
    Index,
    Indexer,
    Place,
    Traits,
    place_of,
)
from vocabulary.kinds import Kind
from vocabulary.objects import Object, get_path, labels_of, meta, owner_references, uid_of
from vocabulary.requests import List, ObjectList
from vocabulary.selectors import Matcher, parse_selector

_EQUALITY: Final = re.compile(r"([^\s=!,()]+)==?([^\s=!,()]+)(?:,|$)")


def everything(obj: Object) -> tuple[str, ...]:  # noqa: ARG001
    """Index all objects under one value."""
    return ("",)


def owner_uid(obj: Object) -> tuple[str, ...]:
    """Index by the uids in ownerReferences."""
    return tuple(str(reference["uid"]) for reference in owner_references(obj))


@lru_cache(maxsize=256)
def label(key: str) -> Indexer:
    """Index by the value of one label."""

    def values(obj: Object) -> tuple[str, ...]:
        value = labels_of(obj).get(key)
        return () if value is None else (value,)

    return values


@lru_cache(maxsize=256)
def field(path: str) -> Indexer:
    """Index by the value at a dotted path, for example `spec.nodeName`; "" where it is absent."""
    return lambda obj: (str(get_path(obj, path, "")),)


class Change(NamedTuple):
    """One object that a cache took in: its new or last state, and the state held before."""

    object: Object
    old: Object | None


class KindCache:
    """The objects of one kind, as far as its informer has got."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.revision = ""
        """resourceVersion of the last event or list."""
        self.is_synced = False
        """True once the first list is in. Until then an absent object says nothing."""
        self._objects: dict[Place, Object] = {}
        self._indexes: dict[tuple[Indexer, Traits | None], Index] = {}
        self._lent: list[weakref.ref[CachedList]] = []
        """Answers that may still be in use; they keep the objects as they are now."""

    def __iter__(self) -> Iterator[Object]:
        """All objects, in the order in which they were first seen."""
        return iter(self._objects.values())

    def get(self, namespace: str, name: str) -> Object | None:
        return self._objects.get((namespace, name))

    def by(self, indexer: Indexer, value: str) -> tuple[Object, ...]:
        """The objects that the indexer files under the value, by namespace and name.

        `indexer` is one of this module's (`owner_uid`, `label(key)`, `field(path)`) or any
        function that stays the same object from call to call.
        """
        return CachedList(self._objects, partial(self._groups, indexer, value), "").fix()

    def answer(self, request: List) -> ObjectList:
        """The answer to a cached read of that List, ordered by namespace and name."""
        plan = _plan(request.label_selector, request.field_selector)
        groups = partial(self._groups, *plan.start)
        listed = CachedList(self._objects, groups, request.namespace)
        if plan.labels is None and not plan.fields:
            self._lent.append(weakref.ref(listed))
            return ObjectList(listed, self.revision)
        items = [
            obj
            for obj in listed
            if (plan.labels is None or plan.labels(labels_of(obj)))
            and all(value in indexer(obj) for indexer, value in plan.fields)
        ]
        return ObjectList(tuple(items), self.revision)

    def apply(self, event: str, obj: Object) -> Change:
        """Take in one watch event; returns it together with what was held before."""
        self._fix_lent()
        key = place_of(obj)
        self.revision = meta(obj).get("resourceVersion", self.revision)
        old = self._objects.get(key)
        if event == "DELETED":
            if old is not None:
                del self._objects[key]
                self._reindex(key, None, old)
        else:
            self._objects[key] = obj
            self._reindex(key, obj, old)
        return Change(obj, old)

    def replace(self, objects: Iterable[Object], revision: str = "") -> list[Change]:
        """Take in a whole list: what it lacks was deleted while no watch was open.

        An object that was deleted and created again under the same name counts as both.
        Every listed object is reported, changed or not, so that a relist heals an operator
        that missed anything.
        """
        self._fix_lent()
        listed = {place_of(obj): obj for obj in objects}
        changes: list[Change] = []
        for key, old in list(self._objects.items()):
            successor = listed.get(key)
            if successor is None or uid_of(successor) != uid_of(old):
                del self._objects[key]
                self._reindex(key, None, old)
                changes.append(Change(old, old))
        for key, obj in listed.items():
            before = self._objects.get(key)
            self._objects[key] = obj
            self._reindex(key, obj, before)
            changes.append(Change(obj, before))
        self.revision = revision
        self.is_synced = True
        return changes

    def _groups(self, indexer: Indexer, value: str, traits: Traits | None) -> Groups:
        index = self._indexes.get((indexer, traits))
        if index is None:
            index = self._indexes[indexer, traits] = Index(indexer, traits)
            for place, obj in self._objects.items():
                index.move(place, None, obj)
        return index.groups(value)

    def _reindex(self, place: Place, obj: Object | None, old: Object | None) -> None:
        for index in self._indexes.values():
            index.move(place, old, obj)

    def _fix_lent(self) -> None:
        for reference in self._lent:
            listed = reference()
            if listed is not None:
                listed.fix()
        self._lent.clear()


class Caches:
    """The caches of all kinds that an informer feeds."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        self._by_kind = {kind: KindCache(kind) for kind in kinds}

    def __getitem__(self, kind: Kind) -> KindCache:
        """The cache of a watched kind; KeyError if no informer serves it."""
        return self._by_kind[kind]

    def __iter__(self) -> Iterator[KindCache]:
        return iter(self._by_kind.values())

    def get(self, kind: Kind) -> KindCache | None:
        return self._by_kind.get(kind)

    def add(self, kind: Kind) -> None:
        """Begin an empty cache of one more kind."""
        assert kind not in self._by_kind
        self._by_kind[kind] = KindCache(kind)


def is_cacheable(request: List) -> bool:
    """True if a cache can answer the List: paging, revisions and `!=` on fields need the server."""
    return not (
        request.live
        or request.limit
        or request.continue_
        or request.resource_version
        or "!" in request.field_selector
    )


class _Plan(NamedTuple):
    """How to answer one pair of selectors: an index to begin with, and what is left to test."""

    start: tuple[Indexer, str]
    labels: Matcher | None
    fields: tuple[tuple[Indexer, str], ...]


@lru_cache(maxsize=1024)
def _plan(label_selector: str, field_selector: str) -> _Plan:
    matcher = parse_selector(label_selector) if label_selector else None
    fields = []
    for requirement in filter(None, field_selector.split(",")):
        path, equals, value = requirement.replace("==", "=").partition("=")
        if not equals:
            raise ValueError(
                f"unable to parse field selector {field_selector!r}: write path=value, "
                "joined by commas"
            )
        fields.append((field(path), value))
    equality = _EQUALITY.match(label_selector)
    if equality is not None:
        rest = None if equality.end() == len(label_selector) else matcher
        return _Plan((label(equality[1]), equality[2]), rest, tuple(fields))
    if fields:
        return _Plan(fields[0], matcher, tuple(fields[1:]))
    return _Plan((everything, ""), matcher, ())
