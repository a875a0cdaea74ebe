"""One history out of watch events and audit events, on pairs made by hand."""

from __future__ import annotations

from typing import Any

from conformance.suites.appwrapper.api import APPWRAPPER
from conformance.worlds.control_plane.history_merge import Merge, actor_of
from conformance.worlds.control_plane.recorder import Commit
from vocabulary.clock import SECOND, Micros, to_rfc3339_micro
from vocabulary.history import Entry, Event, Mark, Write
from vocabulary.kinds import POD, SERVICE

BEGAN_US = 1_700_000_000 * SECOND
OPERATORS = {"operator-3": "operator", "operator-4": "operator/1"}


def commit(rv: int, event: Event = "MODIFIED", at: float = 0.0, **metadata: Any) -> Commit:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "p",
            "namespace": "run-0",
            "uid": "u1",
            "resourceVersion": str(rv),
            **metadata,
        },
    }
    return Commit(rv, event, POD, pod, BEGAN_US + round(at * SECOND))


def audited(
    verb: str,
    rv: int | None,
    at: float,
    user: str = "operator-3",
    code: int = 200,
    subresource: str = "",
    **more: Any,
) -> dict[str, Any]:
    response = {"metadata": {"resourceVersion": str(rv), "uid": "u1"}} if rv is not None else {}
    return {
        "stage": "ResponseComplete",
        "verb": verb,
        "user": {"username": user},
        "objectRef": {
            "resource": "pods",
            "namespace": "run-0",
            "name": "p",
            "subresource": subresource,
        },
        "responseStatus": {"code": code, "reason": "Conflict" if code == 409 else ""},
        "responseObject": response,
        "requestReceivedTimestamp": to_rfc3339_micro(BEGAN_US + round(at * SECOND)),
        **more,
    }


def merged(
    commits: list[Commit],
    events: list[dict[str, Any]],
    others: tuple[tuple[Micros, Entry], ...] = (),
) -> list[Entry]:
    merge = Merge(BEGAN_US, OPERATORS, (POD, SERVICE, APPWRAPPER))
    return list(merge.entries(commits, events, others))


def writes(entries: list[Entry]) -> list[tuple[str, str, str, int]]:
    """(actor, verb, event, resourceVersion) of each."""
    return [(e.actor, e.verb, e.event, e.rv) for e in entries if isinstance(e, Write)]


def test_a_commit_gets_the_writer_whose_answer_carried_its_resource_version() -> None:
    entries = merged(
        [commit(7, "ADDED", 0.5), commit(9, at=0.9)],
        [audited("create", 7, 0.4), audited("update", 9, 0.8, "kwok", subresource="status")],
    )
    assert writes(entries) == [
        ("operator", "create", "ADDED", 7),
        ("kubelet", "update", "MODIFIED", 9),
    ]
    assert isinstance(entries[1], Write)
    assert entries[1].subresource == "status"


def test_entries_are_numbered_and_timed_from_the_begin_of_the_run() -> None:
    entries = merged([commit(7, "ADDED", 0.5), commit(9, at=0.9)], [audited("create", 7, 0.4)])
    assert [(e.n, e.t) for e in entries] == [(0, 400_000), (1, 900_000)]


def test_a_write_counts_from_when_it_was_asked_for_and_not_from_its_answer() -> None:
    """A watch may show a commit before its writer has the answer: who reacts is not early."""
    answered = {"stageTimestamp": to_rfc3339_micro(BEGAN_US + SECOND)}
    entries = merged([commit(7, at=0.9)], [audited("update", 7, 0.3, **answered)])
    assert [e.t for e in entries] == [300_000]


def test_times_never_go_back_though_the_audit_log_is_late() -> None:
    entries = merged([commit(7, "ADDED", 0.5), commit(8, at=0.6)], [audited("update", 8, 0.2)])
    assert [e.t for e in entries] == [500_000, 500_000]


def test_a_commit_that_the_audit_log_does_not_know_has_no_writer() -> None:
    assert writes(merged([commit(7)], [])) == [("", "", "MODIFIED", 7)]


def test_a_deletion_that_a_list_found_out_is_not_the_write_whose_version_that_list_had() -> None:
    other = {"responseObject": {"metadata": {"resourceVersion": "9", "uid": "u2"}}}
    entries = merged(
        [commit(7, "ADDED", 0.1), commit(9, "DELETED", 0.9)],
        [
            audited("create", 7, 0.1),
            audited("delete", None, 0.4),
            audited("update", 9, 0.8, "kwok", **other),
        ],
    )
    assert writes(entries) == [
        ("operator", "create", "ADDED", 7),
        ("operator", "delete", "DELETED", 9),
        ("kubelet", "update", "", 0),
    ]


