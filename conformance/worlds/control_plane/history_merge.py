"""Merge watches and audit log into one history: every commit in order, with its writer.

Commits are in the order of their resourceVersions: all kinds of one etcd share one
counter. Entries that changed nothing (rejections, no-ops, faults, process changes) have no place
in that order, so they are placed by their time between commits.

A write's time is the arrival of its request. A reaction to a write comes after that time, and a
client that waits for a time sends its request after it. So a timely write never seems late, nor
early.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from conformance.worlds.control_plane.recorder import Commit
from vocabulary.clock import Micros, parse_rfc3339
from vocabulary.errors import kept_message
from vocabulary.history import SUBMITTERS, Entry, Mark, Write
from vocabulary.kinds import Kind
from vocabulary.objects import (
    Object,
    finalizers_of,
    get_path,
    is_terminating,
    name_of,
    namespace_of,
    uid_of,
)

_SERVICE_ACCOUNT: Final = "system:serviceaccount:kube-system:"
_ACTORS: Final = {
    "assay-user": "user",
    "jane@example.org": "federated-user",
    "assay-chaos": "chaos",
    "assay-harness": "harness",
    "assay-admin": "harness",
    "system:kube-scheduler": "scheduler",
    "generic-garbage-collector": "garbage-collector",
    "node-controller": "node-lifecycle",
    "taint-eviction-controller": "taint-manager",
    "pod-garbage-collector": "pod-gc",
    "kwok": "kubelet",
}


_AGENTS: Final = {
    "assay-user": "user",
    "assay-chaos": "chaos",
    "assay-harness": "harness",
    "assay-clean": "harness",
}
"""Where all of them are one API user, their clients say who they are."""
_KUBELET: Final = "system:node:"
_POLICIES: Final = frozenset({"foregroundDeletion", "orphan"})


def actor_of(username: str, operators: dict[str, str]) -> str:
    """The actor that an API user is; controllers go by their own names."""
    bare = username.removeprefix(_SERVICE_ACCOUNT)
    if bare.startswith(_KUBELET):
        return "kubelet"
    return operators.get(bare) or _ACTORS.get(bare) or bare


class Merge:
    """Collects what is known of one run and puts it in order."""

    def __init__(self, began_us: Micros, operators: dict[str, str], kinds: Iterable[Kind]) -> None:
        """`operators` maps API users to actor names; `kinds` are those that are watched."""
        self._began_us = began_us
        self._operators = operators
        self._kinds = {(kind.group, kind.plural): kind for kind in kinds}

    def entries(
        self,
        commits: Sequence[Commit],
        audited: Sequence[dict[str, Any]],
        others: Iterable[tuple[Micros, Entry]],
    ) -> tuple[Entry, ...]:
        """The history's entries; `others` are faults, processes and marks with their times."""
        requests = [event for event in audited if _is_write(event) and self._is_followed(event)]
        written = _Matcher(requests)
        placed: list[tuple[Micros, Entry]] = []
        passed: dict[int, int] = {}
        """Requests whose object is on its way to its end, each with the place of that commit."""
        superseded: set[int] = set()
        last_us = self._began_us
        latest: dict[str, Object] = {}
        for commit in commits:
            uid = uid_of(commit.object)
            index, is_its_end = written.take(commit, latest.get(uid))
            latest[uid] = commit.object
            event = None if index is None else requests[index]
            if index is not None and not is_its_end:
                passed[index] = len(placed)
            elif index in passed:
                superseded.add(passed[index])
            at_us = commit.seen_us if event is None else min(_time_of(event), commit.seen_us)
            last_us = max(last_us, at_us)
            placed.append((last_us, self._committed(commit, event)))
        # One request, one entry: its end. What its object passed through was no other write.
        placed = [pair for number, pair in enumerate(placed) if number not in superseded]
        rest = [
            *((_time_of(event), self._without_effect(event)) for event in written.unmatched()),
            *others,
        ]
        rest.sort(key=lambda pair: pair[0])
        ordered: list[Entry] = []
        waiting = deque(rest)
        for at_us, entry in placed:
            while waiting and waiting[0][0] < at_us:
                ordered.append(self._at(len(ordered), *waiting.popleft()))
            ordered.append(self._at(len(ordered), at_us, entry))
        for at_us, entry in waiting:
            ordered.append(self._at(len(ordered), max(at_us, last_us), entry))
        return _until_end(ordered)

    def _is_followed(self, event: dict[str, Any]) -> bool:
        """Endpoints and the like change with every pod, and no claim speaks of them."""
        return _group_and_plural(event) in self._kinds

    def _at(self, n: int, at_us: Micros, entry: Entry) -> Entry:
        return msgspec.structs.replace(entry, n=n, t=max(0, at_us - self._began_us))

    def _committed(self, commit: Commit, event: dict[str, Any] | None) -> Write:
        """A commit, with the request that made it where the audit log shows that."""
        named = {} if event is None else {**self._request(event), **self._submitted(event)}
        return msgspec.structs.replace(commit.as_write(), **named)

    def _submitted(self, event: dict[str, Any]) -> dict[str, Any]:
        """The object of a user's request; the audit log has it as it was before admission."""
        is_whole = event["verb"] in ("create", "update")
        if not is_whole or event["objectRef"].get("subresource"):
            return {}
        if self._actor(event) not in SUBMITTERS:
            return {}
        return {"submitted": event.get("requestObject")}

    def _without_effect(self, event: dict[str, Any]) -> Write:
        """A request that failed, changed nothing, or whose commit no watch has shown."""
        reference = event["objectRef"]
        kind = self._kinds[_group_and_plural(event)]
        status = event.get("responseStatus") or {}
        reason = status.get("reason", "") if status.get("code", 200) >= 400 else ""
        return Write(
            n=0,
            t=0,
            kind=str(kind),
            namespace=reference.get("namespace", ""),
            name=reference.get("name", "") or name_of(event.get("requestObject") or {}),
            reason=reason,
            message=kept_message(reason, status.get("message", "")),
            uid=uid_of(event.get("responseObject") or {}),
            **self._submitted(event),
            **self._request(event),
        )

    def _actor(self, event: dict[str, Any]) -> str:
        agent = _AGENTS.get(str(event.get("userAgent", "")))
        return agent or actor_of(event["user"]["username"], self._operators)

    def _request(self, event: dict[str, Any]) -> dict[str, Any]:
        return {
            "actor": self._actor(event),
            "verb": event["verb"],
            "subresource": event["objectRef"].get("subresource", ""),
            "options": _delete_options(event),
            "code": (event.get("responseStatus") or {}).get("code", 200),
        }


