"""PyTorchJobs: replicas, conditions, restart policies, clean-up."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.crds import load_crd
from tests.simulated_controllers.lab import DEFAULT, Lab
from vocabulary.errors import ApiError
from vocabulary.kinds import POD, PYTORCH_JOB, SERVICE
from vocabulary.objects import labels_of, name_of


def pytorch_job(behaviour: str = "", restart: str = "Never", **policy: Any) -> dict[str, Any]:
    annotations = {"assay.dev/behaviour": behaviour} if behaviour else {}
    template = {
        "metadata": {"annotations": annotations},
        "spec": {"containers": [{"name": "pytorch", "image": "train"}]},
    }
    replicas = {
        type_: {"replicas": count, "restartPolicy": restart, "template": template}
        for type_, count in (("Master", 1), ("Worker", 2))
    }
    spec: dict[str, Any] = {"pytorchReplicaSpecs": replicas}
    if policy:
        spec["runPolicy"] = policy
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "t", "namespace": DEFAULT},
        "spec": spec,
    }


@pytest.fixture
def lab() -> Lab:
    return Lab(crds=[load_crd("pytorchjob")])


def shown(lab: Lab) -> dict[str, str]:
    found = lab.conditions(lab.get(PYTORCH_JOB, "t"))
    return {type_: status for type_, (status, _) in found.items()}


def counts(lab: Lab) -> dict[str, dict[str, int]]:
    statuses = lab.get(PYTORCH_JOB, "t")["status"]["replicaStatuses"]
    return {
        type_: {name: value for name, value in entry.items() if isinstance(value, int)}
        for type_, entry in statuses.items()
    }


def test_every_replica_gets_a_pod_with_its_name_and_labels(lab: Lab) -> None:
    lab.create(pytorch_job())
    lab.run(2)
    assert sorted(map(name_of, lab.pods)) == ["t-master-0", "t-worker-0", "t-worker-1"]
    labels = labels_of(lab.pod("t-worker-1"))
    assert labels["training.kubeflow.org/job-name"] == "t"
    assert labels["training.kubeflow.org/replica-type"] == "worker"
    assert labels["training.kubeflow.org/replica-index"] == "1"
    assert labels_of(lab.pod("t-master-0"))["training.kubeflow.org/job-role"] == "master"
    assert [name_of(service) for service in lab.all(SERVICE)] == ["t-master-0"]
    assert shown(lab) == {"Created": "True", "Running": "True"}
    assert counts(lab) == {"Master": {"active": 1}, "Worker": {"active": 2}}


def test_the_master_s_success_ends_the_job(lab: Lab) -> None:
    lab.create(pytorch_job())
    lab.run(2)
    lab.annotate("t-master-0", {"assay.dev/exit": "0"})
    lab.run(2)
    assert shown(lab) == {"Created": "True", "Running": "False", "Succeeded": "True"}
    assert lab.get(PYTORCH_JOB, "t")["status"]["completionTime"]
    assert lab.phase("t-worker-0") == "Running"


def test_policy_never_fails_the_job_with_its_first_failed_pod(lab: Lab) -> None:
    lab.create(pytorch_job())
    lab.run(2)
    lab.annotate("t-worker-0", {"assay.dev/exit": "1"})
    lab.run(2)
    assert shown(lab)["Failed"] == "True"
    assert shown(lab)["Running"] == "False"
    entry = next(
        entry
        for entry in lab.get(PYTORCH_JOB, "t")["status"]["conditions"]
        if entry["type"] == "Failed"
    )
    assert entry["message"] == "PyTorchJob t is failed because 1 Worker replica(s) failed."


@pytest.mark.parametrize(("code", "fails"), [(1, True), (127, True), (128, False), (143, False)])
def test_policy_exit_code_retries_codes_from_128_on(lab: Lab, code: int, fails: bool) -> None:
    lab.create(pytorch_job(restart="ExitCode"))
    lab.run(2)
    old = lab.pod("t-worker-1")["metadata"]["uid"]
    lab.annotate("t-worker-1", {"assay.dev/exit": str(code)})
    lab.run(5)
    assert ("Failed" in shown(lab)) == fails
    assert (lab.pod("t-worker-1")["metadata"]["uid"] == old) == fails


def test_a_restarting_job_shows_so_until_it_runs_again(lab: Lab) -> None:
    lab.create(pytorch_job(restart="ExitCode"))
    lab.run(2)
    lab.annotate("t-worker-1", {"assay.dev/exit": "137"})
    seen: list[dict[str, str]] = []
    for _ in range(200):
        lab.run(0.005)
        if not seen or seen[-1] != shown(lab):
            seen.append(shown(lab))
    assert {"Created": "True", "Restarting": "True"} in seen
    assert seen[-1] == {"Created": "True", "Running": "True"}


def test_in_place_restarts_reach_the_back_off_limit(lab: Lab) -> None:
    behaviour = "exit 1, restart-after 1s"
    lab.create(pytorch_job(behaviour, restart="OnFailure", backoffLimit=2))
    lab.run(30)
    assert shown(lab)["Failed"] == "True"
    assert lab.pods == []


@pytest.mark.parametrize(("policy", "left"), [("None", 3), ("Running", 1), ("All", 0)])
def test_the_clean_up_policy_decides_what_stays_after_the_end(
    lab: Lab, policy: str, left: int
) -> None:
    lab.create(pytorch_job(cleanPodPolicy=policy))
    lab.run(2)
    lab.annotate("t-master-0", {"assay.dev/exit": "0"})
    lab.run(5)
    assert len(lab.pods) == left


def test_suspension_deletes_the_pods_and_resumption_brings_them_back(lab: Lab) -> None:
    lab.create(pytorch_job())
    lab.run(2)
    lab.patch(PYTORCH_JOB, "t", {"spec": {"runPolicy": {"suspend": True}}})
    lab.run(2)
    assert lab.pods == []
    assert shown(lab) == {"Created": "True", "Running": "False", "Suspended": "True"}
    replicas = lab.get(PYTORCH_JOB, "t")["status"]["replicaStatuses"]
    assert not any(each.get("active") for each in replicas.values())
    lab.patch(PYTORCH_JOB, "t", {"spec": {"runPolicy": {"suspend": False}}})
    lab.run(2)
    assert len(lab.pods) == 3
    assert shown(lab) == {"Created": "True", "Suspended": "False", "Running": "True"}


def test_the_deadline_fails_the_job(lab: Lab) -> None:
    lab.create(pytorch_job(activeDeadlineSeconds=30))
    lab.run(20)
    assert "Failed" not in shown(lab)
    lab.run(15)
    assert shown(lab)["Failed"] == "True"
    assert lab.pods == []


def test_a_finished_job_is_deleted_after_its_time_to_live(lab: Lab) -> None:
    lab.create(pytorch_job("run 2s, exit 0", ttlSecondsAfterFinished=60))
    lab.run(30)
    assert shown(lab)["Succeeded"] == "True"
    lab.run(60)
    assert lab.get(PYTORCH_JOB, "t") is None
    lab.run(5)
    assert lab.all(POD) == []


def test_the_definition_refuses_a_job_without_replicas(lab: Lab) -> None:
    obj = pytorch_job()
    del obj["spec"]["pytorchReplicaSpecs"]
    with pytest.raises(ApiError, match="pytorchReplicaSpecs") as refusal:
        lab.create(obj)
    assert refusal.value.code == 422
