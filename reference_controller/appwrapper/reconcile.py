"""Carrying decisions out, one request at a time. No I/O here: each yield is a crash point.

The order of requests is what makes a crash at any of them harmless:

- what is about to be created is named in status before (the intent), for each attempt anew;
- the status is written under the resourceVersion that was read, so a decision taken on a
  stale AppWrapper ends in a conflict;
- what is created or deleted without such a write right before it is preceded by a live read
  of the AppWrapper;
- what ends an attempt, and what says that all is gone, is decided on live reads;
- deletes name the uid that was seen, and what the first round of them did not reach is looked
  up live.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from msgspec import structs

from reference_controller.appwrapper import decide as deciding
from reference_controller.appwrapper import transitions
from reference_controller.appwrapper.events import event_for, identity_of
from reference_controller.appwrapper.metrics import Metrics
from reference_controller.appwrapper.names import APPWRAPPER, CONTROLLER_NAME, FINALIZER
from reference_controller.appwrapper.observe import Observer
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.status import (
    attempt_of,
    component_records,
    phase_of,
    spec_of,
)
from reference_controller.appwrapper.steps import (
    CreateComponent,
    DeleteEverything,
    Hold,
    LetGo,
    Note,
    Record,
    Remove,
    Stay,
    Step,
)
from reference_controller.appwrapper.templates import TemplateError, build
from reference_controller.runtime.controller import Key
from reference_controller.shared.events import Told, send
from reference_controller.shared.own_writes import OwnWrites
from reference_controller.shared.reading import read
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.kinds import kind_of
from vocabulary.objects import Object, finalizers_of, namespace_of, uid_of
from vocabulary.requests import Create, Patch, Reconcile, Request, Update

MAX_STEPS: Final = 2_000
"""More steps than any AppWrapper needs in one reconcile."""
_BEHIND_US: Final = 5 * SECOND
"""When to look again after a cache was seen to be behind. An informer that lists anew never tells
of what was created and deleted meanwhile, so no event need come."""

Creation: TypeAlias = tuple[str, int, int]
"""The AppWrapper's uid, the attempt, and the index of the component."""
Doing: TypeAlias = Generator[Request, Any, Step | None]
"""Carries out one step; returns the step that follows from it at once, if any."""


