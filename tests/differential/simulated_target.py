"""The simulated side: one fresh cluster per script, asked through its HTTP layer, in process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from clusters.simulated.access.tokens import UnknownTokenError
from clusters.simulated.access.users import AUTHENTICATED, MASTERS, User
from clusters.simulated.admission_webhooks import AdmissionWebhooks
from clusters.simulated.builtin.webhook_configurations import (
    MUTATING_CONFIGURATION,
    VALIDATING_CONFIGURATION,
    WebhookConfigurationStrategy,
)
from clusters.simulated.cluster import NodeSpec, SimulatedCluster
from clusters.simulated.controllers.settings import Settings
from clusters.simulated.flow_control import flow_of
from clusters.simulated.serve.answering import answer_list, answer_one, document, event_renderer
from clusters.simulated.serve.events import as_core
from clusters.simulated.serve.impersonation import attributes_of, impersonated, wanted_user
from clusters.simulated.serve.requests import Call as SimulatedCall
from clusters.simulated.serve.requests import watch_request
from clusters.simulated.serve.response_headers import retry_after, warnings
from clusters.simulated.serve.routing import PlainTextError, route
from clusters.simulated.watches import EventType
from tests.differential.exchange import Answer, Call, Event, NodeWish, Reviewer, WatchCall
from tests.differential.plane import NODE, NODE_CAPACITY, NODE_LABELS
from tests.differential.webhook_server import answered
from vocabulary.clock import MILLISECOND, SECOND, seconds
from vocabulary.errors import ApiError
from vocabulary.kinds import NODE as NODE_KIND
from vocabulary.objects import Object
from vocabulary.requests import Delete

SETTINGS = Settings(
    node_monitor_grace_us=5 * SECOND,
    node_monitor_period_us=1 * SECOND,
    node_eviction_interval_us=100 * MILLISECOND,
    endpoint_slices=True,
    every_kind=True,
)
"""The settings that `clusters.control_plane.Settings` has for the real controllers."""


USERS = {
    "user": User("assay-user", (MASTERS, AUTHENTICATED), "assay-user"),
    "limited": User("operator-0", (AUTHENTICATED,), "operator-0"),
    "operator": User("operator-1", (AUTHENTICATED,), "operator-1"),
}
"""Their names on the real cluster."""


class SimulatedTarget:
    """A simulated cluster with the node that the real one has too."""

    def __init__(self, crds: Iterable[Object], seed: int = 0) -> None:
        self._cluster = SimulatedCluster(seed, nodes=(), crds=crds, settings=SETTINGS)
        # As a served cluster; no script registers one whose calls matter.
        for kind in (MUTATING_CONFIGURATION, VALIDATING_CONFIGURATION):
            self._cluster.api.serve_kind(WebhookConfigurationStrategy(kind))
        self._served = SimpleNamespace(
            api=self._cluster.api,
            loop=self._cluster.loop,
            lock=threading.RLock(),
            port=0,
            tells_managers=True,
        )
        self._cluster.api.access.register_users(USERS)
        self.add_node(NodeWish(NODE))
        self._cluster.loop.run_for(SECOND)
        # A real server remembers nothing of a custom resource from before it was served.
        self._cluster.store.compact()

    def exchange(self, call: Call) -> Answer:
        parts = urlsplit(call.target)
        asked = SimulatedCall(
            call.method,
            parts.path,
            dict(parse_qsl(parts.query, keep_blank_values=True)),
            {
                "Content-Type": call.content_type,
                "Accept": call.accept,
                "User-Agent": "assay-differential",
            },
            call.body,
        )
        flow = ("", "")
        try:
            with self._acting(call, asked) as actor:
                flow = self._flow(asked, actor)
                return replace(self._answered(asked, actor), flow=flow)
        except ApiError as error:
            status = error.to_status()
            told = tuple(warnings(asked.warnings))
            return Answer(error.code, _as_json(status), told, retry_after(status), flow)
        except PlainTextError as refusal:
            return Answer(refusal.code, {"text": refusal.text})

    def _answered(self, asked: SimulatedCall, actor: str) -> Answer:
        found = document(asked, self._served)
        if found is not None:
            return Answer(200, _as_json(found))
        asked, back = as_core(asked)
        target = route(asked.path, self._cluster.api.strategies)
        if asked.flag("watch"):
            self._cluster.api.access.authorize(watch_request(asked, target), actor)
        if asked.method == "GET" and not target.name:
            code, body = 200, answer_list(asked, target, actor, self._served)
        else:
            code, body = answer_one(asked, target, actor, self._served)
        return Answer(code, _as_json(back(body)), tuple(warnings(asked.warnings)))

    def _flow(self, asked: SimulatedCall, actor: str) -> tuple[str, str]:
        user = self._cluster.api.access.user(actor)
        attributes = attributes_of(asked.method, asked.path, asked.query)
        return flow_of(self._cluster.store, user, attributes) or ("", "")

    @contextmanager
    def _acting(self, call: Call, asked: SimulatedCall) -> Iterator[str]:
        access = self._cluster.api.access
        client: str | User = call.user
        if call.token:
            try:
                client = self._cluster.api.tokens.recognize(call.token).user
            except UnknownTokenError:
                raise ApiError(401, "Unauthorized", "Unauthorized") from None
        wanted = wanted_user(call.headers)
        if wanted is not None:
            requestor = client if isinstance(client, User) else access.user(client)
            action = attributes_of(asked.method, asked.path, asked.query)
            client = impersonated(self._cluster.api, requestor, wanted, action)
        with access.acting(client) as actor:
            yield actor

    def watch(
        self, watch: WatchCall, enough: Callable[[Sequence[Event]], bool], within_seconds: float
    ) -> list[Event]:
        events: list[Event] = []
        path = watch.kind.path(watch.namespace)
        query = watch.query(within_seconds)
        asked = SimulatedCall("GET", path, query, {"Accept": watch.accept}, b"")
        target = route(path, self._cluster.api.strategies)
        render = event_renderer(asked, target, self._served)

        def deliver(event: EventType, obj: Object) -> None:
            if event != "BOOKMARK" or watch.bookmarks:
                events.append({"type": event, "object": _as_json(render(event, obj))})

        try:
            watching = self._cluster.api.watch(watch_request(asked, target), deliver)
            watching.start()
        except ApiError as error:
            return [{"type": "REFUSED", "object": _as_json(error.to_status())}]
        count = _count_of_enough(events, enough)
        if count is None:
            self.until(lambda: enough(events), within_seconds)
            count = _count_of_enough(events, enough)
        watching.stop()
        return events[:count]

    def until(self, happened: Callable[[], bool], within_seconds: float) -> bool:
        loop, store = self._cluster.loop, self._cluster.store
        seen = -1

        def looked() -> bool:
            # Nothing can have happened where nothing was written.
            nonlocal seen
            if store.revision == seen:
                return False
            seen = store.revision
            return happened()

        return loop.run_until(looked, loop.now_us + seconds(within_seconds))

    def add_node(self, wish: NodeWish) -> None:
        capacity = dict(NODE_CAPACITY)
        self._cluster.add_node(
            NodeSpec(
                wish.name,
                cpu=capacity.pop("cpu"),
                memory=capacity.pop("memory"),
                pods=int(capacity.pop("pods")),
                labels={**NODE_LABELS, **wish.labels},
                taints=[dict(taint) for taint in wish.taints],
                extended=capacity,
            )
        )

    def remove_node(self, name: str) -> None:
        try:
            self._cluster.api.handle(Delete(NODE_KIND, "", name), "harness")
        except ApiError as error:
            if not error.is_not_found:
                raise

    def register_webhooks(self, configuration: dict[str, Any], answer: Reviewer) -> None:
        def exchange(webhook: Object, review: bytes) -> bytes:
            return answered(review, answer)

        api = self._cluster.api
        webhooks = AdmissionWebhooks(api, [configuration], exchange)
        api.admission.mutating.append(webhooks.mutate)
        api.admission.validating.append(webhooks.validate)

    def withdraw_webhooks(self, configuration: dict[str, Any]) -> None:
        self._cluster.api.admission.mutating.pop()
        self._cluster.api.admission.validating.pop()

    def serve_conversions(self, answer: Reviewer) -> dict[str, Any]:
        self._cluster.api.conversion = lambda definition, review: answered(review, answer)
        return {"url": "https://127.0.0.1/"}

    def compact(self) -> None:
        self._cluster.store.compact()

    def lose_kubelet(self, name: str) -> None:
        self._cluster.processes.pause(f"kubelet/{name}")

    def regain_kubelet(self, name: str) -> None:
        self._cluster.processes.resume(f"kubelet/{name}")


def _count_of_enough(
    events: Sequence[Event], enough: Callable[[Sequence[Event]], bool]
) -> int | None:
    """The number of events that sufficed; None if all of them do not."""
    for count in range(len(events) + 1):
        if enough(events[:count]):
            return count
    return None


def _as_json(value: object) -> dict[str, object]:
    """The value as a client receives it: nothing shared, only JSON values."""
    decoded: dict[str, object] = msgspec.json.decode(msgspec.json.encode(value))
    return decoded