def test_a_refused_request_stands_where_its_time_falls_and_changes_nothing() -> None:
    entries = merged(
        [commit(7, "ADDED", 0.1), commit(8, at=0.9)],
        [audited("create", 7, 0.1), audited("update", None, 0.5, code=409)],
    )
    refused = entries[1]
    assert isinstance(refused, Write)
    assert (refused.code, refused.reason, refused.event, refused.object) == (
        409,
        "Conflict",
        "",
        None,
    )


def test_of_a_request_that_is_refused_as_invalid_it_is_told_what_was_wrong() -> None:
    said = {"code": 422, "reason": "Invalid", "message": "metadata.labels: Invalid value"}
    (refused,) = merged([], [audited("create", None, 0.5, responseStatus=said)])
    assert isinstance(refused, Write)
    assert (refused.reason, refused.message) == ("Invalid", "metadata.labels: Invalid value")


def test_a_no_op_update_is_told_from_the_commit_whose_version_it_repeats() -> None:
    entries = merged(
        [commit(7, "ADDED", 0.1)], [audited("create", 7, 0.1), audited("patch", 7, 0.4)]
    )
    assert writes(entries) == [("operator", "create", "ADDED", 7), ("operator", "patch", "", 0)]


def test_a_deletion_is_found_by_the_uid_that_its_answer_names() -> None:
    by_status = audited(
        "delete",
        None,
        0.5,
        responseObject={"kind": "Status", "details": {"uid": "u1"}},
        requestObject={"gracePeriodSeconds": 0, "propagationPolicy": "Background"},
    )
    entries = merged([commit(9, "DELETED", 0.5)], [by_status])
    assert writes(entries) == [("operator", "delete", "DELETED", 9)]
    assert isinstance(entries[0], Write)
    assert entries[0].options == {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}


def test_a_graceful_deletion_and_its_end_are_the_doing_of_two() -> None:
    entries = merged(
        [
            commit(8, at=0.2, deletionTimestamp="2024-01-01T00:00:00Z"),
            commit(9, "DELETED", 0.9, deletionTimestamp="2024-01-01T00:00:00Z"),
        ],
        [
            audited("delete", 8, 0.2),
            audited(
                "delete",
                8,
                0.9,
                "kwok",
                requestObject={"gracePeriodSeconds": 0},
            ),
        ],
    )
    assert [actor for actor, *_ in writes(entries)] == ["operator", "kubelet"]


def test_a_deletion_that_passes_through_two_commits_is_one_write() -> None:
    """The pod has ended: the request that marks it for deletion removes it as well."""
    removal = audited(
        "delete", None, 0.5, responseObject={"kind": "Status", "details": {"uid": "u1"}}
    )
    passing = {"deletionTimestamp": "2024-01-01T00:00:00Z"}
    entries = merged(
        [
            commit(7, "ADDED", 0.1),
            commit(8, at=0.51, **passing),
            commit(9, "DELETED", 0.52, **passing),
        ],
        [audited("create", 7, 0.1), removal],
    )
    assert writes(entries) == [
        ("operator", "create", "ADDED", 7),
        ("operator", "delete", "DELETED", 9),
    ]
    assert [entry.n for entry in entries] == [0, 1]


