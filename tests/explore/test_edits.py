"""OP-008, what a user changes at rest is put back; OP-011, users' objects outlive subjects."""

from __future__ import annotations

from typing import Any

import msgspec

from conformance.norm.verdict import Outcome
from tests.explore.by_hand import END, verdict_on
from tests.explore.test_heals import SITE, UNDISTURBED, write
from vocabulary.history import OPERATOR, Entry, Fault, Mark, Write

REPLICA_SET = "ReplicaSet.apps"


def plain(actor: str, kind: str, event: Any = "ADDED", **fields: Any) -> Write:
    """A write of an object without owners, unless `owners` are given."""
    metadata = {"name": "a", "namespace": "default", "ownerReferences": fields.pop("owners", [])}
    verb = {"ADDED": "create", "MODIFIED": "update", "DELETED": "delete"}[event]
    made = {"metadata": metadata, **fields}
    return msgspec.structs.replace(write(actor, kind, event), verb=verb, object=made)


def edit(kind: str, patch: dict[str, Any]) -> Fault:
    fault = {"edit_object": {"kind": kind, "name": "a", "patch": patch}}
    return Fault(n=0, t=0, action="injected", fault=fault, text="a user edits it")


def outcome_of(*entries: Entry) -> Outcome:
    metadata = {"metadata": {"name": "a", "namespace": "default"}}
    end = {f"{SITE} default/a": thing("Ready"), "ConfigMap default/a": {"data": {"k": "v"}}}
    known = msgspec.structs.replace(UNDISTURBED, end={n: metadata | o for n, o in end.items()})
    stable = Mark(n=0, t=0, mark="stable")
    return verdict_on("OP-008", *entries, stable, END, counterpart=known).outcome


def thing(phase: str, size: int = 1) -> dict[str, Any]:
    return {"spec": {"size": size}, "status": {"phase": phase}}


READY = plain("user", SITE, **thing("Ready"))
MADE = plain(OPERATOR, "ConfigMap", data={"k": "v"})
CHANGED = plain("user", "ConfigMap", "MODIFIED", data={"k": "x"})
OTHER = plain(OPERATOR, SITE, "MODIFIED", **thing("Lost"))
OF_TREE = edit("v1/ConfigMap", {"data": {"k": "x"}})


def test_a_changed_field_is_put_back_or_left_alone() -> None:
    back = plain(OPERATOR, "ConfigMap", "MODIFIED", data={"k": "v"})
    assert outcome_of(READY, MADE, CHANGED, OF_TREE, back) is Outcome.PASSED
    assert outcome_of(READY, MADE, CHANGED, OF_TREE) is Outcome.PASSED
    assert outcome_of(READY, MADE, CHANGED, OF_TREE, back, OTHER) is Outcome.FAILED


def test_what_is_still_on_its_way_has_not_drifted() -> None:
    begun = plain("user", SITE, **thing("Pending"))
    assert outcome_of(begun, MADE, CHANGED, OF_TREE, OTHER) is Outcome.INCONCLUSIVE


def test_a_change_of_a_subject_that_stays_is_a_wish() -> None:
    wish = edit(f"planted.example.dev/v1/{SITE.partition('.')[0]}", {"spec": {"size": 2}})
    wished = plain("user", SITE, "MODIFIED", **thing("Ready", 2))
    obeyed = plain(OPERATOR, "ConfigMap", "MODIFIED", data={"k": "w"})
    assert outcome_of(READY, MADE, wished, wish, obeyed) is Outcome.INCONCLUSIVE


def test_replica_sets_that_a_deployment_keeps_for_rollbacks_are_no_part_of_an_end() -> None:
    owners = [{"kind": "Deployment", "name": "a", "uid": "d", "controller": True}]
    back = plain(OPERATOR, "ConfigMap", "MODIFIED", data={"k": "v"})
    for replicas, outcome in ((0, Outcome.PASSED), (1, Outcome.FAILED)):
        spec = {"replicas": replicas}
        kept = plain("deployment-controller", REPLICA_SET, owners=owners, spec=spec)
        assert outcome_of(READY, MADE, CHANGED, OF_TREE, kept, back) is outcome


def test_a_users_object_outlives_a_subject() -> None:
    owners = [{"kind": "Site", "name": "a", "uid": SITE}]
    style = plain("user", "ConfigMap", data={"k": "v"})
    owned = plain(OPERATOR, "ConfigMap", "MODIFIED", data={"k": "v"}, owners=owners)
    gone = plain("user", SITE, "DELETED")
    collected = plain("garbage-collector", "ConfigMap", "DELETED")
    for entries, outcome in (
        ((READY, style, gone), Outcome.PASSED),
        ((READY, style, owned, gone, collected), Outcome.FAILED),
        ((READY, plain("user", "ConfigMap", owners=owners), gone, collected), Outcome.INCONCLUSIVE),
    ):
        assert verdict_on("OP-011", *entries, END, counterpart=UNDISTURBED).outcome is outcome
