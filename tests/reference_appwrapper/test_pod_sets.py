"""podSets: what is inferred of known kinds, and how paths are read."""

from __future__ import annotations

from typing import Any

import pytest

from reference_controller.appwrapper.pod_sets import (
    PathError,
    infer,
    parse_path,
    pod_sets_of,
    pod_template_at,
    with_pod_template,
)


def template(api_version: str, kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, "spec": spec}


POD = {"spec": {"containers": []}}
ODD = {"spec": {"containers": ["main"]}}


@pytest.mark.parametrize(
    ("component", "expected"),
    [
        (template("v1", "Pod"), [("template", 1)]),
        (template("apps/v1", "Deployment"), [("template.spec.template", 1)]),
        (template("apps/v1", "StatefulSet", replicas=4), [("template.spec.template", 4)]),
        (template("batch/v1", "Job"), [("template.spec.template", 1)]),
        (template("batch/v1", "Job", parallelism=3), [("template.spec.template", 3)]),
        (
            template("batch/v1", "Job", parallelism=3, completions=2),
            [("template.spec.template", 2)],
        ),
        (
            template("batch/v1", "Job", parallelism=2, completions=9),
            [("template.spec.template", 2)],
        ),
        (
            template(
                "kubeflow.org/v1",
                "PyTorchJob",
                pytorchReplicaSpecs={"Worker": {"replicas": 7}, "Master": {}},
            ),
            [
                ("template.spec.pytorchReplicaSpecs.Master.template", 1),
                ("template.spec.pytorchReplicaSpecs.Worker.template", 7),
            ],
        ),
        (
            template(
                "jobset.x-k8s.io/v1alpha2",
                "JobSet",
                replicatedJobs=[
                    {"replicas": 2, "template": {"spec": {"parallelism": 3, "completions": 5}}},
                    {"template": {}},
                ],
            ),
            [
                ("template.spec.replicatedJobs[0].template.spec.template", 6),
                ("template.spec.replicatedJobs[1].template.spec.template", 1),
            ],
        ),
        (
            template(
                "ray.io/v1",
                "RayCluster",
                headGroupSpec={},
                workerGroupSpecs=[{"replicas": 2, "numOfHosts": 3}],
            ),
            [
                ("template.spec.headGroupSpec.template", 1),
                ("template.spec.workerGroupSpecs[0].template", 6),
            ],
        ),
        (
            template("ray.io/v1", "RayJob", rayClusterSpec={"workerGroupSpecs": [{}]}),
            [
                ("template.spec.rayClusterSpec.headGroupSpec.template", 1),
                ("template.spec.rayClusterSpec.workerGroupSpecs[0].template", 1),
            ],
        ),
        (template("v1", "ConfigMap"), []),
        (template("ray.io/v1alpha1", "RayCluster"), []),
        (template("apps/v1", "DaemonSet"), []),
    ],
    ids=lambda value: value.get("kind", "") if isinstance(value, dict) else "",
)
def test_the_pod_sets_of_a_known_kind_are_inferred_and_of_others_not(
    component: dict[str, Any], expected: list[tuple[str, int]]
) -> None:
    assert [(found.path, found.replicas) for found in infer(component)] == expected


def test_declared_pod_sets_come_before_inferred_ones_and_have_one_replica_unless_said() -> None:
    component = {
        "template": template("v1", "Pod"),
        "podSets": [{"path": "template.spec.a"}, {"path": "template.spec.b", "replicas": 3}],
    }
    found = [(pod_set.path, pod_set.replicas) for pod_set in pod_sets_of(component)]
    assert found == [("template.spec.a", 1), ("template.spec.b", 3)]


def test_replicas_that_are_no_number_are_an_error_and_not_a_guess() -> None:
    with pytest.raises(ValueError, match=r"spec\.replicas is '2'"):
        infer(template("apps/v1", "Deployment", replicas="2"))


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("template", ()),
        ("template.spec.template", ("spec", "template")),
        ("template.spec.list[12].x", ("spec", "list", 12, "x")),
    ],
)
def test_a_path_is_template_then_fields_and_indexes(path: str, steps: tuple[Any, ...]) -> None:
    assert parse_path(path) == steps


@pytest.mark.parametrize(
    "path", ["", "spec.template", "template.", "template..x", "template[x]", "template x", "t"]
)
def test_a_path_of_another_shape_is_refused(path: str) -> None:
    with pytest.raises(PathError):
        parse_path(path)


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("template.spec.none", "no field 'none'"),
        ("template.spec.list[1]", r"no element \[1\]"),
        ("template.spec", "no pod template"),
        ("template.spec.odd", "no pod template"),
    ],
)
def test_a_path_that_leads_nowhere_says_where_it_stops(path: str, complaint: str) -> None:
    with pytest.raises(PathError, match=complaint):
        pod_template_at(template("x/v1", "X", list=[POD], odd=ODD), path)


def test_changing_a_pod_template_leaves_the_original_alone() -> None:
    original = template("x/v1", "X", list=[POD, POD])
    changed = with_pod_template(original, "template.spec.list[1]", {"spec": {"changed": True}})
    assert changed["spec"]["list"] == [POD, {"spec": {"changed": True}}]
    assert original["spec"]["list"] == [POD, POD]