def test_an_object_that_a_finalizer_held_is_removed_by_who_took_that_off() -> None:
    """A deletion that is sent again meanwhile, and answered, changes nothing."""
    held = {"finalizers": ["example.com/held"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    requests = [
        audited("delete", 8, 0.1, "assay-user"),
        audited("delete", 8, 0.4),
        audited("patch", None, 0.5, "assay-chaos"),
        audited("delete", None, 0.6),
    ]
    entries = merged([commit(8, at=0.2, **held), commit(9, "DELETED", 0.7, **held)], requests)
    assert writes(entries) == [
        ("user", "delete", "MODIFIED", 8),
        ("operator", "delete", "", 0),
        ("chaos", "patch", "DELETED", 9),
        ("operator", "delete", "", 0),
    ]


def test_a_deletion_of_another_policy_ends_one_that_was_to_wait_for_dependents() -> None:
    waiting = {"finalizers": ["foregroundDeletion"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    entries = merged([commit(9, "DELETED", 0.7, **waiting)], [audited("delete", None, 0.6)])
    assert writes(entries) == [("operator", "delete", "DELETED", 9)]


def test_an_eviction_is_one_write_of_whoever_asked_for_it_and_the_end_the_kubelets() -> None:
    """It marks the pod, then deletes it; the kubelet removes it before the watch tells of that."""
    evicted = audited("create", None, 0.5, "assay-chaos", code=201, subresource="eviction")
    removed = audited("delete", None, 0.6, "kwok", responseObject={"metadata": {"uid": "u1"}})
    terminating = {"deletionTimestamp": "2024-01-01T00:00:00Z"}
    entries = merged(
        [
            commit(7, at=0.61),
            commit(8, at=0.62, **terminating),
            commit(9, "DELETED", 0.63, **terminating),
        ],
        [evicted, removed],
    )
    assert writes(entries) == [
        ("chaos", "create", "MODIFIED", 8),
        ("kubelet", "delete", "DELETED", 9),
    ]
    assert [entry.t for entry in entries] == [500_000, 600_000]


def test_a_request_that_came_after_a_commit_was_seen_did_not_make_it() -> None:
    later = audited("delete", None, 0.4, "kwok", responseObject={"metadata": {"uid": "u1"}})
    terminating = {"deletionTimestamp": "2024-01-01T00:00:00Z"}
    entries = merged(
        [commit(8, at=0.3, **terminating), commit(9, "DELETED", 0.5, **terminating)], [later]
    )
    assert writes(entries) == [("", "", "MODIFIED", 8), ("kubelet", "delete", "DELETED", 9)]


def test_a_binding_is_the_schedulers() -> None:
    bound = audited("create", None, 0.3, "system:kube-scheduler", subresource="binding")
    assert writes(merged([commit(8, at=0.3)], [bound])) == [("scheduler", "create", "MODIFIED", 8)]


def test_a_binding_is_not_the_write_of_who_changed_nothing_after_it() -> None:
    made = audited("create", 7, 0.1, "kwok")
    bound = audited("create", None, 0.2, "system:kube-scheduler", subresource="binding")
    idle = audited("patch", 8, 0.3, "assay-user")
    on_its_node = commit(8, at=0.4)
    on_its_node.object["spec"] = {"nodeName": "n0"}
    entries = merged([commit(7, "ADDED", 0.1), on_its_node], [made, bound, idle])
    assert writes(entries) == [
        ("kubelet", "create", "ADDED", 7),
        ("scheduler", "create", "MODIFIED", 8),
        ("user", "patch", "", 0),
    ]


def test_kinds_that_are_not_followed_are_left_out() -> None:
    other = audited("create", 5, 0.2)
    other["objectRef"] = {"resource": "endpoints", "namespace": "run-0", "name": "x"}
    assert merged([], [other]) == []


def test_what_happens_after_the_end_mark_is_no_part_of_the_run() -> None:
    end = (BEGAN_US + SECOND, Mark(n=0, t=0, mark="end"))
    entries = merged([commit(7, at=0.5), commit(8, at=2.0)], [], (end,))
    assert [type(e).__name__ for e in entries] == ["Write", "Mark"]


def test_actors_go_by_the_names_of_the_simulation() -> None:
    service_account = "system:serviceaccount:kube-system:"
    assert [
        actor_of(user, OPERATORS)
        for user in (
            "operator-4",
            "assay-chaos",
            f"{service_account}generic-garbage-collector",
            f"{service_account}job-controller",
            "somebody",
        )
    ] == ["operator/1", "chaos", "garbage-collector", "job-controller", "somebody"]


def submitted(verb: str, user: str, subresource: str = "", **more: Any) -> object:
    """The submitted part of the entry of one audited request."""
    event = audited(verb, 7, 0.1, user, subresource=subresource, **more)
    (entry,) = merged([commit(7, "ADDED", 0.1)], [event])
    assert isinstance(entry, Write)
    return entry.submitted


def test_what_a_user_submitted_is_kept_as_it_was_before_admission() -> None:
    asked = {"kind": "Pod", "metadata": {"name": "p"}}
    assert submitted("create", "assay-user", requestObject=asked) == asked
    assert submitted("update", "assay-chaos", requestObject=asked) == asked


def test_what_was_submitted_is_unknown_where_the_audit_log_or_the_request_does_not_hold_it() -> (
    None
):
    asked = {"kind": "Pod", "metadata": {"name": "p"}}
    assert submitted("create", "assay-user") is None, "its body was not logged"
    assert submitted("patch", "assay-user", requestObject={"metadata": {}}) is None
    assert submitted("create", "assay-user", "eviction", requestObject=asked) is None
    assert submitted("create", "operator-3", requestObject=asked) is None


def test_a_change_of_the_spec_is_not_taken_for_a_status_patch_that_changed_nothing() -> None:
    """A no-op that comes a moment later is answered with the same version."""
    before, after = commit(5, at=1.0), commit(6, at=2.0)
    after.object["spec"] = {"suspend": True}
    events = [
        audited("patch", 6, 1.9, subresource="status"),
        audited("patch", 6, 1.95, user="assay-user"),
    ]
    found = [entry for entry in merged([before, after], events) if isinstance(entry, Write)]
    assert [(entry.rv, entry.actor) for entry in found if entry.rv] == [(5, ""), (6, "user")]
