"""The first look: what keeps an operator or its pods from work is said before any fault."""

from __future__ import annotations

from typing import Any

import msgspec

from clusters.simulated.controllers.kubelets.wishes import REASON
from conformance.explore.first_look import first_look
from conformance.report.run_result import RunResult
from tests.explore.by_hand import END, process, step
from tests.headers import header_of
from vocabulary.history import OPERATOR, Entry, OperatorUnderTest, Write

NO_ROOM = "0/2 nodes are available: 2 Insufficient cpu."


def lines(*entries: Entry, error: str = "") -> list[str]:
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
        error=error,
    )
    return list(first_look(run, None))


def test_a_workload_that_is_refused_is_no_riddle_of_the_simulation() -> None:
    said = lines(END, error='a step was refused: NotFound: namespaces "test" not found')
    assert said[-1].startswith(
        '  a step was refused: NotFound: namespaces "test" not found; correct'
    )


def created(kind: str, name: str, **fields: Any) -> Write:
    return Write(
        n=0,
        t=0,
        actor="anyone",
        verb="create",
        kind=kind,
        namespace="default",
        name=name,
        uid=f"{kind}/{name}",
        event="ADDED",
        code=201,
        object={"metadata": {"name": name}, **fields},
    )


def pod(name: str, status: str = "True", **spec: Any) -> Write:
    found = {"type": "PodScheduled", "status": status, "message": NO_ROOM}
    return created("Pod", name, spec=spec, status={"conditions": [found]})


def test_rights_that_it_lacks_and_its_ends_are_said() -> None:
    lacks = [step(f"operator may not list {kind}") for kind in ("pods", "jobs", "pods", "a", "b")]
    said = lines(*lacks, process("ended"), process("ended"), END)
    assert "  ! it may not list pods, list jobs, list a and 1 more; see manifests.rbac" in said[3]
    assert "  ! it ended by itself, 2 times" in said


def test_pods_without_a_node_are_said() -> None:
    assert f"  ! 1 pod without a node: b: {NO_ROOM}" in lines(pod("a", "True"), pod("b", "False"))


def unclear(name: str, image: str, *command: str) -> list[Write]:
    """A pod of two containers, the command of the second one of which is not understood."""
    containers = [{"name": "beside"}, {"name": name, "image": image, "command": list(command)}]
    about = created(
        "Event",
        f"about-{name}",
        involvedObject={"name": name},
        reason=REASON,
        message=f"the command of container {name!r} is not understood: it runs",
    )
    return [pod(name, restartPolicy="Never", containers=containers), about]


def test_a_command_is_asked_for_where_the_image_does_not_tell_containers_apart() -> None:
    said = lines(*unclear("a", "x", "serve", "-D"), *unclear("b", "x", "go"), *unclear("c", "y"))
    asked = [line.partition("behaviours: ")[2] for line in said if line.startswith("  ? ")]
    assert asked == [
        '[{"command": "serve *", "behaviour": "run 30s"}]',
        '[{"command": "go", "behaviour": "run 30s"}]',
        '[{"image": "y", "behaviour": "run 30s"}]',
    ]


def test_a_command_of_an_init_container_is_that_container_s() -> None:
    waits = {"name": "waits", "image": "x", "command": ["until", "up"]}
    held, about = unclear("a", "y")
    assert held.object is not None
    spec = {**held.object["spec"], "initContainers": [waits]}
    message = "the command of container 'waits' is not understood: it runs"
    said = lines(
        msgspec.structs.replace(held, object={**held.object, "spec": spec}),
        msgspec.structs.replace(about, object={**(about.object or {}), "message": message}),
    )
    (asked,) = (line for line in said if line.startswith("  ? "))
    assert asked.endswith('[{"image": "x", "behaviour": "run 30s"}]')