@dataclass(slots=True)
class Reconciliation:
    """One pass over one AppWrapper."""

    namespace: str
    name: str
    observer: Observer
    rules: Rules
    metrics: Metrics
    writes: OwnWrites = field(default_factory=OwnWrites)
    """The writes of this process: a cache that is behind them would only lead to conflicts."""
    told: Told = field(default_factory=Told)
    unconfirmed: dict[Key, tuple[Creation, Object]] = field(default_factory=dict)
    """The components that exist, though no status could be written that says so."""
    aw: Object | None = None
    is_fresh: bool = False
    """True if `aw` is an API server's response of this pass."""

    def run(self) -> Reconcile:
        """From the AppWrapper as it stands to the point where there is nothing left to do."""
        self.aw = yield from read(APPWRAPPER, self.namespace, self.name, live=False)
        if self.aw is not None:
            self.aw = self.writes.later(Key(self.namespace, self.name), self.aw)
        step: Step | None = None
        for _ in range(MAX_STEPS):
            if self.aw is None or not is_managed(self.aw):
                return None
            if step is None:
                step = yield from self._decide()
            if isinstance(step, Stay):
                return step.wake_at_us
            step = yield from self._do(step)
        raise RuntimeError(f"{MAX_STEPS} steps in one reconcile of {self.name}, and no end")

    def _decide(self) -> Generator[Request, Any, Step]:
        assert self.aw is not None
        seen = yield from self.observer.look(self.aw, live=False)
        step = deciding.decide(seen, self.rules)
        momentous = isinstance(step, Record) and step.is_momentous
        if momentous and self.rules.confirms_verdicts():
            seen = yield from self.observer.look(self.aw, live=True)
            step = deciding.decide(seen, self.rules)
            if isinstance(step, Stay):  # the caches said otherwise
                soon_us = self.observer.clock() + _BEHIND_US
                return Stay(min(soon_us, step.wake_at_us or soon_us))
        return step

    def _do(self, step: Step) -> Doing:
        match step:
            case Record():
                return (yield from self._record(step))
            case Hold():
                return (yield from self._set_finalizers((*self._finalizers(), FINALIZER)))
            case CreateComponent():
                return (yield from self._create(step.index))
            case DeleteEverything():
                return (yield from self._delete())
            case Remove():
                return (yield from self._remove(step))
            case LetGo():
                kept = tuple(held for held in self._finalizers() if held != FINALIZER)
                return (yield from self._set_finalizers(kept))
            case Stay():
                return step

    def _record(self, step: Record) -> Doing:
        """Write the status under optimistic lock; then tell people."""
        assert self.aw is not None
        before = self.aw
        written = yield Update(APPWRAPPER, {**before, "status": step.status}, subresource="status")
        self._wrote(written)
        self.metrics.count_entry(self.namespace, phase_of(before), phase_of(written), step.note)
        if step.note is not None:
            yield from self._tell(step.note)
        return None

    def _tell(self, note: Note) -> Generator[Request, Any, None]:
        assert self.aw is not None
        identity = identity_of(self.aw, note)
        if identity in self.told:
            return
        self.is_fresh = False  # who tells people waits for an answer, and another may go on then
        event = event_for(self.aw, note, self.observer.clock())
        yield from send(event, identity, self.told, self._dropped)

    def _dropped(self, error: ApiError) -> None:
        self.metrics.count("appwrapper_event_dropped_total", reason=error.reason)

    def _set_finalizers(self, finalizers: tuple[str, ...]) -> Doing:
        """A merge patch under optimistic lock, since it cannot touch the spec."""
        assert self.aw is not None
        body = self.rules.finalizer_patch(self.aw, finalizers)
        written = yield Patch(APPWRAPPER, self.namespace, self.name, body)
        self._wrote(written)
        return None if finalizers else Stay()

    def _create(self, index: int) -> Doing:
        """Create one component; its intent stands in status."""
        if not (yield from self._refresh()):
            return None
        aw = self.aw
        assert aw is not None
        creation, known = self.unconfirmed.get(Key(self.namespace, self.name), (None, None))
        if known is not None and creation == (uid_of(aw), attempt_of(aw), index):
            return (yield from self._confirm(index, known))
        seen = self.observer.glance(aw)
        name = str(component_records(aw)[index]["name"])
        try:
            obj = build(aw, index, name, self.observer.config, self.rules)
        except TemplateError as error:
            return deciding.fatal_creation(seen, str(error), self.rules)
        kind = kind_of(obj)
        try:
            created = yield Create(kind, obj, namespace_of(aw), name)
        except ApiError as error:
            if error.is_already_exists:
                return (yield from self._name_taken(index, error))
            if error.is_not_found:  # API servers do not say what they do not serve
                message = f"{kind.kind} of {kind.api_version}: {error.message}"
                error = ApiError(error.code, error.reason, message)
            answered = structs.replace(self.observer.glance(aw), looked_us=seen.now_us)
            return deciding.creation_failed(answered, error, self.rules)
        self.metrics.count("appwrapper_component_created_total", kind=str(kind))
        return (yield from self._confirm(index, created))

    def _confirm(self, index: int, created: Object) -> Doing:
        """Write that a component exists. If that fails, it is remembered: it may be deleted before
        the next pass, which would take it for one that was never created."""
        aw = self.aw
        assert aw is not None
        key = Key(self.namespace, self.name)
        self.unconfirmed[key] = (uid_of(aw), attempt_of(aw), index), created
        now_us = self.observer.clock()
        yield from self._record(transitions.confirm(aw, index, created, now_us, self.rules))
        del self.unconfirmed[key]
        return None

    def _name_taken(self, index: int, error: ApiError) -> Doing:
        """Something stands under the name already: our own lost creation, or not."""
        aw = self.aw
        assert aw is not None
        record = component_records(aw)[index]
        kind = kind_of(record)
        standing = yield from read(kind, namespace_of(aw), str(record["name"]), live=True)
        seen = self.observer.glance(aw)
        if standing is None:
            return deciding.creation_failed(seen, error, self.rules)
        match self.rules.on_taken_name(standing, aw):
            case "adopt":
                return (yield from self._confirm(index, standing))
            case "remove":
                # Deletes know nothing of revisions: what stands may be of a later attempt, if
                # another instance has gone on since.
                self.is_fresh = False
                if not (yield from self._refresh()):
                    return None
                yield self.rules.orderly(kind, standing)
            case "fail":
                return deciding.fatal_creation(seen, error.message, self.rules)
        return deciding.creation_failed(seen, error, self.rules)

    def _delete(self) -> Doing:
        """Look at what is left, and decide what to do about it.

        A deletion mostly waits, and looks again whenever a part has changed: while the caches show
        something that only has to be waited for, no live read is needed.
        """
        assert self.aw is not None
        seen = yield from self.observer.remains(self.aw, live=False)
        step = deciding.deleting(seen, self.rules)
        if not deciding.hangs_on_what_is_left(step, seen):
            return step
        lacks_all = isinstance(step, Record)
        if not (yield from self._refresh()):
            return None
        seen = yield from self.observer.remains(self.aw, live=self.rules.confirms_absence())
        if self.rules.is_outdated(seen):
            # Deletes know nothing of revisions: they would hit what runs by now.
            self.is_fresh = False
            if not (yield from self._refresh()):
                return None
        step = deciding.deleting(seen, self.rules)
        if lacks_all and isinstance(step, Remove):  # the caches said otherwise
            soon_us = self.observer.clock() + _BEHIND_US
            return structs.replace(step, wake_at_us=min(soon_us, step.wake_at_us or soon_us))
        return step

    def _remove(self, step: Remove) -> Doing:
        """Send the deletes. One that fails keeps none of the others back; no answer does.

        What was refused is tried again soon, and then less and less often.
        """
        if step.deletes and not (yield from self._refresh()):
            return None
        assert self.aw is not None
        is_accepted = not step.deletes
        refused: ApiError | None = None
        for delete in step.deletes:
            try:
                yield delete
            except ApiError as error:
                if error.code == 0:
                    raise
                if error.is_not_found:
                    is_accepted = True
                else:
                    refused = error
            else:
                is_accepted = True
                self.metrics.count_delete(delete)
        wake_at_us = step.wake_at_us
        if step.starts and is_accepted:
            seen = self.observer.glance(self.aw)
            yield from self._record(deciding.deletion_started(seen))
            # A delete of what others are deleting already changes nothing, so no event need come.
            forceful_us = self.rules.forceful_from(self.aw, seen.parameters)
            wake_at_us = min(
                (at for at in (wake_at_us, forceful_us) if at is not None), default=None
            )
        if refused is not None:
            try:
                raise refused
            finally:
                refused = None  # its traceback holds this frame
        return Stay(wake_at_us)

    def _refresh(self) -> Generator[Request, Any, bool]:
        """Make sure that `aw` is current; False if it was not, and all has to be decided anew."""
        if self.is_fresh:
            return True
        known, self.aw = (
            self.aw,
            (yield from read(APPWRAPPER, self.namespace, self.name, live=True)),
        )
        self.is_fresh = True
        return self.aw == known

    def _wrote(self, written: Object) -> None:
        self.aw = written
        self.is_fresh = True
        self.writes.remember(Key(self.namespace, self.name), written)

    def _finalizers(self) -> tuple[str, ...]:
        assert self.aw is not None
        return finalizers_of(self.aw)


def is_managed(aw: Object) -> bool:
    """True if this controller manages the AppWrapper; `spec.managedBy` may name another."""
    return spec_of(aw).get("managedBy") in (None, CONTROLLER_NAME)
