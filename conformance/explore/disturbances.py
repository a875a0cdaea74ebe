"""The disturbed runs that follow from an undisturbed one: each breaks one thing, at one moment.

Around each write of the operator it is killed, the write is refused in several ways, an object is
touched, or a list is stale after a restart. At rest objects of the tree are deleted and changed.
Some disturbances last as long as the run. All are plans, so that each can be replayed by itself.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

from chaos.exploration import CrashPoint, crash_points
from chaos.fault import Fault
from chaos.faults import (
    ApiErrors,
    BreakWatch,
    CreateObject,
    DelayWatch,
    DeleteObject,
    EditObject,
    Kill,
    KillPod,
    LoseReply,
    Pause,
    SlowApi,
    StaleReads,
    TimeOut,
)
from chaos.faults.api_error import Verb
from chaos.happening import Place
from chaos.plan import Step
from chaos.trigger import At
from clusters.simulated.patches.merge_patch import apply_merge_patch
from conformance.explore.drawn_objects import drawn_objects, schemas_of
from conformance.explore.first_look import rest_of
from conformance.history import History, Track
from conformance.history.normal_form import (
    OF_PROCESSES,
    OWN_PREFIX,
    NormalForm,
    is_compared,
    is_custom,
    of_neighbour,
)
from conformance.report.run_result import RunResult
from vocabulary.clock import MILLISECOND, MINUTE, SECOND, Micros, format_seconds
from vocabulary.history import OPERATOR, Counterpart, Write, role_of
from vocabulary.implementations import UPGRADED
from vocabulary.kinds import POD
from vocabulary.objects import Object, finalizers_of, is_terminating, name_of

BACK_US: Final = (1 * SECOND, 5 * MINUTE)
"""A killed operator is back before, or after, all of the cluster's reactions."""
REFUSED_FOR_US: Final = 20 * SECOND
REFUSED_BESIDE_US: Final = 10 * MINUTE
"""Time enough for a neighbour to come to its end."""
STALE_FOR_US: Final = 5 * SECOND
LATE_US: Final = (1 * SECOND, 8 * SECOND)
UNSEEN_US: Final = 10 * MINUTE
"""A watch is broken for so long that the operator sees nothing but the end of what happens."""
PAUSED_US: Final = 45 * SECOND
"""A Lease of client-go's defaults has run out, and another replica leads."""
AFTER_REST_US: Final = 1 * SECOND
WRITES: Final[tuple[Verb, ...]] = ("create", "update", "patch", "delete", "deletecollection")
CODES: Final = (409, 429, 500, 503)
MOST_FIELDS: Final = 12
"""Fields of one object that a user changes, each in a run of its own."""
FIELDS_OF_OTHERS: Final = 2
"""The same of further objects of its kind."""
UNDONE_FIELDS: Final = 2
"""Fields of a subject that a user changes and changes back, before the operator has seen it."""
TOUCHED: Final = {"metadata": {"annotations": {f"{OWN_PREFIX}touched": "1"}}}


class Disturbance(NamedTuple):
    """One disturbed run."""

    sort: str
    """One of `conformance.explore.SORTS`."""
    text: str
    """The variant of the run, in English."""
    steps: tuple[Step, ...]
    seed: int | None = None
    """Another seed, for a run without faults."""
    manifests: tuple[Object, ...] = ()
    """Another workload; none: that of the undisturbed run."""
    scenario: str = ""
    """Another course of the workload; empty: that of the undisturbed run."""
    implementation: str = ""
    """Another implementation; empty: the one that is explored."""
    is_first: bool = False
    """A sample takes it before others of its sort."""


@dataclass(frozen=True, slots=True)
class Terrain:
    """An undisturbed run, and the moment from which on it is disturbed."""

    run: RunResult
    history: History
    since_n: int = 0
    """Writes before this position are left alone."""
    process: str = OPERATOR
    """The replica whose writes are disturbed."""

    def points(self, place: Place) -> Iterator[CrashPoint]:
        """The operator's writes at a place, but for those by which it speaks of itself."""
        for point in crash_points(self.run.entries, self.process):
            write = self.write(point)
            if point.place is place and write.n >= self.since_n and write.kind not in OF_PROCESSES:
                yield point

    def write(self, point: CrashPoint) -> Write:
        """The write in the recorded run."""
        writes = (w for w in self.history.operators[OPERATOR].writes if w.actor == self.process)
        return next(islice(writes, point.k - 1, None))


