"""A history as claims about any operator see it.

Subjects are the objects of users that the operator works on, their tree is what it made for them.
Both are known from the undisturbed run, which the header describes: a disturbed operator may not
have come that far. The faults of a run say which claim a difference of its end concerns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import msgspec

from conformance.history import History, Moment, Track
from conformance.history.normal_form import (
    OWN_PREFIX,
    Difference,
    NormalForm,
    differences,
    is_compared,
    of_neighbour,
)
from conformance.history.object_diff import ABSENT
from conformance.history.object_diff import differences as object_diff
from conformance.history.operator import OperatorView
from conformance.norm.claim import Claim
from conformance.norm.obligations import Obligation, undecided
from vocabulary.history import AT_REST, OPERATOR, Counterpart, Fault, Mark, Process, Write, role_of
from vocabulary.implementations import versions
from vocabulary.kinds import POD
from vocabulary.objects import Object, is_unschedulable, owner_references

ACCEPTED: Final = "accepted by the profile: "
"""Begins the reason of a violation that is wanted."""
_ENDED: Final = ("killed", "stopped", "ended")


class OperatorHistory:
    """One run of an operator with a workload."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.operator = history.operators.get(OPERATOR) or OperatorView(history, OPERATOR)
        self.answers: dict[tuple[Any, ...], Any] = {}

    def close(self) -> None:
        vars(self).clear()

    @property
    def subjects(self) -> Sequence[OperatorHistory]:
        """The run itself, if an operator of this suite is in it: claims are about all of it."""
        return (self,) if OPERATOR in self.history.operators else ()

    def excused(self, claim: Claim, broken: Obligation) -> Obligation | None:
        """Undecided if the operator's profile accepts a finding of this text."""
        accepts = self.history.header.operators[OPERATOR].facts.accepts
        found = [e for e in accepts if e["claim"] == claim.id and e["text"] in broken.because]
        if not found:
            return None
        because = f"{ACCEPTED}{found[0]['because'].rstrip('.')}"
        return undecided(broken.at, because, accepted=tuple(each["text"] for each in found))

    def __str__(self) -> str:
        return "the operator"

    @property
    def is_upgrade(self) -> bool:
        """True if a version of the operator replaces another one in the run."""
        return bool(versions(self.history.header.operators[OPERATOR].implementation)[0])

    # The undisturbed run, and the end.

    @property
    def undisturbed(self) -> Counterpart | None:
        found = self.history.header.counterpart
        return None if found is msgspec.UNSET else found

    @cached_property
    def form(self) -> NormalForm:
        return NormalForm(self.history)

    @cached_property
    def end(self) -> Mapping[str, Object]:
        """The live objects at the end, in normal form."""
        return self.form.end

    @cached_property
    def unlike(self) -> Sequence[Difference]:
        """The differences between this end and the undisturbed one, but for volatile fields."""
        known = self.undisturbed
        if known is None:
            return ()
        return differences(known.end, self.end, lambda each: each.field in known.volatile)

    @property
    def was_at_rest(self) -> bool:
        """True if the undisturbed run was at rest when the first fault struck: until then this one
        was the same."""
        rested = self.undisturbed.rested if self.undisturbed else None
        return rested is not None and self.struck[0].t >= rested

    def before_faults(self, track: Track) -> Object:
        """The object before the first fault, whose entry may follow the write that it made."""
        return track.at(self.struck[0].n - 2)

    def parted_at(self, difference: Difference) -> Moment:
        """The entry since which a field has had the value that it has in the end: from there on
        this history is another than the undisturbed one."""
        named = [track for track in self._tracks if self.form.name_of(track) == difference.object]
        if not named or (difference.found == ABSENT and not difference.path):
            gone = [track.removed for track in named if track.removed is not None]
            return gone[-1] if gone else self.history.end
        expected = self.undisturbed.end.get(difference.object) if self.undisturbed else None
        since = named[-1].versions[-1]
        for version in reversed(named[-1].versions):
            found = self.form.masked(version.object or {})
            if not any(each.path == difference.path for each in object_diff(expected, found)):
                break
            since = version
        return since

    @property
    def why_not_comparable(self) -> str:
        """Why no end can be compared with the undisturbed one; empty if it can."""
        known = self.undisturbed
        if known is None:
            return "the run was not compared with an undisturbed one"
        if not known.is_stable:
            return "the undisturbed run did not come to rest"
        if known.unequal:
            return f"two undisturbed runs with different seeds differ: {known.unequal[0]}"
        return ""

    @property
    def crowded(self) -> str:
        """Why differences of undisturbed ends may be the cluster's own choice; empty if they are
        not."""
        known = self.undisturbed
        for name, obj in known.end.items() if known else ():
            if name.startswith(f"{POD} ") and is_unschedulable(obj):
                return f"{name} finds no node, and which pods do is the scheduler's choice"
        return ""

    # Objects.

    @cached_property
    def owners(self) -> Sequence[Track]:
        """The subjects."""
        known = self.undisturbed
        wanted = set(known.subjects if known else ())
        return [
            track
            for track in self._tracks
            if track.created.actor == "user" and self.form.name_of(track) in wanted
        ]

    @cached_property
    def made(self) -> Sequence[Track]:
        """Objects that the operator created, in order, but for Events and Leases."""
        return [
            track
            for track in self._tracks
            if self.operator.is_by(track.created.actor) and is_compared(track)
        ]

    @cached_property
    def tree(self) -> Sequence[Track]:
        """Objects that the operator created, with all that these own."""
        found = {track.uid: track for track in self.made}
        for track in self.made:
            found.update((each.uid, each) for each in self.history.descendants(track.uid))
        return list(found.values())

    @cached_property
    def _tracks(self) -> list[Track]:
        tracks = [track for each in self.history.by_kind.values() for track in each]
        return sorted(tracks, key=lambda track: track.created.n)

    @cached_property
    def neighbours(self) -> Sequence[Track]:
        """The objects of a second workload, if the run has one, with those made for it."""
        return list(of_neighbour(self.history).values())

    def is_kept(self, track: Track) -> bool:
        """True if the operator's profile says that objects of the kind stay without a subject."""
        return track.kind in self.history.header.operators[OPERATOR].facts.keeps

    def by_uid(self, uid: str) -> Track | None:
        return self.history.tracks.get(uid)

    # Steps and faults.

    @cached_property
    def struck(self) -> Sequence[Fault]:
        """The faults that struck, and acts of users, in order."""
        return [fault for fault in self.history.faults if fault.action == "injected"]

    @cached_property
    def sorts(self) -> frozenset[str]:
        """The sorts of these: their names in plans, and `touch` for a change of metadata alone."""
        return frozenset(sort_of(fault) for fault in self.struck)

    @cached_property
    def rests(self) -> Sequence[Mark]:
        """The moments at which a step found the world at rest."""
        return [mark for mark in self.history.marks if mark.text == AT_REST]

    @cached_property
    def ends_of_process(self) -> Sequence[Process]:
        """The moments at which a process of the operator ended, by a fault or by itself."""
        return [
            entry
            for entry in self.history.processes
            if self.operator.is_by(entry.process) and entry.change in _ENDED
        ]

    @cached_property
    def crashes(self) -> Sequence[Mark]:
        """The errors that escaped from the operator's code, where it runs in this process."""
        return [
            mark
            for mark in self.history.marks
            if mark.mark == "step"
            and role_of(mark.text.partition(" raised ")[0]) == OPERATOR
            and " raised " in mark.text
        ]

    @property
    def writes(self) -> Sequence[Write]:
        """The operator's writes, but for those by which it speaks of itself."""
        return [write for write in self.operator.writes if not is_of_process(write.kind)]

    def versions(self) -> Iterator[tuple[Track, Object, Write]]:
        """The operator's changes of objects: the object before, and the write."""
        for track in self._tracks:
            before: Object = track.first
            for version in track.versions[1:]:
                if self.operator.is_by(version.actor):
                    yield track, before, version
                before = version.object or {}


