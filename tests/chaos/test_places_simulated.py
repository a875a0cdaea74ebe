"""On the simulated cluster, a fault strikes at each of the places that a trigger can name."""

from __future__ import annotations

import pytest

from chaos.plan import Plan, plan_from_data
from conformance.implementations.ours import implementation
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from vocabulary.clock import SECOND
from vocabulary.history import Entry, Fault, Mark, Process, Write

SCENARIO = "appwrapper/retry/one-failure-is-retried"


def run(*faults: dict[str, object]) -> tuple[Entry, ...]:
    plan: Plan = plan_from_data({"scenario": SCENARIO, "seed": 1729, "faults": list(faults)})
    return tuple(
        run_one(SCENARIOS[SCENARIO], implementation("reference", "appwrapper"), 1729, plan).entries
    )


def injected(entries: tuple[Entry, ...], key: str) -> list[Fault]:
    faults = (entry for entry in entries if isinstance(entry, Fault))
    return [fault for fault in faults if key in fault.fault and fault.action == "injected"]


CORDON = {"cordon": {"node": "n0"}}
RESETTING = {"status.phase": ["Running", "Resetting"]}


@pytest.mark.parametrize(
    "when",
    [
        {"before": "commit", "by": "appwrapper", "verb": "update", "field": RESETTING},
        {"after": "commit", "by": "appwrapper", "event": "updated", "field": RESETTING},
        {"before": "reply", "by": "appwrapper", "event": "updated", "field": RESETTING},
        {"after": "reply", "by": "appwrapper", "kind": "AppWrapper", "field": RESETTING},
        {"before": "delivery", "to": "appwrapper", "event": "updated", "field": RESETTING},
        {"after": "delivery", "to": "appwrapper", "kind": "AppWrapper", "field": RESETTING},
    ],
    ids=lambda when: " ".join(next(iter(when.items()))),
)
def test_a_field_change_is_seen_at_every_place_in_the_order_of_its_way(when):
    entries = run({**CORDON, "when": when})
    (fault,) = injected(entries, "cordon")
    (write,) = (
        entry
        for entry in entries
        if isinstance(entry, Write)
        and entry.actor == "appwrapper"
        and (entry.object or {}).get("status", {}).get("phase") == "Resetting"
        and entry.rv == min(resetting_versions(entries))
    )
    assert (fault.n < write.n) == ("commit" in when.values() and "before" in when)


def resetting_versions(entries: tuple[Entry, ...]) -> list[int]:
    return [
        entry.rv
        for entry in entries
        if isinstance(entry, Write)
        and entry.rv
        and (entry.object or {}).get("status", {}).get("phase") == "Resetting"
    ]


def test_a_refused_write_is_known_as_refused_when_its_reply_arrives():
    conflict = {"edit_object": {"kind": "AppWrapper", "name": "a", "patch": {"metadata": {}}}}
    conflict["edit_object"]["patch"] = {"metadata": {"labels": {"x": "y"}}}
    entries = run(
        {**conflict, "when": {"before": "commit", "by": "appwrapper", "verb": "update"}},
        {**CORDON, "when": {"before": "reply", "by": "appwrapper", "outcome": "refused"}},
    )
    assert len(injected(entries, "cordon")) == 1


def test_a_fault_that_strikes_before_a_commit_ends_when_its_span_is_over():
    when = {"before": "commit", "by": "appwrapper"}
    entries = run({**CORDON, "when": when, "for": "3s"})
    begins, ends = (
        entry.t for entry in entries if isinstance(entry, Fault) and "cordon" in entry.fault
    )
    assert ends - begins == 3 * SECOND


def test_an_operator_that_restarts_while_caches_hang_sees_the_past_until_they_recover():
    frozen = {"after": "commit", "kind": "AppWrapper", "field": {"status.phase": "Resuming"}}
    entries = run(
        {"stale_reads": {}, "when": frozen, "for": "10m"},
        {"kill": {"restart_after": "1s"}, "when": {**frozen, "delay": "30s"}},
    )
    (begins,) = injected(entries, "stale_reads")
    (restarts,) = (
        entry.t
        for entry in entries
        if isinstance(entry, Process) and entry.t > begins.t + SECOND and entry.change == "started"
    )
    said = [
        (entry.t, condition["status"])
        for entry in entries
        if isinstance(entry, Write) and entry.actor == "appwrapper" and entry.t > restarts
        for condition in (entry.object or {}).get("status", {}).get("conditions", ())
        if condition["type"] == "PodsReady"
    ]
    # Both pods run since the first second.
    assert said[0][1] == "False"
    assert said[-1][1] == "True" and said[-1][0] >= begins.t + 600 * SECOND


def test_an_operator_whose_watches_broke_lists_again_and_comes_to_rest():
    entries = run({"break_watch": {"gap": "20s"}, "when": {"after": "commit", "kind": "Pod"}})
    assert [entry.mark for entry in entries if isinstance(entry, Mark)][-2:] == ["stable", "end"]
