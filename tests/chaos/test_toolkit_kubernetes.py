"""The toolkit with only a kubeconfig: objects, a Deployment, and watches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chaoslib.exceptions import ActivityFailed

from chaos.faults import DoubleOperator, Kill, NodeLost, Pause, Restart, StaleReads, Suspend
from chaos.ground import FaultRefusedError
from chaos.injector import Injector
from chaos.toolkit.kubernetes_ground import DeployedOperator, KubernetesGround, OperatorDeployment
from chaos.toolkit.kubernetes_stage import operator_log, operator_processes
from chaos.toolkit.local_operator import LocalOperator
from chaos.toolkit.watch_recorder import WatchRecorder
from conformance.suites.appwrapper.api import APPWRAPPER
from conformance.worlds.control_plane.operator_process import OperatorStartError
from tests.chaos.fake_ground import FakeGround, appwrapper, pod
from vocabulary.fault_effect import FaultEffect
from vocabulary.history import Fault, Write
from vocabulary.kinds import POD
from vocabulary.objects import get_path
from vocabulary.requests import Delete

NAMESPACE = "operators"


class FakeConnection:
    """A `Connection` whose server is the fake ground."""

    def __init__(self) -> None:
        deployment = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "controller", "namespace": NAMESPACE},
            "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "controller"}}},
        }
        self.server = FakeGround(appwrapper(), deployment, *map(self._pod, ("c-0", "c-1")))
        other = self._pod("other")
        other["metadata"]["labels"] = {"app": "other"}
        self.server.put(other)

    def handle(self, request: Any) -> Any:
        return self.server.call(request)

    def get(self, path: str) -> Any:
        """The discovery document of AppWrapper's group, which is all that is asked for."""
        assert path == f"/apis/{APPWRAPPER.api_version}"
        return {"resources": [{"name": "appwrappers", "kind": "AppWrapper", "namespaced": True}]}

    @staticmethod
    def _pod(name: str) -> Any:
        made = pod(name)
        made["metadata"] |= {"namespace": NAMESPACE, "labels": {"app": "controller"}}
        return made

    @property
    def replicas(self) -> Any:
        return get_path(self.server.get("Deployment.apps", "controller"), "spec.replicas")

    def deletes(self) -> list[tuple[str, int | None]]:
        requests = (request for _, request in self.server.calls)
        return [(r.name, r.grace_period_seconds) for r in requests if isinstance(r, Delete)]


@pytest.fixture
def connection() -> FakeConnection:
    return FakeConnection()


@pytest.fixture
def ground(connection: FakeConnection) -> KubernetesGround:
    client: Any = connection
    operator = DeployedOperator(client, OperatorDeployment(NAMESPACE, "controller"))
    return KubernetesGround(client, "test", operator, seed=7)


def test_a_deployed_operator_is_killed_by_deleting_its_pods_at_once(ground, connection):
    Kill("operator").inject(ground)
    assert connection.deletes() == [("c-1", 0), ("c-0", 0)]
    assert connection.replicas == 2


def test_a_deployed_operator_is_restarted_by_deleting_its_pods_gracefully(ground, connection):
    Restart("operator").inject(ground)
    assert [grace for _, grace in connection.deletes()] == [None, None]


def test_a_deployed_operator_stays_down_by_scaling_to_zero_and_comes_back_as_it_was(
    ground, connection
):
    injector = Injector(ground, lambda *_: None)
    injector.inject(Kill("operator", restart_after=None))
    assert connection.replicas == 0 and ground.processes.state("operator") == "down"
    injector.stop()
    assert connection.replicas == 2 and ground.processes.state("operator") == "running"


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (Pause("operator"), "a kubeconfig cannot pause operator"),
        (DoubleOperator(), "a kubeconfig cannot control the process operator/1"),
        (NodeLost("n0"), "a kubeconfig cannot control the process kubelet/n0"),
        (StaleReads(), "nothing lies between the operator and the API server of this cluster"),
    ],
    ids=lambda value: getattr(value, "plan_key", ""),
)
def test_what_a_kubeconfig_cannot_do_is_refused_with_what_would_do(ground, fault, why):
    with pytest.raises(FaultRefusedError) as caught:
        fault.inverse(ground)
        fault.inject(ground)
    assert str(caught.value).startswith(why) and "`assay chaos`" in str(caught.value)


def test_objects_are_changed_through_the_kubeconfig(ground, connection):
    Suspend("AppWrapper/a").inject(ground)
    wrapper = connection.server.get(str(APPWRAPPER), "a")
    assert get_path(wrapper, "spec.suspend") is True


def test_random_choices_come_from_the_seed(ground):
    again = KubernetesGround(ground._client, "test", ground.processes, seed=7)
    assert ground.rng("x").random() == again.rng("x").random()
    assert ground.elapsed_us() >= 0


