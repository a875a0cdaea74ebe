"""Rules that hold in every run: process, rights, owners, conditions, and the user's spec."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

from conformance.history import Track
from conformance.history.normal_form import OWN_PREFIX, is_compared, is_custom
from conformance.norm import Obligation, Obligations, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.operator.judging import claim
from conformance.suites.operator.view import OperatorHistory, owner_uids
from vocabulary.clock import SECOND, Micros, parse_rfc3339
from vocabulary.history import MAY_NOT, Process, Write
from vocabulary.kinds import LEASE, POD
from vocabulary.objects import (
    Object,
    annotations_of,
    finalizers_of,
    get_path,
    is_terminating,
    meta,
    owner_references,
)

LATE_US: Final = 5 * SECOND
"""An owner may be gone for so long when something is created for it: the operator's caches lag."""
RENEWED_US: Final = 5 * SECOND
"""A leader that ends has lost its Lease if it has not renewed it for so long: client-go's leaders
renew every 2 s, and give up after 10 s."""
ADOPTED: Final = frozenset((str(POD), "ReplicaSet.apps"))
_WATCH_FAULTS: Final = frozenset(("stale_reads", "delay_watch", "break_watch", "slow_api"))


@claim(11, armed_by="object of a user with a name of the tree, or that the operator wrote to")
def no_damage(run: OperatorHistory) -> Obligations:
    """The operator MUST NOT change or delete an object that neither it created nor a subject owns,
    same names included.

    An object of the operator's own kinds that a user makes is a subject, and no namesake. An owner
    reference that the operator gives to a user's object deletes it with that owner; but pods and
    ReplicaSets are adopted by their labels.
    """
    known = run.undisturbed
    if known is None:
        return
    yield from _deleted_with_owners(run)
    for tracks in run.history.by_kind.values():
        for track in tracks:
            is_namesake = (
                track.created.actor == "user"
                and is_compared(track)
                and run.form.name_of(track) in known.end
                and track not in run.owners
                and "create_object" in run.sorts
                and not is_custom(track.kind)
            )
            if not is_namesake:
                continue
            versions = [*track.versions[1:], *([track.removed] if track.removed else [])]
            harm = next((each for each in versions if run.operator.is_by(each.actor)), None)
            if harm is None:
                yield met(track.created, run.history.end)
            else:
                verb = "deleted" if harm.event == "DELETED" else "changed"
                yield violated(
                    harm,
                    f"{when(harm)} the operator {verb} {track}, which a user had created and no "
                    "subject owned.",
                    track.created,
                )


def _deleted_with_owners(run: OperatorHistory) -> Iterator[Obligation]:
    """Each user's object that a subject leaves behind, if the operator has worked on it; and each
    that goes with one by the operator's doing."""
    deleted = {
        (entry.kind, entry.namespace, entry.name)
        for entry in run.history.entries
        if isinstance(entry, Write) and _is_users_deletion(entry)
    }
    users = [
        track
        for track in chain.from_iterable(run.history.by_kind.values())
        if track.created.actor == "user"
        and not is_custom(track.kind)
        and track.kind not in ADOPTED
        and (track.kind, track.namespace, track.name) not in deleted
    ]
    for owner in run.owners:
        marked = (v for v in owner.versions if is_terminating(v.object or {}))
        ending = next(marked, owner.removed)
        for track in users if ending is not None else ():
            if ending is None or track is owner or not track.exists_at(ending.n - 1):
                continue
            given = (each for each in track.versions if owner.uid in owner_uids(each.object or {}))
            since, removed = next(given, None), track.removed
            if removed is None:
                if track in run.owners:
                    yield met(ending, run.history.end)
            elif run.operator.is_by(removed.actor) and track not in run.owners:
                yield violated(
                    removed,
                    f"{when(removed)} the operator deleted {track}, which a user had created and "
                    f"no subject owned, after {owner} was deleted.",
                    ending,
                )
            elif (
                since is not None
                and run.operator.is_by(since.actor)
                and owner.uid in owner_uids(track.last)
            ):
                yield violated(
                    since,
                    f"{when(since)} the operator made {owner} an owner of {track}, which a user "
                    f"had created: it went with its owner at {when(removed)}.",
                    ending,
                    removed,
                )


def _is_users_deletion(write: Write) -> bool:
    return write.actor == "user" and write.verb == "delete" and write.code < 400


