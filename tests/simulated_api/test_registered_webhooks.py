"""Webhooks that a client registers over HTTP, called at their url or Service."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from clusters.simulated.serve.registered_webhooks import RegisteredWebhooks
from clusters.simulated.serve.server import ServedCluster
from tests.simulated_api.cluster import Cluster, config_map
from tests.simulated_api.served import ask
from vocabulary.kinds import CONFIG_MAP
from vocabulary.requests import Create

pytest.importorskip("cryptography", reason="install assay[cluster]")

from vocabulary.certificates import Authority

GROUP = "/apis/admissionregistration.k8s.io/v1"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
SERVICE = {"namespace": "hooks", "name": "hook", "path": "/review"}
NAMES = ("localhost", "127.0.0.1", "hook.hooks.svc")


class Hook:
    """A webhook's server; `answer` returns the response to a request."""

    def __init__(self, directory: Path) -> None:
        self.answer: Callable[[Any], Any] = lambda request: {"allowed": True}
        self.reviews: list[Any] = []
        self.paths: list[str] = []
        authority = Authority.create("hooks")
        pair = authority.issue_server("hook", NAMES)
        (directory / "pair.pem").write_bytes(pair.key + pair.certificate)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(directory / "pair.pem")
        self.authority = base64.b64encode(authority.pair.certificate).decode()
        self.certificate = base64.b64encode(pair.certificate).decode()
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path.startswith("/moved/"):
                    self.send_response(307)
                    self.send_header("Location", self.path.removeprefix("/moved"))
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                hook.reviews.append(review["request"])
                hook.paths.append(self.path)
                response = {"uid": review["request"]["uid"], **hook.answer(review["request"])}
                body = json.dumps({**review, "request": None, "response": response}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def client(self, **service: Any) -> dict[str, Any]:
        url = {"url": f"https://127.0.0.1:{self.port}/review"}
        return {"caBundle": self.authority, **(service or url)}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def hook(tmp_path: Path) -> Iterator[Hook]:
    running = Hook(tmp_path)
    yield running
    running.close()


@pytest.fixture
def called(served: ServedCluster, hook: Hook) -> ServedCluster:
    """The served cluster, which calls webhooks."""
    RegisteredWebhooks(served.api, served.lock, {("hooks", "hook"): ("127.0.0.1", hook.port)})
    return served


def webhook(client: Any, *operations: str, **fields: Any) -> dict[str, Any]:
    rule = {
        "operations": operations or ["CREATE"],
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["configmaps"],
    }
    return {
        "name": "w.assay.dev",
        "clientConfig": client,
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **fields,
    }


def register(
    served: ServedCluster, *webhooks: Any, kind: str = "Validating", name: str = "w"
) -> tuple[int, Any]:
    body = {"metadata": {"name": name}, "webhooks": webhooks}
    return ask(served, f"{GROUP}/{kind.lower()}webhookconfigurations", "POST", body)


def test_a_webhook_may_be_trusted_by_its_own_certificate(called: ServedCluster, hook: Hook) -> None:
    """envtest writes that into the bundle, and Go takes it; who has signed it is unknown then."""
    register(called, webhook({**hook.client(), "caBundle": hook.certificate}))
    assert ask(called, CONFIG_MAPS, "POST", config_map("a"))[0] == 201
    assert len(hook.reviews) == 1


def test_a_webhook_may_send_its_caller_to_another_path(called: ServedCluster, hook: Hook) -> None:
    """Go's multiplexer does so with `//path`, which envtest registers."""
    client = {**hook.client(), "url": f"https://127.0.0.1:{hook.port}/moved/review"}
    register(called, webhook(client))
    assert ask(called, CONFIG_MAPS, "POST", config_map("a"))[0] == 201
    assert hook.paths == ["/review?timeout=10s"]


def test_a_registered_webhook_refuses_until_it_is_deleted(
    called: ServedCluster, hook: Hook
) -> None:
    hook.answer = lambda request: {"allowed": False, "status": {"message": request["name"]}}
    code, stored = register(called, webhook(hook.client()))
    assert (code, stored["metadata"]["generation"]) == (201, 1)
    assert stored["webhooks"][0]["failurePolicy"] == "Fail"
    assert stored["webhooks"][0]["rules"][0]["scope"] == "*"
    code, status = ask(called, CONFIG_MAPS, "POST", config_map("a"))
    assert (code, status["message"]) == (
        400,
        'admission webhook "w.assay.dev" denied the request: a',
    )
    assert hook.paths == ["/review?timeout=10s"]
    assert hook.reviews[0]["userInfo"]["username"] == "user"
    assert ask(called, f"{GROUP}/validatingwebhookconfigurations/w", "DELETE")[0] == 200
    assert ask(called, CONFIG_MAPS, "POST", config_map("a"))[0] == 201
    assert called.api.admission.validating == []


def test_a_mutating_webhook_of_a_service_changes_the_object(
    called: ServedCluster, hook: Hook
) -> None:
    patch = [{"op": "add", "path": "/data", "value": {"k": "patched"}}]
    encoded = base64.b64encode(json.dumps(patch).encode()).decode()
    hook.answer = lambda request: {"allowed": True, "patch": encoded}
    client = hook.client(service=SERVICE)
    # Reviews of that version need no patchType.
    old = webhook(client, admissionReviewVersions=["v1beta1", "v1"])
    code, stored = register(called, old, kind="Mutating")
    assert (code, stored["webhooks"][0]["clientConfig"]["service"]["port"]) == (201, 443)
    assert ask(called, CONFIG_MAPS, "POST", config_map("a"))[1]["data"] == {"k": "patched"}


def test_a_webhook_may_read_and_write_while_it_is_called(called: ServedCluster, hook: Hook) -> None:
    def answer(request: Any) -> Any:
        if request["name"] == "a":
            assert ask(called, CONFIG_MAPS, "POST", config_map("b"))[0] == 201
        return {"allowed": True}

    hook.answer = answer
    register(called, webhook(hook.client()))
    assert ask(called, CONFIG_MAPS, "POST", config_map("a"))[0] == 201
    assert [each["name"] for each in hook.reviews] == ["a", "b"]


def test_writes_of_controllers_are_reviewed_while_the_clock_advances(
    called: ServedCluster, cluster: Cluster, hook: Hook
) -> None:
    """The clock's thread has the lock then, and another request for it to advance waits."""
    told = threading.Event()

    def answer(request: Any) -> Any:
        told.set()
        assert ask(called, f"{CONFIG_MAPS}?limit=1")[0] == 200
        return {"allowed": request["name"] != "late"}

    hook.answer = answer
    register(called, webhook(hook.client()))

    def write() -> None:
        cluster.api.handle(Create(CONFIG_MAP, config_map("timer"), "default", "timer"), "timer")

    cluster.loop.call_later(1, write)
    codes = []
    threads = [
        threading.Thread(
            target=lambda: codes.append(ask(called, "/assay/clock", "POST", {"advance": "1s"})[0])
        )
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (codes, told.is_set()) == ([200, 200], True)
    assert ask(called, f"{CONFIG_MAPS}/timer")[0] == 200


@pytest.mark.parametrize(
    ("client", "because"),
    [
        ({"url": "https://127.0.0.1:1/x"}, "dial tcp 127.0.0.1:1: connect: connection refused"),
        ({"service": {**SERVICE, "name": "other"}}, "assay serve --service hooks/other=127.0.0.1"),
        (
            {"service": {**SERVICE, "name": "other"}, "caBundle": "AAAA"},
            'Post "https://other.hooks.svc:443/review?timeout=10s": service "hooks/other"',
        ),
        ({"service": SERVICE}, "tls: failed to verify certificate: x509: "),
    ],
)
def test_a_webhook_that_is_not_reached_fails_as_its_failure_policy_says(
    called: ServedCluster, client: Any, because: str
) -> None:
    register(called, webhook(client))
    code, status = ask(called, CONFIG_MAPS, "POST", config_map("a"))
    begin = 'Internal error occurred: failed calling webhook "w.assay.dev": failed to call webhook:'
    assert code == 500
    assert status["message"].startswith(begin)
    assert because in status["message"]
    ask(called, f"{GROUP}/validatingwebhookconfigurations/w", "DELETE")
    register(called, webhook(client, failurePolicy="Ignore"))
    assert ask(called, CONFIG_MAPS, "POST", config_map("a"))[0] == 201


def test_a_webhook_that_does_not_answer_in_time_fails(called: ServedCluster, hook: Hook) -> None:
    held = threading.Event()

    def answer(request: Any) -> Any:
        held.wait(20)
        return {"allowed": True}

    hook.answer = answer
    register(called, webhook(hook.client(), timeoutSeconds=1))
    code, status = ask(called, CONFIG_MAPS, "POST", config_map("a"))
    held.set()
    assert code == 500
    assert status["message"].endswith('?timeout=1s": context deadline exceeded')


def test_conditions_decide_which_requests_are_reviewed(called: ServedCluster, hook: Hook) -> None:
    conditions = [
        {"name": "not-b", "expression": "object.metadata.name != 'b'"},
        {"name": "users", "expression": "request.userInfo.username == 'user'"},
    ]
    hook.answer = lambda request: {"allowed": False}
    register(called, webhook(hook.client(), matchConditions=conditions))
    assert ask(called, CONFIG_MAPS, "POST", config_map("b"))[0] == 201
    assert ask(called, CONFIG_MAPS, "POST", config_map("a"))[0] == 400
    undecided = [{"name": "k", "expression": "object.data.k == 'v'"}]
    register(called, webhook(hook.client(), matchConditions=undecided), name="before")
    code, status = ask(called, CONFIG_MAPS, "POST", config_map("a"))
    assert (code, status["reason"]) == (403, "Forbidden")
    assert status["message"] == (
        "configmaps \"a\" is forbidden: expression 'object.data.k == 'v'' resulted in error: "
        "no such key: k"
    )


def test_a_strategic_merge_patch_changes_the_webhook_of_its_name(called: ServedCluster) -> None:
    client = {"url": "https://127.0.0.1:1"}
    register(called, webhook(client), webhook(client, name="other.w.assay.dev"))
    patch = {"webhooks": [{"name": "w.assay.dev", "failurePolicy": "Ignore"}]}
    path = f"{GROUP}/validatingwebhookconfigurations/w"
    media_type = "application/strategic-merge-patch+json"
    code, stored = ask(called, path, "PATCH", patch, content_type=media_type)
    assert (code, stored["metadata"]["generation"]) == (200, 2)
    assert [each["failurePolicy"] for each in stored["webhooks"]] == ["Ignore", "Fail"]


@pytest.mark.parametrize(("beside", "code"), [("configmaps/status", 201), ("configmaps", 422)])
def test_all_resources_may_have_subresources_beside_them(
    called: ServedCluster, hook: Hook, beside: str, code: int
) -> None:
    valid = webhook(hook.client())
    rule = {**valid["rules"][0], "resources": ["*", beside]}
    assert register(called, {**valid, "rules": [rule]})[0] == code


def test_configurations_of_webhooks_are_not_reviewed(called: ServedCluster, hook: Hook) -> None:
    every = {
        "operations": ["*"],
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "resources": ["*/*"],
    }
    hook.answer = lambda request: {"allowed": False}
    register(called, webhook(hook.client(), rules=[every]))
    assert register(called, webhook(hook.client()), name="more")[0] == 201
    assert ask(called, CONFIG_MAPS, "POST", config_map("a"))[0] == 400


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "w"}, 'webhooks[0].name: Invalid value: "w": should be a domain with at least'),
        ({"sideEffects": None}, "webhooks[0].sideEffects: Required value: must specify one of"),
        ({"timeoutSeconds": 31}, "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout"),
        ({"clientConfig": {}}, "webhooks[0].clientConfig: Required value: exactly one of url or"),
        ({"clientConfig": {"url": "http://a"}}, "'https' is the only allowed URL scheme"),
        ({"admissionReviewVersions": ["v2"]}, "must include at least one of v1, v1beta1"),
        ({"failurePolicy": "Never"}, 'Unsupported value: "Never": supported values: "Fail", "Ign'),
        ({"rules": [{}]}, "webhooks[0].rules[0].operations: Required value"),
        (
            {"rules": {}},
            "cannot be handled as a ValidatingWebhookConfiguration: json: cannot unmarshal object",
        ),
        (
            {"matchConditions": [{"name": "a", "expression": "authorizer.path('/x')"}]},
            "Assay's simulated API server has no authorizer; a control plane does",
        ),
        (
            {"matchConditions": [{"name": "a", "expression": "request.userInfo.name == 'a'"}]},
            "undefined field 'name'",
        ),
        (
            {"matchConditions": [{"name": "a", "expression": "object.spec.suspend"}]},
            '"object.spec.suspend": must evaluate to bool but got dyn',
        ),
        (
            {"matchConditions": [{"name": "a", "expression": "'text'"}]},
            "webhooks[0].matchConditions[0].expression: Invalid value: \"'text'\": must evaluate",
        ),
    ],
)
def test_a_configuration_that_a_real_server_refuses_is_refused(
    called: ServedCluster, fields: Any, message: str
) -> None:
    code, status = register(called, webhook({"url": "https://127.0.0.1:1"}, **fields))
    assert code in (400, 422)
    assert message in status["message"]
