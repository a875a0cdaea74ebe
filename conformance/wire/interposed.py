"""Between an operator and the API server: a mistake is made in each write of its target, always, or
the mistakes are noted that each write could have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from clusters.simulated.api_server import ApiServer, Interposed, Send
from clusters.simulated.asked_for import asked_for
from clusters.simulated.reading import in_version
from clusters.simulated.store import Key
from conformance.history.normal_form import OF_PROCESSES
from conformance.wire.paths import Path, changed, merge_patch, with_change
from conformance.wire.rules import (
    CHANGES,
    LEFT_OUT,
    OPTION_LEFT_OUT,
    OTHER_PROPAGATION,
    RENAMED,
    SENT_TWICE,
    TO_NAMESAKE,
    TOO_LATE,
    Mistake,
    rules_at,
)
from vocabulary.errors import ApiError
from vocabulary.history import Process
from vocabulary.kinds import NAMESPACE
from vocabulary.objects import Object, meta, name_of
from vocabulary.requests import Create, Delete, DeleteCollection, Patch, Update, Write, verb_of

_NOT_STORED: Final = ("token",)
_OF_CLUSTER: Final = "kube-"
_NEXT_POLICY: Final = {"Orphan": "Background", "Foreground": "Background"}
_OPTIONS: Final = {
    "gracePeriodSeconds": ("grace_period_seconds",),
    "preconditions": ("uid", "resource_version"),
    "propagationPolicy": ("propagation_policy",),
}
_ENDS: Final = ("killed", "stopped", "ended")


def target_of(request: Write) -> str:
    """`create:Job.batch`, `patch:JobSet.jobset.x-k8s.io/status`; empty for what says nothing of
    the workload: Leases, Events, tokens and dry runs."""
    subresource = getattr(request, "subresource", "")
    kind = request.kind.group_kind
    if kind in OF_PROCESSES or subresource in _NOT_STORED or getattr(request, "dry_run", False):
        return ""
    return f"{verb_of(request)}:{kind}{subresource and '/'}{subresource}"


class Noted:
    """Notes the mistakes that the writes of an operator could have."""

    def __init__(self) -> None:
        self.mistakes: set[Mistake] = set()

    def before(self, api: ApiServer, actor: str) -> Interposed:  # noqa: ARG002  # all alike
        def between(request: Write, send: Send, _rehearse: Send) -> Any:
            self.mistakes.update(possible(api, request))
            return send(request)

        return between


def possible(api: ApiServer, request: Write) -> Iterator[Mistake]:
    """The mistakes that a write can have, as the cluster is now."""
    target = target_of(request)
    if not target:
        return
    yield Mistake(LEFT_OUT, target)
    yield Mistake(TOO_LATE, target)
    if isinstance(request, Create) and not request.subresource:
        yield Mistake(SENT_TWICE, target)
        yield Mistake(RENAMED, target)
    if isinstance(request, Delete | DeleteCollection):
        yield Mistake(OTHER_PROPAGATION, target)
        yield from (Mistake(OPTION_LEFT_OUT, target, (each,)) for each in _options(request))
    if _to_namesake(api, request) is not request:
        yield Mistake(TO_NAMESAKE, target)
    for path, asked, stored in changed(*_both(api, request)):
        if _is_written(api, request, path):
            for rule in rules_at(path, asked, stored):
                yield Mistake(rule, target, path)


class Mistaken:
    """Makes one mistake in every write of its target."""

    def __init__(self, mistake: Mistake) -> None:
        self.mistake = mistake
        self.times = 0
        """How often it was made, in all runs."""

    def __str__(self) -> str:
        return str(self.mistake)

    def before(self, api: ApiServer, actor: str) -> Interposed:
        mistake = self.mistake
        held: list[Callable[[], Any]] = []

        def between(request: Write, send: Send, rehearse: Send) -> Any:
            target = target_of(request)
            if held and target:
                try:
                    return send(request)
                finally:
                    held.pop()()
            if target != mistake.target:
                return send(request)
            match mistake.rule:
                case "left-out":
                    self.times += 1
                    return rehearse(request)
                case "too-late":
                    self.times += 1
                    held.append(_later(api, actor, request, send))
                    return rehearse(request)
                case "sent-twice":
                    self.times += 1
                    answer = send(request)
                    _despite_refusal(send, _renamed(request))
                    return answer
            wrong = self._wrong(api, request)
            self.times += wrong is not request
            return send(wrong)

        return between

    def _wrong(self, api: ApiServer, request: Write) -> Write:
        """The write that is sent in its place; the same if the mistake changes nothing of it."""
        rule, path = self.mistake.rule, self.mistake.path
        if rule == TO_NAMESAKE:
            return _to_namesake(api, request)
        if rule == RENAMED:
            return _renamed(request)
        if rule == OTHER_PROPAGATION:
            policy = getattr(request, "propagation_policy", None)
            return msgspec.structs.replace(
                request, propagation_policy=_NEXT_POLICY.get(policy or "", "Orphan")
            )
        if rule == OPTION_LEFT_OUT:
            fields = _options(request).get(path[0], ())
            return msgspec.structs.replace(request, **dict.fromkeys(fields)) if fields else request
        asked, stored = _both(api, request)

        def change(value: Any, before: Any) -> Any:
            return CHANGES[rule](value, before) if rule in rules_at(path, value, before) else value

        wrong = with_change(asked, stored, path, change)
        if wrong is asked:
            return request
        if isinstance(request, Create | Update):
            return msgspec.structs.replace(request, object=wrong)
        assert isinstance(request, Patch)
        if request.patch_type == "apply":
            return msgspec.structs.replace(request, body=wrong)
        # The same effect by a merge patch: what a strategic or JSON patch means depends on what
        # stands there.
        body = merge_patch(stored, wrong)
        if given := isinstance(request.body, dict) and meta(request.body).get("resourceVersion"):
            body.setdefault("metadata", {})["resourceVersion"] = given
        return msgspec.structs.replace(request, body=body, patch_type="merge")


def _options(request: Write) -> dict[str, tuple[str, ...]]:
    """By the API's names, the options that a deletion names, each with its fields here."""
    return {
        option: given
        for option, fields in _OPTIONS.items()
        if (given := tuple(each for each in fields if getattr(request, each, None) is not None))
    }