_KILLED: Final = {
    Place.AFTER_COMMIT: "before the reply to",
    Place.AFTER_REPLY: "after the reply to",
}


def around_writes(terrain: Terrain) -> Iterator[Disturbance]:
    """Kills and refusals at each write of the operator."""
    for place, text in _KILLED.items():
        for point in terrain.points(place):
            for back_us in BACK_US:
                kill = Step(Kill(restart_after=back_us), point.trigger())
                yield Disturbance(
                    "kills", f"killed {text} {_of(point)}, back after {_span(back_us)}", (kill,)
                )
    points = [(point, terrain.write(point)) for point in terrain.points(Place.BEFORE_COMMIT)]
    last = {(write.kind, write.namespace, write.name): write.n for _, write in points}
    for point, write in points:
        # What is refused before is often written again by the next write to the object.
        is_last = last[write.kind, write.namespace, write.name] == write.n
        for text, once, lasting in _refusals(point.write.partition(" ")[0]):
            step = Step(once, point.trigger())
            yield Disturbance("refusals", f"{_of(point)}: {text}", (step,), is_first=is_last)
            yield Disturbance(
                "refusals",
                f"{_of(point)}: {text}, for {_span(REFUSED_FOR_US)}",
                (Step(lasting, point.trigger(), lasts_us=REFUSED_FOR_US),),
            )


def _refusals(verb: str) -> Iterator[tuple[str, Fault, Fault]]:
    """The ways to refuse a write: in words, once, and for all writes of a while."""
    for code in CODES:
        if code != 409 or verb in ("update", "patch"):
            yield (
                f"refused with {code}",
                ApiErrors(verb=WRITES, code=code),
                ApiErrors(verb=WRITES, code=code, times=0),
            )
    yield "times out", TimeOut(verb=WRITES), TimeOut(verb=WRITES, times=0, after=SECOND)
    yield "reply lost", LoseReply(verb=WRITES), LoseReply(verb=WRITES, times=0)


def touches(terrain: Terrain) -> Iterator[Disturbance]:
    """Annotations that mean nothing, on a subject and on what was just written, at each write."""
    for point in terrain.points(Place.AFTER_REPLY):
        objects = [*_subjects(terrain), *_written(terrain, point)]
        for track in dict.fromkeys(objects):
            touch = EditObject(_spelled(track), track.name, TOUCHED)
            yield Disturbance(
                "touches", f"{track} touched after {_of(point)}", (Step(touch, point.trigger()),)
            )


def lost_updates(terrain: Terrain) -> Iterator[Disturbance]:
    """Annotations of others on the object of a write, between the operator's read and the write;
    finalizers, too, if the write may take them off and nothing has to go later."""
    for point in terrain.points(Place.BEFORE_COMMIT):
        write = terrain.write(point)
        for track in _written(terrain, point):
            if track.created.n >= write.n:
                continue
            touch = EditObject(_spelled(track), track.name, TOUCHED)
            text = f"{track} touched just before {_of(point)}"
            yield Disturbance("touches", text, (Step(touch, point.trigger()),))
            if not write.subresource and not track.removed and not is_terminating(track.last):
                finalizers = [*finalizers_of(track.at(write.n - 1)), f"{OWN_PREFIX}touched"]
                hold = EditObject(
                    _spelled(track), track.name, {"metadata": {"finalizers": finalizers}}
                )
                text = f"{track} gets a finalizer just before {_of(point)}"
                yield Disturbance("touches", text, (Step(hold, point.trigger()),))


def early_deletions(terrain: Terrain) -> Iterator[Disturbance]:
    """Each subject deleted after each write of the operator."""
    for point in terrain.points(Place.AFTER_REPLY):
        for track in _subjects(terrain):
            gone = Step(DeleteObject(_spelled(track), track.name), point.trigger())
            yield Disturbance("deletions", f"{track} deleted after {_of(point)}", (gone,))


def broken_watches(terrain: Terrain) -> Iterator[Disturbance]:
    """At each write the watch of its kind breaks off: what comes next is seen as one change. At the
    first write of a kind also until all is over."""
    seen: set[str] = set()
    for point in terrain.points(Place.BEFORE_COMMIT):
        for track in _written(terrain, point):
            gaps = LATE_US[-1:] if track.kind in seen else (LATE_US[-1], UNSEEN_US)
            seen.add(track.kind)
            for gap_us in gaps:
                broken = BreakWatch(kind=_spelled(track), gap=gap_us)
                text = f"the watch of {track.kind} broken at {_of(point)} for {_span(gap_us)}"
                yield Disturbance("late-watches", text, (Step(broken, point.trigger()),))


