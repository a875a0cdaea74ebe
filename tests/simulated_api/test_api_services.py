"""APIServices over HTTP."""

from __future__ import annotations

from clusters.simulated.serve.server import ServedCluster
from tests.simulated_api.served import ask

PATH = "/apis/apiregistration.k8s.io/v1/apiservices"
REMOTE = {
    "apiVersion": "apiregistration.k8s.io/v1",
    "kind": "APIService",
    "metadata": {"name": "v1.remote.assay.dev"},
    "spec": {
        "group": "remote.assay.dev",
        "version": "v1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "service": {"name": "s", "namespace": "default"},
    },
}


def test_local_ones_are_stored_for_those_who_ask(served: ServedCluster) -> None:
    revision = served.api.store.revision
    ask(served, "/apis")
    ask(served, "/api/v1/pods")
    assert served.api.store.revision == revision
    _, listed = ask(served, PATH)
    names = {item["metadata"]["name"] for item in listed["items"]}
    assert {"v1.", "v1.apps", "v1.events.k8s.io"} <= names
    _, again = ask(served, PATH)
    assert again["metadata"]["resourceVersion"] == listed["metadata"]["resourceVersion"]


def test_requests_for_another_server_are_refused(served: ServedCluster) -> None:
    things = "/apis/remote.assay.dev/v1/things"
    assert ask(served, things) == (404, "404 page not found\n")
    assert ask(served, PATH, "POST", REMOTE)[0] == 201
    assert ask(served, things) == (503, "service unavailable\n")
    assert ask(served, f"{PATH}/v1.remote.assay.dev", "DELETE")[0] == 200
    assert ask(served, things) == (404, "404 page not found\n")