@claim(13, armed_by="run of the operator")
def the_operator_does_not_exit(run: OperatorHistory) -> Obligations:
    """The operator MUST NOT exit, panic or restart on its own, but for a lost lease."""
    of_lost_leases: set[Micros] = set()
    for ended in run.ends_of_process:
        if ended.change == "ended" and _has_lost_its_lease(run, ended):
            of_lost_leases.add(ended.t)
        elif ended.change == "ended":
            yield violated(ended, f"{when(ended)} the operator's process ended by itself.")
    for crash in run.crashes:
        if crash.t not in of_lost_leases:
            yield violated(crash, f"{when(crash)} {crash.text}.")
    yield met(run.history.end)


def _has_lost_its_lease(run: OperatorHistory, ended: Process) -> bool:
    """True if a process had led, and had not renewed its Lease for too long when it ended.

    A process that is started again has its name, and must have led itself.
    """
    starts = (
        entry.n
        for entry in run.history.processes
        if entry.process == ended.process and entry.change == "started" and entry.n < ended.n
    )
    started_n = max(starts, default=0)
    renewed = [
        write.t
        for write in run.operator.writes
        if write.actor == ended.process
        and write.kind == str(LEASE)
        and write.event
        and started_n < write.n < ended.n
    ]
    return bool(renewed) and ended.t - renewed[-1] > RENEWED_US


@claim(14, armed_by="request of the operator")
def its_own_rights_suffice(run: OperatorHistory) -> Obligations:
    """No request of the operator MUST be answered 403 for want of a right."""
    for write in run.operator.writes:
        if write.code == 403 and write.message and not write.event:
            yield violated(write, f"{when(write)} refused: {write.message}.")
    for mark in run.history.marks:
        if mark.text.startswith(MAY_NOT):
            yield violated(mark, f"{when(mark)} {mark.text}.")
    if run.operator.writes:
        yield met(run.operator.writes[0], run.history.end)


@claim(15, armed_by="former leader that runs on after another replica's lease began")
def one_writes(run: OperatorHistory) -> Obligations:
    """A replica MUST NOT write anything after another one's lease began, beyond one request that
    was under way."""
    before = ""
    for entry in run.history.processes:
        if entry.change != "leading" or not run.operator.is_by(entry.process):
            continue
        former, before = before, entry.process
        if former in ("", entry.process):
            continue
        until_n = _leads_again(run, former, entry.n)
        late = [
            write
            for write in run.writes
            if write.actor == former and write.event and entry.n < write.n < until_n
        ]
        if len(late) > 1:
            yield violated(
                late[1],
                f"{former} made {len(late)} changes after {entry.process} led since {when(entry)}; "
                f"the second one is to {late[1].kind} {late[1].name} at {when(late[1])}.",
                entry,
                late[0],
            )
        elif any(
            each.process == former and each.change == "resumed" and each.n > entry.n
            for each in run.history.processes
        ):
            yield met(entry, run.history.end)


def _leads_again(run: OperatorHistory, process: str, since_n: int) -> int:
    again = (
        entry.n
        for entry in run.history.processes
        if entry.process == process and entry.change == "leading" and entry.n > since_n
    )
    return next(again, run.history.end.n + 1)


@claim(16, armed_by="write of the operator to an object that somebody else changed")
def no_lost_update(run: OperatorHistory) -> Obligations:
    """A write of the operator MUST NOT take back what another client changed since its read."""
    if "touch" not in run.sorts:
        return
    for track, before, write in run.versions():
        added = _of_others(before)
        if not added:
            continue
        lost = sorted(added - _of_others(write.object or {}))
        if lost:
            yield violated(
                write,
                f"{when(write)} the operator's {write.verb} of {track} took back the {lost[0]}, "
                "which a user had added.",
                *(version for version in track.versions if version.actor == "user"),
            )
            return
        yield met(write)


def _of_others(obj: Object) -> set[str]:
    """The annotations and finalizers that stand for those of other clients."""
    added = (("annotation", annotations_of(obj)), ("finalizer", finalizers_of(obj)))
    return {f"{what} {key}" for what, keys in added for key in keys if key.startswith(OWN_PREFIX)}


@claim(21, armed_by="condition in a status", level=Level.EXTENDED)
def conditions_follow_the_conventions(run: OperatorHistory) -> Obligations:
    """Of each type there MUST be one condition, with a reason, whose lastTransitionTime changes
    exactly with its status; at rest observedGeneration MUST equal the generation."""
    for _, before, write in run.versions():
        after = write.object or {}
        if get_path(before, "status.conditions") != get_path(after, "status.conditions"):
            yield from _conditions(run, before, after, write)
    if run.history.is_stable:
        yield from _observed_generations(run)


