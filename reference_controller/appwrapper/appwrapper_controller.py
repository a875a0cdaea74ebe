"""The controller as the runtime sees it: what wakes it, for whom, and one pass over a key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from reference_controller.appwrapper.autopilot import marked_resources
from reference_controller.appwrapper.config import OperatorConfig
from reference_controller.appwrapper.echoes import EchoedWrites
from reference_controller.appwrapper.metrics import Metrics
from reference_controller.appwrapper.names import APPWRAPPER, APPWRAPPER_LABEL
from reference_controller.appwrapper.observe import Observer
from reference_controller.appwrapper.reconcile import Creation, Reconciliation
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.watched_kinds import WATCHED_KINDS
from reference_controller.runtime.caches import field
from reference_controller.runtime.controller import Key, key_of
from reference_controller.shared.events import Told
from vocabulary.clock import Micros
from vocabulary.kinds import NODE, POD, Kind
from vocabulary.objects import (
    Object,
    condition_status,
    controller_of,
    get_path,
    is_terminating,
    labels_of,
    meta,
    name_of,
    namespace_of,
)
from vocabulary.requests import Reconcile

if TYPE_CHECKING:
    from reference_controller.runtime.caches import Caches

_BY_NODE: Final = field("spec.nodeName")


class AppWrapperController:
    """One controller of AppWrappers. It remembers its own writes and events, components that it
    could not confirm, and those that do not name it: all of that may be forgotten."""

    name: Final = "appwrapper"

    def __init__(
        self, config: OperatorConfig, rules: Rules, clock: Callable[[], Micros] | None = None
    ) -> None:
        self.config = config
        self.rules = rules
        self.metrics = Metrics()
        self._observer: Observer | None = None
        if clock is not None:
            self.use_clock(clock)
        self._writes = EchoedWrites()
        self._told = Told()
        self._unconfirmed: dict[Key, tuple[Creation, Object]] = {}

    @property
    def watches(self) -> tuple[Kind, ...]:
        return WATCHED_KINDS

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        """The AppWrappers that the change may matter to; none if it cannot."""
        is_update = (
            old is not None
            and old is not obj
            and caches[kind].get(namespace_of(obj), name_of(obj)) is obj
        )
        if kind == APPWRAPPER:
            key = key_of(obj)
            return () if is_update and self._writes.is_echo(key, obj) else (key,)
        if kind == NODE:
            return self._keys_on_node(obj, old if is_update else None, caches)
        if not is_update or old is None:
            return dict.fromkeys((*_keys_of_part(obj), *self._keys_of_unmarked(kind, obj)))
        if _telling(obj) == _telling(old):
            return ()
        # A part that lost its label or owner is missed by the one whose it was.
        parts = (*_keys_of_part(old), *_keys_of_part(obj))
        return dict.fromkeys((*parts, *self._keys_of_unmarked(kind, obj)))

    def use_clock(self, clock: Callable[[], Micros]) -> None:
        """Tell the time by this clock, unless one was given at construction."""
        if self._observer is None:
            self._observer = Observer(self.config, self.rules, clock)
            self.rules.use_clock(clock)

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        observer = self._observer or Observer(self.config, self.rules, lambda: now_us)
        return self._reconcile(key, observer)

    def _reconcile(self, key: Key, observer: Observer) -> Reconcile:
        one = Reconciliation(
            key.namespace,
            key.name,
            observer,
            self.rules,
            self.metrics,
            self._writes,
            self._told,
            self._unconfirmed,
        )
        wake_at_us = yield from one.run()
        if one.aw is None:
            self._writes.forget(key)
            self._unconfirmed.pop(key, None)
        return wake_at_us

    def _keys_of_unmarked(self, kind: Kind, obj: Object) -> Iterator[Key]:
        """The AppWrapper that a component was seen to be of which does not say so itself."""
        known = self._observer.unmarked if self._observer is not None else {}
        key = known.get((kind, key_of(obj))) if known else None
        if key is not None:
            yield key

    def _keys_on_node(self, node: Object, old: Object | None, caches: Caches) -> Iterator[Key]:
        """A node matters when its marks change, to those who have pods on it."""
        autopilot = self.config.autopilot
        if autopilot is None or not autopilot.monitor_nodes:
            return
        effects = self.rules.migrating_effects()
        marked = marked_resources(node, autopilot, effects)
        if old is not None and marked == marked_resources(old, autopilot, effects):
            return
        for pod in caches[POD].by(_BY_NODE, name_of(node)):
            yield from _keys_of_part(pod)


def _keys_of_part(obj: Object) -> Iterator[Key]:
    """The AppWrapper that a pod names by its label, or that controls a component."""
    name = labels_of(obj).get(APPWRAPPER_LABEL)
    if name is not None:
        yield Key(namespace_of(obj), name)
    owner = controller_of(obj)
    if owner is not None and owner.get("kind") == APPWRAPPER.kind and owner.get("name") != name:
        yield Key(namespace_of(obj), str(owner.get("name")))


def _telling(obj: Object) -> Any:
    """The fields of a pod or a component that decisions depend on; other updates are noise.

    Which node a pod is bound to matters only once it runs, and then its phase changes.
    """
    metadata = meta(obj)
    return (
        is_terminating(obj),
        metadata.get("labels"),
        metadata.get("ownerReferences"),
        get_path(obj, "status.phase"),
        get_path(obj, "spec.parallelism"),
        [condition_status(obj, type_) for type_ in ("Failed", "Complete", "Succeeded")],
    )