def _both(api: ApiServer, request: Write) -> tuple[Object, Object]:
    """The object that a write asks for, and the stored one; two equal ones if there are none.

    Each apply says all that its manager wants, and changes it from nothing.
    """
    if isinstance(request, Create) and not request.subresource:
        return request.object, {}
    if not isinstance(request, Update | Patch) or request.subresource not in ("", "status"):
        return {}, {}
    if isinstance(request, Patch) and request.patch_type == "apply":
        return request.body, {}
    strategy = api.strategies.get(request.kind.group_kind)
    old = api.store.get(Key(request.kind.group_kind, request.namespace, request.name))
    if strategy is None or old is None:
        return {}, {}
    try:
        return asked_for(request, old, strategy), in_version(old, request.kind, strategy)
    except ApiError:  # a patch that does not apply: the server says so
        return {}, {}


def _is_written(api: ApiServer, request: Write, path: Path) -> bool:
    """True if the (sub)resource of a write has the field."""
    if getattr(request, "subresource", "") == "status":
        return path[0] == "status"
    strategy = api.strategies.get(request.kind.group_kind)
    has_status = strategy is not None and "status" in strategy.subresources_in(request.kind.version)
    return path[0] != "status" or not has_status


def _to_namesake(api: ApiServer, request: Write) -> Write:
    """The write to another object of the kind; the same if there is none."""
    if isinstance(request, DeleteCollection):
        return request
    if isinstance(request, Create):
        others = (
            name
            for name in sorted(map(name_of, api.store.of_kind(str(NAMESPACE))))
            if name != request.namespace and not name.startswith(_OF_CLUSTER)
        )
        other = next(others, "") if request.namespace and not request.subresource else ""
        if not other:
            return request
        metadata = {**meta(request.object), "namespace": other}
        moved = {**request.object, "metadata": metadata}
        return msgspec.structs.replace(request, object=moved, namespace=other)
    kind = request.kind.group_kind
    names = sorted(map(name_of, api.store.of_kind(kind, request.namespace)))
    name = next((each for each in names if each != request.name), "")
    if not name:
        return request
    if isinstance(request, Delete):
        return msgspec.structs.replace(request, name=name, uid=None, resource_version=None)
    if isinstance(request, Update):
        return msgspec.structs.replace(
            request, object=_as_of(api, request, {**request.object}, name, is_whole=True)
        )
    if request.patch_type == "json" or not isinstance(request.body, dict):
        return msgspec.structs.replace(request, name=name)
    is_whole = request.patch_type == "apply"
    body = _as_of(api, request, request.body, name, is_whole=is_whole)
    return msgspec.structs.replace(request, name=name, body=body)


def _as_of(
    api: ApiServer, request: Write, body: Object, name: str, *, is_whole: bool
) -> dict[str, Any]:
    """A body for the object of another name."""
    other = api.store.get(Key(request.kind.group_kind, request.namespace, name))
    metadata = dict(meta(body))
    for field in ("uid", "resourceVersion"):
        if field in metadata:
            metadata[field] = meta(other or {})[field]
    if is_whole or "name" in metadata:
        metadata["name"] = name
    return {**body, "metadata": metadata} if metadata else dict(body)


def _renamed(request: Write) -> Write:
    """The creation of an object under another name."""
    assert isinstance(request, Create)
    metadata = dict(meta(request.object))
    for field, ending in (("name", "-x"), ("generateName", "x-")):
        if metadata.get(field):
            metadata[field] += ending
    renamed = {**request.object, "metadata": metadata}
    return msgspec.structs.replace(request, object=renamed, name=metadata.get("name", ""))


def _later(api: ApiServer, actor: str, request: Write, send: Send) -> Callable[[], None]:
    """Carries a write out, unless its process has ended meanwhile."""
    entries = api.recorder.entries
    since = len(entries)

    def carry() -> None:
        ends = (each for each in entries[since:] if isinstance(each, Process))
        if not any(each.process == actor and each.change in _ENDS for each in ends):
            _despite_refusal(send, _renewed(api, request))

    return carry


def _renewed(api: ApiServer, request: Write) -> Write:
    """An update of the object as it is now: a program that writes in the other order has read it
    since."""
    if not isinstance(request, Update):
        return request
    now = api.store.get(Key(request.kind.group_kind, request.namespace, request.name))
    metadata = dict(meta(request.object))
    if now is None or "resourceVersion" not in metadata:
        return request
    metadata["resourceVersion"] = now["metadata"]["resourceVersion"]
    renewed = {**request.object, "metadata": metadata}
    return msgspec.structs.replace(request, object=renewed)


def _despite_refusal(send: Send, request: Write) -> None:
    """Send a write whose refusal no process waits for."""
    try:
        send(request)
    except ApiError as refusal:
        refusal.with_traceback(None)
