"""An operator known only by its pods: found, killed, and recreated by its own controller."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chaos.ground import FaultRefusedError
from conformance.implementations.under_test import InstalledPods
from conformance.leased.operator import NotBorrowedError
from conformance.running.process_faults import SECOND
from conformance.running.why_not_run import reason_not_run
from conformance.scenarios import SCENARIOS
from conformance.suites.appwrapper import SUITE
from conformance.suites.appwrapper.settings import DEFAULT_CONFIG, short_config
from conformance.worlds.control_plane.run_settings import RunSettings
from conformance.worlds.existing import installation, installed_operator
from conformance.worlds.existing.installed_operator import Finding, InstalledOperator
from conformance.worlds.existing.neighbours import interfering
from vocabulary.clock import SECOND as A_SECOND
from vocabulary.objects import Object, annotations_of
from vocabulary.requests import Delete, Request

from .one_deployment import OneDeployment
from .test_installed_operator import HOME, SETTINGS, THERE, deployment, standing

PODS = InstalledPods(namespace=HOME, lease="", settings=DEFAULT_CONFIG, selector="app=appwrapper")


class Kept(OneDeployment):
    """A controller that recreates deleted pods, with another name and uid."""

    def listed(self) -> tuple[Object, ...]:
        made = super().listed()
        for pod in self.pods:
            pod["metadata"]["uid"] = f"uid of {pod['metadata']['name']}"
            pod["spec"] = {"serviceAccountName": "manager"}
        return made


@pytest.fixture
def cluster() -> OneDeployment:
    return Kept(deployment())


def found(cluster: OneDeployment, record: Any = lambda *_: None) -> InstalledOperator:
    return Finding(cluster.connection, PODS).for_run("appwrapper", DEFAULT_CONFIG, record, None)


@pytest.mark.parametrize(("end", "grace"), [("kill", 1), ("stop", None)])
def test_its_pods_are_deleted_and_it_has_started_when_as_many_are_ready_again(
    cluster: OneDeployment, end: str, grace: int | None
) -> None:
    operator = found(cluster)
    operator.start()
    before = {pod["metadata"]["uid"] for pod in cluster.listed()}
    getattr(operator, end)()
    operator.wait_ready()
    after = {pod["metadata"]["uid"] for pod in cluster.listed()}
    assert not before & after
    assert (len(after), operator.state) == (2, "running")
    assert set(cluster.deletions) == {grace}
    assert cluster.scaled == []


def test_the_history_says_when_it_was_gone_and_when_it_was_back(cluster: OneDeployment) -> None:
    told: list[tuple[str, str]] = []
    operator = found(cluster, lambda *change: told.append(change))
    operator.start()
    operator._note_ready(1)
    operator.kill()
    operator._note_ready(2)
    assert [change for _, change in dict.fromkeys(told)] == ["started", "killed"]
    assert told.index(("appwrapper", "killed")) < len(told) - 1


def test_pods_that_do_not_end_are_not_noted_as_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hanging(Kept):
        def handle(self, request: Request) -> Any:
            return {} if isinstance(request, Delete) else super().handle(request)

    monkeypatch.setattr(installed_operator, "GONE_SECONDS", 0.0)
    operator = found(Hanging(deployment()))
    operator.start()
    with pytest.raises(FaultRefusedError, match="waiting until appwrapper has ended"):
        operator.kill()
    assert operator.state == "running"


def test_its_writes_are_told_by_the_account_of_its_pods(cluster: OneDeployment) -> None:
    user = Finding(cluster.connection, PODS).user
    assert user.name == f"system:serviceaccount:{HOME}:manager"


def test_where_no_pod_fits_it_says_so_before_and_after_the_preflight() -> None:
    empty = Kept(deployment(replicas=0))
    (problem,) = installation.problems(empty, PODS, SETTINGS)
    assert problem.startswith(f"pods app=appwrapper in namespace {HOME}: there are none")
    with pytest.raises(NotBorrowedError, match="start the operator again"):
        Finding(empty.connection, PODS)


def test_whatever_runs_its_pods_is_no_neighbour() -> None:
    runs_them = deployment()
    runs_them["spec"]["template"]["metadata"] = {"labels": {"app": "appwrapper", "a": "b"}}
    assert list(interfering(OneDeployment(runs_them), standing(PODS))) == []
    others = replace(PODS, selector="app=another")
    assert len(list(interfering(OneDeployment(runs_them), standing(others)))) == 1


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        ("killed-while-a-reset-deletes", ""),
        ("down-while-it-is-suspended", ""),
        ("leader-is-killed", SECOND),
    ],
)
def test_it_can_be_killed_and_not_be_kept_down(scenario: str, reason: str) -> None:
    there = replace(THERE, installed={"appwrapper": PODS})
    assert reason_not_run(SCENARIOS[f"appwrapper/operator-faults/{scenario}"], "kind", there) == (
        reason
    )


def test_appwrappers_say_themselves_how_short_their_durations_are() -> None:
    settings = RunSettings.of(SUITE, DEFAULT_CONFIG, short_config(0), {})
    assert settings.config == DEFAULT_CONFIG
    assert settings.durations.failure_grace_us == 5 * A_SECOND
    prefix = "workload.codeflare.dev.appwrapper/"
    of_the_scenario = {f"{prefix}failureGracePeriodDuration": "7s"}
    asked = settings.asked_for(appwrapper(of_the_scenario))
    assert annotations_of(asked)[f"{prefix}failureGracePeriodDuration"] == "7s"
    assert annotations_of(asked)[f"{prefix}retryPausePeriodDuration"] == "3s"
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    assert settings.asked_for(pod) is pod


def test_where_runs_configure_the_operator_appwrappers_say_nothing() -> None:
    settings = RunSettings.of(SUITE, None, short_config(0), {"schedulerName": "ours"})
    assert settings.config["schedulerName"] == "ours"
    assert settings.durations.failure_grace_us == 5 * A_SECOND
    assert settings.durations.retry_limit == DEFAULT_CONFIG["faultTolerance"]["retryLimit"]
    plain = appwrapper({})
    assert settings.asked_for(plain) is plain


def test_what_neither_the_scenario_nor_real_time_asks_for_is_left_to_the_operator() -> None:
    written = RunSettings.of(SUITE, None, short_config(0), {"schedulerName": "ours"}).config
    assert written.keys() == {"faultTolerance", "schedulerName", "userRBACAdmissionCheck"}
    assert "retryLimit" not in written["faultTolerance"]


def appwrapper(annotations: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {"name": "a", "annotations": annotations},
    }
