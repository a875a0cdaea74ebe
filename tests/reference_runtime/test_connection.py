"""The connection to a real API server: identities, errors, hangs, watches, discovery."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from clusters.control_plane import ControlPlane, users
from reference_controller.runtime import connection as connection_module
from reference_controller.runtime.connection import Connection, connect
from reference_controller.runtime.discovery import Discovery
from reference_controller.runtime.options import OptionsError
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP, NAMESPACE, Kind, kind_of
from vocabulary.objects import name_of
from vocabulary.requests import Create, Delete, Get, List, ObjectList, Patch, Update

from .toy import config_map


def connected(kubeconfig: Path | None, timeout_us: int = 5 * SECOND) -> Connection:
    return connect(kubeconfig, None, user_agent="test", timeout_us=timeout_us, pool_size=4)


@pytest.fixture
def connection(plane: ControlPlane) -> Iterator[Connection]:
    opened = connected(plane.kubeconfig(users.ADMIN))
    yield opened
    opened.close()


def in_namespace(namespace: str, name: str, data: dict[str, str]) -> dict[str, object]:
    obj = config_map(name, data)
    return {**obj, "metadata": {**obj["metadata"], "namespace": namespace}}


@pytest.mark.control_plane
def test_every_kind_of_request_does_what_it_says(connection: Connection, namespace: str) -> None:
    made = connection.handle(
        Create(CONFIG_MAP, in_namespace(namespace, "a", {"k": "1"}), namespace, "a")
    )
    assert not isinstance(made, ObjectList)
    assert connection.handle(Get(CONFIG_MAP, namespace, "a")) == made
    updated = connection.handle(Update(CONFIG_MAP, {**made, "data": {"k": "2"}}))
    assert not isinstance(updated, ObjectList)
    with pytest.raises(ApiError) as stale:
        connection.handle(Update(CONFIG_MAP, {**made, "data": {"k": "3"}}))
    assert stale.value.is_conflict
    for patch_type, body in (
        ("merge", {"data": {"k": "4"}}),
        ("strategic", {"data": {"k": "5"}}),
        ("json", [{"op": "replace", "path": "/data/k", "value": "6"}]),
    ):
        patched = connection.handle(Patch(CONFIG_MAP, namespace, "a", body, patch_type))  # type: ignore[arg-type]
        assert not isinstance(patched, ObjectList)
    assert patched["data"] == {"k": "6"}
    applied = in_namespace(namespace, "b", {"k": "7"})
    connection.handle(
        Patch(CONFIG_MAP, namespace, "b", applied, "apply", field_manager="m", force=True)
    )
    listed = connection.handle(List(CONFIG_MAP, namespace, limit=1))
    assert isinstance(listed, ObjectList)
    assert [name_of(item) for item in listed.items] == ["a"]
    assert (listed.items[0]["kind"], listed.remaining_item_count) == ("ConfigMap", 1)
    with pytest.raises(ApiError) as mistaken:
        connection.handle(Delete(CONFIG_MAP, namespace, "a", uid="another"))
    assert mistaken.value.is_conflict
    connection.handle(Delete(CONFIG_MAP, namespace, "a"))
    with pytest.raises(ApiError) as gone:
        connection.handle(Get(CONFIG_MAP, namespace, "a"))
    assert gone.value.is_not_found


@pytest.mark.control_plane
def test_a_server_that_hangs_is_no_answer_after_the_timeout(
    plane: ControlPlane, connection: Connection
) -> None:
    impatient = connected(plane.kubeconfig(users.ADMIN), timeout_us=SECOND // 2)
    impatient.handle(Get(NAMESPACE, "", "default"))
    plane.pause("kube-apiserver")
    try:
        with pytest.raises(ApiError) as hung:
            impatient.handle(Get(NAMESPACE, "", "default"))
        assert hung.value.code == 0
    finally:
        plane.resume("kube-apiserver")
    impatient.handle(Get(NAMESPACE, "", "default"))


@pytest.mark.control_plane
def test_a_watch_shows_changes_and_ends_when_another_thread_closes_it(
    connection: Connection, namespace: str
) -> None:
    listed = connection.handle(List(CONFIG_MAP, namespace))
    assert isinstance(listed, ObjectList)
    stream = connection.open_watch(CONFIG_MAP, namespace, listed.resource_version, 60)
    connection.handle(Create(CONFIG_MAP, in_namespace(namespace, "a", {}), namespace, "a"))
    seen: list[tuple[str, str]] = []

    def read() -> None:
        try:
            for event, obj in stream:
                seen.append((event, name_of(obj)))
        except ApiError as error:
            assert error.code == 0

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    deadline = time.monotonic() + 60
    while not seen and time.monotonic() < deadline:
        time.sleep(0.01)
    stream.close()
    reader.join(60)
    assert not reader.is_alive()
    assert seen == [("ADDED", "a")]


@pytest.mark.control_plane
def test_a_watch_from_what_is_no_revision_is_refused(
    connection: Connection, namespace: str
) -> None:
    with pytest.raises(ApiError):
        for event, obj in connection.open_watch(CONFIG_MAP, namespace, "x", 1):
            pytest.fail(f"unexpected {event} {obj}")


@pytest.mark.control_plane
@pytest.mark.parametrize(
    ("api_version", "kind", "plural", "namespaced"),
    [
        ("v1", "Endpoints", "endpoints", True),
        ("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", True),
        ("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", False),
    ],
)
def test_discovery_knows_plural_and_scope_where_convention_fails(
    connection: Connection, api_version: str, kind: str, plural: str, namespaced: bool
) -> None:
    guessed = kind_of({"apiVersion": api_version, "kind": kind})
    request = Discovery(connection).resolve(List(guessed))
    assert (request.kind.plural, request.kind.namespaced) == (plural, namespaced)
    assert isinstance(connection.handle(request), ObjectList)


@pytest.mark.control_plane
@pytest.mark.parametrize("group", ["absent.example.com", "batch"])
def test_discovery_refuses_a_kind_that_is_not_served(connection: Connection, group: str) -> None:
    discovery = Discovery(connection)
    for _ in range(2):
        with pytest.raises(ApiError) as unknown:
            discovery.resolve(Get(Kind(group, "v1", "Thing", "things"), "ns", "a"))
        assert unknown.value.is_not_found


@pytest.mark.control_plane
def test_in_a_pod_it_uses_the_service_account_and_knows_its_namespace(
    plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def token(user: users.User) -> str:
        config = yaml.safe_load(plane.kubeconfig(user).read_text())
        return str(config["users"][0]["user"]["token"])

    (tmp_path / "token").write_text(token(users.SCENARIO_USER))
    (tmp_path / "namespace").write_text("operators\n")
    address = urlsplit(plane.server)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", str(address.hostname))
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(address.port))
    (tmp_path / "ca.crt").write_bytes(plane.ca.read_bytes())
    monkeypatch.setattr(connection_module, "SERVICE_ACCOUNT", tmp_path)
    opened = connected(None)
    assert opened.server == plane.server
    assert who(opened) == users.SCENARIO_USER.name
    assert connection_module.own_namespace() == "operators"


def who(connection: Connection) -> str:
    """The name under which the API server knows the connection."""
    kind = Kind("authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", False)
    review = {"apiVersion": kind.api_version, "kind": kind.kind}
    answer = connection.handle(Create(kind, review))
    assert not isinstance(answer, ObjectList)
    return str(answer["status"]["userInfo"]["username"])


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"kind": "Config", "contexts": []}),
        json.dumps({"kind": "Config", "contexts": 5, "current-context": "x"}),
        "not a kubeconfig",
        "- 1",
        "",
    ],
)
def test_a_kubeconfig_that_is_none_is_an_option_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    with pytest.raises(OptionsError, match=r"--kubeconfig:.*; give the path of a kubeconfig"):
        connected(path)


def test_nobody_listening_is_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    cluster = {"server": "https://127.0.0.1:1"}
    config = {
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path.write_text(json.dumps(config))
    with pytest.raises(ApiError, match="GET /api/v1/namespaces/default") as refused:
        connected(path).handle(Get(NAMESPACE, "", "default"))
    assert refused.value.code == 0
