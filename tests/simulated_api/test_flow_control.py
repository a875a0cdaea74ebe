"""API priority and fairness: the headers of responses, and the objects that they name."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from typing import Any

import pytest

from clusters.simulated.access.rules import Attributes
from clusters.simulated.access.users import NODES, SERVICE_ACCOUNTS, User, service_account
from clusters.simulated.cluster import SimulatedCluster
from clusters.simulated.controllers.settings import Settings
from clusters.simulated.flow_control import FLOW_SCHEMA, PRIORITY_LEVEL, flow_of, found_at_start
from clusters.simulated.serve.server import ServedCluster, serve
from clusters.simulated.store import Key, Store
from tests.simulated_api.served import TOKEN, ask

SCHEMA_HEADER = "X-Kubernetes-PF-FlowSchema-UID"
LEVEL_HEADER = "X-Kubernetes-PF-PriorityLevel-UID"
SCHEMAS = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
LEVELS = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"
LEASES = Attributes("update", "coordination.k8s.io", "leases", "kube-system", "a")
PODS = Attributes("list", "", "pods", "default")


@pytest.fixture
def cluster() -> SimulatedCluster:
    return SimulatedCluster(1, nodes=0, settings=Settings(every_kind=True))


@pytest.fixture
def served(cluster: SimulatedCluster) -> Iterator[ServedCluster]:
    with serve(cluster, token=TOKEN, clock="advanced", tls=False) as running:
        yield running


def headers(
    served: ServedCluster, path: str, method: str = "GET", token: str = TOKEN, **sent: str
) -> tuple[str | None, str | None]:
    """The uids that a response names."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    connection.request(method, path, headers={"Authorization": f"Bearer {token}", **sent})
    response = connection.getresponse()
    found = response.headers.get(SCHEMA_HEADER), response.headers.get(LEVEL_HEADER)
    connection.close()
    return found


def uids(served: ServedCluster, schema: str, level: str) -> tuple[str, str]:
    """The uids of a FlowSchema and a PriorityLevelConfiguration as they are served."""
    found = [ask(served, f"{SCHEMAS}/{schema}")[1], ask(served, f"{LEVELS}/{level}")[1]]
    return found[0]["metadata"]["uid"], found[1]["metadata"]["uid"]


def test_every_response_names_the_flow_of_its_client(served: ServedCluster) -> None:
    exempt = uids(served, "exempt", "exempt")
    paths = (
        "/api/v1/pods",
        "/api/v1/pods?watch=1&timeoutSeconds=1",
        "/apis",
        "/nothing",
        "/version",
    )
    assert {headers(served, path) for path in paths} == {exempt}
    assert headers(served, "/api/v1/namespaces/default/configmaps/none", "DELETE") == exempt
    assert headers(served, "/readyz") == uids(served, "probes", "exempt")


def test_no_response_names_one_before_its_client_is_known(served: ServedCluster) -> None:
    assert headers(served, "/api/v1/pods", token="another") == (None, None)


def test_a_request_as_another_user_has_that_users_flow(served: ServedCluster) -> None:
    account = {"Impersonate-User": "system:serviceaccount:default:a"}
    wanted = uids(served, "service-accounts", "workload-low")
    assert headers(served, "/api/v1/pods", **account) == wanted


def test_what_is_there_from_the_start_shifts_no_revision(served: ServedCluster) -> None:
    plain = SimulatedCluster(1, nodes=0)
    assert len(list(served.api.store.of_kind(FLOW_SCHEMA))) == 11
    assert served.api.store.revision == plain.store.revision


def test_a_cluster_without_flow_schemas_names_none() -> None:
    with serve(SimulatedCluster(1, nodes=0), token=TOKEN, tls=False) as running:
        assert headers(running, "/api/v1/pods") == (None, None)


def test_a_schema_of_a_clients_own_is_matched_by_its_precedence(served: ServedCluster) -> None:
    subject = {"kind": "User", "user": {"name": "*"}}
    named = {"verbs": ["list"], "apiGroups": [""], "resources": ["pods"], "namespaces": ["other"]}
    spec: dict[str, Any] = {
        "matchingPrecedence": 1,
        "priorityLevelConfiguration": {"name": "system"},
        "rules": [{"subjects": [subject], "resourceRules": [named]}],
    }
    own = {
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
        "kind": "FlowSchema",
        "metadata": {"name": "a-first"},
        "spec": spec,
    }
    code, created = ask(served, SCHEMAS, "POST", own)
    assert code == 201
    assert headers(served, "/api/v1/namespaces/other/pods")[0] == created["metadata"]["uid"]
    assert headers(served, "/api/v1/pods") == uids(served, "exempt", "exempt")
    created["spec"]["priorityLevelConfiguration"]["name"] = "none"
    assert ask(served, f"{SCHEMAS}/a-first", "PUT", created)[0] == 200
    assert headers(served, "/api/v1/namespaces/other/pods") == uids(served, "exempt", "exempt")


@pytest.mark.parametrize(
    ("user", "asked", "schema", "level"),
    [
        (User("system:kube-scheduler"), LEASES, "system-leader-election", "leader-election"),
        (User("system:kube-scheduler"), PODS, "kube-scheduler", "workload-high"),
        (
            User("system:node:a", (NODES,)),
            Attributes("get", "", "nodes"),
            "system-node-high",
            "node-high",
        ),
        (User("system:node:a", (NODES,)), PODS, "system-nodes", "system"),
        (
            service_account("kube-system", "a"),
            PODS,
            "kube-system-service-accounts",
            "workload-high",
        ),
        (service_account("kube-systems", "a"), PODS, "service-accounts", "workload-low"),
        (
            User("system:anonymous", ("system:unauthenticated",)),
            PODS,
            "global-default",
            "global-default",
        ),
        (
            User("a", ("system:authenticated",)),
            Attributes("get", path="/livez/ping"),
            "probes",
            "exempt",
        ),
        (
            User("a", ("system:authenticated",)),
            Attributes("get", path="/livezz"),
            "global-default",
            "global-default",
        ),
    ],
)
def test_users_have_the_flows_of_a_real_server(
    user: User, asked: Attributes, schema: str, level: str
) -> None:
    store = Store()
    for key, obj in found_at_start("2026-01-01T00:00:00Z"):
        store.found(key, obj)
    named = [store.get(Key(FLOW_SCHEMA, "", schema)), store.get(Key(PRIORITY_LEVEL, "", level))]
    assert flow_of(store, user, asked) == tuple(obj["metadata"]["uid"] for obj in named if obj)


def test_a_user_whom_no_schema_names_has_no_flow() -> None:
    assert flow_of(Store(), User("a", (SERVICE_ACCOUNTS,)), PODS) is None
