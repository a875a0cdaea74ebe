"""Versions that watches have missed, recovered from the responses in the audit log.

A watch that had to begin anew leaves a gap: of each object only the version that the next list
showed is known. The audit log has the request of every version in between, and the response to
it: the object as it was stored, with its resourceVersion. Only the binding of a pod, and a
deletion that is answered by a bare Status, carry none. Those are placed by when they were asked
for and answered, if that leaves one place among all that may have to do with them.

It is all or nothing: a history that lacks one version is one with a gap.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from typing import Any, Final

import msgspec

from conformance.audit_log.commits import Effect, effects_of, is_blind, version_of
from conformance.audit_log.events import WRITES, Event
from conformance.audit_log.history import in_order, object_key
from conformance.worlds.control_plane.recorder import NOT_RECORDED, Commit, is_heartbeat
from vocabulary.clock import Micros
from vocabulary.history import AUDIT_LOG
from vocabulary.kinds import LIMIT_RANGE, NODE, RESOURCE_QUOTA, Kind
from vocabulary.objects import get_path, is_terminating, meta, name_of, namespace_of, uid_of

_NOT_JUDGED: Final = (LIMIT_RANGE, RESOURCE_QUOTA, *NOT_RECORDED)
"""No claim speaks of their versions."""


def recovered(
    commits: Sequence[Commit], audited: Iterable[Mapping[str, Any]], kinds: Iterable[Kind]
) -> list[Commit] | None:
    """All commits of a run, in the order of the store; None if any of them stays unknown.

    `commits` are those that watches reported, of such kinds; `audited` are the audit events
    about the same objects.
    """
    served = {(kind.group, kind.plural): kind for kind in kinds if kind not in _NOT_JUDGED}
    requests = in_order(list(_requests(audited, served)))
    versions, unseen = _versions(requests, served)
    explained = {(each.uid, each.effect.rv) for each in versions}
    told = [each for each in commits if not _is_found_out(each)]
    unexplained = [
        each for each in told if each.kind in served.values() and _key(each) not in explained
    ]
    others = _without_revision(versions, unexplained)
    known = {_key(each) for each in told}
    missing = [
        each
        for each in versions
        if not each.is_heartbeat
        and (each.uid, each.effect.rv) not in known
        and each not in others.values()
    ]
    gone = {each.uid for each in missing if each.effect.change == "DELETED"}
    if any(uid_of(each.object) not in gone for each in commits if _is_found_out(each)):
        return None
    if not _are_accounted_for([e for e in unexplained if _key(e) not in others], unseen):
        return None
    placed = _placed(missing, versions, told)
    return None if placed is None else _with_beginnings(placed)


@dataclass(frozen=True, slots=True)
class _Version:
    """The version that one request made of one object."""

    effect: Effect
    kind: Kind
    came_us: Micros
    answered_us: Micros
    is_heartbeat: bool

    @property
    def uid(self) -> str:
        return self.effect.uid

    @property
    def is_binding(self) -> bool:
        return not self.effect.rv and self.effect.change == "MODIFIED"

    def as_commit(self) -> Commit:
        change, obj, rv, _ = self.effect
        return Commit(rv, change, self.kind, obj, self.answered_us, told_by=AUDIT_LOG)


def _requests(
    audited: Iterable[Mapping[str, Any]], served: Mapping[tuple[str, str], Kind]
) -> Iterator[Event]:
    """The writes that were carried out."""
    for each in audited:
        event = msgspec.convert(each, Event)
        is_write = event.stage == "ResponseComplete" and event.verb in WRITES and event.code < 400
        if is_write and "dryRun=" not in event.request_uri and _resource(event) in served:
            yield event


def _versions(
    requests: Sequence[Event], served: Mapping[tuple[str, str], Kind]
) -> tuple[list[_Version], list[Event]]:
    """The versions they made, in order, and the requests that do not show theirs.

    The response to a no-op is the existing object.
    """
    found: list[_Version] = []
    unseen: list[Event] = []
    stored: dict[str, dict[str, Any]] = {}
    bindings: dict[str, int] = {}
    """By the uid of a pod, where in `found` its binding is."""
    for event in requests:
        effects = list(effects_of(event, stored))
        if is_blind(event) or not (effects or _has_none(event)):
            unseen.append(event)
        for effect in effects:
            before = stored.get(effect.uid)
            if before is not None and effect.rv and effect.rv <= version_of(before):
                continue
            stored[effect.uid] = stored[object_key(event, effect.object)] = effect.object
            kind = served[_resource(event)]
            is_alive = kind == NODE and is_heartbeat(before, effect.object)
            version = _Version(effect, kind, event.received_us, event.answered_us, is_alive)
            binding = bindings.pop(effect.uid, None)
            if version.is_binding:
                bindings[effect.uid] = len(found)
            elif binding is not None and _shows(effect, found[binding].effect):
                found[binding] = replace(found[binding], effect=effect)
                continue
            found.append(version)
    return found, unseen


def _has_none(event: Event) -> bool:
    """True if a request has no effect on an object that is followed."""
    return event.verb == "deletecollection" or event.reference.subresource == "token"


def _shows(effect: Effect, binding: Effect) -> bool:
    """True if a response is no more than the pod as it was bound, and so tells its version."""
    return effect.change == "MODIFIED" and _unversioned(effect) == _unversioned(binding)


def _unversioned(effect: Effect) -> tuple[Any, ...]:
    obj = effect.object
    metadata = {key: value for key, value in meta(obj).items() if key != "resourceVersion"}
    status = {key: value for key, value in obj.get("status", {}).items() if key != "conditions"}
    return metadata, obj.get("spec"), status


def _is_found_out(commit: Commit) -> bool:
    """True if a list showed that an object is gone: it bears the list's version then."""
    return commit.event == "DELETED" and commit.rv != version_of(commit.object)


