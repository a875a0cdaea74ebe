"""Independence of subjects: an act on one changes nothing of another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from conformance.history.normal_form import NEIGHBOUR, differences
from conformance.norm import Obligation, Obligations, met, undecided, violated
from conformance.norm.words import listed, when
from conformance.suites.operator.claims.same_end import MOST_NAMED
from conformance.suites.operator.judging import claim
from conformance.suites.operator.view import OperatorHistory
from vocabulary.history import Counterpart
from vocabulary.objects import Object, get_path, meta

AT_REST: Final = frozenset(("delete_object", "edit_object", "kill_pod"))
"""Faults that strike one workload at rest."""


@claim(18, armed_by="second workload beside the one that something happens to")
def subjects_are_independent(run: OperatorHistory) -> Obligations:
    """A failure or deletion of a subject, or refused writes to it, MUST NOT change or delay
    anything of a subject that does not refer to it."""
    known = run.undisturbed
    if known is None or known.scenario != run.history.header.scenario or not run.neighbours:
        return
    if not any(run.operator.is_by(version.actor) for t in run.neighbours for version in t.versions):
        return  # it does not work there: its rights, or a flag, bind it to one namespace
    if not run.history.is_stable and not run.struck:
        yield undecided(run.history.end, "the run did not come to rest")
        return
    unlike = _unlike_each_other(known)
    if not run.struck:
        yield _alike(run, unlike)
    elif why := run.why_not_comparable or "".join(unlike[:1]):
        yield undecided(run.struck[0], why)
    elif run.sorts == {"api_error"}:
        yield from _not_delayed(run)
    elif run.sorts <= AT_REST and run.was_at_rest:
        yield from _not_changed(run)


def _alike(run: OperatorHistory, unlike: list[str]) -> Obligation:
    """The mere presence of one subject must not decide what becomes of the other."""
    shared = [track for track in run.owners if not track.namespace]
    if unlike and shared:
        return undecided(run.history.end, f"{unlike[0]}; both use {shared[0]}")
    if unlike and run.crowded:
        return undecided(run.history.end, f"{run.crowded}: {unlike[0]}")
    if unlike:
        more = f"; and {len(unlike) - 1} more" if len(unlike) > 1 else ""
        return violated(
            run.history.end, f"Of two equal workloads the end differs: {unlike[0]}{more}."
        )
    return met(run.history.end)


def _unlike_each_other(known: Counterpart) -> list[str]:
    """The objects that only one of two equal workloads has, and phases and conditions that
    differ."""
    namespaces = tuple(dict.fromkeys(map(_namespace, known.subjects)))
    subjects = tuple(_plain(name, namespaces).partition(" ")[2] for name in known.subjects)
    end = [(_plain(name, namespaces), name, obj) for name, obj in known.end.items()]
    theirs = {plain: obj for plain, name, obj in end if NEIGHBOUR in name}
    own = {
        plain: obj
        for plain, name, obj in end
        # A shared object, such as a lock of the operator, belongs to no workload.
        if NEIGHBOUR not in name
        and (plain in theirs or "ownerReferences" in meta(obj) or _is_named_after(plain, subjects))
    }
    kinds = {plain.partition(" ")[0] for plain in theirs}
    own = {plain: obj for plain, obj in own.items() if plain.partition(" ")[0] in kinds}
    found = [
        f"{plain} is there for {'one' if plain in own else 'the other'} only"
        for plain in sorted({*own} ^ {*theirs})
    ]
    for plain in sorted({*own} & {*theirs}):
        state, other = _state(own[plain]), _state(theirs[plain])
        if state != other:
            found.append(f"{plain} is {state} for one, and {other} for the other")
    return found


def _is_named_after(plain: str, subjects: Iterable[str]) -> bool:
    """True if a subject's name stands by itself in the object's: `a-entry`, `default.a`."""
    name = plain.partition(" ")[2]
    return any(re.search(rf"(?<![a-z0-9]){re.escape(s)}(?![a-z0-9])", name) for s in subjects)


def _plain(name: str, namespaces: Sequence[str]) -> str:
    """`Kind name`, the same for corresponding objects of both workloads, the names of whose
    namespaces may be part of it."""
    kind, _, rest = name.partition(" ")
    alone = rest.rpartition("/")[2]
    for other in namespaces[1:]:
        alone = alone.replace(other, namespaces[0])
    return f"{kind} {alone.replace(f'-{NEIGHBOUR}', '')}"


def _namespace(name: str) -> str:
    """Of `Kind namespace/name`; empty if there is none."""
    namespace, slash, _ = name.partition(" ")[2].partition("/")
    return namespace if slash else ""


def _state(obj: Object) -> str:
    """Its phase and conditions: the rest may name hosts, ports and shares."""
    conditions = get_path(obj, "status.conditions") or ()
    words = [str(get_path(obj, "status.phase", ""))]
    words += (f"{each.get('type')}={each.get('status')}" for each in conditions)
    return ", ".join(filter(None, words)) or "(without a status)"


def _not_delayed(run: OperatorHistory) -> Iterator[Obligation]:
    """Violated if an object of the neighbour's is made only after the refusals have ended, and in
    the undisturbed run is made before."""
    fault = run.struck[0]
    ended = next((f for f in run.history.faults if f.action == "reverted" and f.n > fault.n), None)
    if ended is None:
        return
    known = run.undisturbed
    expected, created = (known.end, known.created) if known else ({}, {})
    for track in run.neighbours:
        name = run.form.name_of(track)
        is_made = run.operator.is_by(track.created.actor) and name in expected
        if not is_made or track.created.n < ended.n:
            continue
        if created.get(name, ended.t) >= ended.t:
            yield undecided(track.created, f"{track} is created that late without refusals, too")
        else:
            yield violated(
                track.created,
                f"{track} was created at {when(track.created)}, after writes that do not concern "
                f"it had ceased to be refused at {when(ended)}.",
                fault,
                ended,
            )
            return
    yield from _ends_alike(run)


def _not_changed(run: OperatorHistory) -> Iterator[Obligation]:
    """Violated by any change of the operator's to a neighbour that was at rest."""
    fault, volatile = run.struck[0], run.undisturbed.volatile if run.undisturbed else {}
    for track in run.neighbours:
        for write, verb in ((track.created, "created"), (track.removed, "deleted")):
            if write is not None and write.n > fault.n and run.operator.is_by(write.actor):
                yield violated(
                    write,
                    f"{when(write)} the operator {verb} {track}, of another workload that was at "
                    "rest.",
                    fault,
                )
                return
    uids = {track.uid for track in run.neighbours}
    for track, before, write in run.versions():
        if track.uid not in uids or write.n < fault.n:
            continue
        name = run.form.name_of(track)
        ends = {name: run.form.masked(before)}, {name: run.form.masked(write.object or {})}
        changed = [each for each in differences(*ends) if each.field not in volatile]
        if changed:
            yield violated(
                write,
                f"{when(write)} the operator changed {track}, of another workload that was at "
                f"rest: {listed(each.path for each in changed[:MOST_NAMED])}.",
                fault,
            )
            return
    yield from _ends_alike(run)


def _ends_alike(run: OperatorHistory) -> Iterator[Obligation]:
    fault = run.struck[0]
    if not run.history.is_stable:
        yield undecided(fault, "the run did not come to rest")
        return
    unlike = [each for each in run.unlike if NEIGHBOUR in each.object]
    if unlike:
        first = min(unlike, key=lambda each: run.parted_at(each).n)
        yield violated(run.parted_at(first), f"Of the other workload, in the end {first}.", fault)
    else:
        yield met(fault, run.history.end)
