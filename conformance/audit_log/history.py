"""An audit log as a history: what it shows in order, and what it does not show in words.

Commits stand in the order of their resourceVersions, all others where their time falls. Only
the operator's kinds, the namespaces in which objects of them were written, and the nodes are taken
over.
The operator is that of the suite of whose kinds its user wrote the status. An object that
was there before the log began is left out: half a life can be judged by no claim.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final, NamedTuple

import msgspec

from conformance import suite as suites
from conformance.audit_log.commits import (
    Effect,
    effects_of,
    is_blind,
    is_partial,
    name_key,
    removes,
    version_of,
)
from conformance.audit_log.events import AuditLogError, Event, Log, Status
from conformance.stored_objects.recorded import recorded
from conformance.suite import ACTORS, AUDIT_LOG, Suite
from vocabulary.clock import Micros
from vocabulary.errors import kept_message
from vocabulary.history import (
    RECORDED,
    Capabilities,
    Entry,
    Header,
    Mark,
    OperatorFacts,
    OperatorUnderTest,
    WorldFacts,
    Write,
    role_of,
)
from vocabulary.kinds import kind_of, known_kinds
from vocabulary.objects import meta, owner_references, uid_of

NOT_FOLLOWED: Final = frozenset(
    {
        "bindings",
        "endpoints",
        "endpointslices.discovery.k8s.io",
        "events",
        "events.events.k8s.io",
        "leases.coordination.k8s.io",
        "secrets",
        "serviceaccounts",
    }
)
"""No claim concerns them, and logs without secrets can be shared."""
_CONTROLLERS: Final = {
    "generic-garbage-collector": "garbage-collector",
    "node-controller": "node-lifecycle",
    "taint-eviction-controller": "taint-manager",
    "pod-garbage-collector": "pod-gc",
}
_CONTROLLER_PREFIX: Final = "system:serviceaccount:kube-system:"
_NODE_PREFIX: Final = "system:node:"
_OWN_VERSION: Final = re.compile(r"kube-(?:controller-manager|scheduler)/(v[0-9.]+)")
_MAX_NAMED: Final = 5


class Recorded(NamedTuple):
    """A log as a history."""

    header: Header
    entries: tuple[Entry, ...]
    gaps: tuple[str, ...]
    """Gaps of the log during these lives, as sentences. With gaps nothing counts as violated:
    a state that seems to last may have been left in a version that is missing."""
    remarks: tuple[str, ...]
    """Other remarks for readers."""
    unseen: tuple[str, ...]
    """The resources whose objects the log lacks."""


def to_history(
    log: Log,
    name: str,
    *,
    operator_user: str,
    configured: Callable[[Suite], Mapping[str, Any]] = lambda _suite: {},
    detection_latency_us: Micros | None = None,
) -> Recorded:
    """The history of a log called `name`; AuditLogError if it cannot be judged at all.

    `configured` returns the configuration of an operator of that suite.
    """
    suite = _suite_of(log.events, name, operator_user)
    resources = _resources_of(suite)
    namespaces = {event.reference.namespace for event in log.events if event.resource in resources}
    followed = [event for event in log.events if _is_followed(event, namespaces, resources)]
    events = in_order(followed)
    conversion = _Conversion(
        suite.name, operator_user, events[0].received_us, resources, _kinds(log.events)
    )
    for event in events:
        conversion.take(event)
    unwritten = _unwritten(log.events, suite)
    gaps = [
        *conversion.gaps(),
        *_silent_kubelets(events),
        *(f"No write of {each} is in the log." for each in unwritten if each != "pods"),
    ]
    people = {e.user.username: e.user for e in events if not e.user.username.startswith("system:")}
    users = {
        actor_of_person(who): {"username": user.username, **({"uid": user.uid} if user.uid else {})}
        for who, user in sorted(people.items())
    }
    operator = OperatorUnderTest(
        suite=suite.name,
        implementation=operator_user,
        parameters=dict(configured(suite)),
        facts=OperatorFacts(detection_latency_us=detection_latency_us),
    )
    header = Header(
        scenario=f"{AUDIT_LOG}/{name}",
        seed=0,
        cluster=RECORDED,
        clock="wall",
        began_us=events[0].received_us,
        kubernetes_version=_kubernetes_version(log.events),
        capabilities=Capabilities(versions=not gaps),
        operators={suite.name: operator},
        facts=WorldFacts(users=users),
    )
    unseen = sorted({*unwritten, *conversion.unseen})
    remarks = tuple(conversion.remarks())
    return Recorded(header, conversion.entries(), tuple(gaps), remarks, tuple(unseen))


def _resources_of(suite: Suite) -> frozenset[str]:
    """As audit logs name the kinds that the suite's operators reconcile."""
    return frozenset(f"{use.kind.plural}.{use.kind.group}".rstrip(".") for use in suite.kinds)