def _until_end(entries: list[Entry]) -> tuple[Entry, ...]:
    """Drop entries after the run's end mark, which belong to the cleanup."""
    for entry in entries:
        if isinstance(entry, Mark) and entry.mark == "end":
            return tuple(entries[: entry.n + 1])
    return tuple(entries)


class _Matcher:
    """Finds the audit event of a commit, each event at most once."""

    def __init__(self, events: Sequence[dict[str, Any]]) -> None:
        self._events = events
        self._taken: set[int] = set()
        self._by_rv: dict[str, list[int]] = defaultdict(list)
        self._deletes: dict[str, deque[int]] = defaultdict(deque)
        self._bindings: dict[str, deque[int]] = defaultdict(deque)
        self._evictions: dict[str, deque[int]] = defaultdict(deque)
        for index, event in enumerate(events):
            if (event.get("responseStatus") or {}).get("code", 200) >= 400:
                continue
            response = event.get("responseObject") or {}
            rv = (response.get("metadata") or {}).get("resourceVersion")
            if rv:
                self._by_rv[f"{_resource(event)}/{rv}"].append(index)
            if event["objectRef"].get("subresource") == "binding":
                self._bindings[_named(event)].append(index)
            if event["objectRef"].get("subresource") == "eviction":
                self._evictions[_named(event)].append(index)
            if event["verb"] in ("delete", "patch", "update"):
                self._deletes[_uid(event) or _named(event)].append(index)

    def take(self, commit: Commit, before: Object | None = None) -> tuple[int | None, bool]:
        """The position of the commit's request; False if that will make another commit yet.

        `before` is the object as it was until then.
        """
        resource = f"{commit.kind.group}/{commit.kind.plural}"
        index = None
        if _is_binding(commit, before):
            # Its answer is a bare Status. Whoever changes nothing a moment later is answered with
            # the version that it made.
            index = self._latest(self._bindings[_key(commit, resource)], commit)
        if index is None:
            index = self._answered_with(f"{resource}/{commit.rv}", commit.object, before)
        if index is None and commit.event == "DELETED" and _was_held(commit):
            index = self._release(commit, resource)
        elif index is None and commit.event == "DELETED":
            index = self._deletion(commit, resource)
        elif index is None and commit.event == "MODIFIED":
            key = _key(commit, resource)
            evicted = self._latest(self._evictions[key], commit)
            if not is_terminating(commit.object):
                index = self._latest(self._bindings[key], commit)
                if index is None and evicted is not None:
                    return evicted, False  # its condition says so first, then it is deleted
            elif evicted is not None:
                index = evicted
            else:
                # A pod that has ended passes through this state in the very same request
                # that removes it, which `DELETED` will ask for next: it is not used up.
                return self._deletion(commit, resource), False
        if index is None or index in self._taken:
            return None, True
        self._taken.add(index)
        return index, True

    def _answered_with(self, version: str, after: Object, before: Object | None) -> int | None:
        """The request that made a version. Requests that changed nothing, because they came a
        moment later, were answered with the same: only the status is changed through `status`."""
        answered = self._by_rv.get(version, ())
        uid = uid_of(after)
        # A deletion that a list found out bears the list's version, perhaps another object's.
        answered = [index for index in answered if _uid(self._events[index]) in ("", uid)]
        if len(answered) > 1 and before is not None:
            is_status = after.get("status") != before.get("status")
            fitting = [
                index
                for index in answered
                if (self._events[index]["objectRef"].get("subresource") == "status") is is_status
            ]
            answered = fitting or answered
        return answered[0] if answered else None

    def unmatched(self) -> list[dict[str, Any]]:
        return [event for index, event in enumerate(self._events) if index not in self._taken]

    def _deletion(self, commit: Commit, resource: str) -> int | None:
        """The last request about that object which is not accounted for otherwise.

        A response to a deletion carries no new resourceVersion: it is found by uid, or by
        name where the response is a bare Status.
        """
        candidates = self._about(commit, resource)
        deletes = [index for index in candidates if self._events[index]["verb"] == "delete"]
        found = self._latest(deletes, commit)
        return self._latest(candidates, commit) if found is None else found

    def _release(self, commit: Commit, resource: str) -> int | None:
        """The last patch or update of an object that a finalizer held: no deletion removes it."""
        about = self._about(commit, resource)
        return self._latest((n for n in about if self._events[n]["verb"] != "delete"), commit)

    def _about(self, commit: Commit, resource: str) -> list[int]:
        """The requests that may have removed an object, by its uid or by its name."""
        return [*self._deletes[uid_of(commit.object)], *self._deletes[_key(commit, resource)]]

    def _latest(self, candidates: Iterable[int], commit: Commit) -> int | None:
        """The last request that is not accounted for and was made before the commit was seen."""
        return max(
            (
                index
                for index in candidates
                if index not in self._taken and _time_of(self._events[index]) <= commit.seen_us
            ),
            default=None,
        )


