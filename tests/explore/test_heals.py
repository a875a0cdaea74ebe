"""OP-007: what a user deletes comes back, and what goes with its subject need not."""

from __future__ import annotations

from typing import Any

from conformance.norm.verdict import Outcome
from tests.explore.by_hand import END, verdict_on
from tests.headers import header_of
from vocabulary.history import AT_REST, OPERATOR, Counterpart, Event, Fault, Mark, Write

SITE = "Site.planted.example.dev"
UNDISTURBED = Counterpart(
    scenario=header_of().scenario,
    sha256="0" * 64,
    is_stable=True,
    end={f"{SITE} default/a": {}, "ConfigMap default/a": {}},
    subjects=(f"{SITE} default/a",),
)


def write(actor: str, kind: str, event: Event = "ADDED", **fields: Any) -> Write:
    return Write(
        n=0,
        t=0,
        actor=actor,
        verb="create" if event == "ADDED" else "delete",
        kind=kind,
        namespace="default",
        name="a",
        uid=kind,
        event=event,
        object={
            "metadata": {
                "name": "a",
                "namespace": "default",
                "ownerReferences": [{"uid": SITE, "kind": "Site"}] if kind != SITE else [],
            },
            **fields,
        },
    )


def outcome_of(kind: str, *gone: Write, ends: str = "Ready") -> Outcome:
    """The outcome of a run in which a user deletes an object of that kind, and these go."""
    delete = {"delete_object": {"kind": kind, "name": "a"}}
    return verdict_on(
        "OP-007",
        write("user", SITE, status={"conditions": [{"type": ends, "status": "True"}]}),
        write(OPERATOR, "ConfigMap"),
        Mark(n=0, t=0, mark="step", text=AT_REST),
        *gone[:1],
        Fault(n=0, t=0, action="injected", fault=delete, text="a user deletes it"),
        *gone[1:],
        Mark(n=0, t=0, mark="stable"),
        END,
        counterpart=UNDISTURBED,
    ).outcome


def test_an_object_of_the_tree_has_to_come_back() -> None:
    gone = write("user", "ConfigMap", "DELETED")
    assert outcome_of("v1/ConfigMap", gone) is Outcome.FAILED


def test_nothing_of_a_subject_that_has_ended_has_to_come_back() -> None:
    gone = write("user", "ConfigMap", "DELETED")
    assert outcome_of("v1/ConfigMap", gone, ends="Succeeded") is Outcome.INCONCLUSIVE


def test_an_object_that_has_the_name_of_its_deleted_subject_goes_with_it() -> None:
    gone = write("user", SITE, "DELETED"), write("garbage-collector", "ConfigMap", "DELETED")
    assert outcome_of("planted.example.dev/v1/Site", *gone) is Outcome.INCONCLUSIVE
