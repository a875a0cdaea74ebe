"""Responses to requests: documents, lists, single objects, tables."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol

import msgspec

from clusters.simulated.api_server import ApiServer
from clusters.simulated.asked_for import asked_for
from clusters.simulated.builtin.conforming import undecoded_of
from clusters.simulated.builtin.mistyped import json_type
from clusters.simulated.custom_resources.strategy import CustomResourceStrategy
from clusters.simulated.loop import Loop
from clusters.simulated.reading import (
    method_not_allowed,
    no_such_resource,
    no_such_subresource,
)
from clusters.simulated.request_checks import unreadable
from clusters.simulated.revisions import parse_revision, require_past
from clusters.simulated.serve import aggregated_discovery, discovery, events, openapi, requests
from clusters.simulated.serve.clock import MAX_ADVANCE_US, ServedClock
from clusters.simulated.serve.field_validation import (
    require_known_fields,
    validation_of,
    warn_of_fields,
)
from clusters.simulated.serve.pod_logs import logs_of
from clusters.simulated.serve.representation import require_for_list, require_for_one, wanted
from clusters.simulated.serve.requests import Call, get_request
from clusters.simulated.serve.routing import NoSuchPathError, Route, UnavailableError
from clusters.simulated.serve.traffic import Traffic, UnsettledError
from clusters.simulated.strategy import Strategy
from clusters.simulated.subresources import require_verb
from clusters.simulated.tables import table
from clusters.simulated.watches import EventType
from vocabulary import requests as rq
from vocabulary.clock import SECOND, Micros, to_rfc3339_micro
from vocabulary.durations import parse_span
from vocabulary.errors import ApiError, lacks_rights
from vocabulary.kinds import API_SERVICE
from vocabulary.objects import Object

JSON: Final = "application/json"
CLOCK: Final = "/assay/clock"
OPEN_PATHS: Final = frozenset({"/healthz", "/livez", "/readyz"})
"""Answered with `ok`, to anybody."""
_VERBS: Final = {
    "GET": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}


class Served(Protocol):
    """The served cluster, as far as responses need it."""

    @property
    def api(self) -> ApiServer: ...

    @property
    def loop(self) -> Loop: ...

    @property
    def lock(self) -> threading.RLock: ...

    @property
    def clock(self) -> ServedClock: ...

    @property
    def traffic(self) -> Traffic: ...

    @property
    def port(self) -> int: ...

    @property
    def tells_managers(self) -> bool:
        """True if each object tells the managers of its fields, not only the applied ones."""
        ...


def document(call: Call, served: Served) -> Any:
    """Return the document at a path that concerns no object; None for any other path."""
    path = call.path.rstrip("/")
    parts = path.split("/")[1:]
    if path == CLOCK:
        return _clock(call, served)
    with served.lock:
        strategies, remote = served.api.strategies, served.api.aggregation.remote
        match parts:
            case ["apis", group, version, *_] if (group, version) in remote:
                raise UnavailableError
            case ["version"]:
                return discovery.version()
            case ["api" | "apis"] if aggregated_discovery.is_wanted(call):
                return aggregated_discovery.document(strategies, remote, core=parts == ["api"])
            case ["api"]:
                return discovery.core_versions(f"127.0.0.1:{served.port}")
            case ["apis"]:
                return discovery.groups(strategies, remote)
            case ["api", version]:
                return discovery.resources("", version, strategies) or _no_such_path()
            case ["apis", group]:
                return discovery.group(group, strategies, remote) or _no_such_path()
            case ["apis", group, version]:
                return discovery.resources(group, version, strategies) or _no_such_path()
            case ["openapi", "v3"]:
                return openapi.index(strategies)
            case ["openapi", "v3", "api" | "apis", *_]:
                return openapi.document("/".join(parts[2:]), strategies) or _missing()
    return None


def media_type_of(found: Any) -> str:
    """The content type of a document."""
    is_aggregated = isinstance(found, dict) and found.get("kind") == aggregated_discovery.FORM
    return aggregated_discovery.MEDIA_TYPE if is_aggregated else JSON


def _no_such_path() -> Any:
    raise NoSuchPathError


def _missing() -> Any:
    raise no_such_resource()


def _clock(call: Call, served: Served) -> dict[str, Any]:
    """`GET /assay/clock` returns the time; `POST` with `{"advance": "7d"}` advances it, and with
    `"reaction": "300ms"` beside it in step with clients that watch."""
    if call.method == "POST":
        asked = requests.decode(call)
        span_us = _span(asked, "advance")
        if span_us > MAX_ADVANCE_US:
            raise ApiError(400, "BadRequest", "time is advanced by at most 366 days at once")
        if "reaction" not in asked:
            served.clock.advance(span_us)
        else:
            reaction_s = _span(asked, "reaction") / SECOND
            _advance_in_step(served, span_us, reaction_s)
    with served.lock:
        now_us = served.loop.now_us
    return {"now": to_rfc3339_micro(now_us), "mode": served.clock.mode}


def _span(asked: Any, field: str) -> Micros:
    try:
        return parse_span(str(asked[field]))
    except (KeyError, TypeError):
        because = 'the body has to be {"advance": "7d"}, with days or a Go duration'
    except ValueError as error:
        because = f"{field}: {error}"
    raise ApiError(400, "BadRequest", because)


def _advance_in_step(served: Served, span_us: Micros, reaction_s: float) -> None:
    traffic = served.traffic
    try:
        served.clock.advance_in_step(span_us, traffic, lambda: traffic.settle(reaction_s))
    except UnsettledError as error:
        raise ApiError(504, "Timeout", f"time was not advanced all the way: {error}") from None


def _strategy(call: Call, target: Route, served: Served) -> Strategy:
    strategy = served.api.strategies[str(target.kind)]
    call.warnings.extend(strategy.deprecation(target.kind.version))
    if target.kind.group == API_SERVICE.group:
        served.api.aggregation.ask()
    return strategy


@contextmanager
def _unwarned_if_forbidden(call: Call) -> Iterator[None]:
    """A real server authorizes a request before anything could be said of it."""
    try:
        yield
    except ApiError as error:
        if lacks_rights(error.message):
            call.warnings.clear()
        raise


def answer_list(call: Call, target: Route, actor: str, served: Served) -> Any:
    """Return the body of a list."""
    requests.timeout_us(call)
    with served.lock, _unwarned_if_forbidden(call):
        strategy = _strategy(call, target, served)
        if "list" not in strategy.verbs:
            raise method_not_allowed()
        shown = wanted(call, strategy, many=True)
        require_for_list(shown, target.kind, strategy)
        listed: rq.ObjectList = served.api.handle(requests.list_request(call, target), actor)
        if shown.form != "Table":
            items = tuple(_with_managers(obj, served) for obj in listed.items)
            listed = msgspec.structs.replace(listed, items=items)
        now_us = served.loop.now_us
    if shown.form == "Table":
        return table(
            target.kind,
            strategy,
            listed.items,
            now_us,
            include=call.query.get("includeObject", "Metadata"),
            list_metadata=requests.list_metadata(listed),
        )
    if shown.form == "PartialObjectMetadataList":
        return shown.of_list(listed)
    typed = not isinstance(strategy, CustomResourceStrategy)
    return requests.list_body(target, listed, typed=typed)


def answer_one(call: Call, target: Route, actor: str, served: Served) -> tuple[int, Any]:
    """Return status code and body for a request on one object, or for a collection's deletion."""
    with served.lock, _unwarned_if_forbidden(call):
        strategy = _strategy(call, target, served)
        subresources = strategy.subresources_in(target.kind.version)
        if target.subresource and target.subresource not in subresources:
            raise no_such_subresource(strategy, target.kind, target.name)
        _require_verb(call, target, strategy)
        form = wanted(call, strategy, many=False)
        require_for_one(form, target.kind, strategy)
        code, answer = _carry_out(call, target, actor, served)
        now_us = served.loop.now_us
    if answer.get("kind") != target.kind.kind:
        return code, answer
    if form.form == "Table":
        include = call.query.get("includeObject", "Metadata")
        given = answer["metadata"].get("resourceVersion")
        revision = {"resourceVersion": given} if given else {}  # a dry run has none
        shown = table(
            target.kind, strategy, [answer], now_us, include=include, list_metadata=revision
        )
        return code, shown
    return code, form.of_one(answer)


