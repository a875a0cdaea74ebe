"""LimitRanges: defaults for containers, and limits of containers, pods and volume claims."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulated_api.cluster import Cluster, pod
from vocabulary.kinds import LIMIT_RANGE, PERSISTENT_VOLUME_CLAIM, POD, RESOURCE_QUOTA
from vocabulary.objects import get_path
from vocabulary.requests import Create


def limit(cluster: Cluster, type_: str, **amounts: dict[str, str]) -> None:
    metadata = {"name": f"of-{type_.lower()}", "namespace": "default"}
    spec = {"limits": [{"type": type_, **amounts}]}
    cluster.create({"metadata": metadata, "spec": spec}, LIMIT_RANGE)


def asking(requests: dict[str, str] | None = None, **limits: str) -> dict[str, Any]:
    resources: dict[str, Any] = {"requests": requests} if requests else {}
    if limits:
        resources["limits"] = limits
    return {"name": "main", "image": "x", "resources": resources}


def refusal(cluster: Cluster, *containers: dict[str, Any], **spec: Any) -> str:
    error = cluster.refused(Create(POD, pod(containers=list(containers), **spec)))
    assert error.code == 403
    return error.message.partition("forbidden: ")[2]


class TestDefaults:
    def test_the_maximum_is_the_default_limit_and_the_limit_the_default_request(
        self, cluster: Cluster
    ) -> None:
        limit(cluster, "Container", max={"cpu": "2"}, min={"memory": "64Mi"})
        created = cluster.create(pod(containers=[asking()]), POD)
        assert get_path(created, "spec.containers.0.resources") == {
            "limits": {"cpu": "2"},
            "requests": {"cpu": "2", "memory": "64Mi"},
        }

    def test_they_make_a_pod_countable_by_a_quota(self, cluster: Cluster) -> None:
        hard = {"metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": {"cpu": "3"}}}
        cluster.create(hard, RESOURCE_QUOTA)
        assert "must specify cpu" in refusal(cluster, asking())
        limit(cluster, "Container", default={"cpu": "2"})
        cluster.create(pod("a", containers=[asking()]), POD)
        assert "requested: cpu=2, used: cpu=2, limited: cpu=3" in refusal(cluster, asking())

    def test_what_a_container_says_stays(self, cluster: Cluster) -> None:
        limit(cluster, "Container", default={"cpu": "2"}, defaultRequest={"cpu": "1"})
        created = cluster.create(pod(containers=[asking({"cpu": "500m"}, cpu="3")]), POD)
        resources = get_path(created, "spec.containers.0.resources")
        assert resources == {"requests": {"cpu": "500m"}, "limits": {"cpu": "3"}}
        assert "annotations" not in created["metadata"]


class TestLimits:
    def test_init_containers_are_limited_too(self, cluster: Cluster) -> None:
        limit(cluster, "Container", max={"cpu": "1"})
        init = [{**asking(cpu="2"), "name": "first"}]
        assert refusal(cluster, asking(cpu="1"), initContainers=init) == (
            "maximum cpu usage per Container is 1, but limit is 2"
        )

    def test_a_pod_is_measured_as_a_whole(self, cluster: Cluster) -> None:
        limit(cluster, "Pod", max={"memory": "128Mi"})
        each = asking(memory="80Mi")
        assert refusal(cluster, each, {**each, "name": "other"}) == (
            "maximum memory usage per Pod is 128Mi, but limit is 160Mi"
        )

    def test_limit_and_request_stay_near_each_other(self, cluster: Cluster) -> None:
        limit(cluster, "Container", maxLimitRequestRatio={"cpu": "2"})
        assert refusal(cluster, asking({"cpu": "400m"}, cpu="1")) == (
            "cpu max limit to request ratio per Container is 2, but provided ratio is 2.500000"
        )
        assert "no request is specified or request is 0" in refusal(cluster, asking())

    def test_a_volume_claim_is_measured_by_its_request(self, cluster: Cluster) -> None:
        limit(cluster, "PersistentVolumeClaim", max={"storage": "1Gi"})
        resources = {"requests": {"storage": "2Gi"}}
        claim = {
            "metadata": {"name": "c", "namespace": "default"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources},
        }
        error = cluster.refused(Create(PERSISTENT_VOLUME_CLAIM, claim))
        assert "usage per PersistentVolumeClaim is 1Gi, but request is 2Gi" in error.message


@pytest.mark.parametrize(
    ("item", "field"),
    [
        ({"type": "Node"}, "type"),
        ({"type": "Pod", "default": {"cpu": "1"}}, "default"),
        ({"type": "PersistentVolumeClaim"}, "limits"),
        ({"type": "Container", "min": {"cpu": "2"}, "max": {"cpu": "1"}}, "min[cpu]"),
        ({"type": "Container", "max": {"apples": "1"}}, "max[apples]"),
        (
            {"type": "Container", "maxLimitRequestRatio": {"cpu": "500m"}},
            "maxLimitRequestRatio[cpu]",
        ),
    ],
)
def test_a_contradictory_limit_range_is_refused(
    cluster: Cluster, item: dict[str, Any], field: str
) -> None:
    metadata = {"name": "l", "namespace": "default"}
    error = cluster.refused(Create(LIMIT_RANGE, {"metadata": metadata, "spec": {"limits": [item]}}))
    assert error.code == 422
    assert f"spec.limits[0].{field}: " in error.message