def _suite_of(events: Sequence[Event], name: str, operator_user: str) -> Suite:
    """The suite of the operator that the log is of; AuditLogError if it cannot be judged."""
    by_resource = {
        resource: suite for suite in suites.load().values() for resource in _resources_of(suite)
    }
    about = [event for event in events if event.resource in by_resource]
    if not about:
        raise AuditLogError(
            f"{name}: no write of {' or '.join(sorted(by_resource))} is in it; is it the log of "
            "the cluster's API server, and does its policy record them?"
        )
    of_status = [event for event in about if event.reference.subresource]
    for event in of_status:
        if event.user.username == operator_user:
            return by_resource[event.resource]
    writers = Counter(event.user.username for event in of_status)
    found = ", ".join(f"{who} ({count} writes)" for who, count in writers.most_common(5))
    what = " and ".join(sorted({event.resource for event in about}))
    given = f"{operator_user!r} wrote no status of {what}" if operator_user else "missing"
    raise AuditLogError(
        f"--operator-user: {given}; in {name} it was written by {found or 'nobody'}"
    )


def actor_of_person(username: str) -> str:
    """The user as histories name it: apart from operators and from actors that Assay names."""
    taken = ACTORS.union(suites.names(), _CONTROLLERS.values())
    return f"user:{username}" if role_of(username) in taken else username


def _is_followed(event: Event, namespaces: set[str], resources: Container[str]) -> bool:
    if event.resource == "nodes" or event.resource in resources:
        return True
    if event.resource == "namespaces":
        return event.reference.name in namespaces
    is_near = event.reference.namespace and event.reference.namespace in namespaces
    return bool(is_near) and event.resource not in NOT_FOLLOWED


def in_order(events: Sequence[Event]) -> list[Event]:
    """By resourceVersion; what has none where its time falls, and after what it removes."""
    versions = [_version(event) for event in events]
    commits = sorted((rv, index) for index, rv in enumerate(versions) if rv)
    times = list(accumulate((events[index].received_us for _, index in commits), max))
    place = {index: position for position, (_, index) in enumerate(commits)}
    last: dict[str, int] = {}
    for position, (_, index) in enumerate(commits):
        last[uid_of(events[index].response_object or {})] = position

    def key(index: int) -> tuple[int, int, int]:
        if index in place:
            return place[index], 0, index
        event = events[index]
        response = event.response_object or {}
        # Not of an answer that names no object: a list, of what a collection's deletion removed.
        uid = str((response.get("details") or {}).get("uid", ""))
        if removes(event):
            uid = uid_of(response)
        after = last.get(uid, -1) if uid else -1
        return max(after, bisect_right(times, event.received_us) - 1), 1, index

    return [events[index] for index in sorted(range(len(events)), key=key)]


def _version(event: Event) -> int:
    """The version that a request stored; 0 if its response does not have it."""
    if event.code >= 400 or event.reference.subresource in ("binding", "eviction"):
        return 0
    return 0 if removes(event) else version_of(event.response_object or {})