def _without_revision(
    versions: Iterable[_Version], unexplained: Iterable[Commit]
) -> dict[tuple[str, int], _Version]:
    """Requests without a resourceVersion in the log, by the commit that a watch reported."""
    found: dict[tuple[str, int], _Version] = {}
    for version in versions:
        if not version.effect.rv:
            own = (e for e in unexplained if _may_be(version, e) and _key(e) not in found)
            for commit in islice(own, 1):
                found[_key(commit)] = version
    return found


def _may_be(version: _Version, commit: Commit) -> bool:
    if uid_of(commit.object) != version.uid:
        return False
    return _is_bound(commit) if version.is_binding else commit.event == "DELETED"


def _are_accounted_for(unexplained: Iterable[Commit], unseen: Iterable[Event]) -> bool:
    """True if the log has a request for every watched commit: then it has all others too.

    It may be that of one API server among several, or omit some user's writes.
    """
    blind = Counter(map(_name_of, unseen))
    others = Counter(
        f"{each.kind.group}/{each.kind.plural}/{namespace_of(each.object)}/{name_of(each.object)}"
        for each in unexplained
        # What is deleted for good in one request passes through its mark.
        if not is_terminating(each.object)
    )
    return others.keys() <= blind.keys() and all(others[name] >= n for name, n in blind.items())


def _placed(
    missing: Sequence[_Version], versions: Sequence[_Version], told: Sequence[Commit]
) -> list[Commit] | None:
    """The watched commits with the missed ones, in order; None if the order is ambiguous."""
    found = [each.as_commit() for each in missing if each.effect.rv]
    anchors = [_Anchor(each, _request_of(each, versions)) for each in (*told, *found)]
    rows = [(anchor.commit.rv, 0, 0, anchor.commit) for anchor in anchors]
    for version in missing:
        if version.effect.rv:
            continue
        before = [anchor for anchor in anchors if anchor.is_before(version)]
        low = max((anchor.commit.rv for anchor in before), default=0)
        high = min((a.commit.rv for a in anchors if a.is_after(version)), default=sys.maxsize)
        last = max((a.commit.rv for a in before if a.is_of(version)), default=0)
        # Its object is the one before it: that must have been the last of its own.
        is_last = last == version_of(version.effect.object)
        rivals = (a.commit for a in anchors if low < a.commit.rv < high)
        if not is_last or low > high or any(_matters(version, each) for each in rivals):
            return None
        rows.append((low, version.came_us, version.answered_us, version.as_commit()))
    rows.sort(key=lambda row: row[:3])
    for one, other in pairwise(rows):
        is_open = one[0] == other[0] and one[2] > other[1]
        if is_open and "DELETED" in (one[3].event, other[3].event):
            return None
    return [commit for *_, commit in rows]


def _matters(version: _Version, commit: Commit) -> bool:
    """True if it must be known which of two was first that were carried out at the same time.

    Where a pod is bound to says something about nodes, and about the pod itself: what that went
    through is in order anyway. What is gone, anybody may have waited for.
    """
    return not version.is_binding or commit.kind == NODE


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A commit whose place is known, by which the place of others may be."""

    commit: Commit
    request: _Version | None

    def is_of(self, version: _Version) -> bool:
        return uid_of(self.commit.object) == version.uid

    def is_before(self, version: _Version) -> bool:
        """True if it was surely committed before."""
        if self.is_of(version):
            return not (version.is_binding and _is_bound(self.commit))
        return self.request is not None and self.request.answered_us <= version.came_us

    def is_after(self, version: _Version) -> bool:
        """True if it was surely committed after."""
        if self.is_of(version):
            return version.is_binding and _is_bound(self.commit)
        return self.request is not None and self.request.came_us >= version.answered_us


def _request_of(commit: Commit, versions: Iterable[_Version]) -> _Version | None:
    """The request of a commit, if the log shows it; marking and removal at once are one request."""
    uid, rv = _key(commit)
    of_it = [each for each in versions if each.uid == uid]
    named = (each for each in of_it if each.effect.rv == rv)
    likely = (each for each in of_it if not each.effect.rv and _may_be(each, commit))
    ended = (each for each in of_it if each.effect.change == "DELETED")
    marked = ended if is_terminating(commit.object) else ()
    return next(chain(named, likely, marked), None)


def _with_beginnings(commits: Iterable[Commit]) -> list[Commit]:
    """A list shows what it has not heard of as new, whatever came before."""
    known: set[str] = set()
    found: list[Commit] = []
    for commit in commits:
        uid = uid_of(commit.object)
        is_gone, is_new = commit.event == "DELETED", uid not in known
        known.add(uid)
        found.append(
            commit if is_gone else replace(commit, event="ADDED" if is_new else "MODIFIED")
        )
    return found


def _key(commit: Commit) -> tuple[str, int]:
    return uid_of(commit.object), version_of(commit.object)


def _is_bound(commit: Commit) -> bool:
    return bool(get_path(commit.object, "spec.nodeName"))


def _resource(event: Event) -> tuple[str, str]:
    found = event.object_ref
    return ("", "") if found is None else (found.api_group, found.resource)


def _name_of(event: Event) -> str:
    found = event.reference
    return f"{found.api_group}/{found.resource}/{found.namespace}/{found.name}"
