"""Leases: a PUT creates them, and their times have microseconds."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.access.rules import Rules
from clusters.simulated.access.users import AUTHENTICATED, User
from clusters.simulated.builtin.go_times import in_utc, unparsed_micro_time
from clusters.simulated.serve.server import ServedCluster
from tests.simulated_api.cluster import NAMESPACE, Cluster, config_map
from tests.simulated_api.served import ask
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP, EVENT, LEASE
from vocabulary.requests import Update


def lease(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "l", "namespace": NAMESPACE},
        "spec": spec,
    }


def test_an_update_creates_a_lease(cluster: Cluster) -> None:
    body = lease(holderIdentity="a")
    body["metadata"]["resourceVersion"] = "7"
    made = cluster.user(Update(LEASE, body))
    assert cluster.get(LEASE, "l") == made
    (entry,) = cluster.recorder.entries
    assert (entry.verb, entry.code, entry.event) == ("update", 201, "ADDED")  # type: ignore[union-attr]


def test_it_creates_an_event(cluster: Cluster, served: ServedCluster) -> None:
    involved = {"namespace": NAMESPACE}
    body = {"kind": "Event", "metadata": {"name": "e"}, "involvedObject": involved}
    code, made = ask(served, f"/api/v1/namespaces/{NAMESPACE}/events/e", "PUT", body)
    assert (code, made["metadata"]["name"]) == (201, "e")
    assert cluster.get(EVENT, "e") is not None


def test_no_config_map_is_created_so(cluster: Cluster) -> None:
    assert cluster.refused(Update(CONFIG_MAP, config_map())).code == 404


def test_an_update_of_the_lease_that_was_deleted_is_a_conflict(cluster: Cluster) -> None:
    held = cluster.create(lease(holderIdentity="a"), LEASE)
    cluster.delete(LEASE, "l")
    error = cluster.refused(Update(LEASE, held))
    assert error.code == 409
    assert "UID in precondition: " + held["metadata"]["uid"] in error.message


def test_an_update_that_creates_needs_the_right_to_create(cluster: Cluster) -> None:
    access = cluster.api.access
    access.register_users({"operator": User("operator", (AUTHENTICATED,))})
    rule = {"apiGroups": [LEASE.group], "resources": ["leases"], "verbs": ["update"]}
    access.rbac.grant("operator", Rules([rule]))
    with pytest.raises(ApiError) as refusal:
        cluster.api.handle(Update(LEASE, lease()), "operator")
    assert refusal.value.code == 403
    assert "cannot create resource" in refusal.value.message
    assert cluster.get(LEASE, "l") is None


def test_times_are_stored_in_utc(cluster: Cluster) -> None:
    made = cluster.create(lease(renewTime="2026-01-01T00:30:00.000001+01:00"), LEASE)
    assert made["spec"]["renewTime"] == "2025-12-31T23:30:00.000001Z"


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.000000Z"),
        ("0002-01-01T00:00:00.000000+00:30", "0001-12-31T23:30:00.000000Z"),
        ("0001-01-01T00:00:00.000000+01:00", "0001-01-01T00:00:00.000000+01:00"),
    ],
)
def test_years_have_four_digits(text: str, stored: str) -> None:
    assert in_utc(text) == stored


@pytest.mark.parametrize(
    ("text", "beyond"),
    [
        ("2026-13-41T25:61:00.000000Z", "month"),
        ("2026-00-01T00:00:00.000000Z", "month"),
        ("2026-02-30T25:00:00.000000Z", "hour"),
        ("2026-02-30T00:60:00.000000Z", "minute"),
        ("2026-02-30T00:00:60.000000Z", "second"),
        ("2026-02-29T00:00:00.000000Z", "day"),
        ("2026-01-00T00:00:00.000000Z", "day"),
        ("2026-01-01T00:00:00.000000+25:00", "time zone offset hour"),
        ("2026-01-01T00:00:00.000000+25:61", "time zone offset minute"),
    ],
)
def test_a_time_that_does_not_exist_is_refused(text: str, beyond: str) -> None:
    assert unparsed_micro_time(text) == f'parsing time "{text}": {beyond} out of range'


@pytest.mark.parametrize("text", ["2028-02-29T23:59:59.999999Z", "0000-02-29T00:00:00.000000Z"])
def test_leap_days_exist(text: str) -> None:
    assert unparsed_micro_time(text) == ""