def answer_log(call: Call, target: Route, actor: str, served: Served) -> str:
    """Return the log of a container."""
    with served.lock:
        served.api.access.authorize(get_request(target), actor)
        pod = rq.Get(target.kind, target.namespace, target.name, live=True)
        return logs_of(served.api.handle(pod, "harness"), call.query)


def _require_verb(call: Call, target: Route, strategy: Strategy) -> None:
    verb = _VERBS.get(call.method, "")
    if target.subresource:
        require_verb(target.subresource, verb)
    elif "get" not in strategy.verbs and target.name:
        raise no_such_resource()
    elif (verb if target.name or verb != "delete" else "deletecollection") not in strategy.verbs:
        raise method_not_allowed()


def _carry_out(call: Call, target: Route, actor: str, served: Served) -> tuple[int, Object]:
    api = served.api
    strategy = api.strategies[str(target.kind)]
    timeout_us = requests.timeout_us(call)
    if call.method == "GET":
        require_past(parse_revision(call.query.get("resourceVersion", "")), api.store.revision)
        get = get_request(target)
        if target.subresource == "scale":
            api.access.authorize(get, actor)
            return 200, api.scale(get)
        return 200, _with_managers(api.handle(get, actor), served)
    if call.method == "DELETE" and not target.name:
        deleted = api.handle(requests.delete_collection_request(call, target), actor, timeout_us)
        typed = not isinstance(strategy, CustomResourceStrategy)
        return 200, requests.list_body(target, deleted, typed=typed)
    if (call.method == "POST") == bool(target.name) and target.subresource not in (
        "binding",
        "eviction",
        "token",
    ):
        raise method_not_allowed()
    try:
        validation = validation_of(call)
        request = requests.write_request(call, target, strategy)
    except ApiError:
        # Who may not write does not learn that the body is wrong.
        api.access.authorize(get_request(target), actor, _VERBS[call.method])
        raise

    def decode() -> None:
        if isinstance(request, rq.Delete):
            return
        old = api.store.get((target.kind.group_kind, target.namespace, target.name))
        if isinstance(request, rq.Patch) and old is not None and not call.of_events_group:
            _require_decodable(request, old, strategy)
        if validation != "Ignore" and target.subresource in ("", "status"):
            if validation == "Strict":
                require_known_fields(call, request, strategy, old)
            else:
                warn_of_fields(call, request, strategy, old)
        if call.of_events_group:
            events.require_valid(request, strategy, old)

    outcome = api.carry_out(request, actor, timeout_us, decode)
    code, answer = requests.answer_write(request, outcome, strategy)
    if outcome[0] is not None and outcome[0].event == "MODIFIED" and requests.cascades(call):
        code = 202
    if target.subresource == "scale":
        return code, api.scale(rq.Get(target.kind, target.namespace, target.name))
    return code, answer


