"""The audit log says who wrote what, with which options, and what the object became."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clusters.control_plane import ControlPlane, audit, users, wait_until
from vocabulary.errors import ApiError

from .namespace import LIMIT_SECONDS, Namespace

pytestmark = pytest.mark.control_plane

Event = dict[str, Any]


def find(plane: ControlPlane, namespace: str, wanted: Callable[[Event], bool]) -> Event:
    """The first event of the namespace that is `wanted`; waits until it is written."""
    found: list[Event] = []

    def look() -> bool:
        events, _ = audit.read(plane.audit_log)
        found[:] = [
            event
            for event in events
            if event.get("objectRef", {}).get("namespace") == namespace and wanted(event)
        ]
        return bool(found)

    wait_until(look, "the audit log has the event", limit_seconds=LIMIT_SECONDS)
    return found[0]


def matches(
    verb: str, resource: str, subresource: str | None = None, code: int | None = None
) -> Callable[[Event], bool]:
    def check(event: Event) -> bool:
        reference = event["objectRef"]
        return (event["verb"], reference["resource"], reference.get("subresource")) == (
            verb,
            resource,
            subresource,
        ) and code in (None, event["responseStatus"]["code"])

    return check


def test_a_create_is_logged_with_author_and_stored_object(
    plane: ControlPlane, namespace: Namespace
) -> None:
    created = namespace.pod("seen")
    event = find(plane, namespace.name, matches("create", "pods"))
    assert event["user"]["username"] == "assay-user"
    assert event["responseObject"]["metadata"]["uid"] == created["metadata"]["uid"]
    version = created["metadata"]["resourceVersion"]
    assert event["responseObject"]["metadata"]["resourceVersion"] == version
    assert "managedFields" not in event["responseObject"]["metadata"]


def test_status_writes_of_scheduler_and_kubelet_carry_their_names(
    plane: ControlPlane, namespace: Namespace
) -> None:
    namespace.pod("bound", {"assay.dev/exit": "7"})
    namespace.until_phase("bound", "Failed")
    binding = find(plane, namespace.name, matches("create", "pods", "binding"))
    assert binding["user"]["username"] == "system:kube-scheduler"
    failed = find(
        plane,
        namespace.name,
        lambda event: (
            matches("patch", "pods", "status")(event)
            and event["responseObject"]["status"].get("phase") == "Failed"
        ),
    )
    assert failed["user"]["username"] == "kwok"
    terminated = failed["responseObject"]["status"]["containerStatuses"][0]["state"]["terminated"]
    assert terminated["exitCode"] == 7


def test_a_delete_is_logged_with_its_options(plane: ControlPlane, namespace: Namespace) -> None:
    pod = namespace.pod("doomed")
    namespace.chaos.delete(
        f"{namespace.path}/pods/doomed",
        {
            "gracePeriodSeconds": 0,
            "propagationPolicy": "Foreground",
            "preconditions": {"uid": pod["metadata"]["uid"]},
        },
    )
    event = find(plane, namespace.name, matches("delete", "pods"))
    assert event["user"]["username"] == "assay-chaos"
    options = event["requestObject"]
    assert options["gracePeriodSeconds"] == 0
    assert options["propagationPolicy"] == "Foreground"
    assert options["preconditions"] == {"uid": pod["metadata"]["uid"]}


def test_controllers_are_told_apart(plane: ControlPlane, namespace: Namespace) -> None:
    jobs = f"/apis/batch/v1/namespaces/{namespace.name}/jobs"
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "c"}]}}
    namespace.api.post(
        jobs,
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "work"},
            "spec": {"template": template},
        },
    )
    created = find(plane, namespace.name, matches("create", "pods"))
    assert created["user"]["username"] == "system:serviceaccount:kube-system:job-controller"
    namespace.api.delete(f"{jobs}/work", {"propagationPolicy": "Background"})
    deleted = find(plane, namespace.name, matches("delete", "pods"))
    collector = "system:serviceaccount:kube-system:generic-garbage-collector"
    assert deleted["user"]["username"] == collector


def test_a_refused_write_is_logged_and_rbac_applies_to_operators(
    plane: ControlPlane, namespace: Namespace
) -> None:
    operator = plane.api(users.OPERATORS[31])
    with pytest.raises(ApiError) as refused:
        operator.post(f"{namespace.path}/configmaps", {"metadata": {"name": "mine"}})
    assert refused.value.code == 403
    event = find(plane, namespace.name, matches("create", "configmaps", code=403))
    assert event["user"]["username"] == "operator-31"
    assert event["user"]["groups"] == ["system:authenticated"]


def test_reads_are_not_logged(plane: ControlPlane, namespace: Namespace) -> None:
    namespace.api.get(f"{namespace.path}/pods")
    namespace.pod("marker")
    find(plane, namespace.name, matches("create", "pods"))
    events, offset = audit.read(plane.audit_log)
    assert {event["verb"] for event in events}.isdisjoint({"get", "list", "watch"})
    assert audit.read(plane.audit_log, offset)[1] >= offset