def _conditions(
    run: OperatorHistory, before: Object, after: Object, write: Write
) -> Iterator[Obligation]:
    listed = [each for each in get_path(after, "status.conditions") or () if "type" in each]
    counted = Counter(str(each["type"]) for each in listed)
    was = {str(each.get("type")): each for each in get_path(before, "status.conditions") or ()}
    now = run.history.header.began_us + write.t
    for each in listed:
        type_ = str(each["type"])
        problem = _problem(was.get(type_), each, now)
        if counted[type_] > 1:
            problem = f"is there {counted[type_]} times"
        if problem:
            yield violated(
                write, f"{when(write)} condition {type_} of {write.kind} {write.name} {problem}."
            )
        elif was.get(type_) != each:
            yield met(write)


def _problem(before: Mapping[str, Any] | None, after: Mapping[str, Any], now_us: Micros) -> str:
    """The convention that a condition breaks; empty: none."""
    if "reason" in after and not after["reason"]:
        return "has an empty reason"
    if "reason" not in after and "lastTransitionTime" in after:
        return "has no reason"
    if before is None or "lastTransitionTime" not in after:
        return ""
    moved = before.get("lastTransitionTime") != after["lastTransitionTime"]
    if before.get("status") == after.get("status") and moved:
        return f"keeps its status {after.get('status')}, and its lastTransitionTime changes"
    if before.get("status") != after.get("status") and not moved and _is_old(after, now_us):
        return f"takes the status {after.get('status')}, and keeps its lastTransitionTime"
    return ""


def _is_old(condition: Mapping[str, Any], now_us: Micros) -> bool:
    """True for a time that no clock showed when the write was made: times are whole seconds."""
    try:
        return now_us - parse_rfc3339(str(condition["lastTransitionTime"])) > 2 * SECOND
    except ValueError:
        return False


def _observed_generations(run: OperatorHistory) -> Iterator[Obligation]:
    written = {
        track.uid: track for track, _, write in run.versions() if write.subresource == "status"
    }
    for track in written.values():
        if track.removed is not None or is_terminating(track.last):
            continue  # a deletion counts as a generation, and nothing has to be observed of it
        observed = get_path(track.last, "status.observedGeneration")
        generation = meta(track.last).get("generation")
        if observed is None or generation is None:
            continue
        if observed == generation:
            yield met(track.versions[-1])
        else:
            yield violated(
                track.versions[-1],
                f"At rest {track} has the generation {generation}, and its status was observed at "
                f"{observed}.",
            )


@claim(22, armed_by="owner reference", level=Level.EXTENDED)
def owner_references_are_valid(run: OperatorHistory) -> Obligations:
    """An owner MUST be in the same namespace or have none, at most one MUST be the controller,
    and its uid MUST be that of an object that is there."""
    for track in run.made:
        owners = owner_references(track.first)
        if not owners:
            continue
        problem = _bad_owner(run, track)
        if sum(bool(owner.get("controller")) for owner in owners) > 1:
            problem = "has several controllers"
        if problem:
            yield violated(track.created, f"{when(track.created)} {track} {problem}.")
        else:
            yield met(track.created)


def _bad_owner(run: OperatorHistory, track: Track) -> str:
    for reference in owner_references(track.first):
        owner = run.by_uid(str(reference.get("uid", "")))
        named = f"{reference.get('kind')} {reference.get('name')}"
        if owner is None:
            return f"names the owner {named} with a uid that no object has had"
        if owner.namespace and owner.namespace != track.namespace:
            return f"is in namespace {track.namespace or '(none)'}, its owner {named} in another"
        gone = owner.removed
        is_late = gone is not None and 0 <= track.created.t - gone.t <= LATE_US
        if (
            gone is not None
            and gone.n < track.created.n
            and not is_late
            and run.sorts.isdisjoint(_WATCH_FAULTS)
        ):
            return f"names the owner {named}, which was gone since {when(gone)}"
    return ""


@claim(23, armed_by="write of the operator to a subject", level=Level.EXTENDED)
def spec_is_the_users(run: OperatorHistory) -> Obligations:
    """The operator MUST NOT write the spec of a subject of its own kinds.

    The spec of a built-in kind may be shared: a queue resumes a Job.
    """
    subjects = {track.uid for track in run.owners}
    for track, before, write in run.versions():
        if track.uid not in subjects or not is_custom(track.kind):
            continue
        if before.get("spec") == (write.object or {}).get("spec"):
            yield met(write)
        else:
            yield violated(write, f"{when(write)} the operator changed the spec of {track}.")
