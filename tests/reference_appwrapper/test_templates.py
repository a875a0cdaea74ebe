"""From a component's template to the object that is created."""

from __future__ import annotations

from typing import Any

import pytest

from reference_controller.appwrapper import OperatorConfig
from reference_controller.appwrapper.rules import RIGHT
from reference_controller.appwrapper.templates import TemplateError, build, component_name
from tests.reference_appwrapper.driver import config_map, job, pod
from vocabulary.objects import Object, controller_of, get_path, labels_of, with_path

REQUIRED = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
NOT_BAD = {
    "key": "autopilot.ibm.com/gpuhealth",
    "operator": "NotIn",
    "values": ["ERR", "EVICT"],
}
GPU = {"requests": {"nvidia.com/gpu": "1"}}


def appwrapper(component: Object, attempt: int = 2) -> Object:
    entry = component if "template" in component else {"template": component}
    return {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {"name": "a", "namespace": "team", "uid": "u-1"},
        "spec": {"components": [entry]},
        "status": {"attempt": attempt},
    }


def built(component: Object, config: OperatorConfig | None = None) -> Object:
    aw = appwrapper(component)
    return build(aw, 0, component_name(aw, 0, 2), config or OperatorConfig(), RIGHT)


def pod_of(obj: Object) -> Any:
    return obj["spec"]["template"]


def test_every_object_is_controlled_by_the_appwrapper_and_tells_its_attempt() -> None:
    owner = controller_of(built(config_map()))
    assert owner is not None
    assert (owner["uid"], owner["kind"], owner["blockOwnerDeletion"]) == ("u-1", "AppWrapper", True)
    annotations = built(config_map())["metadata"]["annotations"]
    assert annotations["workload.codeflare.dev.appwrapper/attempt"] == "2"


def test_pod_templates_get_the_label_by_which_pods_are_found() -> None:
    assert labels_of(pod_of(built(job())))["workload.codeflare.dev/appwrapper"] == "a"
    assert labels_of(built(pod()))["workload.codeflare.dev/appwrapper"] == "a"


def test_the_template_itself_is_left_alone() -> None:
    component = job()
    built(component)
    assert component == job()


def test_a_pod_label_with_another_value_cannot_be_mended_by_trying_again() -> None:
    spoilt = with_path(
        job(), "spec.template.metadata.labels", {"workload.codeflare.dev/appwrapper": "b"}
    )
    with pytest.raises(TemplateError, match="conflicts with 'a'"):
        built(spoilt)


def test_a_generated_name_is_the_same_for_the_same_attempt_and_another_for_the_next() -> None:
    nameless = appwrapper(with_path(config_map(), "metadata", {"generateName": "c-"}))
    first, again, next_one = (component_name(nameless, 0, attempt) for attempt in (1, 1, 2))
    assert first == again != next_one
    assert first.startswith("c-")
    assert len(first) == len("c-") + 5


def test_a_component_without_any_name_cannot_be_created() -> None:
    with pytest.raises(TemplateError, match="neither name nor generateName"):
        component_name(appwrapper(with_path(config_map(), "metadata", {})), 0, 1)


def test_what_kueue_wants_injected_is_injected() -> None:
    info = {
        "labels": {"l": "1"},
        "annotations": {"n": "2"},
        "nodeSelector": {"s": "3"},
        "tolerations": [{"key": "t", "operator": "Exists"}],
        "schedulingGates": [{"name": "g"}, {"name": "mine"}],
    }
    template = with_path(job(), "spec.template.spec.schedulingGates", [{"name": "mine"}])
    made = pod_of(built({"template": template, "podSetInfos": [info]}))
    assert labels_of(made)["l"] == "1"
    assert made["metadata"]["annotations"]["n"] == "2"
    assert made["spec"]["nodeSelector"] == {"s": "3"}
    assert made["spec"]["tolerations"] == info["tolerations"]
    assert made["spec"]["schedulingGates"] == [{"name": "mine"}, {"name": "g"}]


def test_a_node_selector_that_contradicts_kueues_cannot_be_mended() -> None:
    template = with_path(job(), "spec.template.spec.nodeSelector", {"s": "1"})
    with pytest.raises(TemplateError, match="nodeSelector"):
        built({"template": template, "podSetInfos": [{"nodeSelector": {"s": "2"}}]})


def test_the_configured_scheduler_fills_a_gap_and_overrides_nobody() -> None:
    config = OperatorConfig(scheduler_name="batch")
    assert pod_of(built(job(), config))["spec"]["schedulerName"] == "batch"
    own = with_path(job(), "spec.template.spec.schedulerName", "own")
    assert pod_of(built(own, config))["spec"]["schedulerName"] == "own"


def test_exactly_the_pods_that_ask_for_the_resource_get_the_stanza() -> None:
    assert get_path(built(pod(resources=GPU)), f"spec.{REQUIRED}") == [
        {"matchExpressions": [NOT_BAD]}
    ]
    for resources in ({}, {"requests": {"nvidia.com/gpu": "0"}}, {"requests": {"cpu": "1"}}):
        assert "affinity" not in built(pod(resources=resources))["spec"]


@pytest.mark.parametrize("resources", [{"limits": {"nvidia.com/gpu": 2}}, GPU])
def test_a_limit_and_an_init_container_are_requests_too(resources: Object) -> None:
    initial = with_path(pod(), "spec.initContainers", [{"name": "i", "resources": resources}])
    assert get_path(built(initial), f"spec.{REQUIRED}")
    assert get_path(built(pod(resources=resources)), f"spec.{REQUIRED}")


def test_the_stanza_goes_into_every_alternative_of_the_users_own_affinity() -> None:
    mine = {"key": "zone", "operator": "In", "values": ["z"]}
    own = with_path(
        pod(resources=GPU),
        f"spec.{REQUIRED}",
        [{"matchExpressions": [mine]}, {"matchFields": [{"key": "metadata.name"}]}],
    )
    first, second = get_path(built(own), f"spec.{REQUIRED}")
    assert first["matchExpressions"] == [mine, NOT_BAD]
    assert second["matchExpressions"] == [NOT_BAD]
    assert second["matchFields"]


def test_values_that_are_only_better_avoided_become_a_preference() -> None:
    taint = {"key": "k", "value": "WARN", "effect": "PreferNoSchedule"}
    config = OperatorConfig.from_data(
        {"autopilot": {"resourceTaints": {"nvidia.com/gpu": [taint]}}}
    )
    affinity = built(pod(resources=GPU), config)["spec"]["affinity"]["nodeAffinity"]
    assert list(affinity) == ["preferredDuringSchedulingIgnoredDuringExecution"]
    preference = affinity["preferredDuringSchedulingIgnoredDuringExecution"][0]
    assert preference["weight"] == 50


def test_no_stanza_is_injected_where_the_administrator_wants_none() -> None:
    for data in ({"autopilot": None}, {"autopilot": {"injectAntiAffinities": False}}):
        config = OperatorConfig.from_data(data)
        assert "affinity" not in built(pod(resources=GPU), config)["spec"]
