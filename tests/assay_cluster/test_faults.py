"""Faults on the way of a program's requests and watch events, and on its process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from kubernetes.client import ApiException, CoreV1Api
from kubernetes.config import new_client_from_config

from conformance.as_tests import AssayCluster, ClaimViolatedError, NotArmedError
from conformance.as_tests.cluster import EndedError, FaultRefused
from conformance.history import History
from tests.assay_cluster.test_plain_client import OPERATOR

StartCluster = Callable[..., AssayCluster]


def as_operator(cluster: AssayCluster) -> CoreV1Api:
    return CoreV1Api(new_client_from_config(str(cluster.operator_kubeconfig)))


def new(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}}


def test_a_refused_write_is_refused_once_and_only_for_the_operator(
    assay_cluster: AssayCluster,
) -> None:
    assay_cluster.inject({"api_error": {"code": 503, "verb": "create", "kind": "ConfigMap"}})
    CoreV1Api(assay_cluster.client).create_namespaced_config_map("default", new("of-user"))
    operator = as_operator(assay_cluster)
    with pytest.raises(ApiException) as refused:
        operator.create_namespaced_config_map("default", new("a"))
    assert refused.value.status == 503
    operator.create_namespaced_config_map("default", new("a"))
    assert [each.action for each in assay_cluster.history.faults] == ["injected"]


def test_a_slow_reply_comes_once_virtual_time_has_passed(assay_cluster: AssayCluster) -> None:
    assay_cluster.inject({"slow_api": {"by": "5s", "verb": "create", "kind": "ConfigMap"}})
    operator = as_operator(assay_cluster)
    done = threading.Event()

    def create() -> None:
        operator.create_namespaced_config_map("default", new("a"))
        done.set()

    thread = threading.Thread(target=create)
    thread.start()
    while assay_cluster.get("ConfigMap", "a") is None:
        assay_cluster.advance("1ms")
    assay_cluster.advance("4s")
    assert not done.is_set()
    assay_cluster.advance("1s")
    thread.join(30)
    assert done.is_set()


def test_a_lost_reply_ends_the_connection_and_the_object_is_there(
    assay_cluster: AssayCluster,
) -> None:
    assay_cluster.inject({"lose_reply": {"verb": "create", "kind": "ConfigMap"}})
    operator = as_operator(assay_cluster)
    with pytest.raises(Exception, match=r"Connection aborted|Remote end closed|AlreadyExists"):
        operator.create_namespaced_config_map("default", new("a"))
    assert assay_cluster.get("ConfigMap", "a") is not None


def watched(cluster: AssayCluster, names: list[str]) -> threading.Thread:
    """A client that is the operator, and notes the names of ConfigMaps as it hears of them."""
    from kubernetes.watch import Watch

    listed = as_operator(cluster).list_namespaced_config_map
    started = threading.Event()

    def follow() -> None:
        version = listed("default").metadata.resource_version
        started.set()
        events = Watch().stream(listed, "default", resource_version=version, timeout_seconds=60)
        for event in events:
            name = event["object"].metadata.name
            names.append(name)

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    started.wait(30)
    cluster.settle()
    return thread


def test_late_watch_events_come_with_virtual_time(assay_cluster: AssayCluster) -> None:
    names: list[str] = []
    watched(assay_cluster, names)
    user = CoreV1Api(assay_cluster.client)
    with assay_cluster.inject({"delay_watch": {"kind": "ConfigMap", "by": "8s"}}):
        user.create_namespaced_config_map("default", new("a"))
        assay_cluster.advance("7s")
        assert names == []
        assay_cluster.advance("1s")
        assert names == ["a"]
    user.create_namespaced_config_map("default", new("b"))
    assay_cluster.settle()
    assert names == ["a", "b"]


def test_a_frozen_watch_tells_all_in_order_once_it_goes_on(assay_cluster: AssayCluster) -> None:
    names: list[str] = []
    watched(assay_cluster, names)
    user = CoreV1Api(assay_cluster.client)
    with assay_cluster.inject({"stale_reads": {"kind": "ConfigMap"}}):
        for name in ("a", "b"):
            user.create_namespaced_config_map("default", new(name))
        assay_cluster.advance("1h")
        assert names == []
    assay_cluster.settle()
    assert names == ["a", "b"]


def backed_up(
    start: StartCluster, program: str, disturb: Callable[[AssayCluster], None] = lambda _: None
) -> AssayCluster:
    """A cluster with a Backup, ten seconds old, and with something that goes wrong before it."""
    cluster = start(crds="backups.yaml")
    cluster.run([sys.executable, program], service_account="default/backup-operator", cwd=".")
    disturb(cluster)
    cluster.load("backup.yaml")
    cluster.advance("10s")
    return cluster


def undisturbed(start: StartCluster, program: str) -> list[History]:
    found = []
    for _ in range(2):
        cluster = backed_up(start, program)
        cluster.judge(armed=["OP-001"])
        found.append(cluster.history)
    return found


def kill(cluster: AssayCluster) -> None:
    cluster.kill(restart_after="5m")


@pytest.mark.slow
def test_an_operator_that_is_killed_ends_where_it_would_have_ended_but_for_its_bug(
    assay_clusters: StartCluster,
) -> None:
    calm = undisturbed(assay_clusters, "backup_operator.py")
    cluster = backed_up(assay_clusters, "backup_operator.py", kill)
    cluster.judge(armed=["OP-001", "OP-003", "OP-017"], undisturbed=calm)
    changes = [e.change for e in cluster.history.processes if e.process == "operator"]
    assert changes == ["started", "killed", "started"]

    calm = undisturbed(assay_clusters, "forgetful_operator.py")
    cluster = backed_up(assay_clusters, "forgetful_operator.py", kill)
    with pytest.raises(ClaimViolatedError, match=r"Job.batch default/nightly is missing"):
        cluster.judge(undisturbed=calm)


def test_what_a_test_did_not_put_to_the_test_fails_it(assay_cluster: AssayCluster) -> None:
    with pytest.raises(NotArmedError, match="OP-003: Never armed"):
        assay_cluster.judge(armed=["OP-003"])
    with pytest.raises(EndedError, match="judge last"):
        assay_cluster.advance("1s")
    with pytest.raises(ValueError, match="'OP-099' is no claim of the suite operator"):
        assay_cluster.judge(armed=["OP-099"])


def test_a_fault_that_cannot_be_injected_fails_the_test(assay_cluster: AssayCluster) -> None:
    with pytest.raises(FaultRefused, match="no process 'postgres' in this cluster; there are"):
        assay_cluster.kill("postgres")
    with pytest.raises(ValueError, match="is not a fault"):
        assay_cluster.inject({"kil": {}})


def test_a_program_without_a_right_violates_its_claim(assay_cluster: AssayCluster) -> None:
    assay_cluster.load("backups.yaml")
    access = {"rules": [{"apiGroups": ["example.dev"], "resources": ["backups"], "verbs": ["*"]}]}
    assay_cluster.inject(
        {
            "edit_object": {
                "kind": "rbac.authorization.k8s.io/v1/ClusterRole",
                "name": "backup-operator",
                "patch": access,
            }
        }
    )
    assay_cluster.run(OPERATOR, service_account="default/backup-operator", cwd=".")
    with pytest.raises(ClaimViolatedError, match=r"operator may not (list|watch) jobs"):
        assay_cluster.judge("operator")


def test_a_program_that_crashes_is_started_again_in_virtual_time(
    assay_cluster: AssayCluster,
) -> None:
    code = (
        "import os, time\n"
        "from kubernetes import client, config, watch\n"
        "config.load_kube_config()\n"
        "core = client.CoreV1Api()\n"
        "for event in watch.Watch().stream(core.list_namespaced_config_map, 'default'):\n"
        "    if event['object'].metadata.name == 'poison':\n"
        "        os._exit(7)\n"
    )
    program = assay_cluster.run([sys.executable, "-c", code])
    CoreV1Api(assay_cluster.client).create_namespaced_config_map("default", new("poison"))
    assay_cluster.advance("15s")
    ends = [each for each in assay_cluster.history.processes if each.change == "ended"]
    # The first time it starts again at once, the second time after ten seconds.
    assert [each.t // 1_000_000 for each in ends] == [0, 0, 10]
    assert program.output == ""
    CoreV1Api(assay_cluster.client).delete_namespaced_config_map("poison", "default")
    with pytest.raises(ClaimViolatedError, match="OP-013"):
        assay_cluster.judge("operator")
