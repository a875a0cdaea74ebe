"""A plan that changes the workload: what is submitted, and that it replays."""

from __future__ import annotations

from typing import Any

import pytest

from chaos.plan import Plan, parse_plan
from conformance.implementations.ours import implementation
from conformance.norm.verdict import Outcome
from conformance.running.runner import run_one
from conformance.running.shrunk import whole_plan
from conformance.scenarios import SCENARIOS
from conformance.suites.appwrapper.faults.variation import Added, AppWrapperVariation
from conformance.suites.appwrapper.faults.varied import varied
from vocabulary.history import Write, history_digest
from vocabulary.objects import annotations_of, get_path

REFERENCE = implementation("reference", "appwrapper")
VARIED = """\
seed: 11
scenario: appwrapper/detection/job-retries-by-itself
workload: {appwrapper: a, name: b.c, replicas: 3, completions: 4, backoff: 0, restart: OnFailure, \
behaviour: 'run 20s, stop 2m', parameters: {failureGracePeriodDuration: 7s}, beside: [\
{kind: ConfigMap, name: c}, {kind: Service, name: s}, {kind: Pod, name: p, is_prefix: true}, \
{kind: Job, name: j}]}
faults: []
"""


def submitted(plan: Plan) -> Any:
    """The AppWrapper that the user of a scenario creates under a plan."""
    run = run_one(SCENARIOS[plan.scenario], REFERENCE, plan.seed, plan)
    assert [v.because for v in run.verdicts if v.outcome is Outcome.FAILED] == []
    return next(
        entry.object
        for entry in run.entries
        if isinstance(entry, Write) and entry.actor == "user" and entry.event == "ADDED"
    )


def test_a_plan_gives_the_appwrapper_another_name_shape_and_parameters() -> None:
    stored = submitted(parse_plan(VARIED))
    assert stored["metadata"]["name"] == "b.c"
    key = "workload.codeflare.dev.appwrapper/failureGracePeriodDuration"
    assert annotations_of(stored)[key] == "7s"
    work, *beside = [component["template"] for component in stored["spec"]["components"]]
    assert {key: work["spec"][key] for key in ("parallelism", "completions", "backoffLimit")} == {
        "parallelism": 3,
        "completions": 4,
        "backoffLimit": 0,
    }
    assert get_path(work, "spec.template.spec.restartPolicy") == "OnFailure"
    pod = get_path(work, "spec.template")
    assert annotations_of(pod)["assay.dev/behaviour"] == "run 20s, stop 2m"
    assert pod["spec"]["terminationGracePeriodSeconds"] == 150
    assert [(each["kind"], each["metadata"]) for each in beside[:2]] == [
        ("ConfigMap", {"name": "c"}),
        ("Service", {"name": "s"}),
    ]
    assert beside[2]["metadata"]["generateName"] == "p"


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_what_is_added_runs_beside_the_workload(kind: str) -> None:
    text = "scenario: appwrapper/detection/failed-pod\nfaults: []\nseed: 3\n"
    added = f"workload: {{appwrapper: a, beside: {{kind: {kind}, name: also}}}}\n"
    run = run_one(SCENARIOS["appwrapper/detection/failed-pod"], REFERENCE, 3, parse_plan(text))
    more = run_one(
        SCENARIOS["appwrapper/detection/failed-pod"], REFERENCE, 3, parse_plan(text + added)
    )
    assert not run.error and not more.error
    assert len(more.entries) > len(run.entries)


def test_other_appwrappers_and_declared_pod_sets_stay_as_they_are() -> None:
    template = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {}}
    declared = {"template": template, "podSets": [{"path": "template.spec.template"}]}
    manifest = {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {"name": "a"},
        "spec": {"components": [declared]},
    }
    three = AppWrapperVariation("a", replicas=3)
    assert varied(manifest, three) == manifest
    another = AppWrapperVariation("b", name="c", beside=(Added("Pod", "p"),))
    assert varied(manifest, another) == manifest
    assert varied(template, three) == template


def test_a_plan_that_changes_the_workload_replays_to_the_same_bytes() -> None:
    plan = parse_plan(VARIED)
    run = run_one(SCENARIOS[plan.scenario], REFERENCE, plan.seed, plan)
    again = whole_plan(run)
    assert again.workload == plan.workload
    replayed = run_one(SCENARIOS[plan.scenario], REFERENCE, again.seed, again)
    assert history_digest(replayed.header, replayed.entries) == history_digest(
        run.header, run.entries
    )
