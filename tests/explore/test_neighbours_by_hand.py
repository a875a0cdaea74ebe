"""OP-018: what befalls one subject at rest changes nothing of another, pods included."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from conformance.history import History
from conformance.history.normal_form import NEIGHBOUR, NormalForm
from conformance.norm.verdict import Outcome
from tests.explore.by_hand import END, verdict_on
from tests.explore.test_edits import edit, plain
from tests.explore.test_heals import SITE, UNDISTURBED
from tests.headers import header_of
from vocabulary.clock import SECOND
from vocabulary.history import OPERATOR, Entry, Event, Mark, Write

RESTED = 5 * SECOND
OTHER = f"a-{NEIGHBOUR}"
RUNNING = {"phase": "Running"}


def made(
    actor: str, kind: str, name: str, owner: str, event: Event = "ADDED", **fields: Any
) -> Write:
    """A write of an object that has the owner of that uid, or none; its uid is its name."""
    owners = [{"uid": owner, "kind": "Owner", "name": "o"}] if owner else []
    write = plain(actor, kind, event, owners=owners, **fields)
    obj = {**(write.object or {}), "metadata": {**(write.object or {})["metadata"], "name": name}}
    return msgspec.structs.replace(write, name=name, uid=f"{kind}/{name}", object=obj)


def workload(name: str, pod: str) -> list[Write]:
    return [
        made("user", SITE, name, "", spec={"size": 1}),
        made(OPERATOR, "ConfigMap", name, f"{SITE}/{name}", data={"k": "v"}),
        made(
            "job-controller",
            "Pod",
            f"{name}-{pod}",
            f"ConfigMap/{name}",
            status={"phase": "Running"},
        ),
    ]


BOTH = [*workload("a", "xk2vz"), *workload(OTHER, "q7wpl")]
POD = BOTH[-1]
GONE = msgspec.structs.replace(POD, verb="delete", event="DELETED", actor=OPERATOR)
NEW = made(
    "job-controller", "Pod", f"{OTHER}-m2c4d", f"ConfigMap/{OTHER}", status={"phase": "Running"}
)
CONFIG_MAP = msgspec.structs.replace(BOTH[4], verb="delete", event="DELETED")
CHANGED = made(OPERATOR, "ConfigMap", OTHER, f"{SITE}/{OTHER}", "MODIFIED", data={"k": "w"})


def outcome_of(*answers: Write, at: int) -> Outcome:
    """The outcome of a run in which a user edits the first workload, and these writes follow."""
    whole: list[Entry] = [*BOTH, END]
    entries = [msgspec.structs.replace(each, n=n) for n, each in enumerate(whole, 1)]
    known = msgspec.structs.replace(
        UNDISTURBED,
        rested=RESTED,
        end=NormalForm(History(header_of(), entries)).end,
        subjects=(f"{SITE} default/a", f"{SITE} default/{OTHER}"),
    )
    wish = edit(f"planted.example.dev/v1/{SITE.partition('.')[0]}", {"spec": {"size": 2}}, t=at)
    wished = made("user", SITE, "a", "", "MODIFIED", spec={"size": 2})
    stable = Mark(n=0, t=at, mark="stable")
    return verdict_on(
        "OP-018", *BOTH, wished, wish, *answers, stable, END, counterpart=known
    ).outcome


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ((), Outcome.PASSED),
        ((CHANGED,), Outcome.FAILED),
        ((GONE, NEW), Outcome.FAILED),
        ((CONFIG_MAP, GONE), Outcome.FAILED),
    ],
    ids=["nothing", "changes-it", "replaces-its-pod", "deletes-all-of-it"],
)
def test_another_workload_at_rest_stays_as_it_is(
    answers: tuple[Write, ...], outcome: Outcome
) -> None:
    assert outcome_of(*answers, at=RESTED) is outcome


def test_before_the_first_rest_a_workload_is_still_on_its_way() -> None:
    assert outcome_of(CHANGED, at=RESTED - 1) is Outcome.INCONCLUSIVE
