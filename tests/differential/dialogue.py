"""Dialogues of scripts: requests to a cluster, each written as one step of a transcript.

A refusal is an answer like any other, so nothing here raises for it. What raises is waiting in
vain: the rest of a script would make no sense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from reference_controller.runtime import http_request
from tests.differential.exchange import (
    TABLE,
    Answer,
    Call,
    Event,
    NodeWish,
    Reviewer,
    Target,
    WatchCall,
)
from tests.differential.predicates import Predicate, gone
from vocabulary.kinds import NAMESPACE, POD, Kind, kind_of
from vocabulary.objects import get_path, name_of
from vocabulary.requests import (
    Create,
    Delete,
    DeleteCollection,
    Get,
    List,
    Patch,
    PatchType,
    PropagationPolicy,
    Request,
    Update,
)

WITHIN_SECONDS: Final = 30.0
SETTLED_SECONDS: Final = 0.3
"""The time for which an awaited state has to be stable before it is written."""

Events = list[Event]
Show = Sequence[str]
"""Dotted paths of the parts of an object that a step is about; empty for all of it."""
Step = dict[str, Any]


class WaitedInVainError(Exception):
    """An awaited state was not reached; the transcript ends there."""


class Dialogue:
    """One script's conversation with one target, in a namespace of its own."""

    def __init__(self, target: Target, namespace: str, draw: int = 0) -> None:
        self.namespace = namespace
        self._draw = draw
        self.transcript: list[Step] = []
        self._target = target
        self._nodes: list[str] = []

    def open(self) -> None:
        """Make the namespace; not part of the transcript."""
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        answer = self._exchange(Create(NAMESPACE, body, "", self.namespace))
        if answer.code != 201:
            raise RuntimeError(f"namespace {self.namespace}: {answer.body.get('message')}")

    def close(self) -> None:
        """Take back what would be in other scripts' way; not part of the transcript."""
        for name in self._nodes:
            self._target.remove_node(name)

    # Requests.

    def create(
        self, obj: Mapping[str, Any], *, dry_run: bool = False, show: Show = (), user: str = "user"
    ) -> Answer:
        kind = self._kind(obj)
        request = Create(kind, obj, self._in(kind), name_of(obj), dry_run=dry_run)
        named = name_of(obj) or obj["metadata"].get("generateName", "")
        return self._ask(request, f"create {kind} {named[:40]}", show, user)

    def create_in_subresource(
        self, kind: Kind, name: str, subresource: str, body: Mapping[str, Any], *, show: Show = ()
    ) -> Answer:
        """POST to a subresource: an Eviction, a Binding."""
        request = Create(kind, body, self._in(kind), name, subresource)
        return self._ask(request, f"create {kind} {name}/{subresource}", show)

    def get(self, kind: Kind, name: str, *, show: Show = ()) -> Answer:
        return self._ask(Get(kind, self._in(kind), name), f"get {kind} {name}", show)

    def list(
        self,
        kind: Kind,
        *,
        labels: str = "",
        fields: str = "",
        limit: int = 0,
        continue_: str = "",
        revision: str = "",
        match: str = "",
        show: Show = (),
    ) -> Answer:
        """`show` applies to each item."""
        request = List(
            kind, self._in(kind), labels, fields, True, limit, continue_, revision, match
        )
        return self._ask(request, f"list {kind} {labels}{fields}".strip(), show)

    def update(
        self,
        obj: Mapping[str, Any],
        *,
        subresource: str = "",
        dry_run: bool = False,
        show: Show = (),
    ) -> Answer:
        kind = self._kind(obj)
        if kind.namespaced:
            obj = {**obj, "metadata": {"namespace": self.namespace, **obj["metadata"]}}
        request = Update(kind, obj, subresource, dry_run=dry_run)
        return self._ask(request, _label("update", kind, name_of(obj), subresource), show)

    def patch(
        self,
        kind: Kind,
        name: str,
        body: Any,
        how: PatchType = "merge",
        *,
        subresource: str = "",
        dry_run: bool = False,
        show: Show = (),
    ) -> Answer:
        request = Patch(kind, self._in(kind), name, body, how, subresource, dry_run=dry_run)
        return self._ask(request, _label(f"patch ({how})", kind, name, subresource), show)

    def delete(
        self,
        kind: Kind,
        name: str,
        policy: PropagationPolicy | None = None,
        *,
        grace_seconds: int | None = None,
        uid: str | None = None,
        revision: str | None = None,
        dry_run: bool = False,
        show: Show = (),
    ) -> Answer:
        request = Delete(kind, self._in(kind), name, grace_seconds, policy, uid, revision, dry_run)
        return self._ask(request, f"delete {kind} {name} {policy or ''}".strip(), show)

    def delete_collection(
        self,
        kind: Kind,
        *,
        labels: str = "",
        policy: PropagationPolicy | None = None,
        grace_seconds: int | None = None,
        show: Show = (),
    ) -> Answer:
        request = DeleteCollection(kind, self._in(kind), labels, "", grace_seconds, policy)
        return self._ask(request, f"delete all {kind} {labels}".strip(), show)

    def evict(self, pod: str, *, options: Mapping[str, Any] | None = None) -> Answer:
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod, "namespace": self.namespace},
        }
        if options is not None:
            body["deleteOptions"] = dict(options)
        return self.create_in_subresource(POD, pod, "eviction", body)

    def table(self, kind: Kind, name: str = "") -> Answer:
        """The output of `kubectl get`: columns and cells."""
        target = kind.path(self._in(kind), name) + "?includeObject=None"
        return self.raw("GET", target, accept=TABLE, label=f"table of {kind} {name}".strip())

    def raw(
        self,
        method: str,
        target: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        accept: str = "application/json",
        label: str = "",
        show: Show = (),
        user: str = "user",
        token: str = "",
        sent: Sequence[tuple[str, str]] = (),
        headers: bool = False,
        flow: bool = False,
    ) -> Answer:
        """A raw HTTP request, for requests that the vocabulary lacks; bytes are sent unchanged.

        `sent` are headers of the request. With `headers`, those of the response that say something
        are written down, and with `flow` those that name its flow."""
        encoded = body if isinstance(body, bytes) else b""
        if body is not None and not isinstance(body, bytes):
            encoded = msgspec.json.encode(body)
        call = Call(method, target, encoded, content_type, accept, user, token, tuple(sent))
        answer = self._target.exchange(call)
        told = {"warnings": list(answer.warnings), "retry after": answer.retry_after}
        written = told if headers else {}
        if flow:
            schema, level = answer.flow
            written |= {"flow schema": schema, "priority level": level}
        self._write(label or f"{method} {target}", answer, show, **written)
        return answer

    # Waiting.

    def until(
        self,
        kind: Kind,
        name: str,
        wanted: Predicate,
        *,
        within: float = WITHIN_SECONDS,
        show: Show = (),
    ) -> Answer:
        """Wait until an object is as wanted, and stands still; write it down as it is then."""
        return self._wait(Get(kind, self._in(kind), name), f"{kind} {name}", wanted, within, show)

    def until_gone(self, kind: Kind, name: str, *, within: float = WITHIN_SECONDS) -> Answer:
        return self.until(kind, name, gone, within=within)

    def until_served(self, path: str) -> None:
        """Wait until a path is served, as that of a new definition is after a moment."""
        found = self._target.until(
            lambda: self._target.exchange(Call("GET", path)).code == 200, WITHIN_SECONDS
        )
        self.note(f"{path} is served", found)

    def until_listed(
        self,
        kind: Kind,
        wanted: Predicate,
        *,
        labels: str = "",
        within: float = WITHIN_SECONDS,
        show: Show = (),
    ) -> Answer:
        """Wait until a list is as wanted, and stands still; `show` applies to each item."""
        request = List(kind, self._in(kind), labels, live=True)
        return self._wait(request, f"list of {kind} {labels}".strip(), wanted, within, show)

    def stays(
        self, kind: Kind, name: str, wanted: Predicate, *, for_seconds: float, show: Show = ()
    ) -> Answer:
        """See that an object is as wanted, all the time for so long."""
        request = Get(kind, self._in(kind), name)
        broken = self._target.until(lambda: not wanted.holds(self._exchange(request)), for_seconds)
        answer = self._exchange(request)
        label = f"{kind} {name} stays so for {for_seconds:g} s: {wanted.text}"
        self._write(label, answer, show, stayed=not broken)
        return answer

    def watch(
        self,
        kind: Kind,
        enough: Predicate,
        *,
        since: str = "",
        labels: str = "",
        name: str = "",
        fields: str = "",
        initial_events: bool | None = None,
        bookmarks: bool = True,
        distinct: bool = False,
        accept: str = "application/json",
        within: float = WITHIN_SECONDS,
        show: Show = (),
    ) -> Events:
        """The events since a revision, until the last one's object is as wanted.

        `distinct` leaves out an event that shows the same as the one before it: how many
        writes led from one state to the next is up to timing.
        """
        selector = ",".join(filter(None, (fields, f"metadata.name={name}" if name else "")))
        call = WatchCall(
            kind, self._in(kind), since, labels, selector, initial_events, accept, bookmarks
        )
        events = self._target.watch(call, enough.holds_for, within)
        label = f"watch {kind} {name or labels} until {enough.text}".replace("  ", " ")
        self.transcript.append(
            {"step": label, "events": events, "show": list(show), "distinct": distinct}
        )
        if not enough.holds_for(events):
            raise WaitedInVainError(label)
        return events

    # The rest.

    def random(self, name: str) -> Random:
        """A generator with a seed of its own, another one in each draw of the script."""
        return Random(f"{name} {self._draw}" if self._draw else name)

    def until_allowed(self, user: str, attributes: Mapping[str, Any]) -> None:
        """Wait until the server has noticed that a user has a right; not in the transcript."""
        group = "authorization.k8s.io"
        review = {
            "apiVersion": f"{group}/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": user, "resourceAttributes": dict(attributes)},
        }
        path = f"/apis/{group}/v1/subjectaccessreviews"

        def allowed() -> bool:
            return bool(self.consult("POST", path, review).body["status"]["allowed"])

        self.until_true(f"{user} has got the right", allowed)

    def until_true(self, what: str, holds: Callable[[], bool]) -> None:
        """Wait for what a script looks at by `consult`; not in the transcript."""
        # What holds at once may be followed by no write that would have it looked at again.
        if not holds() and not self._target.until(holds, WITHIN_SECONDS):
            self.transcript.append({"step": what, "waited": "in vain"})
            raise WaitedInVainError(what)

    def settle(self, for_seconds: float) -> None:
        """Let time pass, so that a controller has done what it had to; not in the transcript."""
        self._target.until(lambda: False, for_seconds)

    def peek(self, kind: Kind, labels: str) -> Sequence[dict[str, Any]]:
        """Objects to choose one from; not in the transcript."""
        return self._exchange(List(kind, self._in(kind), labels, live=True)).items

    def consult(
        self,
        method: str,
        target: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        accept: str = "application/json",
        user: str = "user",
    ) -> Answer:
        """A raw request whose response a script looks into; not in the transcript."""
        encoded = b"" if body is None else msgspec.json.encode(body)
        return self._target.exchange(Call(method, target, encoded, content_type, accept, user))

    def note(self, text: str, value: Any) -> None:
        """Write down what a script found by comparing answers."""
        self.transcript.append({"step": text, "value": value})

    def forget(self) -> None:
        """Have the cluster forget all but the present state."""
        self._target.compact()

    def add_node(
        self,
        name: str,
        *,
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Mapping[str, str]] = (),
        separate: bool = False,
    ) -> None:
        """Let a node join for this script."""
        self._nodes.append(name)
        self._target.add_node(NodeWish(name, labels or {}, taints, separate))

    @contextmanager
    def lost(self, node: str) -> Iterator[None]:
        """A separate node's kubelet is silent for as long as the block runs."""
        self._target.lose_kubelet(node)
        try:
            yield
        finally:
            self._target.regain_kubelet(node)

    @contextmanager
    def webhooks(
        self, kind: str, webhooks: Sequence[Mapping[str, Any]], answer: Reviewer
    ) -> Iterator[Events]:
        """Admission webhooks that one function answers; the requests of their reviews, in order."""
        reviews: Events = []

        def reviewed(request: dict[str, Any]) -> dict[str, Any]:
            reviews.append(request)
            return answer(request)

        configuration = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": f"{self.namespace}-{kind.lower()}"},
            "webhooks": [
                {"admissionReviewVersions": ["v1"], "sideEffects": "None", **webhook}
                for webhook in webhooks
            ],
        }
        self._target.register_webhooks(configuration, reviewed)
        try:
            yield reviews
        finally:
            self._target.withdraw_webhooks(configuration)

    def conversions(self, answer: Reviewer) -> tuple[dict[str, Any], Events]:
        """The `clientConfig` of a conversion webhook that a function answers, and the requests of
        its reviews."""
        reviews: Events = []

        def reviewed(request: dict[str, Any]) -> dict[str, Any]:
            reviews.append(request)
            return answer(request)

        return self._target.serve_conversions(reviewed), reviews

    def _wait(
        self, request: Request, what: str, wanted: Predicate, within: float, show: Show
    ) -> Answer:
        latest = [self._exchange(request)]

        def holds() -> bool:
            latest[0] = self._exchange(request)
            return wanted.holds(latest[0])

        label = f"{what} until {wanted.text}"
        while self._target.until(holds, within):
            before = latest[0]
            self._target.until(lambda: False, SETTLED_SECONDS)
            if holds() and _same(before, latest[0]):
                self._write(label, latest[0], show)
                return latest[0]
        self._write(label, latest[0], show, waited="in vain")
        raise WaitedInVainError(label)

    def _ask(self, request: Request, label: str, show: Show, user: str = "user") -> Answer:
        answer = self._exchange(request, user)
        self._write(
            label + (" (dry run)" if getattr(request, "dry_run", False) else ""), answer, show
        )
        return answer

    def _exchange(self, request: Request, user: str = "user") -> Answer:
        http = http_request.encode(request)
        return self._target.exchange(
            Call(http.method, http.target, http.body, http.content_type, user=user)
        )

    def _write(self, label: str, answer: Answer, show: Show, **more: Any) -> None:
        step = {"step": label, "code": answer.code, "body": answer.body, **more}
        self.transcript.append(step | {"show": list(show)})

    def _kind(self, obj: Mapping[str, Any]) -> Kind:
        kind = kind_of(obj)
        return replace(kind, namespaced=False) if kind.plural in _CLUSTER_SCOPED else kind

    def _in(self, kind: Kind) -> str:
        return self.namespace if kind.namespaced else ""


