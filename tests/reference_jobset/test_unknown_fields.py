"""Fields that are not implemented are refused by their paths, and none is dropped on the way."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

import pytest

from conformance.suites.jobset.api import JOB_SET
from conformance.suites.jobset.scenarios.workloads import job_set, replicated_job, rule
from conformance.world import World
from reference_controller.jobset.admission import mutate, validate
from reference_controller.jobset.children import changes
from reference_controller.jobset.known_fields import unknown_fields
from reference_controller.jobset.rules import RIGHT
from reference_controller.runtime.admission_review import UserInfo
from tests.claims.jobset_runs import run_of
from tests.reference_jobset.driver import replicated_job as its_job
from tests.reference_jobset.observed import seen, standing
from vocabulary.errors import ApiError
from vocabulary.objects import Object, name_of
from vocabulary.requests import Create

USER: Final = UserInfo("somebody")
TEMPLATE: Final = "spec.replicatedJobs[1].template"
POLICY: Final = f"{TEMPLATE}.spec.podFailurePolicy.rules[0]"
METADATA: Final = "generateName finalizers ownerReferences odd"
REFUSED: Final = [
    "odd",
    # Of the released API, not implemented here.
    "spec.volumeClaimPolicies",
    # Of no API.
    *(
        f"{parent}.odd"
        for parent in (
            "spec",
            "spec.network",
            "spec.successPolicy",
            "spec.failurePolicy",
            "spec.failurePolicy.rules[0]",
            "spec.startupPolicy",
            "spec.coordinator",
            "spec.replicatedJobs[1]",
            "spec.replicatedJobs[1].dependsOn[0]",
            TEMPLATE,
            f"{TEMPLATE}.spec",
            f"{TEMPLATE}.spec.podFailurePolicy",
            POLICY,
            f"{POLICY}.onExitCodes",
            f"{TEMPLATE}.spec.podFailurePolicy.rules[1].onPodConditions[0]",
            f"{TEMPLATE}.spec.successPolicy",
            f"{TEMPLATE}.spec.successPolicy.rules[0]",
            f"{TEMPLATE}.spec.template",
        )
    ),
    # Of batch/v1 and of metadata, and overwritten or not copied.
    f"{TEMPLATE}.status",
    f"{TEMPLATE}.spec.suspend",
    f"{POLICY}.setConditionReason",
    *(f"{TEMPLATE}.metadata.{name}" for name in METADATA.split()),
    *(f"{TEMPLATE}.spec.template.metadata.{name}" for name in METADATA.split()),
]


def full() -> dict[str, Any]:
    """A JobSet with an object or list at each level at which fields may be unknown."""
    waiting = replicated_job(
        "w",
        podFailurePolicy={
            "rules": [
                {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}},
                {
                    "action": "Ignore",
                    "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
                },
            ]
        },
        successPolicy={"rules": [{"succeededIndexes": "0", "succeededCount": 1}]},
        completionMode="Indexed",
    )
    needs = [{"name": "v", "status": "Ready"}]
    made = job_set(
        [replicated_job("v"), {**waiting, "groupName": "g", "dependsOn": needs}],
        [{**rule("RestartJobSet", ["PodFailurePolicy"], ["w"]), "name": "first"}],
        network={"enableDNSHostnames": True},
        successPolicy={"operator": "All"},
        startupPolicy={"startupPolicyOrder": "AnyOrder"},
        coordinator={"replicatedJob": "v"},
        suspend=True,
    )
    return deepcopy(made)


def _with(path: str, value: Any) -> dict[str, Any]:
    found = full()
    *parents, last = path.replace("[", ".").replace("]", "").split(".")
    within: Any = found
    for step in parents:
        within = within[int(step)] if step.isdigit() else within[step]
    within[last] = value
    return found


def _fields(refused: ApiError) -> list[str]:
    return [each["field"] for each in (refused.details or {})["causes"]]


def _refusal(world: World, submitted: Object) -> list[str]:
    """The fields at fault as the API server and the webhook say; [] if it is admitted."""
    metadata = {**submitted["metadata"], "namespace": world.namespace}
    try:
        world.call(
            Create(
                JOB_SET, {**submitted, "metadata": metadata}, world.namespace, name_of(submitted)
            )
        )
    except ApiError as refused:
        return _fields(refused)
    return []


def test_each_is_refused_by_its_path_and_by_nothing_else() -> None:
    """By way of the API server, whose schema must not drop the field before the webhook sees it."""
    found: dict[str, list[str]] = {}

    def steps(world: World) -> None:
        found.update({path: _refusal(world, _with(path, ["x"])) for path in REFUSED})
        assert _refusal(world, full()) == []

    run_of(steps)
    assert found == {path: [path] for path in REFUSED}


@pytest.mark.parametrize("path", REFUSED)
def test_null_is_no_field(path: str) -> None:
    assert list(unknown_fields(_with(path, None))) == []


def test_an_update_is_refused_for_what_it_adds_and_not_for_what_stands_there() -> None:
    old = mutate("CREATE", _with("spec.network.odd", 1), None, USER)
    resumed = {**old, "spec": {**old["spec"], "suspend": False}}
    assert validate("UPDATE", resumed, old, USER) == resumed
    more = {**old, "spec": {**old["spec"], "volumeClaimPolicies": []}}
    with pytest.raises(ApiError) as refused:
        validate("UPDATE", more, old, USER)
    assert _fields(refused.value) == ["spec.volumeClaimPolicies"]


def test_jobs_are_created_with_strict_field_validation() -> None:
    """The API server alone knows the fields of pods, and drops others silently without it."""
    made = standing(its_job("a", replicas=2))
    creates = changes(seen(made, []), RIGHT).creates
    assert [create.strict for create in creates] == [True, True]