def is_named_by(fault: Mapping[str, Any], track: Track) -> bool:
    """True if the kind and the name that a fault gives are those of the object."""
    spelled: str = fault["kind"]
    group = spelled.split("/", maxsplit=1)[0] if spelled.count("/") == 2 else ""
    kind, _, of_track = track.kind.partition(".")
    is_kind = spelled.rpartition("/")[2] == kind and group in ("", of_track)
    return is_kind and track.name == fault["name"]


def is_of_process(kind: str) -> bool:
    """True for the kinds by which processes speak of themselves."""
    return kind.partition(".")[0] in ("Event", "Lease")


def sort_of(fault: Fault) -> str:
    """The name of a fault in plans; `touch` for a change of an annotation or label of Assay's."""
    ((name, fields),) = fault.fault.items()
    patch = (fields or {}).get("patch") if name == "edit_object" else None
    return "touch" if patch and is_touch(patch) else name


def is_touch(patch: Mapping[str, Any]) -> bool:
    """True if a patch changes nothing but annotations, labels and finalizers of Assay's.

    A list of finalizers, which a merge patch has as a whole, has at least one of these.
    """
    metadata = patch.get("metadata", {})
    finalizers = metadata.get("finalizers")
    keys = [key for at, below in metadata.items() if at != "finalizers" for key in below]
    return (
        set(patch) == {"metadata"}
        and set(metadata) <= {"annotations", "labels", "finalizers"}
        and any(each.startswith(OWN_PREFIX) for each in finalizers or (OWN_PREFIX,))
        and all(key.startswith(OWN_PREFIX) for key in keys)
    )


def owner_uids(obj: Object) -> list[str]:
    """The uids of an object's owners."""
    return [str(owner.get("uid", "")) for owner in owner_references(obj)]
