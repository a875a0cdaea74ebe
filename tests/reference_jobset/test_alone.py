"""A controller without webhooks: it runs what users post, and says why it does not run the rest."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from conformance.implementations.ours import implementation
from reference_controller.jobset.admission import mutate, validate
from tests.claims.jobset_runs import run_of
from tests.odd_values import changed
from tests.reference_jobset.driver import USER, World, job_set, replicated_job
from tests.reference_jobset.test_unknown_fields import full
from vocabulary import requests as rq
from vocabulary.clock import MINUTE
from vocabulary.errors import ApiError
from vocabulary.history import Write
from vocabulary.kinds import JOB
from vocabulary.objects import Object, get_path, name_of, with_path


def alone(made: Object) -> World:
    """A world in which that was posted."""
    world = World(nodes=2)
    world.user(rq.create(made))
    return world


def posted() -> dict[str, Any]:
    """A JobSet with all that a controller reads."""
    made = {**full(), "spec": {**full()["spec"], "suspend": False}}
    term = {"topologyKey": "zone", "labelSelector": {}}
    needed = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    pod = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    pod["spec"] |= {
        "affinity": {"podAffinity": needed, "podAntiAffinity": needed},
        "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}},
    }
    annotations = {"alpha.jobset.sigs.k8s.io/exclusive-topology": "zone"}
    return {**made, "metadata": {"name": "js", "namespace": "team", "annotations": annotations}}


def test_what_users_post_runs_as_if_admitted() -> None:
    made = job_set(
        replicated_job("a", "run 5s, exit 1"),
        failurePolicy={"maxRestarts": 1, "rules": [{"name": "", "action": "RestartJobSet"}]},
    )
    del made["spec"]["replicatedJobs"][0]["replicas"]
    world = alone(made)
    assert world.until(lambda: world.is_("Failed"))
    assert (world.status("restarts"), world.crashes) == (1, [])


@pytest.mark.parametrize("spec", [{}, {"spec": None}, {"spec": {}}])
def test_a_job_set_without_a_spec_has_nothing_to_run(spec: dict[str, Any]) -> None:
    made = job_set()
    world = alone({**{key: made[key] for key in ("apiVersion", "kind", "metadata")}, **spec})
    assert world.until(lambda: world.is_("Completed"))


def test_what_cannot_be_run_is_told_and_runs_once_it_is_corrected() -> None:
    made = job_set(replicated_job("a"), volumeClaimPolicies=[{"templates": []}])
    made["metadata"]["annotations"] = {"alpha.jobset.sigs.k8s.io/node-selector": "true"}
    world = alone(made)
    world.run_for(MINUTE)
    assert world.events() == [
        "generation 1 of the spec is not run: spec.volumeClaimPolicies: is not implemented; leave "
        "it out, metadata.annotations[alpha.jobset.sigs.k8s.io/node-selector]: is not "
        "implemented; leave it out"
    ]
    assert (world.jobs(), world.now.get("status")) == ({}, None)
    note = {"metadata": {"annotations": None}}
    world.patch({**note, "spec": {"volumeClaimPolicies": None}})
    assert world.until(lambda: world.ready() == 1)


def test_a_job_set_that_runs_is_not_stopped_for_what_another_release_knows() -> None:
    world = alone(job_set(replicated_job("a", "run 60s")))
    assert world.until(lambda: world.ready() == 1)
    world.patch({"spec": {"ofAnotherRelease": 1}})
    assert world.until(lambda: world.is_("Completed"))


@pytest.mark.parametrize("level", ["metadata", "spec.template.metadata"])
def test_names_and_namespaces_of_templates_are_accepted_and_have_no_effect(level: str) -> None:
    made = job_set(replicated_job("a"))
    given = get_path(made, f"spec.replicatedJobs.0.template.{level.rpartition('.')[0]}".rstrip("."))
    given["metadata"] = {"name": "mine", "namespace": "elsewhere", "labels": {"a": "b"}}
    assert validate("CREATE", mutate("CREATE", made, None, USER), None, USER)
    world = alone(made)
    assert world.until(lambda: world.ready() == 1)
    assert [*world.jobs()] == ["js-a-0"]


def test_a_generated_name_is_admitted_by_the_webhooks_of_a_run() -> None:
    made = with_path(job_set(replicated_job("a", "run 1s")), "metadata", {"generateName": "js-"})
    names: list[str] = []
    run = run_of(lambda world: names.append(name_of(world.create(made))))
    (name,) = names
    assert name.startswith("js-")
    assert any(isinstance(e, Write) and e.name == f"{name}-a-0" for e in run.entries)


def test_a_job_set_of_a_later_version_is_refused_with_the_version_to_write() -> None:
    made = {**job_set(replicated_job("a")), "apiVersion": "jobset.x-k8s.io/v1"}
    with pytest.raises(ApiError, match=r"^[^\n]*write apiVersion: jobset\.x-k8s\.io/v1alpha2$"):
        alone(made)


@pytest.mark.parametrize("webhooks", [True, False])
def test_no_single_odd_value_is_a_bug(webhooks: bool) -> None:
    world = World(nodes=2)
    if webhooks:
        hooks = implementation("reference", "jobset").admission({}, _raise, lambda _: USER)
        world.cluster.api.admission.mutating.append(hooks.mutate)
        world.cluster.api.admission.validating.append(hooks.validate)
    world.spoil = refuse_jobs
    codes = Counter[int]()
    made = posted()
    for number, spec in enumerate(changed(made["spec"])):
        metadata = {**made["metadata"], "name": f"js-{number}"}
        try:
            world.user(rq.create({**made, "metadata": metadata, "spec": spec}))
        except ApiError as refused:
            codes[refused.code] += 1
        else:
            codes[201] += 1
    world.run_for(2 * MINUTE)
    assert world.operator is not None
    assert (list(world.operator.crashes), world.crashes) == ([], [])
    assert min(codes[201], codes[422]) > 100, codes


def refuse_jobs(request: rq.Request, _number: int) -> ApiError | None:
    """Refuse all Jobs: what becomes of those with odd pods is not the controller's business."""
    is_job = isinstance(request, rq.Create) and request.kind == JOB
    return ApiError(422, "Invalid", "is odd") if is_job else None


def _raise(_where: str, bug: Exception) -> None:
    raise bug
