"""The controller of Jobs: each is submitted once, as a whole.

A submission creates all parts in one order, and ends when the API server itself has all of them,
and a pod for each ProcessingElement. One that another process has begun is not continued, since
its pods may be in any state. Its Job is replaced (see `recovery`).

A submitted Job is only looked after: what is missing of it is created again.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from reference_controller.runtime.controller import Key, key_of
from reference_controller.shared.own_writes import OwnWrites
from reference_controller.shared.reading import Reading, read
from reference_controller.streams.names import (
    ATTEMPT,
    JOB,
    JOB_UID,
    OF_JOB,
    OF_PE,
    PARTS,
    PROCESSING_ELEMENT,
    RECOVERED,
    RECOVERY,
    TREE,
    Phase,
)
from reference_controller.streams.office import Office, pulled_bundle
from reference_controller.streams.parts import Compiled, Part, launched
from reference_controller.streams.recovery import Recovery
from reference_controller.streams.rejected import Rejected
from vocabulary.clock import SECOND, Micros, parse_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import NODE, POD, Kind
from vocabulary.objects import (
    Object,
    controller_of,
    finalizers_of,
    get_path,
    is_terminating,
    labels_of,
    meta,
    name_of,
    namespace_of,
    uid_of,
)
from vocabulary.requests import Create, List, ObjectList, Patch, Reconcile, Update

if TYPE_CHECKING:
    from reference_controller.runtime.caches import Caches

_SHOWN_US: Final = 10 * SECOND
"""A part that the cache has not shown by then is looked for at the API server, once."""
_SEEN_US: Final = sys.maxsize


class JobController:
    """Jobs, from their launch to their submission, and again after an interruption."""

    name: Final = "job"
    watches: Final = (JOB, RECOVERY, *TREE)

    def __init__(self, office: Office) -> None:
        self._office = office
        self._rules = office.rules
        self._recovery = Recovery(office)
        self._writes = OwnWrites()
        self._created: dict[str, dict[tuple[Kind, str], Micros]] = {}
        """By the uid of a Job: the parts that the cache has yet to show, and since when."""
        self._rejected = Rejected()
        self._last_id = -1
        self._started_us: Micros | None = None

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        """The Job itself, or the one that a record or a part names."""
        del old, caches
        if kind == JOB:
            return (key_of(obj),)
        is_record = kind == RECOVERY
        name = get_path(obj, "spec.job", "") if is_record else labels_of(obj).get(OF_JOB, "")
        return (Key(namespace_of(obj), name),) if name else ()

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        if self._started_us is None:
            self._started_us = now_us
        cached = yield from read(JOB, *key, live=False)
        job = None if cached is None else self._writes.later(key, cached)
        record = yield from self._recovery.record(key)
        if record is not None:
            return (yield from self._recovery.follow(record, now_us))
        if job is None:
            self._writes.forget(key)
            return None
        is_submitted = self._rules.is_submitted(str(get_path(job, "spec.phase", "")))
        if is_terminating(job):
            if self._rules.brings_back(is_submitted):
                return (yield from self._recovery.begin(job, now_us, is_asked=True))
            yield from self._let_go(job)
            return None
        if is_submitted:
            return (yield from self._look_after(self._office.compiled(job), now_us))
        if self._rules.is_fresh(get_path(job, "spec.id") is not None):
            self._office.driven.add(uid_of(job))
            job = yield from self._launch(key, job)
        elif (yield from self._is_interrupted(job)):
            design = self._rules.design()
            if not self._rules.begins_at_once(uid_of(job), labels_of(job).get(ATTEMPT, "1")):
                return None
            if design.way == "replace":
                return (yield from self._recovery.begin(job, now_us))
            taken = yield from self._rejected.taken_over(job, design, self._office.driven)
            if taken is None:
                return None
            self._writes.remember(key, taken)
            job = taken
        self._office.driven.add(uid_of(job))
        return (yield from self._submit(key, self._office.compiled(job), now_us))

    def _is_interrupted(self, job: Object) -> Reading[bool]:
        assert self._started_us is not None
        created_us = parse_rfc3339(meta(job)["creationTimestamp"])
        is_driven = uid_of(job) in self._office.driven
        compiled = self._office.compiled(job)
        is_whole = not is_driven and (yield from self._is_complete(compiled, live=False))
        return self._rules.is_interrupted(
            is_driven, is_whole, created_us // SECOND, self._started_us // SECOND
        )

    def _let_go(self, job: Object) -> Reading[None]:
        """Its user does not want the Job back, and there is no record that would bring it."""
        if RECOVERED in finalizers_of(job):
            kept = [each for each in finalizers_of(job) if each != RECOVERED]
            body = {"metadata": {"finalizers": kept or None, **_version(job)}}
            yield Patch(JOB, *key_of(job), body)

    def _launch(self, key: Key, job: Object) -> Reading[Object]:
        """Give a Job its id. Nothing depends on a Job without one."""
        jobs: ObjectList = yield List(JOB)
        known = [int(get_path(each, "spec.id", -1)) for each in jobs.items]
        # Other Jobs may be launched while this one waits for answers.
        id_ = self._last_id = self._rules.next_id(known, self._last_id)
        nodes: ObjectList = yield List(NODE, live=True)
        bundle = yield from pulled_bundle(job)
        kept = [each for each in finalizers_of(job) if each != RECOVERED]
        phase = self._rules.first_phase()
        ready = launched(job, id_, phase, len(nodes.items), bundle)
        metadata = {**meta(ready), "finalizers": kept}
        stored: Object = yield Update(JOB, {**ready, "metadata": metadata})
        self._writes.remember(key, stored)
        return stored

    def _submit(self, key: Key, job: Compiled, now_us: Micros) -> Reconcile:
        if self._rejected.has_ended(job.uid):
            return None
        missing = yield from self._missing(job, now_us)
        made = [part for part in missing if self._rules.creates(job.uid, part.kind, part.name)]
        yield from self._make(job, made, now_us)
        for live in (False, True):
            if not (yield from self._is_complete(job, live=live)):
                if live:
                    self._created.pop(job.uid, None)
                return self._looks_again_us(job, now_us)
        body = {"metadata": _version(job.job), "spec": {"phase": Phase.SUBMITTED}}
        stored: Object = yield Patch(JOB, *key, body)
        self._writes.remember(key, stored)
        self._created.pop(job.uid, None)
        return None

    def _looks_again_us(self, job: Compiled, now_us: Micros) -> Micros | None:
        """A part may have gone before the cache has shown it: then there is no event of it."""
        since_us = self._created.get(job.uid, {}).values()
        return now_us + _SHOWN_US if any(each != _SEEN_US for each in since_us) else None

    def _look_after(self, job: Compiled, now_us: Micros) -> Reconcile:
        """Create what is missing of a submitted Job."""
        missing = yield from self._missing(job, now_us)
        restored = [part for part in missing if self._rules.restores(part.kind)]
        yield from self._make(job, restored, now_us)
        return self._looks_again_us(job, now_us)

    def _missing(self, job: Compiled, now_us: Micros) -> Reading[list[Part]]:
        """The parts that the cache does not show, but for those that it has yet to show."""
        shown: set[tuple[Kind, str]] = set()
        for kind in PARTS:
            found = yield from self._of(kind, job, live=False)
            shown.update((kind, name_of(o)) for o in found if labels_of(o).get(JOB_UID) == job.uid)
        created = self._created.setdefault(job.uid, {})
        missing = []
        for part in job.parts:
            if (part.kind, part.name) in shown:
                created.pop((part.kind, part.name), None)
            elif not (yield from self._is_yet_to_show(created, part, now_us)):
                missing.append(part)
        return missing

    def _make(self, job: Compiled, parts: Sequence[Part], now_us: Micros) -> Reading[None]:
        """Create parts, unless the Job is being deleted: its cached state may be older than what is
        missing."""
        if not parts:
            return
        standing = yield from read(JOB, *key_of(job.job), live=True)
        is_alive = standing is not None and uid_of(standing) == job.uid
        if self._rules.may_restore(is_alive and not is_terminating(standing or {})):
            for part in parts:
                yield from self._create(job, part, now_us)

    def _is_yet_to_show(
        self, created: dict[tuple[Kind, str], Micros], part: Part, now_us: Micros
    ) -> Reading[bool]:
        """True if a part was created, and is there if that is a while ago."""
        since_us = created.get((part.kind, part.name))
        if since_us is None or now_us - since_us < _SHOWN_US:
            return since_us is not None
        standing = yield from read(part.kind, namespace_of(part.object), part.name, live=True)
        if standing is None:
            del created[part.kind, part.name]
            return False
        created[part.kind, part.name] = _SEEN_US
        return True

    def _create(self, job: Compiled, part: Part, now_us: Micros) -> Reading[None]:
        (reference,) = part.object["metadata"]["ownerReferences"]
        owner = self._rules.reference(part.kind, reference)
        references = [] if owner is None else [owner]
        metadata = {**part.object["metadata"], "ownerReferences": references}
        wanted = {**part.object, "metadata": metadata}
        namespace = namespace_of(part.object)
        try:
            yield Create(part.kind, wanted, namespace, part.name)
        except ApiError as error:
            if not error.is_already_exists:
                raise
            yield from self._taken(job, Part(part.kind, wanted), error)
        self._created.setdefault(job.uid, {})[part.kind, part.name] = now_us

    def _taken(self, job: Compiled, part: Part, error: ApiError) -> Reading[None]:
        """Accept the object that has a part's name if it is the Job's. Another has to go first."""
        standing = yield from read(part.kind, namespace_of(part.object), part.name, live=True)
        if standing is not None and labels_of(standing).get(JOB_UID) == job.uid:
            return
        design = self._rules.design()
        if standing is None or design.on_taken == "retry":
            raise error
        yield from self._rejected.on_taken(design, part, job.uid, standing, error)

    def _is_complete(self, job: Compiled, *, live: bool) -> Reading[bool]:
        """True if all parts are there, and a pod for each ProcessingElement."""
        elements: set[str] = set()
        for kind in PARTS:
            found = yield from self._of(kind, job, live=live)
            counted = [
                each
                for each in found
                if self._rules.counts(kind, _is_owned(each, job.uid), is_terminating(each))
            ]
            if not self._rules.is_complete(kind, len(counted), job.counts[kind]):
                return False
            if kind == PROCESSING_ELEMENT:
                elements = {uid_of(each) for each in counted}
        pods = yield from self._of(POD, job, live=live)
        with_pod = Counter(
            labels_of(pod).get(OF_PE, "")
            for pod in pods
            if self._rules.counts(
                POD, (controller_of(pod) or {}).get("uid") in elements, is_terminating(pod)
            )
        )
        return self._rules.is_complete(POD, len(with_pod), job.size)

    def _of(self, kind: Kind, job: Compiled, *, live: bool) -> Reading[Iterable[Object]]:
        selector = f"{OF_JOB}={job.name}"
        listed: ObjectList = yield List(
            kind, namespace_of(job.job), label_selector=selector, live=live
        )
        return listed.items


def _is_owned(obj: Object, uid: str) -> bool:
    return (controller_of(obj) or {}).get("uid") == uid


def _version(obj: Object) -> Object:
    return {"resourceVersion": meta(obj)["resourceVersion"]}
