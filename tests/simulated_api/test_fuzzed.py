"""Thousands of objects with one wrong value each: all are answered, and none ends the cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.differential.exchange import Answer
from tests.differential.plane import definitions
from tests.differential.real_target import RealTarget, started
from tests.differential.scripts.types import small_objects
from tests.differential.simulated_target import SimulatedTarget
from tests.simulated_api.fuzzed import Fuzz, Wrong
from tests.simulated_api.fuzzed_answers import (
    NAMESPACE,
    RECORDING,
    SEED,
    begin,
    exchanges,
    told,
)

REAL_ERRORS = (
    "cannot convert ",
    "failed to create typed patch object (",
    "failed to convert new object (",
    "list element types are not identical: ",
    "map: map[",
    "resourceVersion should not be set on objects to be created",
    "strconv.ParseUint: parsing ",
)
"""How the messages begin with which a real server answers 500, to applies and patches mostly."""


def _is_a_real_servers(answer: Answer) -> bool:
    return answer.code < 500 or answer.body["message"].startswith(REAL_ERRORS)


@pytest.fixture(scope="module")
def answers() -> list[tuple[Wrong, Answer]]:
    return list(exchanges())


def test_no_object_ends_the_cluster_or_is_answered_by_a_bug(
    answers: list[tuple[Wrong, Answer]],
) -> None:
    wrong = [
        f"{request}: {answer.code} {answer.body['message']}"
        for request, answer in answers
        if not _is_a_real_servers(answer)
    ]
    assert not wrong, "\n".join(wrong)


def test_objects_are_answered_as_they_were_recorded_to_be(
    answers: list[tuple[Wrong, Answer]],
) -> None:
    assert told(answers) == RECORDING.read_text().splitlines()


UNLIKE = {
    "APIService status.conditions.0": "a real server's controller has added a condition before",
    "Node spec.podCIDRs.0": "the simulation assigns no addresses, and takes any",
    "ResourceQuota metadata.generateName": "a real server does not look at one that is applied",
}
"""The disagreements of the sample, by kind and field, and why they are left."""
SAMPLE = 300


@pytest.fixture(scope="module")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealTarget]:
    with started(tmp_path_factory.mktemp("fuzzed")) as running:
        yield running


@pytest.mark.control_plane
def test_a_real_server_answers_a_sample_with_the_same_codes(control_plane: RealTarget) -> None:
    simulated = SimulatedTarget(definitions())
    fuzz = Fuzz(SEED, NAMESPACE, small_objects(NAMESPACE), filled=0)
    for target in (simulated, control_plane):
        for call in begin(fuzz):
            assert target.exchange(call).code == 201, call
    differing = {}
    for _ in range(SAMPLE):
        request = fuzz.request("dryRun=All")
        ours, theirs = simulated.exchange(request.call), control_plane.exchange(request.call)
        if ours.code != theirs.code:
            differing[request.field] = f"{request}: {ours.code}, of a real server {theirs.code}"
    assert differing.keys() == UNLIKE.keys(), "\n".join(differing.values())