class _Conversion:
    """Takes the events in order, and remembers what is stored."""

    def __init__(
        self,
        role: str,
        operator_user: str,
        began_us: Micros,
        resources: Container[str],
        kinds: Mapping[str, str],
    ) -> None:
        self._role = role
        self._operator_user = operator_user
        self._began_us = began_us
        self._resources = resources
        self._kinds = kinds
        self._writes: list[Write] = []
        self._now_us = 0
        self._stored: dict[str, dict[str, Any]] = {}
        """The last version by uid and by `name_key`."""
        self._complete: set[str] = set()
        """Uids of the objects whose creation is in the log."""
        self._left_out: Counter[str] = Counter()
        self._blind: Counter[str] = Counter()
        self._missed: set[str] = set()
        self.unseen: set[str] = set()
        """The resources of which a write does not show what it changed."""

    def take(self, event: Event) -> None:
        self._now_us = max(self._now_us, event.received_us - self._began_us)
        if is_blind(event):
            self._blind[f"{event.resource} ({event.level})"] += 1
            self.unseen.add(event.resource)
        if event.resource in self._resources:
            self._look_for_gap(event)
        effects = list(effects_of(event, self._stored))
        for effect in effects:
            self._commit(event, effect)
        if not effects:
            self._writes.append(self._write(event))

    def entries(self) -> tuple[Entry, ...]:
        """The entries, and an end."""
        found: list[Entry] = [
            msgspec.structs.replace(write, n=n)
            for n, write in enumerate(write for write in self._writes if self._is_told(write))
        ]
        end = Mark(n=len(found), t=self._now_us, mark="end", text="The log ends here.")
        return (*found, end)

    def gaps(self) -> Iterator[str]:
        """Why versions of objects may be missing."""
        for what, count in sorted(self._blind.items()):
            yield f"{count} writes of {what} do not show what they changed."
        if self._missed:
            yield (
                f"Versions of {_some(self._missed)} are missing; with several API servers, "
                "give the log of each."
            )

    def remarks(self) -> Iterator[str]:
        """Remarks for readers that affect no claim."""
        for kind, count in sorted(self._left_out.items()):
            yield f"{count} {kind} were there before the log began; they were left out."
        yield (
            "An audit log does not show when the operator was down: lateness is taken for its own."
        )

    def _commit(self, event: Event, effect: Effect) -> None:
        known = self._stored.get(effect.uid)
        if known is not None and effect.rv and effect.rv <= version_of(known):
            self._writes.append(self._write(event))
            return
        if effect.change == "ADDED":
            self._complete.add(effect.uid)
        elif effect.uid not in self._complete and known is None and not _is_node(event):
            self._left_out[self._kinds.get(event.resource, event.resource)] += 1
        self._stored[effect.uid] = effect.object
        key = object_key(event, effect.object)
        if effect.change == "DELETED":
            self._stored.pop(key, None)
        else:
            self._stored[key] = effect.object
        if _is_node(event) and known is not None and _lasting(known) == _lasting(effect.object):
            return  # a kubelet said that its node is alive
        self._writes.append(self._write(event, effect))

    def _look_for_gap(self, event: Event) -> None:
        """An update that names a version which the log does not have was based on a lost one."""
        based_on = version_of(event.request_object or {})
        known = self._stored.get(name_key(event))
        is_update = event.verb == "update" and event.code < 400
        if is_update and based_on and known is not None and based_on != version_of(known):
            self._missed.add(name_key(event))

    def _is_told(self, write: Write) -> bool:
        """True if its object was there from its creation on, or it is about none."""
        return not write.event or write.uid in self._complete or write.kind == "Node"

    def _write(self, event: Event, effect: Effect | None = None) -> Write:
        reference = event.reference
        obj = None if effect is None else effect.object
        refused = Status() if event.code < 400 else event.response_status or Status()
        return Write(
            n=0,
            t=self._now_us,
            actor=self._actor(event.user.username),
            verb=event.verb,
            kind=self._kinds.get(event.resource, event.resource),
            namespace=reference.namespace,
            name=str(meta(obj or event.request_object or {}).get("name", "")) or reference.name,
            subresource=reference.subresource,
            options=_delete_options(event),
            code=event.code,
            reason=refused.reason,
            message=kept_message(refused.reason, refused.message),
            event="" if effect is None else effect.change,
            rv=0 if effect is None else effect.rv,
            uid=uid_of(event.response_object or {}) if effect is None else effect.uid,
            object=obj,
            submitted=self._submitted(event),
        )

    def _submitted(self, event: Event) -> dict[str, Any] | None:
        """A user's requested object, before admission."""
        is_whole = event.verb in ("create", "update") and not event.reference.subresource
        is_person = not event.user.username.startswith("system:")
        if not is_whole or not is_person or event.request_object is None:
            return None
        return recorded(event.request_object)

    def _actor(self, username: str) -> str:
        """As histories name those who write; people by the names that they have."""
        if username == self._operator_user:
            return self._role
        if username.startswith(_NODE_PREFIX):
            return f"kubelet/{username.removeprefix(_NODE_PREFIX)}"
        if username == "system:kube-scheduler":
            return "scheduler"
        if not username.startswith("system:"):
            return actor_of_person(username)
        bare = username.removeprefix(_CONTROLLER_PREFIX)
        return _CONTROLLERS.get(bare, bare)


