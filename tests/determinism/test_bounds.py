"""The bounds of a simulated run tell an operator that repeats itself from one with much to do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, Final

import pytest

from conformance.suite import KindUse
from conformance.worlds.simulated.bounds import MAX_ENTRIES, MAX_WRITES_IN_A_ROW, Bounds
from vocabulary.clock import MILLISECOND
from vocabulary.history import Event, Write
from vocabulary.kinds import LEASE, Kind
from vocabulary.objects import get_path

MANY: Final = 3 * MAX_WRITES_IN_A_ROW
SHIP: Final = Kind("fleet.test", "v1", "Ship", "ships")
USE: Final = KindUse(
    SHIP,
    lambda _ship: True,
    progress=lambda ship: get_path(ship, "status.ready"),
    pods=lambda ship: int(get_path(ship, "spec.pods", 0)),
)


class Run:
    """A run of two operators, of which the writes are made up."""

    def __init__(self) -> None:
        self.bounds = Bounds(("fleet", "toy"), [USE])
        self._numbers: Iterator[int] = count()

    def write(
        self,
        name: str,
        *,
        kind: str = str(SHIP),
        actor: str = "fleet",
        event: Event = "MODIFIED",
        body: dict[str, Any] | None = None,
    ) -> None:
        n = next(self._numbers)
        verb = {"ADDED": "create", "DELETED": "delete"}.get(event, "patch")
        self.bounds.wrote(
            Write(
                n=n,
                t=n * MILLISECOND,
                actor=actor,
                verb=verb,
                kind=kind,
                name=name,
                uid=name,
                event=event,
                object={"metadata": {"name": name}, **(body or {})},
            )
        )


@pytest.fixture
def run() -> Run:
    return Run()


def test_writes_of_different_objects_are_work(run: Run) -> None:
    for number in range(MANY):
        run.write(f"s-{number}", kind="ConfigMap")
    assert run.bounds.reached == ""


def test_events_about_different_objects_are_work(run: Run) -> None:
    for number in range(MANY):
        body = {"involvedObject": {"kind": "Ship", "name": f"s-{number}"}}
        run.write(f"event-{number}", kind="Event", event="ADDED", body=body)
    assert run.bounds.reached == ""


def test_events_about_one_object_without_end_are_no_progress(run: Run) -> None:
    for number in range(MANY):
        body = {"involvedObject": {"kind": "Ship", "name": "s"}}
        run.write(f"event-{number}", kind="Event", event="ADDED", body=body)
    assert run.bounds.reached.endswith("of them: create Event")


def test_a_number_that_follows_the_work_is_no_livelock(run: Run) -> None:
    for number in range(MANY):
        run.write(f"s-{number}", kind="ConfigMap")
        run.write("total", kind="ConfigMap")
    assert run.bounds.reached == ""


def test_a_number_that_follows_the_work_of_another_operator_is_no_livelock(run: Run) -> None:
    for number in range(MANY):
        run.write(f"s-{number}", kind="ConfigMap", actor="toy")
        run.write("total", kind="ConfigMap")
    assert run.bounds.reached == ""


def test_the_operator_that_repeats_itself_is_named(run: Run) -> None:
    for number in range(MANY):
        if number % 50 == 0:
            run.write(f"p-{number}", kind="Pod", actor="toy", event="ADDED")
        run.write("s", actor="fleet/1")
    assert "writes of fleet without progress" in run.bounds.reached
    assert run.bounds.reached.endswith("of them: patch Ship.fleet.test s")


def test_leases_that_are_renewed_for_long_fill_no_history(run: Run) -> None:
    run.write("s", event="ADDED")
    for _ in range(2 * MAX_ENTRIES):
        run.write("leader", kind=str(LEASE))
    run.write("s", body={"status": {"ready": 1}})
    assert run.bounds.reached == ""
    for number in range(MAX_ENTRIES):
        run.write(f"s-{number}", kind="ConfigMap")
    assert run.bounds.reached.startswith(f"{MAX_ENTRIES} entries in the history")


def test_where_an_object_has_been_before_is_no_progress(run: Run) -> None:
    for number in range(MANY):
        run.write("s", body={"status": {"ready": number % 3}})
    assert "writes of fleet without progress" in run.bounds.reached


def test_where_an_object_has_never_been_is_progress(run: Run) -> None:
    for number in range(MANY):
        run.write("s", body={"status": {"ready": number}})
    assert run.bounds.reached == ""


def test_an_object_that_is_made_anew_without_end_is_no_progress(run: Run) -> None:
    for _ in range(MANY):
        run.write("s-0", kind="Pod", event="ADDED")
        run.write("s-0", kind="Pod", actor="kubelet/n0")
        run.write("s-0", kind="Pod", event="DELETED")
    assert run.bounds.reached.endswith("of them: delete Pod s-0")


@pytest.mark.parametrize("actor", ["user", "kubelet/n0"])
def test_an_operator_that_answers_others_is_at_work(run: Run, actor: str) -> None:
    for _ in range(MANY):
        run.write("p", kind="Pod", actor=actor)
        run.write("s")
    assert run.bounds.reached == ""


@pytest.mark.parametrize("actor", ["user", "federated-user"])
def test_pods_that_an_edit_asks_for_count(run: Run, actor: str) -> None:
    run.write("s", actor=actor, event="ADDED", body={"spec": {"pods": 1}})
    run.write("t", actor=actor, event="ADDED", body={"spec": {"pods": 2}})
    run.write("s", actor=actor, body={"spec": {"pods": 1000}})
    run.write("s", actor=actor, body={"spec": {"pods": 10}})
    assert run.bounds.pods == 1002