_CLUSTER_SCOPED: Final = frozenset(
    {"clusterroles", "clusterrolebindings", "validatingwebhookconfigurations"}
)


def _label(verb: str, kind: Kind, name: str, subresource: str) -> str:
    return f"{verb} {kind} {name}" + (f"/{subresource}" if subresource else "")


def _same(one: Answer, other: Answer) -> bool:
    """True if nothing happened in between; a list's own revision moves with every write."""
    if "items" in one.body:
        return bool(one.body["items"] == other.body.get("items"))
    return one.body == other.body


def shown(step: Step) -> Step:
    """A step without what it is not about: refusals are shown whole, lists item by item."""
    rest = {key: value for key, value in step.items() if key not in ("show", "distinct")}
    show = step.get("show") or ()
    if "body" in step:
        rest["body"] = _parts(step["body"], show)
    if "events" in step:
        events: list[Event] = []
        for event in step["events"]:
            one = {"type": event["type"], "object": _parts(event["object"], show)}
            if not (step["distinct"] and events and events[-1] == one):
                events.append(one)
        rest["events"] = events
    return rest


def _parts(body: dict[str, Any], show: Show) -> dict[str, Any]:
    if not show or body.get("kind") == "Status":
        return body
    if "items" in body:
        return {"items": [_parts(item, show) for item in body["items"]]}
    absent = object()
    found = {path: get_path(body, path, absent) for path in show}
    return {path: value for path, value in found.items() if value is not absent}
