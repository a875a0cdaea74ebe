"""The served cluster over plain HTTP."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from typing import Any

import pytest

from clusters.simulated.serve.handler import HttpHandler
from clusters.simulated.serve.server import ServedCluster, serve
from tests.simulated_api.cluster import WIDGET, WIDGET_SCHEMA, Cluster, config_map, job, widget
from tests.simulated_api.served import TOKEN, ask
from vocabulary.kinds import CONFIG_MAP, JOB


class TestHttp:
    def test_nobody_is_let_in_without_the_token(self, served: ServedCluster) -> None:
        code, status = ask(served, "/api/v1/pods", token="another")
        assert (code, status["reason"]) == (401, "Unauthorized")
        with urllib.request.urlopen(f"{served.url}/readyz", timeout=10) as answer:
            assert answer.read() == b"ok"

    def test_each_token_acts_under_its_own_name(self, cluster: Cluster) -> None:
        with serve(cluster, token=TOKEN, actors={"op": "operator"}, tls=False) as served:
            path = "/api/v1/namespaces/default/configmaps"
            assert ask(served, path, "POST", config_map("a"))[0] == 201
            assert ask(served, path, "POST", config_map("b"), token="op")[0] == 201
        assert [entry.actor for entry in cluster.recorder.entries] == ["user", "operator"]  # type: ignore[union-attr]

    def test_a_server_without_any_token_does_not_start(self, cluster: Cluster) -> None:
        with pytest.raises(ValueError, match="needs a token"):
            serve(cluster)

    def test_no_response_waits_for_an_acknowledgement(
        self, served: ServedCluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        delays: list[int] = []
        answer = HttpHandler.handle_one_request

        def noted(handler: HttpHandler) -> None:
            connection = handler.connection
            delays.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            answer(handler)

        monkeypatch.setattr(HttpHandler, "handle_one_request", noted)
        assert ask(served, "/api/v1/pods")[0] == 200
        assert delays and all(delays), "small segments are sent at once"

    def test_only_loopback_is_listened_on(self, served: ServedCluster) -> None:
        assert served.url.startswith("http://127.0.0.1:")

    @pytest.mark.parametrize(
        ("path", "code", "message"),
        [
            ("/api/v1/namespaces/default/things", 404, "could not find the requested resource"),
            ("/api/v1/namespaces/default/pods/p/attach", 404, "could not find"),
            ("/api/v1/namespaces/default/pods/p", 404, 'pods "p" not found'),
            ("/api/v1/pods?fieldSelector=spec.x%3Dy", 400, "field label not supported: spec.x"),
            ("/api/v1/pods?limit=many", 400, 'strconv.ParseInt: parsing "many"'),
        ],
    )
    def test_a_refusal_is_a_status(
        self, served: ServedCluster, path: str, code: int, message: str
    ) -> None:
        answered, status = ask(served, path)
        assert (answered, status["kind"], status["code"]) == (code, "Status", code)
        assert message in status["message"]

    def test_an_api_that_is_not_served_is_no_status(self, served: ServedCluster) -> None:
        assert ask(served, "/apis/no.where/v1/things") == (404, "404 page not found\n")

    def test_a_version_of_a_custom_kind_that_is_not_served_is_told_with_those_that_are(
        self, widgets: Cluster, served: ServedCluster
    ) -> None:
        made = {**widget("w"), "apiVersion": f"{WIDGET.group}/v9"}
        path = f"/apis/{WIDGET.group}/v9/namespaces/default/{WIDGET.plural}"
        code, status = ask(served, path, "POST", made)
        assert (code, status["message"].partition(": ")[2]) == (
            404,
            f"it serves no {WIDGET.kind} of {WIDGET.group}/v9; write apiVersion: "
            f"{WIDGET.api_version}",
        )

    @pytest.mark.parametrize(
        ("method", "path", "code"),
        [
            ("POST", "/api/v1/namespaces/default/configmaps/c", 405),
            ("PUT", "/api/v1/namespaces/default/configmaps", 405),
        ],
    )
    def test_a_method_that_makes_no_sense_is_not_allowed(
        self, served: ServedCluster, method: str, path: str, code: int
    ) -> None:
        assert ask(served, path, method, config_map())[0] == code

    def test_items_of_a_built_in_list_do_not_repeat_their_kind(
        self, cluster: Cluster, served: ServedCluster
    ) -> None:
        cluster.create(config_map(), CONFIG_MAP)
        _, listed = ask(served, "/api/v1/namespaces/default/configmaps")
        assert listed["kind"] == "ConfigMapList"
        assert "kind" not in listed["items"][0]

    def test_a_deletion_answers_a_status_unless_the_object_stays(
        self, cluster: Cluster, served: ServedCluster
    ) -> None:
        cluster.create(config_map("a"), CONFIG_MAP)
        held = cluster.create(config_map("b", finalizers=["x.y/hold"]), CONFIG_MAP)
        path = "/api/v1/namespaces/default/configmaps"
        _, gone = ask(served, f"{path}/a", "DELETE")
        assert (gone["kind"], gone["status"]) == ("Status", "Success")
        assert gone["details"]["kind"] == "configmaps"
        _, stays = ask(served, f"{path}/b", "DELETE")
        assert stays["metadata"]["uid"] == held["metadata"]["uid"]

    def test_the_openapi_document_of_a_group_has_the_schema_of_its_custom_resources(
        self, widgets: Cluster, served: ServedCluster
    ) -> None:
        found = ask(served, "/openapi/v3")[1]["paths"]["apis/test.assay.dev/v1"]
        document = ask(served, found["serverRelativeURL"])[1]
        schema = document["components"]["schemas"]["dev.assay.test.v1.Widget"]
        assert schema["properties"]["spec"] == WIDGET_SCHEMA["properties"]["spec"]
        assert {"apiVersion", "kind", "metadata"} <= schema["properties"].keys()
        (named,) = schema["x-kubernetes-group-version-kind"]
        assert named == {"group": "test.assay.dev", "version": "v1", "kind": "Widget"}

    def test_warnings_and_the_time_to_ask_again_are_headers(self, served: ServedCluster) -> None:
        path = f"{served.url}/api/v1/namespaces/default/configmaps"
        body = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{},"data":{}}'
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        request = urllib.request.Request(path, body, headers, method="POST")
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.headers["Warning"] == '299 - "duplicate field \\"data\\""'
        request = urllib.request.Request(f"{path}?resourceVersion=999999999999", headers=headers)
        with pytest.raises(urllib.error.HTTPError) as refusal:
            urllib.request.urlopen(request, timeout=10)
        assert (refusal.value.code, refusal.value.headers["Retry-After"]) == (504, "1")

    def test_objects_tell_their_managers_alone_in_lists_and_in_watches(
        self, served: ServedCluster
    ) -> None:
        path = "/api/v1/namespaces/default/configmaps"
        ask(served, f"{path}?fieldManager=one", "POST", config_map("a"))
        _, read = ask(served, f"{path}/a")
        [entry] = read["metadata"]["managedFields"]
        assert (entry["manager"], entry["operation"]) == ("one", "Update")
        assert entry["fieldsV1"] == {"f:data": {".": {}, "f:key": {}}}
        _, written = ask(served, f"{path}/a", "PUT", read)
        assert written["metadata"]["resourceVersion"] == read["metadata"]["resourceVersion"]
        _, listed = ask(served, path)
        assert [item["metadata"]["managedFields"] for item in listed["items"]] == [[entry]]
        metadata_alone = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
        _, listed = ask(served, path, accept=metadata_alone)
        assert [item["metadata"]["managedFields"] for item in listed["items"]] == [[entry]]
        request = urllib.request.Request(
            f"{served.url}{path}?watch=true&timeoutSeconds=1",
            headers={"Authorization": f"Bearer {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            (event,) = map(json.loads, answer)
        assert event["object"]["metadata"]["managedFields"] == [entry]

    def test_a_table_shows_what_kubectl_would_print(
        self, cluster: Cluster, served: ServedCluster
    ) -> None:
        cluster.create(job(), JOB)
        accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
        ask(served, "/assay/clock", "POST", {"advance": "95s"})
        _, table = ask(served, "/apis/batch/v1/namespaces/default/jobs", accept=accept)
        titles = [column["name"] for column in table["columnDefinitions"]]
        shown = dict(zip(titles, table["rows"][0]["cells"], strict=True))
        assert shown.pop("Selector").startswith("batch.kubernetes.io/controller-uid=")
        assert shown == {
            "Name": "j",
            "Status": "Running",
            "Completions": "0/1",
            "Duration": "",
            "Age": "95s",
            "Containers": "m",
            "Images": "x:1",
        }
        assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"

    def test_a_custom_resource_is_printed_by_its_own_columns(
        self, widgets: Cluster, served: ServedCluster
    ) -> None:
        widgets.create(widget(), WIDGET)
        accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
        path = "/apis/test.assay.dev/v1/namespaces/default/widgets"
        _, table = ask(served, path, accept=accept)
        assert [column["name"] for column in table["columnDefinitions"]] == [
            "Name",
            "Size",
            "Phase",
        ]
        assert table["rows"][0]["cells"] == ["w", 1, None]

    def test_time_stands_still_until_it_is_told_to_move(
        self, cluster: Cluster, served: ServedCluster
    ) -> None:
        rung: list[int] = []
        cluster.loop.call_later(60_000_000, rung.append, 1)
        assert ask(served, "/assay/clock")[1] == {
            "now": "2026-01-01T00:00:00.000000Z",
            "mode": "advanced",
        }
        code, moved = ask(served, "/assay/clock", "POST", {"advance": "90s"})
        assert (code, moved["now"]) == (200, "2026-01-01T00:01:30.000000Z")
        assert rung == [1]

    @pytest.mark.parametrize("body", [{}, {"advance": "soon"}, {"advance": "-1s"}, []])
    def test_a_clock_that_cannot_be_moved_that_way_says_how(
        self, served: ServedCluster, body: Any
    ) -> None:
        code, status = ask(served, "/assay/clock", "POST", body)
        assert (code, status["reason"]) == (400, "BadRequest")

    def test_a_watch_ends_when_its_time_is_over(
        self, cluster: Cluster, served: ServedCluster
    ) -> None:
        cluster.create(config_map(), CONFIG_MAP)
        path = "/api/v1/namespaces/default/configmaps?watch=true&timeoutSeconds=1"
        request = urllib.request.Request(
            served.url + path, headers={"Authorization": f"Bearer {TOKEN}"}
        )
        with urllib.request.urlopen(request, timeout=10) as stream:
            events = [json.loads(line) for line in stream]
        assert [(event["type"], event["object"]["metadata"]["name"]) for event in events] == [
            ("ADDED", "c")
        ]

    @pytest.mark.parametrize(
        ("options", "code"),
        [
            ("continue=x&resourceVersion=1", 200),
            ("continue=x&resourceVersion=0", 422),
            ("continue=x", 422),
            ("resourceVersion=0", 200),
        ],
    )
    def test_a_watch_that_begins_with_all_objects_takes_no_token_of_a_page(
        self, cluster: Cluster, served: ServedCluster, options: str, code: int
    ) -> None:
        path = f"/api/v1/namespaces/default/configmaps?watch=true&timeoutSeconds=1&{options}"
        request = urllib.request.Request(
            served.url + path, headers={"Authorization": f"Bearer {TOKEN}"}
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as stream:
                assert (stream.status, stream.read()) == (code, b"")
        except urllib.error.HTTPError as refusal:
            assert refusal.code == code
            assert "forbidden when continue is provided" in json.load(refusal)["message"]

    def test_a_watch_from_a_forgotten_version_is_told_so(
        self, cluster: Cluster, served: ServedCluster
    ) -> None:
        cluster.create(config_map(), CONFIG_MAP)
        cluster.store.compact()
        path = "/api/v1/configmaps?watch=true&resourceVersion=1"
        code, event = ask(served, path)
        assert (code, event["type"], event["object"]["code"]) == (200, "ERROR", 410)
