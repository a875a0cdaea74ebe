"""The first look: what keeps an operator or its pods from work is said before any fault."""

from __future__ import annotations

import msgspec

from conformance.explore.first_look import first_look
from conformance.report.run_result import RunResult
from tests.explore.by_hand import END, process, step
from tests.headers import header_of
from vocabulary.history import OPERATOR, Entry, OperatorUnderTest, Write

NO_ROOM = "0/2 nodes are available: 2 Insufficient cpu."


def lines(*entries: Entry) -> list[str]:
    operator = OperatorUnderTest(suite=OPERATOR, implementation="by hand")
    run = RunResult(
        scenario="by hand",
        title="",
        seed=1,
        plan={},
        header=msgspec.structs.replace(header_of(), operators={OPERATOR: operator}),
        entries=tuple(msgspec.structs.replace(each, n=n) for n, each in enumerate(entries, 1)),
        verdicts=(),
        wall_seconds=0,
        virtual_seconds=0,
    )
    return list(first_look(run, None))


def pod(name: str, status: str) -> Write:
    found = {"type": "PodScheduled", "status": status, "message": NO_ROOM}
    return Write(
        n=0,
        t=0,
        actor="scheduler",
        verb="create",
        kind="Pod",
        namespace="default",
        name=name,
        uid=name,
        event="ADDED",
        code=201,
        object={"metadata": {"name": name}, "status": {"conditions": [found]}},
    )


def test_rights_that_it_lacks_and_its_ends_are_said() -> None:
    lacks = [step(f"operator may not list {kind}") for kind in ("pods", "jobs", "pods", "a", "b")]
    said = lines(*lacks, process("ended"), process("ended"), END)
    assert "  ! it may not list pods, list jobs, list a and 1 more; see manifests.rbac" in said[3]
    assert "  ! it ended by itself, 2 times" in said


def test_pods_without_a_node_are_said() -> None:
    assert f"  ! 1 pod without a node: b: {NO_ROOM}" in lines(pod("a", "True"), pod("b", "False"))
