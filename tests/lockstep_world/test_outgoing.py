"""Calls to other machines are answered by the harness and recorded."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from clusters.simulated.cluster import SimulatedCluster
from clusters.simulated.serve.requests import Call
from conformance.implementations.under_test import DeclaredAnswer, UnderTest
from conformance.scenarios import SCENARIOS
from conformance.worlds.lockstep.outgoing import Outgoing
from conformance.worlds.simulated.world import SimulatedWorld
from tests.headers import header_of
from tests.lockstep_world.lockstep_run import NAME, LockstepRun, Program, lockstep_run
from vocabulary.clock import HOUR, MINUTE, SECOND
from vocabulary.errors import ApiError
from vocabulary.history import (
    Entry,
    Mark,
    OperatorFacts,
    OutgoingCall,
    read_history,
    write_history,
)
from vocabulary.kinds import CONFIG_MAP, POD, SERVICE
from vocabulary.objects import Object
from vocabulary.requests import Create, Update

pytestmark = pytest.mark.slow

PORT = 8265


def calls_of(run: LockstepRun) -> list[tuple[str, str, str, str]]:
    return [
        (each.process, each.protocol, each.to, each.answer)
        for each in run.entries
        if isinstance(each, OutgoingCall)
    ]


def create_service(run: LockstepRun, name: str, **spec: object) -> Object:
    manifest = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"app": name}, "ports": [{"port": PORT}], **spec},
    }
    created: Object = run.cluster.api.handle(Create(SERVICE, manifest, "default", name), "user")
    return created


def create_ready_pod(run: LockstepRun, app: str, address: str) -> None:
    api = run.cluster.api
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": app, "namespace": "default", "labels": {"app": app}},
        "spec": {"hostname": "head", "containers": [{"name": "a", "image": "a"}]},
    }
    pod = api.handle(Create(POD, manifest, "default", app), "user")
    ready = {"conditions": [{"type": "Ready", "status": "True"}], "podIP": address}
    api.handle(Update(POD, {**pod, "status": ready}, "status"), "user")


def test_a_service_that_is_missing_is_no_host(operator: Path, tmp_path: Path) -> None:
    runs: list[tuple[Entry, ...]] = []
    for _ in range(2):
        with lockstep_run(operator, "1s") as run:
            run.ask("call-a-head-svc.default.svc")
            run.run_for(HOUR)
            assert calls_of(run) == [(NAME, "dns", "a-head-svc.default.svc", "no such host")]
            runs.append(run.entries)
    assert runs[0] == runs[1]
    header = header_of(implementation="mine")
    write_history(tmp_path / "history.jsonl.gz", header, runs[0])
    assert read_history(tmp_path / "history.jsonl.gz").entries == list(runs[0])


@pytest.mark.parametrize(
    "spelled", ["a", "a.default", "a.default.svc", "a.default.svc.cluster.local"]
)
def test_the_address_of_a_service_is_found_and_refuses_connections(
    operator: Path, spelled: str
) -> None:
    with lockstep_run(operator, "1s") as run:
        address = create_service(run, "a")["spec"]["clusterIP"]
        run.ask(f"call-{spelled}")
        run.run_for(MINUTE)
        assert calls_of(run) == [
            (NAME, "dns", spelled, address),
            (NAME, "tcp", f"{address}:{PORT}", "connection refused"),
        ]


@pytest.mark.parametrize(
    ("cluster_ip", "is_ready", "answers"),
    [
        ("10.96.0.77", True, [("http", f"GET http://a.default:{PORT}/api/jobs/", "200")]),
        ("None", True, [("http", f"GET http://a.default:{PORT}/api/jobs/", "200")]),
        ("10.96.0.77", False, [("tcp", f"10.96.0.77:{PORT}", "connection refused")]),
    ],
)
def test_ready_pods_of_a_service_answer_as_the_profile_declares(
    operator: Path,
    monkeypatch: pytest.MonkeyPatch,
    cluster_ip: str,
    is_ready: bool,
    answers: list[tuple[str, str, str]],
) -> None:
    declared = (
        DeclaredAnswer(service="b.*:*", path="*", status=500, body=""),
        DeclaredAnswer(service=f"a.default:{PORT}", path="/api/*", status=200, body="[]"),
    )
    monkeypatch.setattr(Program, "answers", declared)
    with lockstep_run(operator, "1s") as run:
        create_service(run, "a", clusterIP=cluster_ip)
        if is_ready:
            create_ready_pod(run, "a", "10.244.0.7")
        run.ask("call-a.default.svc")
        run.run_for(MINUTE)
        called = [(protocol, to, answer) for _, protocol, to, answer in calls_of(run)]
        goes_on = bool(run.answered_after())
    assert called[1:] == answers
    assert goes_on is is_ready


@pytest.mark.parametrize(
    ("target", "is_ready", "called"),
    [
        (f"services.a.{PORT}", True, ("http", f"GET http://a.default:{PORT}/api/jobs/", "200")),
        ("services.a", True, ("http", f"GET http://a.default:{PORT}/api/jobs/", "200")),
        (f"pods.a.{PORT}", True, ("http", f"GET http://a.default:{PORT}/api/jobs/", "200")),
        ("pods.a.81", True, ("tcp", "10.244.0.7:81", "connection refused")),
        # What the proxy itself refuses reaches nobody.
        ("services.a.81", True, None),
        ("services.a", False, None),
        ("services.b", True, None),
    ],
)
def test_the_proxy_of_the_api_server_leads_to_the_same_answers(
    operator: Path,
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    is_ready: bool,
    called: tuple[str, str, str] | None,
) -> None:
    answer = DeclaredAnswer(service=f"a.default:{PORT}", path="/api/*", status=200, body="[]")
    monkeypatch.setattr(Program, "answers", (answer,))
    with lockstep_run(operator, "1s") as run:
        create_service(run, "a")
        if is_ready:
            create_ready_pod(run, "a", "10.244.0.7")
        run.ask(f"proxy-{target}")
        run.run_for(MINUTE)
        calls = [(protocol, to, code) for _, protocol, to, code in calls_of(run)]
        goes_on = bool(run.answered_after())
    assert calls == ([called] if called else [])
    assert goes_on is (called is not None and called[-1] == "200")


@pytest.mark.parametrize(
    ("target", "code", "message"),
    [
        ("services/a", 503, 'no endpoints available for service "a"'),
        ("services/a:81", 503, 'no service port 81 found for service "a"'),
        ("services/a:web", 503, 'no endpoints available for service "a"'),
        ("services/https:a:8265", 503, 'no endpoints available for service "a"'),
        ("services/a:b:c:d", 400, 'invalid service request "a:b:c:d"'),
        ("services/b", 404, 'services "b" not found'),
        ("pods/zz", 404, 'pods "zz" not found'),
    ],
)
def test_the_proxy_refuses_in_the_words_of_a_real_server(
    target: str, code: int, message: str
) -> None:
    """Those of Kubernetes v1.36, asked for the same without a ready pod."""
    cluster = SimulatedCluster(1, nodes=0)
    manifest = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"selector": {"app": "a"}, "ports": [{"port": PORT}]},
    }
    cluster.api.handle(Create(SERVICE, manifest, "default", "a"), "user")
    outgoing = Outgoing(NAME, "default", cluster.api, cluster.recorder)
    call = Call("GET", f"/api/v1/namespaces/default/{target}/proxy/x", {}, {}, b"")
    with pytest.raises(ApiError) as refused:
        outgoing.proxied(call, "user", 0)
    assert (refused.value.code, refused.value.message) == (code, message)


@pytest.mark.parametrize(("name", "is_found"), [("a", True), ("head.a", True), ("b.a", False)])
def test_a_headless_service_has_the_addresses_of_its_ready_pods(
    operator: Path, name: str, is_found: bool
) -> None:
    with lockstep_run(operator, "1s") as run:
        create_service(run, "a", clusterIP="None")
        create_ready_pod(run, "a", "10.244.0.7")
        run.ask(f"call-{name}.default.svc")
        run.run_for(MINUTE)
        called = [(to, answer) for _, _, to, answer in calls_of(run)]
    refused = (f"10.244.0.7:{PORT}", "connection refused")
    dns = f"{name}.default.svc"
    assert called == ([(dns, "10.244.0.7"), refused] if is_found else [(dns, "no such host")])


def test_a_call_that_is_repeated_is_recorded_once_and_known_to_fail(operator: Path) -> None:
    with lockstep_run(operator) as run:
        run.ask("call-a")
        run.run_for(90 * SECOND)
        (host,) = run.hosts
        now_us = run.cluster.loop.now_us
        assert calls_of(run) == [(NAME, "dns", "a", "no such host")]
        assert host.failed_call(now_us - 31 * SECOND) == "operator to a (no such host)"
        assert host.failed_call(now_us - 29 * SECOND) == ""


def test_a_program_that_waits_for_an_answer_is_not_idle(operator: Path) -> None:
    with lockstep_run(operator) as run:
        run.ask("call-a")
        busy = 0
        while not calls_of(run):
            run.run_for(10)
            busy += not run.process.is_idle()
    assert busy


class Waiting(Program):
    """The part of `UnderTest` that a world of a suite needs."""

    name = as_option = "waiting"
    facts = OperatorFacts()
    behaviours = ()
    on_wire = None
    sees_whole_cluster = True
    acts_in_several_namespaces = True

    def crds(self) -> tuple[Object, ...]:
        return ()

    def rbac(self) -> tuple[Object, ...]:
        return (
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRole",
                "metadata": {"name": "waiting"},
                "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}],
            },
        )


@pytest.mark.parametrize("is_asked", [False, True])
def test_an_operator_that_waits_for_another_machine_is_not_at_rest(
    operator: Path, is_asked: bool
) -> None:
    waiting = Waiting("jobset", operator, "1s", webhooks=False, certificates=None)
    scenario = SCENARIOS["jobset/admission/action-is-unknown/empty"]
    world = SimulatedWorld(scenario, {"jobset": cast(UnderTest, waiting)}, 1, None)
    try:
        if is_asked:
            name = "ask-call-a"
            manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
            world.call(Create(CONFIG_MAP, manifest, "default", name), "user")
        assert world.rest() is not is_asked
        world.finish()
        marks = {each.mark: each.text for each in world.recorder.entries if isinstance(each, Mark)}
    finally:
        world.close()
    assert ("stable" in marks) is not is_asked
    assert marks.get("not-stable", "") == (
        "given up after calls of jobset to a (no such host), the limit of Assay: pods and Services "
        "do not answer"
        if is_asked
        else ""
    )
