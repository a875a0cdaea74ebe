"""Admission webhooks: JSON patches, reviews, the HTTPS server, and a real API server's calls."""

from __future__ import annotations

import base64
import http.client
import json
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusters.control_plane import ControlPlane, users
from reference_controller.runtime import json_patch
from reference_controller.runtime.admission_review import Operation, UserInfo, Webhook
from reference_controller.runtime.conversion_review import ConversionError
from reference_controller.runtime.options import OptionsError
from reference_controller.runtime.webhook_server import MAX_BODY_BYTES, WebhookServer
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP, SECRET
from vocabulary.objects import Object, with_path

from .certificate import write_certificate
from .child_process import ChildProcess, eventually

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab/~", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~"), inner, max_size=3),
    max_leaves=12,
)
objects = st.dictionaries(st.text("ab/~"), json_values, max_size=4)


def patched(document: Any, patch: list[dict[str, Any]]) -> Any:
    """RFC 6902 for paths through dicts, which is all that `diff` makes."""
    document = json.loads(json.dumps(document))
    for operation in patch:
        *path, last = [
            step.replace("~1", "/").replace("~0", "~") for step in operation["path"].split("/")[1:]
        ]
        target = document
        for step in path:
            target = target[step]
        if operation["op"] == "remove":
            del target[last]
        else:
            assert (last in target) == (operation["op"] == "replace")
            target[last] = operation["value"]
    return document


@given(objects, objects)
def test_a_patch_makes_the_new_object_out_of_the_old_one(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    made = patched(old, json_patch.diff(old, new))
    assert json.dumps(made, sort_keys=True) == json.dumps(new, sort_keys=True)


@given(objects)
def test_an_object_that_did_not_change_needs_no_patch(obj: dict[str, Any]) -> None:
    assert json_patch.diff(obj, json.loads(json.dumps(obj))) == []


def admit(operation: Operation, new: Object, old: Object | None, user: UserInfo) -> Object:
    if new.get("bug"):
        raise ZeroDivisionError("a bug")
    if new.get("refuse"):
        raise ApiError(403, "Forbidden", "spec.refuse: is refused")
    return with_path(new, "metadata.by", f"{operation} {user.username} {'/'.join(user.groups)}")


def checked(operation: Operation, new: Object, old: Object | None, user: UserInfo) -> Object:
    raise ApiError(403, "Forbidden", "no Secret may be stored")


WEBHOOKS = {
    CONFIG_MAP: Webhook(mutate=admit, validate=admit),
    SECRET: Webhook(validate=checked),
}


def convert(obj: Object, version: str) -> Object:
    if obj.get("bug"):
        raise ZeroDivisionError("a bug")
    if obj.get("odd"):
        raise ConversionError("it is odd")
    return {**obj, "apiVersion": version}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WebhookServer]:
    certificate, key = write_certificate(tmp_path)
    webhooks = WebhookServer("127.0.0.1", 0, certificate, key, WEBHOOKS, convert)
    webhooks.start()
    yield webhooks
    webhooks.stop()


def post(server: WebhookServer, path: str, body: bytes) -> tuple[int, bytes]:
    context = ssl._create_unverified_context()
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=5, context=context)
    connection.request("POST", path, body)
    answer = connection.getresponse()
    return answer.status, answer.read()


def reviewed(server: WebhookServer, path: str, **request: Any) -> dict[str, Any]:
    document = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "42",
            "operation": "CREATE",
            "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
            "userInfo": {"username": "ann", "groups": ["g", "h"], "extra": {"k": ["v"]}},
            "object": {"spec": {}},
            "oldObject": None,
            **request,
        },
    }
    status, body = post(server, path, json.dumps(document).encode())
    assert status == 200
    answer = json.loads(body)
    assert answer["apiVersion"] == "admission.k8s.io/v1"
    assert answer["kind"] == "AdmissionReview"
    assert answer["response"]["uid"] == "42"
    response: dict[str, Any] = answer["response"]
    return response


