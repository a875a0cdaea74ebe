"""Jobs as users write them, on a cluster without webhooks: none leaves a traceback."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.implementations.ours import implementation
from conformance.scenarios import SCENARIOS
from conformance.suites.streams.api import JOB
from conformance.suites.streams.handle import StreamsJob, job
from conformance.worlds.simulated.world import SimulatedWorld
from vocabulary.clock import MINUTE
from vocabulary.errors import ApiError

SCENARIO = SCENARIOS["streams/submissions/canonical/five"]


def submitted(spec: Any) -> SimulatedWorld:
    world = SimulatedWorld(SCENARIO, {"streams": implementation("reference", "streams")}, 7, None)
    world.create({**job("a"), "spec": spec})
    world.wait(MINUTE)
    return world


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"fusion": {}},
        {"bundle": {}, "hostPools": [], "exports": [], "imports": []},
        {"hostPools": None, "processingElement": {}, "podTemplate": {}},
        {"fusion": {"manual": 1}, "hostPools": [{}], "imports": [{"peId": 0, "portId": 0}]},
        {"fusion": {"manual": 2}, "exports": [{"peId": 9, "portId": 3}]},
        {"podTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": {"priority": 0}}},
        {"phase": "Nonsense", "generationId": 7},
    ],
)
def test_sparse_specs_are_submitted(spec: Any) -> None:
    world = submitted(spec)
    assert world.crashes == ()
    assert StreamsJob(world, "a").state.is_submitted


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"fusion": {"manual": 0}}, "spec.fusion.manual"),
        ({"fusion": {"manual": "five"}}, "spec.fusion.manual"),
        ({"exports": [{"peId": 0}]}, "spec.exports[0].portId"),
        ({"parallelRegions": [{"alias": "A_b", "width": 1}]}, "spec.parallelRegions[0].alias"),
        ({"parallelRegions": [{"alias": "a", "width": 0}]}, "spec.parallelRegions[0].width"),
        (None, "spec"),
        ({"exports": 2 * [{"peId": 0, "portId": 0}]}, "spec.exports[1]: Duplicate value"),
        ({"imports": 2 * [{"peId": 1, "portId": 0}]}, "spec.imports[1]: Duplicate value"),
        ({"parallelRegions": 2 * [{"alias": "a", "width": 1}]}, "spec.parallelRegions[1]"),
        ({"processingElement": {"restartDeletedPod": "yes"}}, "processingElement.restartDelete"),
        ({"podTemplate": "x"}, "spec.podTemplate"),
        (
            {"podTemplate": {"spec": {"containers": []}}},
            "spec.podTemplate.spec.containers: Invalid value: the operator sets it; leave it out",
        ),
        (
            {"podTemplate": {"spec": {"restartPolicy": "Always"}}},
            'spec.podTemplate.spec.restartPolicy: Invalid value: "Always": the operator',
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_field(spec: Any, field: str) -> None:
    with pytest.raises(ApiError) as refused:
        submitted(spec)
    assert field in refused.value.message
    assert JOB.plural in refused.value.message or JOB.kind in refused.value.message


@pytest.mark.parametrize("name", ["1a", "a.b", "a" * 51])
def test_a_name_that_services_cannot_have_is_refused(name: str) -> None:
    world = SimulatedWorld(SCENARIO, {"streams": implementation("reference", "streams")}, 7, None)
    with pytest.raises(ApiError, match="Services are named after it"):
        world.create(job(name))
