"""OP-017: more objects than undisturbed are too many, unless a user asks for them."""

from __future__ import annotations

from conformance.norm.verdict import Outcome
from tests.explore.by_hand import END, verdict_on
from tests.headers import header_of
from vocabulary.history import OPERATOR, Counterpart, Event, Fault, Write
from vocabulary.objects import Object

SITE = "Site.planted.example.dev"
UNDISTURBED = Counterpart(
    scenario=header_of().scenario,
    sha256="0" * 64,
    is_stable=True,
    end={},
    subjects=(f"{SITE} default/a",),
    most={"ConfigMap": 1},
)


def write(actor: str, kind: str, name: str, body: Object, event: Event = "ADDED") -> Write:
    return Write(
        n=0,
        t=0,
        actor=actor,
        verb="create" if event == "ADDED" else "patch",
        kind=kind,
        namespace="default",
        name=name,
        uid=f"{kind}/{name}",
        event=event,
        object={"metadata": {"name": name, "namespace": "default"}, **body},
    )


def outcome_of(patch: Object) -> Outcome:
    """The outcome of a run in which a user patches the subject, and a second object comes."""
    edit = {"edit_object": {"kind": "planted.example.dev/v1/Site", "name": "a", "patch": patch}}
    return verdict_on(
        "OP-017",
        write("user", SITE, "a", {"spec": {"replicas": 1}}),
        write(OPERATOR, "ConfigMap", "a-0", {}),
        Fault(n=0, t=0, action="injected", fault=edit, text="a user edits it"),
        write("user", SITE, "a", {"spec": {"replicas": 1}, **patch}, "MODIFIED"),
        write(OPERATOR, "ConfigMap", "a-1", {}),
        END,
        counterpart=UNDISTURBED,
    ).outcome


def test_one_more_for_nothing_is_too_many() -> None:
    assert outcome_of({"metadata": {"name": "a", "labels": {"b": "c"}}}) is Outcome.FAILED


def test_one_more_that_a_user_asked_for_is_not() -> None:
    assert outcome_of({"spec": {"replicas": 2}}) is Outcome.INCONCLUSIVE
