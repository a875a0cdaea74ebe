"""Serving what is defined: kinds come with their definitions, and go with them.

A definition that is deleted stays until the last object of its kind is gone; until then the
server deletes them, which their own finalizers may hold up.
"""

from __future__ import annotations

from collections.abc import Callable

from clusters.simulated.custom_resources.conversion import Exchange
from clusters.simulated.custom_resources.definitions import (
    CLEANUP_FINALIZER,
    defined_kind,
    defined_strategy,
)
from clusters.simulated.loop import Loop
from clusters.simulated.store import Change, Key, Store
from clusters.simulated.strategy import Strategy
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION, Kind
from vocabulary.objects import Object, finalizers_of, is_terminating, meta, name_of
from vocabulary.requests import DeleteCollection, Update, Write

ACTOR = "apiextensions"


class Definitions:
    """Keeps the served kinds in step with the stored definitions."""

    def __init__(
        self,
        loop: Loop,
        store: Store,
        serve: Callable[[Strategy], None],
        withdraw: Callable[[Kind], None],
        handle: Callable[[Write, str], object],
        convert: Exchange,
    ) -> None:
        self._loop = loop
        self._store = store
        self._serve = serve
        self._withdraw = withdraw
        self._handle = handle
        self._convert = convert
        self._emptying: dict[str, Callable[[], None]] = {}
        store.watch(self._changed, frozenset({str(CUSTOM_RESOURCE_DEFINITION)}))

    def _changed(self, change: Change) -> None:
        definition = change.object
        if change.event == "DELETED":
            self._withdraw(defined_kind(definition))
        elif not is_terminating(definition):
            if change.old is None or definition["spec"] is not change.old["spec"]:
                self._serve(defined_strategy(definition, self._convert))
        elif CLEANUP_FINALIZER in finalizers_of(definition):
            self._empty(definition)

    def _empty(self, definition: Object) -> None:
        """Delete all objects of the kind, and the definition after the last of them."""
        name = name_of(definition)
        if name in self._emptying:
            return
        kind = defined_kind(definition)
        self._emptying[name] = self._store.watch(
            lambda change: self._finish(name, kind) if change.event == "DELETED" else None,
            frozenset({str(kind)}),
        )
        self._loop.call_later(0, self._delete_objects, name, kind)

    def _delete_objects(self, name: str, kind: Kind) -> None:
        self._handle(DeleteCollection(kind), ACTOR)
        self._finish(name, kind)

    def _finish(self, name: str, kind: Kind) -> None:
        if name not in self._emptying or any(True for _ in self._store.of_kind(str(kind))):
            return
        self._emptying.pop(name)()
        definition = self._store.get(Key(str(CUSTOM_RESOURCE_DEFINITION), "", name))
        if definition is None:
            return
        kept = [text for text in finalizers_of(definition) if text != CLEANUP_FINALIZER]
        metadata = {**meta(definition), "finalizers": kept}
        self._handle(
            Update(CUSTOM_RESOURCE_DEFINITION, {**definition, "metadata": metadata}), ACTOR
        )
