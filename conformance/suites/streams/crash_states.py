"""Every state that a crash can leave of the canonical Job's submission, and a plan for each.

Its first 21 writes come one after the other. A ProcessingElement that is there is launched, and
its pod created, whatever the others do: so there are 17 + 3 + 9 + 27 + 81 + 243 states, and the
last, in which the Job is Submitted. A plan reaches a state with the running operator: it holds each
request that would go beyond, and ends the process once the state's writes are there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Final, NamedTuple

from chaos.choice import ObjectChoice, PodChoice
from chaos.fault import Fault
from chaos.faults import (
    CreateObject,
    DeleteObject,
    DeletePod,
    EditObject,
    Kill,
    KillPod,
    TimeOut,
)
from chaos.plan import Plan, Step
from chaos.trigger import At, Combined, On
from conformance.suites.streams.api import (
    EXPORT,
    HOST_POOL,
    IMPORT,
    JOB,
    PARALLEL_REGION,
    PROCESSING_ELEMENT,
)
from vocabulary.clock import MINUTE, SECOND
from vocabulary.history import Entry, Process, Write
from vocabulary.kinds import CONFIG_MAP, POD, SERVICE, Kind

CANONICAL: Final = "streams/submissions/canonical/"
SIZE: Final = 5
ORDERED: Final = (
    (JOB, 1),
    (CONFIG_MAP, SIZE + 1),
    (SERVICE, SIZE),
    (HOST_POOL, 1),
    (EXPORT, 1),
    (IMPORT, 1),
    (PARALLEL_REGION, 1),
)
"""The writes before the first ProcessingElement, in this order: how many of each kind."""
BEFORE_ELEMENTS: Final = sum(count for _, count in ORDERED)
ACTOR: Final = "streams"
_DOWN_US: Final = 8 * SECOND
_HELD_US: Final = 4 * SECOND
_MEANWHILE_US: Final = 5 * SECOND
_PLACES: Final = ("commit", "reply")
IN_FULL: Final = (1, 16, 29)
"""After states of so many writes the operator is killed a second time at each later write."""


class State(NamedTuple):
    """A state of the canonical Job's submission: the writes that are there."""

    ordered: int
    """So many of the writes before the first ProcessingElement."""
    stages: tuple[int, ...] = ()
    """Of each ProcessingElement that is created: 0 no more than that, 1 launched, 2 with a pod."""
    is_submitted: bool = False

    def __str__(self) -> str:
        if self.is_submitted:
            return "submitted"
        if not self.stages:
            return f"{self.ordered} writes"
        words = ("created", "launched", "with pod")
        return ", ".join(f"a-{pe} {words[stage]}" for pe, stage in enumerate(self.stages))

    @property
    def writes(self) -> int:
        return self.ordered + sum(1 + stage for stage in self.stages) + self.is_submitted

    def counts(self) -> Iterator[tuple[str, Kind, int]]:
        """How many writes of each verb and kind there are."""
        left = self.ordered
        for kind, count in ORDERED:
            yield "update" if kind == JOB else "create", kind, min(left, count)
            left -= min(left, count)
        yield "create", PROCESSING_ELEMENT, len(self.stages)
        yield "patch", PROCESSING_ELEMENT, sum(stage > 0 for stage in self.stages)
        yield "create", POD, sum(stage > 1 for stage in self.stages)
        yield "patch", JOB, int(self.is_submitted)

    def holds(self) -> Iterator[TimeOut]:
        """The faults that keep the operator from going beyond."""
        for verb, kind, count in self.counts():
            is_of_one = kind == POD or (verb == "patch" and kind == PROCESSING_ELEMENT)
            if not is_of_one and not self.is_submitted:
                yield _held(verb, kind, skip=count)
        for pe, stage in enumerate(self.stages):
            if stage == 0:
                yield _held("patch", PROCESSING_ELEMENT, name=f"a-{pe}")
            elif stage == 1:
                yield _held("create", POD, name=f"a-{pe}-*")


def states() -> Iterator[State]:
    """All of them: 381."""
    for ordered in range(BEFORE_ELEMENTS + 1):
        yield State(ordered)
    for created in range(1, SIZE + 1):
        for stages in product(range(3), repeat=created):
            yield State(BEFORE_ELEMENTS, stages)
    yield State(BEFORE_ELEMENTS, (2,) * SIZE, is_submitted=True)


def _held(verb: str, kind: Kind, *, skip: int = 0, name: str = "") -> TimeOut:
    named = f"{kind.kind}.{kind.group}".rstrip(".")
    return TimeOut(
        verb=(verb,),  # type: ignore[arg-type]
        kind=named,
        name=name,
        skip=skip,
        times=0,
        after=MINUTE,
    )