def _is_binding(commit: Commit, before: Object | None) -> bool:
    """True if a pod was given its node: of one that exists, only a binding can do that."""
    had, has = (get_path(pod, "spec.nodeName") for pod in (before, commit.object))
    return before is not None and commit.event == "MODIFIED" and not had and bool(has)


def _was_held(commit: Commit) -> bool:
    """True if the last state of an object has a finalizer that a deletion does not take off.

    The server removes an object instead of storing it without its last finalizer. The other two are
    the propagation policies of deletions, and another deletion may have another policy.
    """
    return not _POLICIES.issuperset(finalizers_of(commit.object))


def _key(commit: Commit, resource: str) -> str:
    return f"{resource}/{namespace_of(commit.object)}/{name_of(commit.object)}"


def _is_write(event: dict[str, Any]) -> bool:
    reference = event.get("objectRef") or {}
    return (
        event["stage"] == "ResponseComplete"
        and bool(reference.get("resource"))
        and event["verb"] in ("create", "update", "patch", "delete", "deletecollection")
    )


def _group_and_plural(event: dict[str, Any]) -> tuple[str, str]:
    reference = event["objectRef"]
    return reference.get("apiGroup", ""), reference["resource"]


def _resource(event: dict[str, Any]) -> str:
    reference = event["objectRef"]
    return f"{reference.get('apiGroup', '')}/{reference['resource']}"


def _named(event: dict[str, Any]) -> str:
    reference = event["objectRef"]
    return f"{_resource(event)}/{reference.get('namespace', '')}/{reference.get('name', '')}"


def _uid(event: dict[str, Any]) -> str:
    response = event.get("responseObject") or {}
    details = response.get("details") or {}
    return str(details.get("uid", "")) or uid_of(response)


def _time_of(event: dict[str, Any]) -> Micros:
    """When the request came in: the earliest that it can have been carried out.

    Its answer comes later than a watch may show what it did. An operator that counts from
    what it was shown would seem to be early, if its time were counted from there.
    """
    return parse_rfc3339(event["requestReceivedTimestamp"])


def _delete_options(event: dict[str, Any]) -> dict[str, Any]:
    if event["verb"] not in ("delete", "deletecollection"):
        return {}
    body = event.get("requestObject") or {}
    wanted = ("gracePeriodSeconds", "propagationPolicy", "preconditions")
    return {key: body[key] for key in wanted if body.get(key) is not None}
