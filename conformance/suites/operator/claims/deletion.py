"""Deletions by users: subjects go with their trees, and objects of a tree come back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from conformance.history import Track
from conformance.history.normal_form import OF_PROCESSES, is_custom
from conformance.norm import Obligations, met, undecided, violated
from conformance.norm.words import listed, when
from conformance.suites.operator.claims.same_end import MOST_NAMED
from conformance.suites.operator.judging import claim
from conformance.suites.operator.view import OperatorHistory, is_named_by, owner_uids
from vocabulary.history import Fault, Write
from vocabulary.kinds import JOB, POD
from vocabulary.objects import Object, finalizers_of, get_path, meta, name_of

ORPHAN = "Orphan"
_ENDS = frozenset(("Complete", "Completed", "Succeeded", "Finished", "Failed"))
"""Conditions of what runs to an end."""


@claim(7, armed_by="deletion of an object of the tree")
def heals(run: OperatorHistory) -> Obligations:
    """An object of the tree that a user deletes MUST come back, unless the operator reports it
    afterwards: in the status of the subject at the end, or by an Event about it.

    A pod or a Job that has ended need not come back: it would run again. Nor need anything of a
    subject that has ended, as its condition says: Complete, Completed, Succeeded, Finished, Failed.
    """
    known = run.undisturbed
    if known is None or run.sorts != {"delete_object"}:
        return
    for fault in run.struck:
        lost = _deleted_by(run, fault)
        wanted = 0 if lost is None else _alike(known.end, run.form.name_of(lost))
        if lost is None or not wanted or _is_over(run, lost, fault):
            continue
        if why := run.why_not_comparable:
            yield undecided(fault, why)
        elif not run.history.is_stable:
            yield undecided(fault, "the run did not come to rest")
        elif _alike(run.end, run.form.name_of(lost)) >= wanted:
            yield met(fault, run.history.end)
        elif (report := _report_after(run, fault)) is not None:
            yield met(fault, report)
        else:
            yield violated(
                lost.removed or fault,
                f"{lost} was deleted by a user and did not come back; the operator reported it "
                "neither in a status nor by an Event.",
                fault,
            )


def _alike(names: Iterable[str], name: str) -> int:
    """The number of objects of that name; of one that was generated, of all like it."""
    return sum(each == name or (name[-1:] == "*" and each.startswith(name)) for each in names)


def _is_over(run: OperatorHistory, lost: Track, fault: Fault) -> bool:
    """True if the object, a pod or a Job, had ended before it was deleted, or its subject had."""
    if lost.kind in (str(POD), str(JOB)):
        # The entry of a fault may follow the write that it made.
        status = [(v.object or {}).get("status") or {} for v in lost.versions if v.n < fault.n][-1]
        if status.get("phase") in ("Succeeded", "Failed") or _has_ended(status):
            return True
    return any(
        _has_ended(subject.at(fault.n).get("status") or {})
        for subject in run.owners
        if any(each.uid == lost.uid for each in run.history.descendants(subject.uid))
    )


def _has_ended(status: Object) -> bool:
    holding = {c["type"] for c in status.get("conditions") or () if c["status"] == "True"}
    return bool(holding & _ENDS)


def _deleted_by(run: OperatorHistory, fault: Fault) -> Track | None:
    """The object of the tree that a fault deleted."""
    for track in run.tree:  # in which an object may have the name of its subject
        if not is_named_by(fault.fault["delete_object"], track) or track.created.n > fault.n:
            continue
        marked = (v for v in track.versions if "deletionTimestamp" in meta(v.object or {}))
        ended = next(marked, track.removed)
        if ended is not None and abs(ended.n - fault.n) <= 1:
            return track
    return None


def _report_after(run: OperatorHistory, fault: Fault) -> Write | None:
    """The operator's first word about it: an Event about a subject, or a new status of one.

    A status that only passes reports nothing: counts of ready pods drop and rise by themselves.
    """
    end_n = run.history.end.n
    names = {track.name for track in run.owners}
    for write in run.operator.writes:
        if write.n < fault.n or not write.event:
            continue
        if write.kind in OF_PROCESSES:
            about = write.object or {}
            regarded = get_path(about, "involvedObject") or get_path(about, "regarding") or {}
            if regarded.get("name") in names:
                return write
        elif write.subresource == "status" or write.kind in {track.kind for track in run.owners}:
            owner = next((track for track in run.owners if track.uid == write.uid), None)
            before = None if owner is None else _status(run, owner, fault.n)
            if owner is not None and before not in (
                _status(run, owner, write.n),
                _status(run, owner, end_n),
            ):
                return write
    return None


def _status(run: OperatorHistory, track: Track, n: int) -> object:
    return run.form.masked(track.at(n).get("status") or {})


def _deletions(run: OperatorHistory) -> Iterator[tuple[Track, Write, str]]:
    """The subjects that a user deleted: each with the request, and how it is propagated."""
    for track in run.owners:
        for entry in run.history.entries:
            if (
                isinstance(entry, Write)
                and entry.verb == "delete"
                and entry.actor == "user"
                and entry.code < 400
                and (entry.kind, entry.namespace, entry.name)
                == (track.kind, track.namespace, track.name)
                and track.exists_at(entry.n - 1)
            ):
                yield track, entry, str(entry.options.get("propagationPolicy", ""))
                break


def _left_of_tree(run: OperatorHistory) -> Sequence[Track]:
    """Objects that the operator made and that still stand, without a live owner."""
    return [
        track
        for track in run.made
        if track.removed is None and not _has_owner(run, track) and not run.is_kept(track)
    ]


def _has_owner(run: OperatorHistory, track: Track) -> bool:
    owners = map(run.by_uid, owner_uids(track.last))
    return any(owner is not None and owner.removed is None for owner in owners)


@claim(9, armed_by="deletion of a subject")
def deleted_subject_goes(run: OperatorHistory) -> Obligations:
    """A subject that a user deletes MUST go with its tree, also if the operator is down or is
    killed meanwhile; with the policy Orphan the tree MUST stay."""
    gone_at = run.history.end
    deleted = list(_deletions(run))
    if deleted and not run.history.is_stable:
        yield undecided(deleted[0][1], "the run did not come to rest")
        return
    for track, request, policy in deleted:
        held = listed(meta(track.last).get("finalizers") or ()) or "no finalizer"
        users = finalizers_of(track.first) if track.created.actor == "user" else ()
        if (
            track.removed is None
            and finalizers_of(track.last)
            and not (set(finalizers_of(track.last)) - set(users))
        ):
            yield undecided(request, f"{track} is held by {held}, which its user asked for")
        elif track.removed is None and policy == ORPHAN:
            # What stays of another subject's tree may use it.
            yield undecided(request, f"{track} is held by {held}")
        elif track.removed is None:
            yield violated(
                track.versions[-1],
                f"{track} was deleted at {when(request)} and still stands in the end; it is held "
                f"by {held}.",
                request,
            )
        elif policy == ORPHAN and is_custom(track.kind):
            yield from _tree_stays(run, track, request)
        elif policy != ORPHAN:
            left = [
                each
                for each in _left_of_tree(run)
                if track.uid in owner_uids(each.first) or len(deleted) == len(run.owners)
            ]
            if left:
                yield violated(
                    left[0].versions[-1],
                    f"{track} is gone since {when(track.removed)}, and of its tree still stand in "
                    f"the end: {listed(left[:MOST_NAMED])}.",
                    request,
                )
            else:
                yield met(request, gone_at)


def _tree_stays(run: OperatorHistory, subject: Track, request: Write) -> Obligations:
    children = [
        track
        for track in run.made
        if track.exists_at(request.n)
        and subject.uid in owner_uids(track.at(request.n))
        and "deletionTimestamp" not in meta(track.at(request.n))
    ]
    lost = [track for track in children if track.removed is not None]
    if lost and lost[0].removed is not None:
        yield violated(
            lost[0].removed,
            f"{subject} was deleted with the policy Orphan, and {lost[0]} was removed with it.",
            request,
        )
    elif children:
        yield met(request, run.history.end)


@claim(10, armed_by="deletion in a run")
def nothing_is_orphaned(run: OperatorHistory) -> Obligations:
    """At rest no object MUST be left whose owners are all gone."""
    ended = [
        track
        for track in (*run.owners, *run.tree)
        if track.removed is not None and track.removed.n < run.history.end.n
    ]
    if not ended:
        return
    if not run.history.is_stable:
        yield undecided(ended[0].removed or run.history.end, "the run did not come to rest")
        return
    for track in run.tree:
        owners = owner_uids(track.last)
        is_left = track.removed is None and owners and not _has_owner(run, track)
        if is_left and not run.is_kept(track):
            yield violated(
                track.versions[-1],
                f"{track} still stands in the end, and its owner "
                f"{listed(name_of(owner) for owner in meta(track.last)['ownerReferences'])} is "
                "gone.",
            )
            return
    yield met(ended[0].removed or run.history.end, run.history.end)


@claim(12, armed_by="subject whose name was used before")
def a_name_used_again_is_a_new_subject(run: OperatorHistory) -> Obligations:
    """Of a subject that is deleted and created again at once, nothing of the old uid MUST be
    adopted or counted."""
    by_name: dict[tuple[str, str, str], list[Track]] = {}
    for track in run.owners:
        by_name.setdefault((track.kind, track.namespace, track.name), []).append(track)
    for old, new in (pair for pair in by_name.values() if len(pair) == 2):
        if why := run.why_not_comparable or ("" if run.history.is_stable else "it did not rest"):
            yield undecided(new.created, why)
            continue
        keeps = next(
            (track for track in run.made if not track.removed and old.uid in str(track.last)), None
        )
        if keeps is not None:
            yield violated(
                keeps.versions[-1],
                f"{keeps} still names the uid of the deleted {old}.",
                new.created,
            )
        elif run.unlike:
            first = min(run.unlike, key=lambda each: run.parted_at(each).n)
            yield violated(
                run.parted_at(first),
                f"{new} was created again after its deletion, and in the end {first}.",
                new.created,
            )
        else:
            yield met(new.created, run.history.end)
