"""The controller as the runtime sees it: what wakes it, for whom, and one pass over a key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from reference_controller.jobset.config import JobSetConfig
from reference_controller.jobset.events import Identity
from reference_controller.jobset.metrics import Metrics
from reference_controller.jobset.names import JOB_SET
from reference_controller.jobset.reconcile import Reconciliation
from reference_controller.jobset.rules import Rules
from reference_controller.runtime.controller import Key, key_of
from vocabulary.clock import Micros
from vocabulary.kinds import JOB, SERVICE, Kind
from vocabulary.objects import Object, controller_of, meta, name_of, namespace_of
from vocabulary.requests import Reconcile

if TYPE_CHECKING:
    from reference_controller.runtime.caches import Caches


class JobSetController:
    """One controller of JobSets. Its only memory is its own writes and events."""

    name: Final = "jobset"
    watches: Final = (JOB_SET, JOB, SERVICE)

    def __init__(self, config: JobSetConfig, rules: Rules) -> None:
        self.config = config
        self.rules = rules
        self.metrics = Metrics()
        self._clock: Callable[[], Micros] = lambda: 0
        self._written: dict[Key, Object] = {}
        """Per JobSet what our last write was answered; a cache that holds an older one is
        behind on our own doing."""
        self._told: set[Identity] = set()

    def use_clock(self, clock: Callable[[], Micros]) -> None:
        """Tell the time by this clock."""
        self._clock = clock
        self.rules.use_clock(clock)

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        """The JobSet itself, or the one that controls a Job or a Service."""
        if kind == JOB_SET:
            key = key_of(obj)
            is_there = caches[kind].get(namespace_of(obj), name_of(obj)) is not None
            if not is_there:
                self._written.pop(key, None)
            return () if is_there and self._is_echo(obj, old, key) else (key,)
        return dict.fromkeys((*_owner(obj), *(() if old is None else _owner(old))))

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        del now_us
        one = Reconciliation(
            key.namespace,
            key.name,
            self.rules,
            self._clock,
            self.metrics,
            lambda written: self._remember(key, written),
            self._told,
        )
        return one.run(self._written.get(key))

    def _remember(self, key: Key, written: Object) -> None:
        self._written[key] = written

    def _is_echo(self, obj: Object, old: Object | None, key: Key) -> bool:
        """True if the event shows nothing but our own last write, or an earlier state."""
        written = self._written.get(key)
        return (
            old is not None
            and old is not obj
            and written is not None
            and (_revision(obj) <= _revision(written))
        )


def _owner(obj: Object) -> tuple[Key, ...]:
    owner = controller_of(obj)
    if owner is None or owner.get("kind") != JOB_SET.kind:
        return ()
    return (Key(namespace_of(obj), str(owner.get("name"))),)


def _revision(obj: Any) -> int:
    return int(meta(obj)["resourceVersion"])