def _require_decodable(request: rq.Patch, old: Object, strategy: Strategy) -> None:
    """422 if a patch has given a custom resource metadata of wrong types."""
    if strategy.is_built_in or request.patch_type == "apply" or request.subresource == "scale":
        return
    new = asked_for(request, old, strategy)
    kind = request.kind
    because = undecoded_of(new, kind.api_version, kind.kind)
    for field in ("kind", "apiVersion"):
        if not isinstance(new.get(field, ""), str):
            because = f"json: cannot unmarshal {json_type(new[field])} into Go struct field "
            because += f"{kind.kind}.{field} of type string"
    if because:
        raise unreadable(new, kind.version, kind.kind, kind, because, request)


def _with_managers(obj: Object, served: Served) -> Object:
    """The object with the managers of its fields, which are kept beside it."""
    if not (served.tells_managers or served.api.is_applied(obj)):
        return obj
    managed = served.api.managed_fields(obj)
    return {**obj, "metadata": {**obj["metadata"], "managedFields": managed}} if managed else obj


def event_renderer(call: Call, target: Route, served: Served) -> Callable[[EventType, Object], Any]:
    """Return a function to render a watch's objects: full, metadata alone, or tables of one row."""
    strategy = _strategy(call, target, served)
    if "watch" not in strategy.verbs:
        raise method_not_allowed()
    shown = wanted(call, strategy, many=True)
    if shown.form != "Table":

        def shown_with_managers(event: EventType, obj: Object) -> Any:
            if event in ("ADDED", "MODIFIED"):  # those of a deleted object are forgotten
                with served.lock:
                    obj = _with_managers(obj, served)
            return shown.of_one(obj)

        return shown_with_managers
    include = call.query.get("includeObject", "Metadata")

    def render(event: EventType, obj: Object) -> Any:
        if event == "ERROR":
            return obj
        return table(target.kind, strategy, [obj], served.loop.now_us, include=include)

    return render