_ALL: Final = ObjectChoice(of="Job.streams.conformance.dev/a", which="all")
_PODS: Final = PodChoice(which="all")
_NODE: Final = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n9"}}
MEANWHILE: Final[Mapping[str, tuple[Fault, ...]]] = {
    "nothing happens": (),
    "pods fail": (KillPod(_PODS),),
    "pods succeed": (KillPod(_PODS, exit_code=0),),
    "pods are deleted": (DeletePod(_PODS),),
    "elements change": (
        EditObject(
            PROCESSING_ELEMENT.kind,
            _ALL,
            {"spec": {"connectivity": "Partial", "launchCount": 3}},
        ),
    ),
    "a node is added": (CreateObject(_NODE),),
    "the user deletes it": (DeleteObject("Job.streams.conformance.dev", "a"),),
    "the user applies it again": (
        EditObject(
            "Job.streams.conformance.dev",
            "a",
            {"metadata": {"annotations": {"example.com/applied": "again"}}},
        ),
    ),
}
"""The events that may happen while the operator is down."""


def crash_plans(base: Plan) -> Iterator[tuple[str, Plan]]:
    """Of the canonical Job, each state, before and after the reply to its last write, and each
    thing that may happen then: a text and a plan. A further node is added where the Job leaves its
    size to the cluster."""
    if not base.scenario.startswith(CANONICAL):
        return
    of_nodes = base.scenario == f"{CANONICAL}nodes"
    for state, place, meanwhile in product(states(), _PLACES, MEANWHILE):
        if of_nodes is not (meanwhile == "a node is added"):
            continue
        reached = tuple(
            On(after=place, by=ACTOR, verb=(verb,), kind=_named(kind), occurrence=count)  # type: ignore[arg-type]
            for verb, kind, count in state.counts()
            if count
        )
        when = At(SECOND) if not reached else Combined("all", reached)
        steps = [Step(hold, At(0), lasts_us=_HELD_US) for hold in state.holds()]
        steps.append(Step(Kill(restart_after=_DOWN_US), when))
        steps += [Step(fault, At(_MEANWHILE_US)) for fault in MEANWHILE[meanwhile]]
        told = f"ended after {place} at {state}; then {meanwhile}"
        yield told, replace(base, faults=tuple(steps))


def state_at_end(entries: Iterable[Entry]) -> str:
    """The state in which the operator was killed first, by what it had written."""
    done: Counter[tuple[str, str]] = Counter()
    of_element: Counter[str] = Counter()
    for entry in entries:
        if isinstance(entry, Process) and entry.change == "killed":
            break
        if not isinstance(entry, Write) or entry.actor != ACTOR or not entry.event:
            continue
        done[entry.verb, entry.kind] += 1
        if entry.kind in (str(PROCESSING_ELEMENT), str(POD)):
            of_element["-".join(entry.name.split("-")[:2])] += 1
    stages = tuple(of_element[element] - 1 for element in sorted(of_element))
    is_submitted = bool(done["patch", str(JOB)])
    state = State(done.total() - of_element.total() - is_submitted, stages, is_submitted)
    is_one = done == {(verb, str(kind)): count for verb, kind, count in state.counts() if count}
    return str(state) if is_one else f"{done.total()} writes that are none of the states"


def is_killed_again(text: str) -> bool:
    """True if a plan's run is repeated with a second kill at each later write."""
    return text.startswith(f"ended after {_PLACES[0]} ") and text.endswith("then nothing happens")


def is_in_full(state: str) -> bool:
    """True if all second kills after a state are tried: of so many writes as the norm names."""
    return state in {str(each) for each in states() if each.writes in IN_FULL}


def counted(runs: Iterable[tuple[str, str]]) -> str:
    """`381 of 381 × 2 × 8`: the states that were seen in each place with each event, by the texts
    of the runs and by the states that they reached."""
    of_state: Counter[str] = Counter()
    places, events = set[str](), set[str]()
    for text, state in set(runs):
        where, _, event = text.partition("; then ")
        of_state[state] += where.endswith(f" at {state}")
        places.add(where.partition(" at ")[0])
        events.add(event)
    wanted = {str(each) for each in states()}
    seen = {state for state in wanted if of_state[state] == len(places) * len(events)}
    return f"{len(seen)} of {len(wanted)} × {len(places)} × {len(events)}"


def _named(kind: Kind) -> str:
    return f"{kind.kind}.{kind.group}".rstrip(".")
