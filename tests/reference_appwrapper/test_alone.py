"""A controller without webhooks: no AppWrapper that an API server stores is a bug of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from conformance.implementations.ours import implementation
from reference_controller.runtime.admission_review import UserInfo
from tests.odd_values import changed
from tests.reference_appwrapper.driver import NAMESPACE, World, job, pod
from vocabulary import requests as rq
from vocabulary.clock import MINUTE
from vocabulary.errors import ApiError
from vocabulary.objects import Object

_TERM = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
TEMPLATES = (
    pod(
        affinity={
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_TERM]},
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 1, "preference": _TERM}
                ],
            }
        },
        resources={"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 1}},
    ),
    job(),
    {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "s"},
        "spec": {"replicatedJobs": [{"name": "a", "replicas": 1, "template": job()}]},
    },
    {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "t"},
        "spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": pod()}}},
    },
    {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": "r"},
        "spec": {
            "headGroupSpec": {"template": pod()},
            "workerGroupSpecs": [{"replicas": 1, "numOfHosts": 1, "template": pod()}],
        },
    },
)


def appwrapper(name: str, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {"name": name, "namespace": NAMESPACE},
        **more,
    }


@pytest.mark.parametrize("spec", [{}, {"spec": None}, {"spec": {"components": []}}])
def test_one_without_components_is_no_bug(spec: dict[str, Any]) -> None:
    world = World(nodes=2)
    world.user(rq.create(appwrapper("a", **spec)))
    world.run_for(MINUTE)
    assert world.operator is not None
    assert list(world.operator.crashes) == []


@pytest.mark.parametrize("webhooks", [True, False])
@pytest.mark.parametrize("template", TEMPLATES, ids=lambda each: str(each["kind"]))
def test_no_single_odd_value_is_a_bug(template: Object, webhooks: bool) -> None:
    world = World(nodes=2)
    if webhooks:
        hooks = implementation("reference", "appwrapper").admission({}, _raise, _user)
        world.cluster.api.admission.mutating.append(hooks.mutate)
        world.cluster.api.admission.validating.append(hooks.validate)
    world.spoil = _refuse_components
    codes = Counter[int]()
    info = {"labels": {"a": "b"}, "tolerations": [{"key": "k"}], "schedulingGates": [{"name": "g"}]}
    component = {"template": template, "podSetInfos": [info]}
    for number, spec in enumerate(changed({"components": [component]})):
        try:
            world.user(rq.create(appwrapper(f"a-{number}", spec=spec)))
        except ApiError as refused:
            codes[refused.code] += 1
        else:
            codes[201] += 1
    world.run_for(MINUTE)
    assert world.operator is not None
    assert (list(world.operator.crashes), world.crashes) == ([], [])
    assert codes[201] > 20, codes


def _refuse_components(request: rq.Request, _number: int) -> ApiError | None:
    """Refuse all of them: what becomes of odd pods is not the controller's business."""
    is_component = isinstance(request, rq.Create) and request.kind.kind != "Event"
    return ApiError(422, "Invalid", "is odd") if is_component else None


def _raise(_where: str, bug: Exception) -> None:
    raise bug


def _user(_actor: str) -> UserInfo:
    return UserInfo("user")
