"""Several reads are no snapshot: what a look at the remains of a workload must not overlook."""

from __future__ import annotations

from itertools import combinations_with_replacement, pairwise
from typing import Any

import pytest

from reference_controller.appwrapper import OperatorConfig
from reference_controller.appwrapper.observation import Observation
from reference_controller.appwrapper.observe import Observer
from reference_controller.appwrapper.rules import RIGHT
from tests.reference_appwrapper.observed import NOW, appwrapper, component, owned
from vocabulary.errors import not_found
from vocabulary.kinds import DEPLOYMENT, JOB, POD, REPLICA_SET, Kind
from vocabulary.objects import Object
from vocabulary.requests import Get, List, ObjectList

MADE = {"labels": {"workload.codeflare.dev.appwrapper/owner-uid": "aw-1"}}


def looked(kind: Kind, states: tuple[frozenset[Kind], ...]) -> Observation:
    """A look at a component of a kind; at each read in turn these kinds are there."""
    wrapper = appwrapper("Suspending", componentStatus=[component(kind).record])
    observer = Observer(OperatorConfig(), RIGHT, lambda: NOW)
    reading = observer.remains(wrapper, live=True)
    there = iter(states)
    request: Any = next(reading)
    while True:
        stands = request.kind in next(there)
        try:
            request = answer(reading, request, stands)
        except StopIteration as done:
            seen: Observation = done.value
            return seen


def answer(reading: Any, request: Get | List, stands: bool) -> Any:
    metadata: Object = {"name": "x", "namespace": "team", "uid": f"{request.kind}-1"}
    if isinstance(request, List):
        items = ({"metadata": {**metadata, **MADE}},) if stands else ()
        return reading.send(ObjectList(items, "1"))
    if stands:
        return reading.send({"metadata": {**metadata, **owned()}})
    return reading.throw(not_found(request.kind, request.name))


@pytest.mark.parametrize(
    "course",
    [(JOB, POD), (DEPLOYMENT, REPLICA_SET, POD)],
    ids=["job", "deployment"],
)
def test_what_one_makes_before_it_goes_is_seen_whenever_that_happens(
    course: tuple[Kind, ...],
) -> None:
    """Each creates the next and is then gone; this may happen between any two reads."""
    states: list[frozenset[Kind]] = []
    for maker, made in pairwise(course):
        states += [frozenset({maker}), frozenset({maker, made})]
    states.append(frozenset({course[-1]}))
    for at_each_read in combinations_with_replacement(states, len(course)):
        seen = looked(course[0], at_each_read)
        assert not RIGHT.is_all_gone(seen), [sorted(map(str, state)) for state in at_each_read]
