"""OP-008, what a user changes at rest is put back; OP-011, users' objects outlive subjects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from conformance.norm.verdict import Outcome
from tests.explore.by_hand import END, verdict_on
from tests.explore.test_heals import SITE, UNDISTURBED, write
from vocabulary.clock import SECOND, Micros
from vocabulary.history import OPERATOR, Entry, Fault, Mark, Write

REPLICA_SET = "ReplicaSet.apps"
RESTED = 5 * SECOND


def plain(actor: str, kind: str, event: Any = "ADDED", **fields: Any) -> Write:
    """A write of an object without owners, unless `owners` are given."""
    metadata = {"name": "a", "namespace": "default", "ownerReferences": fields.pop("owners", [])}
    if fields.pop("deleted", False):
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    verb = {"ADDED": "create", "MODIFIED": "update", "DELETED": "delete"}[event]
    made = {"metadata": metadata, **fields}
    return msgspec.structs.replace(write(actor, kind, event), verb=verb, object=made)


def edit(kind: str, patch: dict[str, Any], t: Micros = RESTED) -> Fault:
    fault = {"edit_object": {"kind": kind, "name": "a", "patch": patch}}
    return Fault(n=0, t=t, action="injected", fault=fault, text="a user edits it")


def outcome_of(*entries: Entry) -> Outcome:
    metadata = {"metadata": {"name": "a", "namespace": "default"}}
    end = {f"{SITE} default/a": thing("Ready"), "ConfigMap default/a": {"data": {"k": "v"}}}
    expected = {name: metadata | fields for name, fields in end.items()}
    known = msgspec.structs.replace(UNDISTURBED, end=expected, rested=RESTED)
    stable = Mark(n=0, t=0, mark="stable")
    return verdict_on("OP-008", *entries, stable, END, counterpart=known).outcome


def thing(phase: str) -> dict[str, Any]:
    return {"spec": {"size": 1}, "status": {"phase": phase}}


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


def test_an_object_that_is_put_back_is_a_new_one() -> None:
    gone = plain(OPERATOR, "ConfigMap", "DELETED")
    again = msgspec.structs.replace(MADE, uid="second")
    assert outcome_of(READY, MADE, CHANGED, OF_TREE, gone, again) is Outcome.PASSED
    assert outcome_of(READY, MADE, CHANGED, OF_TREE, gone, again, OTHER) is Outcome.FAILED


def test_what_is_still_on_its_way_has_not_drifted() -> None:
    early = edit("v1/ConfigMap", {"data": {"k": "x"}}, t=RESTED - 1)
    assert outcome_of(READY, MADE, CHANGED, early, OTHER) is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("field", ["size", "nodeName"])
def test_a_change_of_a_subject_that_stays_is_a_wish(field: str) -> None:
    """Also if no end shows the field: names of nodes are never compared."""
    wish = edit(f"planted.example.dev/v1/{SITE.partition('.')[0]}", {"spec": {field: 2}})
    spec = {"size": 1, field: 2}
    wished = plain("user", SITE, "MODIFIED", spec=spec, status={"phase": "Ready"})
    obeyed = plain(OPERATOR, "ConfigMap", "MODIFIED", data={"k": "w"})
    assert outcome_of(READY, MADE, wished, wish, obeyed) is Outcome.INCONCLUSIVE


def test_replica_sets_that_a_deployment_keeps_for_rollbacks_are_no_part_of_an_end() -> None:
    back = plain(OPERATOR, "ConfigMap", "MODIFIED", data={"k": "v"})
    for version, replicas, outcome in (
        ("apps/v1", 0, Outcome.PASSED),
        ("apps/v1", 1, Outcome.FAILED),
        ("example.dev/v1", 0, Outcome.FAILED),
    ):
        owner = {"apiVersion": version, "kind": "Deployment", "name": "a", "uid": "d"}
        owners, spec = [{**owner, "controller": True}], {"replicas": replicas}
        kept = plain("deployment-controller", REPLICA_SET, owners=owners, spec=spec)
        assert outcome_of(READY, MADE, CHANGED, OF_TREE, kept, back) is outcome


OWNERS = [{"kind": "Site", "name": "a", "uid": SITE}]
STYLE = plain("user", "ConfigMap", data={"k": "v"})
USED = plain(OPERATOR, "ConfigMap", "MODIFIED", data={"k": "w"})
OWNED = plain(OPERATOR, "ConfigMap", "MODIFIED", data={"k": "v"}, owners=OWNERS)
GONE = plain("user", SITE, "DELETED")
MARKED = plain("user", SITE, "MODIFIED", deleted=True)
COLLECTED = plain("garbage-collector", "ConfigMap", "DELETED", owners=OWNERS)


@pytest.mark.parametrize(
    ("entries", "outcome"),
    [
        ((STYLE, USED, GONE), Outcome.PASSED),
        ((STYLE, GONE), Outcome.INCONCLUSIVE),
        ((STYLE, OWNED, GONE, COLLECTED), Outcome.FAILED),
        ((STYLE, OWNED, MARKED, COLLECTED, GONE), Outcome.FAILED),
        ((STYLE, OWNED, USED, GONE, COLLECTED), Outcome.INCONCLUSIVE),
        ((STYLE, OWNED, GONE, plain("user", "ConfigMap", "DELETED")), Outcome.INCONCLUSIVE),
        ((STYLE, MARKED, plain(OPERATOR, "ConfigMap", "DELETED"), GONE), Outcome.FAILED),
        ((plain("user", "ConfigMap", owners=OWNERS), GONE, COLLECTED), Outcome.INCONCLUSIVE),
    ],
    ids=[
        *("stays", "has-not-been-touched", "is-collected", "goes-first", "is-let-go"),
        *("user-deletes-it", "operator-deletes-it", "user-named-the-owner"),
    ],
)
def test_a_users_object_outlives_a_subject(entries: Sequence[Write], outcome: Outcome) -> None:
    subjects = (*UNDISTURBED.subjects, "ConfigMap default/a") if USED in entries else None
    known = msgspec.structs.replace(UNDISTURBED, subjects=subjects or UNDISTURBED.subjects)
    assert verdict_on("OP-011", READY, *entries, END, counterpart=known).outcome is outcome
