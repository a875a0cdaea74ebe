"""Clients of a served cluster that act as other users, over HTTP."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from clusters.simulated.cluster import SimulatedCluster
from clusters.simulated.serve.server import ServedCluster, serve
from tests.simulated_api.cluster import Cluster, config_map, job
from tests.simulated_api.served import TOKEN, ask
from vocabulary import history

MAPS = "/api/v1/namespaces/default/configmaps"
JANE = {"Impersonate-User": "jane"}
MASTER = {**JANE, "Impersonate-Group": "system:masters"}
RIGHTS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def _as(
    served: ServedCluster, sent: dict[str, str], path: str, body: Any = None
) -> tuple[int, dict[str, Any]]:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **sent}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(served.url + path, data, headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


@pytest.mark.parametrize(("sent", "allowed"), [({}, True), (JANE, False), (MASTER, True)])
def test_rights_are_those_of_the_impersonated_user(
    served: ServedCluster, sent: dict[str, str], allowed: bool
) -> None:
    asked = {"resourceAttributes": {"namespace": "default", "verb": "get", "resource": "pods"}}
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": asked,
    }
    code, review = _as(served, sent, RIGHTS, body)
    assert (code, review["status"]["allowed"]) == (201, allowed)


@pytest.mark.parametrize("path", [MAPS, f"{MAPS}?watch=1", f"{MAPS}/a", "/assay/clock"])
def test_a_user_without_rights_reads_nothing(served: ServedCluster, path: str) -> None:
    code, status = _as(served, JANE, path)
    assert (code, status["reason"]) == (403, "Forbidden")
    assert 'User "jane" cannot ' in status["message"]


def test_the_history_has_the_user_that_a_write_was_made_as(
    cluster: Cluster, served: ServedCluster
) -> None:
    assert _as(served, MASTER, MAPS, config_map("a"))[0] == 201
    assert _as(served, JANE, MAPS, config_map("b"))[0] == 403
    assert _as(served, {}, MAPS, config_map("c"))[0] == 201
    writes = [entry for entry in cluster.recorder.entries if isinstance(entry, history.Write)]
    told = [(write.actor, write.code) for write in writes]
    assert told == [("jane", 201), ("jane", 403), ("user", 201)]


def test_whoever_acts_by_the_name_of_a_controller_leaves_it_its_rights() -> None:
    with serve(SimulatedCluster(0), token=TOKEN, clock="advanced", tls=False) as served:
        jobs = "/apis/batch/v1/namespaces/default/jobs"
        for name in ("job-controller", "user", "kube-scheduler", "harness"):
            assert _as(served, {"Impersonate-User": name}, jobs)[0] == 403
        assert ask(served, jobs, "POST", job())[0] == 201
        ask(served, "/assay/clock", "POST", {"advance": "5s"})
        (pod,) = ask(served, "/api/v1/namespaces/default/pods")[1]["items"]
        assert pod["status"]["phase"] == "Running"


@pytest.mark.parametrize(
    "sent", [{"Impersonate-Group": "a"}, {"impersonate-uid": "u"}, {"Impersonate-Extra-A": "b"}]
)
def test_impersonation_without_a_user_is_refused(
    served: ServedCluster, sent: dict[str, str]
) -> None:
    code, status = _as(served, sent, MAPS)
    assert (code, status["reason"]) == (400, "BadRequest")
    assert status["message"].endswith("without impersonating a user name")


def test_names_are_read_as_utf_8(served: ServedCluster) -> None:
    code, status = _as(served, {"Impersonate-User": "jürgen".encode().decode("latin-1")}, MAPS)
    assert (code, 'User "jürgen" cannot list' in status["message"]) == (403, True)