def stale_lists(terrain: Terrain) -> Iterator[Disturbance]:
    """After each write a restart whose list of that kind is from before the write."""
    after = {point.k: point for point in terrain.points(Place.AFTER_REPLY)}
    for point in terrain.points(Place.BEFORE_COMMIT):
        if point.k not in after:
            continue
        for track in _written(terrain, point):
            stale = Step(StaleReads(kind=_spelled(track)), point.trigger(), lasts_us=STALE_FOR_US)
            kill = Step(Kill(restart_after=SECOND), after[point.k].trigger())
            yield Disturbance(
                "stale-lists",
                f"restarted after {_of(point)}, with a list of {track.kind} from before it",
                (stale, kill),
            )


def at_rest(terrain: Terrain) -> Iterator[Disturbance]:
    """Deletions of each kind of the tree and of subjects, changes of fields that the operator
    wrote, and other wishes of the user."""
    rest_us = rest_of(terrain.run)
    if rest_us is None:
        return
    when = At(rest_us + AFTER_REST_US)
    seen: set[str] = set()
    for track in _tree(terrain):
        is_made = role_of(track.created.actor) == OPERATOR
        if track.removed is not None or (track.kind in seen and not is_made):
            continue
        most = MOST_FIELDS if track.kind not in seen else FIELDS_OF_OTHERS
        seen.add(track.kind)
        gone = Step(DeleteObject(_spelled(track), track.name), when)
        yield Disturbance("deletions", f"{track} deleted at rest", (gone,), is_first=is_made)
        if is_made:
            for path, patch in _changes(track.last, most):
                yield _edited(track, path, Step(_edit(track, patch), when))
    back = At(rest_us + AFTER_REST_US + MILLISECOND)
    for track in _subjects(terrain):
        gone = Step(DeleteObject(_spelled(track), track.name), when)
        yield Disturbance("deletions", f"{track} deleted at rest", (gone,), is_first=True)
        for path, patch in dict(_changes(track.last, UNDONE_FIELDS)).items():
            there, again = _edit(track, patch), _edit(track, _as_it_is(track.last, patch))
            yield _edited(track, path, Step(there, when), Step(again, back), and_="and back")
        for path, patch in _changes(track.last):
            yield _edited(track, path, Step(_edit(track, patch), when))
        for text, patch in _changes_of_all(track.last):
            wish = Step(_edit(track, patch), when)
            yield Disturbance("edits", f"{track}: {text} at rest", (wish,), is_first=True)


def _edit(track: Track, patch: Mapping[str, Any]) -> EditObject:
    return EditObject(_spelled(track), track.name, patch)


def _edited(track: Track, path: str, *steps: Step, and_: str = "") -> Disturbance:
    text = f"{track} {path} changed at rest {and_}".rstrip()
    return Disturbance("edits", text, steps)


def _as_it_is(value: Any, patch: Any) -> Any:
    """The merge patch that undoes another one, of a value that was as the other one found it."""
    if not isinstance(patch, Mapping):
        return value
    return {key: _as_it_is(value[key], below) for key, below in patch.items()}


def _changes(obj: Object, most: int = MOST_FIELDS) -> list[tuple[str, Mapping[str, Any]]]:
    """Merge patches that change one value each, below spec and data: the first fields, a number in
    both directions."""
    is_encoded = obj.get("kind") == "Secret"
    found = [
        change for key in ("spec", "data") for change in _changed(obj.get(key), key, is_encoded)
    ]
    paths = list(dict.fromkeys(path for path, _ in found))[:most]
    return [(path, patch) for path, patch in found if path in paths]


def _changed(value: Any, path: str, is_encoded: bool) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        for key, below in value.items():
            for deeper, patch in _changed(below, key, is_encoded):
                yield f"{path}.{deeper}", {path: patch}
    elif isinstance(value, str) and is_encoded:
        yield path, {path: b64encode(b64decode(value) + b"-changed").decode()}
    elif isinstance(value, bool):
        yield path, {path: not value}
    elif isinstance(value, int):
        yield path, {path: value + 1}
        if value > 0:
            yield path, {path: value - 1}
    elif isinstance(value, str):
        yield path, {path: f"{value}-changed"}