def test_without_an_operator_the_first_activity_fails_and_says_how_to_name_one(connection):
    with pytest.raises(ActivityFailed, match=r"no Deployment ops/mine.*ASSAY_OPERATOR_COMMAND="):
        operator_processes(
            connection, None, {"operator_namespace": "ops", "operator_deployment": "mine"}
        )


@pytest.mark.parametrize("name", ["controller", "none"])
def test_an_operator_that_is_deployed_or_runs_elsewhere_is_none_that_is_missing(connection, name):
    where = {"operator_namespace": NAMESPACE, "operator_deployment": name}
    assert isinstance(operator_processes(connection, None, where), DeployedOperator)


@pytest.mark.parametrize("named", ["", "logs/mine.log"])
def test_an_operators_log_lies_where_it_was_named_or_out_of_the_way(named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere").mkdir()
    log = operator_log(named)
    assert log == Path(named) if named else log.is_relative_to(tmp_path / "elsewhere")


def test_a_command_is_looked_up_on_the_path_as_a_shell_would(tmp_path, monkeypatch):
    program = tmp_path / "my-operator"
    program.write_text(f"#!/bin/sh\necho started > {tmp_path}/said\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    operator = LocalOperator("my-operator --port {health_port}", tmp_path / "log", FakeLives())
    with pytest.raises(OperatorStartError, match="ended before it was ready"):
        operator.start("operator")
    assert (tmp_path / "said").exists()


@pytest.mark.parametrize("command", ["no-such-operator --port 1", ""])
def test_a_command_without_a_program_is_refused_by_name(tmp_path, command):
    with pytest.raises(ActivityFailed, match="does not start with a program on PATH"):
        LocalOperator(command, tmp_path / "log", FakeLives())


class FakeLives:
    """Hears of an operator's life, and forgets it."""

    def process(self, process: str, change: Any) -> None: ...


@pytest.fixture
def recorder(connection: FakeConnection) -> WatchRecorder:
    client: Any = connection
    return WatchRecorder(client, "test")


def stored(name: str, version: int) -> dict[str, Any]:
    made = pod(name)
    made["metadata"] |= {"resourceVersion": str(version), "uid": f"uid-{name}"}
    return made


def test_changes_are_put_in_the_order_of_the_store_however_their_watches_deliver_them(recorder):
    recorder._deliver(POD, "MODIFIED", stored("b", 7))
    recorder._deliver(POD, "ADDED", stored("a", 5))
    recorder._deliver(POD, "DELETED", stored("b", 9))
    entries = recorder.entries()
    assert [(e.n, e.rv, e.event, e.name) for e in entries if isinstance(e, Write)] == [
        (0, 5, "ADDED", "a"),
        (1, 7, "MODIFIED", "b"),
        (2, 9, "DELETED", "b"),
    ]
    assert all(e.actor == "" and e.verb == "" for e in entries if isinstance(e, Write))
    times = [entry.t for entry in entries]
    assert times == sorted(times)


def test_faults_and_process_changes_stand_where_their_times_fall(recorder):
    recorder._deliver(POD, "ADDED", stored("a", 5))
    recorder.fault("injected", {"cordon": {"node": "n0"}}, "cordon node n0", FaultEffect())
    recorder._deliver(POD, "MODIFIED", stored("a", 6))
    recorder.process("operator", "killed")
    kinds = [type(entry).__name__ for entry in recorder.entries()]
    assert kinds == ["Write", "Fault", "Write", "Process"]
    assert [entry.n for entry in recorder.entries()] == [0, 1, 2, 3]
    assert isinstance(recorder.entries()[1], Fault)


def test_a_list_taken_anew_adds_only_what_was_missed(recorder):
    recorder._replace(POD, (stored("a", 5), stored("b", 6), stored("d", 4)), "6")
    recorder._replace(POD, (stored("a", 5), stored("b", 8), stored("c", 9)), "11")
    assert [(e.rv, e.event, e.name) for e in recorder.entries() if isinstance(e, Write)] == [
        (4, "ADDED", "d"),
        (5, "ADDED", "a"),
        (6, "ADDED", "b"),
        (8, "MODIFIED", "b"),
        (9, "ADDED", "c"),
        (11, "DELETED", "d"),
    ]


def test_a_recording_has_every_version_if_it_began_before_the_workload_and_was_never_cut(recorder):
    recorder._replace(APPWRAPPER, (), "3")
    recorder._replace(POD, (stored("a", 5),), "6")
    recorder._deliver(POD, "MODIFIED", stored("a", 7))
    assert recorder.has_every_version
    recorder._replace(POD, (stored("a", 7),), "9")
    assert not recorder.has_every_version, "a pod may have come and gone unseen"


def test_a_recording_that_finds_a_workload_there_lacks_what_was_before(recorder):
    recorder._replace(APPWRAPPER, (stored("a", 5),), "6")
    assert not recorder.has_every_version