def _silent_kubelets(events: Iterable[Event]) -> Iterator[str]:
    """Where pods were bound and nothing came of any, what kubelets write was not recorded."""
    pods = [event for event in events if event.resource == "pods"]
    is_bound = any(event.reference.subresource == "binding" for event in pods)
    if not pods:
        yield "No write of a pod is in the log."
    elif is_bound and not any(event.reference.subresource == "status" for event in pods):
        yield "What kubelets write of pods is not in the log."


def _unwritten(events: Sequence[Event], suite: Suite) -> list[str]:
    """The resources of pods, and of the owners of the operators' objects, that are not written
    in the log."""
    resources = _resources_of(suite)
    by_kind = {(k.api_version, k.kind): f"{k.plural}.{k.group}".rstrip(".") for k in known_kinds()}
    owners = {
        by_kind.get((each["apiVersion"], each["kind"]), "")
        for event in events
        if event.resource in resources
        for each in owner_references(event.response_object or {})
    }
    return sorted({"pods", *filter(None, owners)} - {event.resource for event in events})


def _kinds(events: Iterable[Event]) -> dict[str, str]:
    """The kind (`Job.batch`) of each resource (`jobs.batch`), from the objects themselves."""
    found = {f"{k.plural}.{k.group}".rstrip("."): str(k) for k in known_kinds()}
    for event in events:
        obj = event.response_object or {}
        if is_partial(obj) or event.reference.subresource:
            continue
        if uid_of(obj) and obj.get("kind"):
            found[event.resource] = str(kind_of(obj))
    return found


def object_key(event: Event, obj: Mapping[str, Any]) -> str:
    """As `name_key`, also where the server has made up the name."""
    name = str(meta(obj).get("name", "")) or event.reference.name
    return f"{event.resource}/{event.reference.namespace}/{name}"


def _is_node(event: Event) -> bool:
    return event.resource == "nodes"


def _lasting(node: Mapping[str, Any]) -> tuple[Any, ...]:
    """A node without the times of its heartbeats."""
    status = node.get("status") or {}
    conditions = [(c.get("type"), c.get("status")) for c in status.get("conditions") or ()]
    found = meta(node)
    marks = (found.get("labels"), found.get("annotations"), found.get("deletionTimestamp"))
    return node.get("spec"), conditions, status.get("allocatable"), *marks


def _delete_options(event: Event) -> dict[str, Any]:
    if event.verb not in ("delete", "deletecollection"):
        return {}
    body = event.request_object or {}
    wanted = ("gracePeriodSeconds", "propagationPolicy", "preconditions")
    return {key: body[key] for key in wanted if body.get(key) is not None}


def _kubernetes_version(events: Iterable[Event]) -> str:
    """As the cluster's own components name themselves; empty if none did."""
    for event in events:
        if found := _OWN_VERSION.match(event.user_agent):
            return found[1]
    return ""


def _some(names: Iterable[str]) -> str:
    found = sorted(names)
    more = len(found) - _MAX_NAMED
    return ", ".join(found[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
