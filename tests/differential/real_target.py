"""The real side: kube-apiserver, kube-controller-manager, kube-scheduler, and KWOK's kubelets."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import yaml

from clusters.control_plane import ControlPlane, FakeNode, Settings, kwok, nodes, users
from clusters.simulated.serve.response_headers import FLOW_HEADERS
from tests.differential.exchange import Answer, Call, Event, NodeWish, Reviewer, WatchCall
from tests.differential.plane import NODE, SEPARATE_ZONE, ZONE, definitions
from tests.differential.webhook_server import WebhookServer

POLL_SECONDS = 0.02
TIMEOUT_SECONDS = 30.0
COMPACTED = "compact_rev_key"
WEBHOOKS_SECONDS = 2.0
"""By then a server calls what is registered, or no longer."""
USERS = {
    "user": users.SCENARIO_USER,
    "limited": users.OPERATORS[0],
    "operator": users.OPERATORS[1],
}
SETTINGS = Settings(
    zones=(ZONE, SEPARATE_ZONE),
    audit=False,
    extra_arguments={
        "kube-apiserver": (
            "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
            "--etcd-compaction-interval=24h",
        )
    },
)
"""The plugin is what some distributions switch on; it changes nothing for a cluster's admins.
Without an interval, an API server does not learn that etcd was compacted."""
FAIR: Final = replace(
    SETTINGS, extra_arguments={"kube-apiserver": ("--enable-priority-and-fairness=true",)}
)


@contextmanager
def started(folder: Path, settings: Settings = SETTINGS) -> Iterator[RealTarget]:
    """A control plane of its own, for as long as the block runs."""
    plane = ControlPlane(folder, settings)
    plane.start(definitions())
    try:
        target = RealTarget(plane)
        target.add_node(NodeWish(NODE))
        yield target
    finally:
        plane.stop()


class RealTarget:
    """A running control plane; threads may share it, each has connections of its own."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        address = urlsplit(plane.server)
        assert address.hostname is not None
        self._host, self._port = address.hostname, address.port
        self._tls = ssl.create_default_context(cafile=str(plane.ca))
        self._tokens = {name: _token(plane, user) for name, user in USERS.items()}
        self._local = threading.local()
        self._webhooks: dict[str, WebhookServer] = {}

    def exchange(self, call: Call) -> Answer:
        connection: http.client.HTTPSConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect(TIMEOUT_SECONDS)
        headers = self._headers(call.user) | {"Accept": call.accept}
        if call.token:
            headers["Authorization"] = f"Bearer {call.token}"
        if call.body:
            headers["Content-Type"] = call.content_type
        # Not by `request`, whose headers have different names.
        connection.putrequest(call.method, call.target)
        for name, value in (*headers.items(), *call.headers):
            connection.putheader(name, value)
        if call.body:
            connection.putheader("Content-Length", str(len(call.body)))
        connection.endheaders(call.body or None)
        response = connection.getresponse()
        return Answer(
            response.status,
            _decoded(response.read()),
            tuple(response.headers.get_all("Warning") or ()),
            response.headers.get("Retry-After", ""),
            (response.headers.get(FLOW_HEADERS[0], ""), response.headers.get(FLOW_HEADERS[1], "")),
        )

    def watch(
        self, watch: WatchCall, enough: Callable[[Sequence[Event]], bool], within_seconds: float
    ) -> list[Event]:
        events: list[Event] = []
        if enough(events):
            return events
        connection = self._connect(within_seconds + 5)
        try:
            connection.request(
                "GET",
                f"{watch.kind.path(watch.namespace)}?{urlencode(watch.query(within_seconds))}",
                headers=self._headers("user") | {"Accept": watch.accept},
            )
            response = connection.getresponse()
            if response.status >= 400:
                return [{"type": "REFUSED", "object": _decoded(response.read())}]
            for line in response:
                events.append(json.loads(line))
                if enough(events):
                    break
        finally:
            connection.close()
        return events

    def until(self, happened: Callable[[], bool], within_seconds: float) -> bool:
        deadline = time.monotonic() + within_seconds
        while not happened():
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_SECONDS)
        return True

    def add_node(self, wish: NodeWish) -> None:
        zone = SEPARATE_ZONE if wish.separate else ZONE
        api = self._plane.api()
        manifest = FakeNode(wish.name, zone, wish.labels).manifest()
        if wish.taints:
            manifest["spec"] = {"taints": [dict(taint) for taint in wish.taints]}
        api.post(nodes.NODES, manifest)
        mine = {taint["key"] for taint in wish.taints}

        def is_ready() -> bool:
            node = api.get(f"{nodes.NODES}/{wish.name}")
            taints = {taint["key"] for taint in node["spec"].get("taints", [])}
            conditions = node["status"].get("conditions", [])
            return taints == mine and any(
                entry["type"] == "Ready" and entry["status"] == "True" for entry in conditions
            )

        if not self.until(is_ready, TIMEOUT_SECONDS):
            raise TimeoutError(f"node {wish.name} is not ready after {TIMEOUT_SECONDS:g} s")

    def remove_node(self, name: str) -> None:
        nodes.delete(self._plane.api(), [name])

    def register_webhooks(self, configuration: dict[str, Any], answer: Reviewer) -> None:
        server = WebhookServer(answer)
        self._webhooks[configuration["metadata"]["name"]] = server
        called = [
            {**webhook, "clientConfig": server.client_config}
            for webhook in configuration["webhooks"]
        ]
        api = self._plane.api()
        api.post(_webhooks_path(configuration), {**configuration, "webhooks": called})
        time.sleep(WEBHOOKS_SECONDS)

    def withdraw_webhooks(self, configuration: dict[str, Any]) -> None:
        name = configuration["metadata"]["name"]
        self._plane.api().delete(f"{_webhooks_path(configuration)}/{name}")
        time.sleep(WEBHOOKS_SECONDS)
        self._webhooks.pop(name).close()

    def serve_conversions(self, answer: Reviewer) -> dict[str, Any]:
        # It ends with the process: objects are converted until the last of them is gone.
        return dict(WebhookServer(answer).client_config)

    def compact(self) -> None:
        revision = self._plane.api().get("/api/v1/namespaces")["metadata"]["resourceVersion"]
        self._ask_etcd("compaction", {"revision": revision})
        # By this key API servers tell each other, and forget what they have cached.
        key, value = (base64.b64encode(text.encode()).decode() for text in (COMPACTED, revision))
        self._ask_etcd("put", {"key": key, "value": value})

    def _ask_etcd(self, method: str, body: dict[str, str]) -> None:
        url = f"{self._plane.etcd}/v3/kv/{method}"
        with urllib.request.urlopen(url, json.dumps(body).encode(), TIMEOUT_SECONDS) as answer:
            answer.read()

    def lose_kubelet(self, name: str) -> None:
        self._plane.pause(kwok.component(SEPARATE_ZONE))

    def regain_kubelet(self, name: str) -> None:
        self._plane.resume(kwok.component(SEPARATE_ZONE))

    def _connect(self, timeout_seconds: float) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=timeout_seconds, context=self._tls
        )

    def _headers(self, user: str) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self._tokens[user]}",
            "Accept": "application/json",
            "User-Agent": "assay-differential",
        }


def _webhooks_path(configuration: dict[str, Any]) -> str:
    return f"/apis/admissionregistration.k8s.io/v1/{configuration['kind'].lower()}s"


def _token(plane: ControlPlane, user: users.User) -> str:
    written = yaml.safe_load(plane.kubeconfig(user).read_text())
    return str(written["users"][0]["user"]["token"])


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        decoded: dict[str, Any] = json.loads(body)
    except ValueError:
        # Paths that nobody serves are refused in plain text.
        return {"text": body.decode(errors="replace")}
    return decoded