def test_a_mutation_is_answered_with_a_json_patch(server: WebhookServer) -> None:
    response = reviewed(server, "/mutate?timeout=10s")
    assert response["allowed"] is True
    assert response["patchType"] == "JSONPatch"
    assert json.loads(base64.b64decode(response["patch"])) == [
        {"op": "add", "path": "/metadata", "value": {"by": "CREATE ann g/h"}}
    ]


def test_a_validation_never_changes_the_object(server: WebhookServer) -> None:
    assert reviewed(server, "/validate") == {"uid": "42", "allowed": True}


@pytest.mark.parametrize("path", ["/mutate", "/validate"])
def test_a_refusal_says_why(server: WebhookServer, path: str) -> None:
    response = reviewed(server, path, object={"refuse": True})
    assert response["allowed"] is False
    assert response["status"]["code"] == 403
    assert response["status"]["message"] == "spec.refuse: is refused"


def test_other_operations_are_none_of_its_business(server: WebhookServer) -> None:
    response = reviewed(server, "/validate", operation="DELETE", object=None, oldObject={})
    assert response == {"uid": "42", "allowed": True}


def test_each_kind_is_admitted_by_its_own_functions(server: WebhookServer) -> None:
    secret = {"group": "", "version": "v1", "kind": "Secret"}
    refused = reviewed(server, "/validate", kind=secret)
    assert refused["status"]["message"] == "no Secret may be stored"
    for path, kind in (("/mutate", "Secret"), ("/validate", "Pod")):
        asked = {"uid": "1", "kind": {**secret, "kind": kind}, "operation": "CREATE", "object": {}}
        body = {"apiVersion": "admission.k8s.io/v1", "request": asked}
        status, said = post(server, path, json.dumps(body).encode())
        assert status == 400
        assert f"nothing here is to {path[1:]} a {kind} of the core group v1" in said.decode()


def conversion(version: str, *objects: Object) -> bytes:
    request = {"uid": "42", "desiredAPIVersion": "v2", "objects": objects}
    document = {"apiVersion": f"apiextensions.k8s.io/{version}", "request": request}
    return json.dumps(document).encode()


def test_objects_are_converted_all_or_none(server: WebhookServer) -> None:
    for objects, result in (
        (({"a": 1}, {"b": 2}), {"status": "Success"}),
        (({"a": 1}, {"odd": True}), {"status": "Failure", "message": "it is odd"}),
    ):
        status, body = post(server, "/convert", conversion("v1", *objects))
        answer = json.loads(body)
        assert (status, answer["kind"]) == (200, "ConversionReview")
        assert answer["response"].pop("uid") == "42"
        made = [{**each, "apiVersion": "v2"} for each in objects]
        expected = {"convertedObjects": made} if result["status"] == "Success" else {}
        assert answer["response"] == {"result": result, **expected}


def test_nothing_is_converted_where_there_is_one_version(tmp_path: Path) -> None:
    certificate, key = write_certificate(tmp_path)
    server = WebhookServer("127.0.0.1", 0, certificate, key, WEBHOOKS)
    server.start()
    status, said = post(server, "/convert", conversion("v1"))
    server.stop()
    assert (status, said) == (404, b"serves /mutate and /validate\n")


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/elsewhere", b"{}", 404),
        ("/convert", b"not json", 400),
        ("/convert", conversion("v1beta1", {}), 400),
        ("/convert", conversion("v1", {"bug": True}), 500),
        ("/mutate", b"not json", 400),
        (
            "/mutate",
            b'{"apiVersion": "admission.k8s.io/v1beta1", "request": {"uid": "1",'
            b' "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},'
            b' "operation": "CREATE"}}',
            400,
        ),
        (
            "/validate",
            b'{"apiVersion": "admission.k8s.io/v1", "request": {"uid": "1",'
            b' "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},'
            b' "operation": "CREATE", "object": {"bug": true}}}',
            500,
        ),
    ],
)
def test_what_it_cannot_review_is_an_http_error(
    server: WebhookServer, path: str, body: bytes, status: int
) -> None:
    assert post(server, path, body)[0] == status


