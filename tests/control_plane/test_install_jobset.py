"""The JobSet controller's manifests on a real API server: at work, and with no right to spare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from clusters.control_plane import ControlPlane, wait_until
from reference_controller.jobset.names import JOB_SET
from vocabulary.errors import ApiError
from vocabulary.kinds import EVENT, JOB, POD, SERVICE
from vocabulary.objects import condition_status

from .installation import LIMIT_SECONDS, Installation, InstalledOperator, refused, used

pytestmark = pytest.mark.control_plane

HERE: Final = Installation("jobset")
TEAM: Final = "team"
NEVER_REQUESTED: Final = {
    # Asked for where blocking owner references need a right.
    ("jobset.x-k8s.io", "jobsets/finalizers", "update"),
}


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with HERE.on_a_plane(tmp_path_factory.mktemp("installation")) as control_plane:
        control_plane.api().post("/api/v1/namespaces", {"metadata": {"name": TEAM}})
        yield control_plane


@pytest.fixture
def operator(plane: ControlPlane, tmp_path: Path) -> Iterator[InstalledOperator]:
    """The container of a pod of the Deployment, and the webhooks' Service leading to it."""
    pod = HERE.running_pod(plane)
    with InstalledOperator(HERE, plane, pod, tmp_path) as installed:
        HERE.lead_here(
            plane, installed, lambda: refusal(plane, job_set("probe"), "?dryRun=All") == ""
        )
        yield installed


def job_set(name: str, **spec: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "main", "image": "i"}], "restartPolicy": "Never"}}
    job = {"spec": {"backoffLimit": 0, "template": template}}
    return {
        "apiVersion": JOB_SET.api_version,
        "kind": JOB_SET.kind,
        "metadata": {"name": name},
        "spec": {"replicatedJobs": [{"name": "a", "template": job}], **spec},
    }


def refusal(plane: ControlPlane, submitted: dict[str, Any], query: str = "") -> str:
    """Submit a JobSet; return the API server's error message, or ""."""
    try:
        plane.api().post(JOB_SET.path(TEAM) + query, submitted)
    except ApiError as error:
        return str(error)
    return ""


def test_while_nobody_answers_the_webhooks_no_job_set_is_stored(plane: ControlPlane) -> None:
    HERE.running_pod(plane)
    assert "failed calling webhook" in refusal(plane, job_set("unchecked"))


def test_a_job_set_is_defaulted_and_one_that_is_wrong_is_refused_by_its_field(
    plane: ControlPlane, operator: InstalledOperator
) -> None:
    assert refusal(plane, job_set("sound", suspend=True)) == ""
    stored = plane.api().get(JOB_SET.path(TEAM, "sound"))
    assert stored["spec"]["successPolicy"] == {"operator": "All"}
    wrong = {"rules": [{"action": "FailJobSet", "targetReplicatedJobs": ["absent"]}]}
    answer = refusal(plane, job_set("wrong", failurePolicy=wrong))
    assert "spec.failurePolicy.rules[0].targetReplicatedJobs" in answer
    odd = job_set("odd")
    odd["spec"]["replicatedJobs"][0]["dependsOn"] = [{"name": "b", "status": "Ready", "odd": 1}]
    assert "spec.replicatedJobs[0].dependsOn[0].odd: is not implemented" in refusal(plane, odd)
    assert operator.probe("livenessProbe") == 200
    assert operator.terminate() == 0


def test_a_field_that_no_pod_has_keeps_its_job_from_being_created_and_an_event_names_it(
    plane: ControlPlane, operator: InstalledOperator
) -> None:
    del operator
    submitted = job_set("misspelt")
    pods = submitted["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pods["containers"][0]["imagePulPolicy"] = "Always"
    assert refusal(plane, submitted) == ""
    api, path = plane.api(), 'unknown field "spec.template.spec.containers[0].imagePulPolicy"'

    def is_told() -> bool:
        events = api.get(EVENT.path(TEAM))["items"]
        return any(
            event["reason"] == "JobCreationFailed" and path in event["message"] for event in events
        )

    wait_until(is_told, "an Event names the field", limit_seconds=LIMIT_SECONDS)
    assert not api.exists(JOB.path(TEAM, "misspelt-a-0"))
    api.delete(JOB_SET.path(TEAM, "misspelt"))


def test_the_service_account_needs_every_right_it_has_and_is_refused_nothing(
    plane: ControlPlane, operator: InstalledOperator
) -> None:
    """Names are taken at first; then a JobSet restarts, is suspended, fails and is deleted."""
    api = plane.api()

    def until(is_so: Callable[[], bool], what: str) -> None:
        wait_until(lambda: bool(refused(plane)) or is_so(), what, limit_seconds=LIMIT_SECONDS)
        assert refused(plane) == []

    def told(reason: str) -> bool:
        return any(event["reason"] == reason for event in api.get(EVENT.path(TEAM))["items"])

    def status(path: str) -> dict[str, Any]:
        found: dict[str, Any] = api.get(path).get("status") or {}
        return found

    def is_resumed() -> bool:
        """By one request: the Job of the attempt before may just go."""
        return any(not each["spec"]["suspend"] for each in api.get(JOB.path(TEAM))["items"])

    def exit_pod(code: int) -> None:
        """Have the pod of the Job exit, once it runs."""

        def running() -> list[dict[str, Any]]:
            pods = api.get(POD.path(TEAM) + "?labelSelector=job-name%3Djs-a-0")["items"]
            return [pod for pod in pods if pod["status"].get("phase") == "Running"]

        until(lambda: bool(running()), "its pod runs")
        exits = {"metadata": {"annotations": {"assay.dev/exit": str(code)}}}
        api.patch(POD.path(TEAM, running()[0]["metadata"]["name"]), exits)

    job = JOB.path(TEAM, "js-a-0")
    taken = job_set("js")["spec"]["replicatedJobs"][0]["template"]["spec"]
    foreign = {"metadata": {"name": "js-a-0"}, "spec": {**taken, "suspend": True}}
    api.post(JOB.path(TEAM), foreign)
    service = {"metadata": {"name": "js"}, "spec": {"clusterIP": "None", "selector": {"a": "b"}}}
    api.post(SERVICE.path(TEAM), service)
    uncounted = {"action": "RestartJobSetAndIgnoreMaxRestarts"}
    policy = {"rules": [uncounted], "restartStrategy": "BlockingRecreate"}
    submitted = job_set("js", failurePolicy=policy, ttlSecondsAfterFinished=1)
    assert refusal(plane, submitted) == ""
    path = JOB_SET.path(TEAM, "js")
    until(lambda: told("HeadlessServiceCreationFailed"), "the Service's name is found taken")
    api.delete(SERVICE.path(TEAM, "js"))
    until(lambda: told("JobCreationFailed"), "the Job's name is found taken")
    api.delete(job, {"propagationPolicy": "Background"})
    exit_pod(1)
    until(lambda: status(path).get("restarts") == 1, "it restarts")
    api.patch(path, {"spec": {"suspend": True}})
    until(lambda: condition_status(api.get(path), "Suspended") == "True", "it is suspended")
    api.patch(path, {"spec": {"suspend": False}})
    until(is_resumed, "it is resumed")
    exit_pod(0)
    until(lambda: not api.exists(path), "it has completed and its time to live is over")
    assert sorted(HERE.rights(plane) - used(plane) - NEVER_REQUESTED) == []
