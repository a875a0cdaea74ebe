"""The Jobs and the Service as they are created."""

from __future__ import annotations

from reference_controller.jobset.network import build_service
from reference_controller.jobset.rules import RIGHT
from tests.reference_jobset.driver import replicated_job
from tests.reference_jobset.observed import jobs_of, standing
from vocabulary.objects import annotations_of, labels_of, with_path

DOMAIN = "jobset.sigs.k8s.io/"
THREE = (
    replicated_job("a", replicas=2, groupName="x"),
    replicated_job("b"),
    replicated_job("c", replicas=2, groupName="x"),
)


def test_a_job_is_numbered_in_its_replicated_job_its_group_and_its_job_set() -> None:
    keys = ("job-index", "job-global-index", "job-group-index", "group-replicas")
    found = {
        job.name: tuple(int(labels_of(job.object)[DOMAIN + key]) for key in keys)
        for job in jobs_of(standing(*THREE))
    }
    assert found == {
        "js-a-0": (0, 0, 0, 4),
        "js-a-1": (1, 1, 1, 4),
        "js-b-0": (0, 2, 0, 1),
        "js-c-0": (0, 3, 2, 4),
        "js-c-1": (1, 4, 3, 4),
    }


def test_a_job_and_its_pods_carry_the_same_marks_as_labels_and_annotations() -> None:
    status = {"restarts": 3, "restartsCountTowardsMax": 1}
    (job,) = jobs_of(standing(replicated_job("a"), status=status))
    template = job.object["spec"]["template"]
    marks = {key: value for key, value in labels_of(job.object).items() if key.startswith(DOMAIN)}
    assert marks[DOMAIN + "restart-attempt"] == "1"
    assert marks[DOMAIN + "restarts"] == "3"
    for of in (annotations_of(job.object), labels_of(template), annotations_of(template)):
        assert marks.items() <= of.items()


def test_the_coordinator_is_named_by_its_pods_host() -> None:
    coordinator = {"replicatedJob": "c", "jobIndex": 1, "podIndex": 0}
    made = standing(*THREE, coordinator=coordinator, network={"subdomain": "net"})
    assert {labels_of(job.object)[DOMAIN + "coordinator"] for job in jobs_of(made)} == {
        "js-c-1-0.net"
    }


def test_the_service_selects_the_pods_of_the_job_set_under_its_subdomain() -> None:
    made = standing(*THREE, network={"subdomain": "net", "publishNotReadyAddresses": False})
    service = build_service(made, RIGHT)
    assert service["metadata"]["name"] == "net"
    assert service["spec"] == {
        "clusterIP": "None",
        "selector": {DOMAIN + "jobset-name": "js"},
        "publishNotReadyAddresses": False,
    }
    assert {job.object["spec"]["template"]["spec"]["subdomain"] for job in jobs_of(made)} == {"net"}


def test_pods_of_a_job_keep_a_topology_domain_to_themselves() -> None:
    key = "alpha.jobset.sigs.k8s.io/exclusive-topology"
    made = with_path(standing(*THREE), "metadata.annotations", {key: "rack"})
    (job, *_) = jobs_of(made)
    affinity = job.object["spec"]["template"]["spec"]["affinity"]
    own = labels_of(job.object)[DOMAIN + "job-key"]
    field = "requiredDuringSchedulingIgnoredDuringExecution"
    (together,) = affinity["podAffinity"][field]
    (apart,) = affinity["podAntiAffinity"][field]
    assert together["topologyKey"] == apart["topologyKey"] == "rack"
    assert together["labelSelector"]["matchExpressions"][0]["values"] == [own]
    assert apart["labelSelector"]["matchExpressions"][1]["operator"] == "NotIn"
