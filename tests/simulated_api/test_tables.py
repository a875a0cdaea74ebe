"""Tables: what kubectl prints of an object, as short as a terminal wants it."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.builtin.registry import built_in_strategies
from clusters.simulated.table_cells import short_duration
from clusters.simulated.tables import table
from tests.simulated_api.cluster import pod
from vocabulary.clock import DAY, HOUR, MINUTE, SECOND, SIMULATION_EPOCH_US
from vocabulary.kinds import EVENT, JOB, NODE, POD, Kind


@pytest.mark.parametrize(
    ("span_us", "shown"),
    [
        (0, "0s"),
        (119 * SECOND, "119s"),
        (2 * MINUTE, "2m"),
        (3 * MINUTE + 20 * SECOND, "3m20s"),
        (45 * MINUTE, "45m"),
        (3 * HOUR, "3h"),
        (5 * HOUR + 7 * MINUTE, "5h7m"),
        (30 * HOUR, "30h"),
        (3 * DAY + 4 * HOUR, "3d4h"),
        (100 * DAY, "100d"),
        (3 * 365 * DAY, "3y"),
        (-5 * SECOND, "<invalid>"),
    ],
)
def test_a_duration_is_said_in_two_units_at_most(span_us: int, shown: str) -> None:
    assert short_duration(span_us) == shown


def _cells(kind: Kind, obj: dict[str, Any]) -> dict[str, Any]:
    strategy = built_in_strategies()[str(kind)]
    shown = table(kind, strategy, [obj], SIMULATION_EPOCH_US, include="None")
    titles = [column["name"] for column in shown["columnDefinitions"]]
    (row,) = shown["rows"]
    return dict(zip(titles, row["cells"], strict=True))


@pytest.mark.parametrize(
    ("status", "metadata", "shown"),
    [
        ({"phase": "Running"}, {}, "Running"),
        ({"phase": "Failed", "reason": "Evicted"}, {}, "Evicted"),
        ({"phase": "Running"}, {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "Terminating"),
        ({"phase": "Failed"}, {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "Failed"),
        (
            {
                "phase": "Pending",
                "containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}],
            },
            {},
            "ImagePullBackOff",
        ),
        (
            {
                "phase": "Failed",
                "containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}],
            },
            {},
            "ExitCode:3",
        ),
        (
            {"phase": "Pending", "initContainerStatuses": [{"state": {"running": {}}}]},
            {},
            "Init:0/0",
        ),
    ],
)
def test_the_status_of_a_pod_says_what_is_the_matter_with_it(
    status: dict[str, Any], metadata: dict[str, Any], shown: str
) -> None:
    obj = pod()
    obj["metadata"] |= metadata
    assert _cells(POD, {**obj, "status": status})["Status"] == shown


def test_a_cordoned_node_that_is_not_ready_says_both() -> None:
    node = {
        "metadata": {"name": "n0", "labels": {"node-role.kubernetes.io/worker": ""}},
        "spec": {"unschedulable": True},
        "status": {"conditions": [{"type": "Ready", "status": "False"}]},
    }
    cells = _cells(NODE, node)
    assert (cells["Status"], cells["Roles"]) == ("NotReady,SchedulingDisabled", "worker")


def test_the_duration_of_a_finished_job_stands_still() -> None:
    status = {
        "startTime": "2026-01-01T00:00:00Z",
        "completionTime": "2026-01-01T00:00:42Z",
        "succeeded": 2,
        "conditions": [{"type": "Complete", "status": "True"}],
    }
    obj = {"metadata": {"name": "j"}, "spec": {"completions": 2}, "status": status}
    cells = _cells(JOB, obj)
    assert (cells["Status"], cells["Completions"], cells["Duration"]) == ("Complete", "2/2", "42s")


@pytest.mark.parametrize(
    ("fields", "last_seen", "count", "first_seen", "source"),
    [
        (
            {
                "firstTimestamp": "2025-12-31T23:50:00Z",
                "lastTimestamp": "2025-12-31T23:59:00Z",
                "count": 3,
                "source": {"component": "kubelet", "host": "n0"},
            },
            *("60s", 3, "10m", "kubelet, n0"),
        ),
        (
            {
                "eventTime": "2025-12-31T23:58:00.000000Z",
                "reportingComponent": "scheduler",
                "reportingInstance": "s-0",
            },
            *("2m", 1, "2m", "scheduler, s-0"),
        ),
        (
            {
                "eventTime": "2025-12-31T23:58:00.000000Z",
                "series": {"count": 5, "lastObservedTime": "2025-12-31T23:59:30.000000Z"},
            },
            *("30s", 5, "2m", ""),
        ),
        ({}, "<unknown>", 1, "<unknown>", ""),
    ],
)
def test_an_event_has_the_columns_of_a_real_server(
    fields: dict[str, Any], last_seen: str, count: int, first_seen: str, source: str
) -> None:
    """The name is the last one, and shown by `-o wide` only."""
    event = {
        "metadata": {"name": "a.1", "namespace": "a", "creationTimestamp": "2025-12-01T00:00:00Z"},
        "involvedObject": {"kind": "Pod", "name": "a", "fieldPath": "spec.containers{main}"},
        "type": "Normal",
        "reason": "Pulled",
        "message": "as it is\n",
        **fields,
    }
    assert list(_cells(EVENT, event).items()) == [
        ("Last Seen", last_seen),
        ("Type", "Normal"),
        ("Reason", "Pulled"),
        ("Object", "pod/a"),
        ("Subobject", "spec.containers{main}"),
        ("Source", source),
        ("Message", "as it is"),
        ("First Seen", first_seen),
        ("Count", count),
        ("Name", "a.1"),
    ]