def test_a_body_that_is_too_big_is_not_read(server: WebhookServer) -> None:
    context = ssl._create_unverified_context()
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=5, context=context)
    connection.putrequest("POST", "/mutate")
    connection.putheader("Content-Length", str(MAX_BODY_BYTES + 1))
    connection.endheaders()
    assert connection.getresponse().status == 413


def test_a_client_that_never_speaks_holds_up_nobody(server: WebhookServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port)):
        assert reviewed(server, "/validate")["allowed"] is True


def test_a_renewed_certificate_is_taken_up_without_a_restart(
    tmp_path: Path, server: WebhookServer
) -> None:
    def served() -> str:
        return ssl.get_server_certificate(("127.0.0.1", server.port))

    before = served()
    certificate, _ = write_certificate(tmp_path)
    assert served() == certificate.read_text() != before


@pytest.mark.parametrize("file", ["tls.crt", "tls.key"])
def test_a_renewed_certificate_that_is_unusable_leaves_the_one_before_it_in_service(
    tmp_path: Path, server: WebhookServer, file: str
) -> None:
    def served() -> str:
        return ssl.get_server_certificate(("127.0.0.1", server.port), timeout=5)

    before = served()
    (tmp_path / file).write_text("half a fi")
    assert served() == before
    (tmp_path / file).unlink()
    assert served() == before
    certificate, _ = write_certificate(tmp_path)
    assert served() == certificate.read_text() != before


def test_files_that_are_no_certificate_are_an_option_error(tmp_path: Path) -> None:
    certificate, key = write_certificate(tmp_path)
    with pytest.raises(OptionsError, match="PEM and belong together"):
        WebhookServer("127.0.0.1", 0, key, certificate, WEBHOOKS)


@pytest.mark.control_plane
def test_a_real_api_server_stores_what_the_webhooks_say(
    plane: ControlPlane, namespace: str, start_toy: Callable[..., ChildProcess]
) -> None:
    pair = plane.webhook_pair
    toy = start_toy(
        webhook_port=0, webhook_certificate=str(pair.certificate), webhook_key=str(pair.key)
    )
    toy.wait_ready()
    port = next(line["port"] for line in toy.log("listening") if "/mutate" in line["pages"])
    admin = plane.api()
    registrations = "/apis/admissionregistration.k8s.io/v1"
    paths = []
    for plural, kind, page in (
        ("mutatingwebhookconfigurations", "MutatingWebhookConfiguration", "mutate"),
        ("validatingwebhookconfigurations", "ValidatingWebhookConfiguration", "validate"),
    ):
        webhook = {
            "name": "toy.example.com",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "clientConfig": {
                "url": f"https://127.0.0.1:{port}/{page}",
                "caBundle": base64.b64encode(plane.ca.read_bytes()).decode(),
            },
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "rules": [
                {
                    "operations": ["CREATE", "UPDATE"],
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "resources": ["configmaps"],
                }
            ],
        }
        body = {"kind": kind, "metadata": {"name": namespace}, "webhooks": [webhook]}
        admin.post(f"{registrations}/{plural}", body)
        paths.append(f"{registrations}/{plural}/{namespace}")
    try:
        user = plane.api(users.SCENARIO_USER)
        maps = f"/api/v1/namespaces/{namespace}/configmaps"

        def creator() -> str:
            created = user.post(maps, {"metadata": {"generateName": "a-"}, "data": {}})
            return str((created.get("data") or {}).get("creator", ""))

        assert eventually(creator) == users.SCENARIO_USER.name  # it takes a moment to apply
        with pytest.raises(ApiError, match=r"data\.refuse: is refused") as caught:
            user.post(maps, {"metadata": {"name": "b"}, "data": {"refuse": "me"}})
        assert caught.value.code == 403
    finally:
        for path in paths:
            admin.delete(path)