def _changes_of_all(obj: Object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Merge patches that change all numbers below the spec in one direction, or all switches."""
    for text, changed in (
        ("all numbers one less", lambda value: value - 1 if type(value) is int and value else None),
        ("all numbers one more", lambda value: value + 1 if type(value) is int else None),
        ("all switches turned", lambda value: not value if type(value) is bool else None),
    ):
        if patch := _leaves(obj.get("spec"), changed):
            yield text, {"spec": patch}


def _leaves(value: Any, changed: Callable[[Any], Any]) -> Any:
    """The values in nested mappings that a function changes, in their mappings; None: none."""
    if not isinstance(value, Mapping):
        return changed(value)
    found = {key: _leaves(below, changed) for key, below in value.items()}
    return {key: below for key, below in found.items() if below is not None} or None


def elections(run: RunResult, history: History) -> Iterator[Disturbance]:
    """The leader of two replicas is paused at each of its writes, and goes on after its Lease has
    run out and the other one leads."""
    leading = [entry.process for entry in history.processes if entry.change == "leading"]
    if not leading:
        return
    terrain = Terrain(run, history, process=leading[0])
    for point in terrain.points(Place.AFTER_COMMIT):
        pause = Step(Pause(leading[0]), point.trigger(), lasts_us=PAUSED_US)
        text = f"{leading[0]}, which leads, paused at {_of(point)} for {_span(PAUSED_US)}"
        yield Disturbance("elections", text, (pause,))


def upgrades(terrain: Terrain, replaced: str, by: str) -> Iterator[Disturbance]:
    """One version of the operator, whose run this is, is replaced by another one at each of its
    writes, and at rest; both are implementations by name."""
    rest_us = rest_of(terrain.run)
    moments = [
        (f"{text} {_of(point)}", point.trigger())
        for place, text in _KILLED.items()
        for point in terrain.points(place)
    ]
    if rest_us is not None:
        moments.append(("at rest", At(rest_us + AFTER_REST_US)))
    for text, when in moments:
        kill = Step(Kill(restart_after=SECOND), when)
        yield Disturbance(
            "upgrades",
            f"{replaced} replaced by {by} {text}",
            (kill,),
            implementation=f"{OPERATOR}={replaced}{UPGRADED}{by}",
        )


def drawn(
    run: RunResult, manifests: Sequence[Object], definitions: tuple[Object, ...]
) -> Iterator[Disturbance]:
    """Workloads of which one object has other values that the schema of its CRD allows."""
    schemas = schemas_of(definitions)
    for index, manifest in enumerate(manifests):
        schema = schemas.get((str(manifest["apiVersion"]), str(manifest["kind"])))
        for each in drawn_objects(manifest, schema or {}, f"{run.seed}/drawn/{index}"):
            workload = (*manifests[:index], each.object, *manifests[index + 1 :])
            named = f"{manifest['kind']} {name_of(manifest)}: {each.text}"
            yield Disturbance("drawn", named, (), manifests=workload, is_first=each.is_less)


def lasting(terrain: Terrain) -> Iterator[Disturbance]:
    """Late watches of each kind, a slow API server, and objects of others in the way."""
    begin = At(0)
    kinds = dict.fromkeys(map(_spelled, (*_subjects(terrain), *_tree(terrain))))
    for kind in kinds:
        for late_us in LATE_US:
            late = Step(DelayWatch(kind=kind, by=late_us), begin)
            text, is_latest = f"{kind} events {_span(late_us)} late", late_us == LATE_US[-1]
            yield Disturbance("late-watches", text, (late,), is_first=is_latest)
    slow = Step(SlowApi(by=SECOND, times=0), begin)
    yield Disturbance("slow", "every request takes a second longer", (slow,))


def namesakes(terrain: Terrain) -> Iterator[Disturbance]:
    """Other objects with the names of the tree, which a user made before the workload."""
    form = NormalForm(terrain.history)
    for track in _tree(terrain):
        is_named = form.name_of(track).endswith(track.name) and not is_custom(track.kind)
        if role_of(track.created.actor) == OPERATOR and is_named:
            other = {key: value for key, value in track.first.items() if key != "status"}
            other = _without(other, track.uid)
            for _, patch in _changes(track.first)[:1]:
                other = apply_merge_patch(other, patch)
            # A Job without labels gets those of its pods, which the operator takes for its own.
            other["metadata"] = {"name": track.name, "labels": {"example.com/made-by": "user"}}
            text = f"{track} was there before, made by a user"
            yield Disturbance("namesakes", text, (Step(CreateObject(other), At(0)),))


def beside_neighbours(terrain: Terrain) -> Iterator[Disturbance]:
    """Failures, changes and deletions that befall one of two workloads, at rest; and refusals of
    all writes to its objects, where names tell these from the other's."""
    rest_us = rest_of(terrain.run)
    if rest_us is None:
        return
    when = At(rest_us + AFTER_REST_US)
    subjects = [track for track in _subjects(terrain) if track.namespace]
    tree = [track for track in _tree(terrain) if track.removed is None]
    for track in subjects:
        for path, patch in _changes(track.last):
            edit = EditObject(_spelled(track), track.name, patch)
            yield _beside(f"{track} {path} changed", Step(edit, when))
    for track in tree:
        if role_of(track.created.actor) == OPERATOR:
            gone = DeleteObject(_spelled(track), track.name)
            yield _beside(f"{track} deleted", Step(gone, when))
    for track in [track for track in tree if track.kind == str(POD)][:1]:
        yield _beside(f"{track} killed", Step(KillPod(track.name), when))
    every = [Step(DeleteObject(_spelled(t), t.name), when) for t in reversed(subjects)]
    yield _beside("the workload deleted", *every)
    form = NormalForm(terrain.history)
    others = {track.name for track in of_neighbour(terrain.history).values()}
    for track in (*subjects, *tree):
        is_named = form.name_of(track).endswith(track.name) and track.name not in others
        if is_named and (track in subjects or role_of(track.created.actor) == OPERATOR):
            refused = ApiErrors(
                verb=WRITES, code=500, times=0, kind=_spelled(track), name=track.name
            )
            step = Step(refused, At(0), lasts_us=REFUSED_BESIDE_US)
            yield _beside(f"every write to {track} refused", step)


def _beside(text: str, *steps: Step) -> Disturbance:
    return Disturbance("neighbours", f"{text}, beside another workload", steps)


def _without(value: Any, uid: str) -> Any:
    """A value without the places where the API server wrote the object's own uid, as it does into
    the selector of a Job: who writes them by hand is refused."""
    if not isinstance(value, Mapping):
        return value
    kept = {key: _without(below, uid) for key, below in value.items() if below != uid}
    return {key: below for key, below in kept.items() if below != {} or value[key] == {}}


def seeds(terrain: Terrain, count: int) -> Iterator[Disturbance]:
    """The undisturbed run with further seeds."""
    for number in range(2, count + 2):
        seed = terrain.run.seed + number
        yield Disturbance("seeds", f"seed {seed}", (), seed)


def _subjects(terrain: Terrain) -> Sequence[Track]:
    known, others = terrain.run.header.counterpart, of_neighbour(terrain.history)
    names = known.subjects if isinstance(known, Counterpart) else ()
    form = NormalForm(terrain.history)
    return [
        track
        for track in form.live
        if track.created.actor == "user"
        and form.name_of(track) in names
        and track.uid not in others
    ]


def _tree(terrain: Terrain) -> Sequence[Track]:
    """The objects that the operator made, and what these own, in order of creation."""
    history, others = terrain.history, of_neighbour(terrain.history)
    made = [
        track
        for each in history.by_kind.values()
        for track in each
        if role_of(track.created.actor) == OPERATOR
        and is_compared(track)
        and track.uid not in others
    ]
    found = {track.uid: track for track in made}
    for track in made:
        below = history.descendants(track.uid)
        found.update((each.uid, each) for each in below if is_compared(each))
    return sorted(found.values(), key=lambda track: track.created.n)


def _written(terrain: Terrain, point: CrashPoint) -> Iterator[Track]:
    """The object of a write, if it still stands after it."""
    write = terrain.write(point)
    track = terrain.history.find(write.kind, write.namespace, write.name, write.n)
    if track is not None and is_compared(track) and write.event in ("ADDED", "MODIFIED"):
        yield track


def _spelled(track: Track) -> str:
    """The kind as plans spell it in full."""
    return f"{track.first.get('apiVersion')}/{track.first.get('kind')}"


def _of(point: CrashPoint) -> str:
    return f"write {point.k} of {point.of} ({point.write})"


def _span(span_us: Micros) -> str:
    return format_seconds(span_us)
