"""Quantities: stored in one form, and counted against quotas."""

from __future__ import annotations

import pytest

from clusters.simulated.builtin.quantities import canonical_quantity
from clusters.simulated.controllers.workloads.workload import scaled
from tests.simulated_api.cluster import Cluster, job, pod
from vocabulary.kinds import (
    JOB,
    POD,
    RESOURCE_QUOTA,
)
from vocabulary.quantities import parse_quantity
from vocabulary.requests import Create


class TestQuota:
    def quota(self, cluster: Cluster, **hard: str) -> None:
        metadata = {"name": "q", "namespace": "default"}
        named = {name.replace("_", "/"): value for name, value in hard.items()}
        cluster.create({"metadata": metadata, "spec": {"hard": named}}, RESOURCE_QUOTA)

    def test_a_quota_of_zero_refuses_the_first_pod(self, cluster: Cluster) -> None:
        self.quota(cluster, pods="0")
        error = cluster.refused(Create(POD, pod()))
        assert error.code == 403
        assert error.message == (
            'pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, '
            "limited: pods=0"
        )

    def test_pods_that_have_stopped_do_not_count(self, cluster: Cluster) -> None:
        self.quota(cluster, pods="1")
        cluster.create(pod("a"), POD)
        cluster.refused(Create(POD, pod("b")))
        cluster.patch(POD, "a", {"status": {"phase": "Succeeded"}}, "status")
        cluster.create(pod("b"), POD)

    def test_objects_of_any_kind_can_be_counted(self, cluster: Cluster) -> None:
        self.quota(cluster, **{"count_jobs.batch": "1"})
        cluster.create(job("a"), JOB)
        assert "requested: count/jobs.batch=1" in cluster.refused(Create(JOB, job("b"))).message

    def test_requested_resources_add_up(self, cluster: Cluster) -> None:
        self.quota(cluster, **{"requests.cpu": "1500m"})
        containers = [{"name": "m", "image": "x", "resources": {"requests": {"cpu": "1"}}}]
        cluster.create(pod("a", containers=containers), POD)
        error = cluster.refused(Create(POD, pod("b", containers=containers)))
        assert "requested: requests.cpu=1, used: requests.cpu=1" in error.message

    def test_other_namespaces_are_not_its_business(self, cluster: Cluster) -> None:
        self.quota(cluster, pods="0")
        elsewhere = pod()
        elsewhere["metadata"]["namespace"] = "kube-system"
        assert cluster.create(elsewhere, POD)["metadata"]["uid"]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("0.5", "500m"),
        (0.5, "500m"),
        (2, "2"),
        ("1000m", "1"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("1000", "1k"),
        ("1000000", "1M"),
        ("100Ki", "100Ki"),
        ("0.1Gi", "107374182400m"),
        ("0", "0"),
        ("1e3", "1e3"),
        ("2e-3", "2e-3"),
        ("1e+00000000000000000005", "100e3"),
        ("9Ei", str(2**63 - 1)),
        (f"{2**64}", str(2**64)),
        ("9" * 1000 + "e1000", "9" * 1000 + "0e999"),
        ("0" * 5000 + "8Ki", "8Ki"),
    ],
)
def test_a_quantity_is_stored_in_its_one_canonical_form(given: str | float, stored: str) -> None:
    assert canonical_quantity(given) == stored
    assert parse_quantity(stored) == parse_quantity(str(given))


def test_what_is_finer_than_a_thousandth_is_rounded_up() -> None:
    assert canonical_quantity("1.0001") == "1001m"
    assert canonical_quantity("1n") == "1m"


def test_equal_numbers_are_printed_as_each_was_written_whichever_came_first() -> None:
    canonical_quantity.cache_clear()
    assert [canonical_quantity(10**16), canonical_quantity(1e16)] == ["10P", "10e15"]
    canonical_quantity.cache_clear()
    assert [canonical_quantity(1e16), canonical_quantity(10**16)] == ["10e15", "10P"]


@pytest.mark.parametrize("amount", ["9" * 1001, "1" * 5000, f"1e{2**63}", 10**1000 + 1])
def test_a_quantity_that_is_too_long_is_refused(cluster: Cluster, amount: str | int) -> None:
    quota = {"metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": {"pods": amount}}}
    error = cluster.refused(Create(RESOURCE_QUOTA, quota))
    assert (error.code, error.reason) == (400, "BadRequest")
    assert "unable to parse quantity's suffix" in error.message


def test_a_percentage_beyond_64_bits_scales_to_nothing() -> None:
    assert scaled(f"{'9' * 5000}%", 10, round_up=True) == 0
    assert scaled("25%", 10, round_up=True) == 3
