"""Defaulting and validation of AppWrappers on create and update."""

from __future__ import annotations

from typing import Any

import pytest

from reference_controller.appwrapper import OperatorConfig
from reference_controller.appwrapper.admission import UserInfo, mutate, validate
from reference_controller.appwrapper.templates import initial_record
from tests.reference_appwrapper.driver import config_map, job, pod
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB, POD, Kind
from vocabulary.objects import Object, labels_of, with_path

USER = UserInfo("kube:admin@example.com", "u-1")
CONFIG = OperatorConfig(default_queue_name="default-queue")
NO_REVIEW = OperatorConfig(user_rbac_admission_check=False)
USER_LABEL = "workload.codeflare.dev/user"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"


def appwrapper(*components: Any, labels: dict[str, str] | None = None, **spec: Any) -> Object:
    entries = [entry if "template" in entry else {"template": entry} for entry in components]
    return {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {"name": "a", "namespace": "team", "labels": labels or {}},
        "spec": {"components": entries, **spec},
    }


def created(aw: Object, config: OperatorConfig = CONFIG) -> Object:
    return validate("CREATE", mutate("CREATE", aw, None, USER, config), None, USER, config)


def test_the_submitting_user_is_written_into_labels_over_what_was_forged() -> None:
    labels = labels_of(created(appwrapper(pod(), labels={USER_LABEL: "somebody-else"})))
    assert labels[USER_LABEL] == "kube_admin_example.com"
    assert labels["workload.codeflare.dev/userid"] == "u-1"


def test_the_default_queue_is_filled_in_only_where_none_is_named() -> None:
    assert labels_of(created(appwrapper(pod())))[QUEUE_LABEL] == "default-queue"
    named = appwrapper(pod(), labels={QUEUE_LABEL: "mine"})
    assert labels_of(created(named))[QUEUE_LABEL] == "mine"
    assert QUEUE_LABEL not in labels_of(created(appwrapper(pod()), OperatorConfig()))


def test_what_is_admitted_keeps_its_spec() -> None:
    aw = appwrapper(pod(), suspend=True)
    assert created(aw)["spec"] == aw["spec"]


NESTED = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper"}
FOREIGN = with_path(config_map(), "metadata.namespace", "other")


@pytest.mark.parametrize(
    ("components", "complaint"),
    [
        ([NESTED], "cannot be nested"),
        ([pod(), FOREIGN], r"components\[1\]\.template\.metadata\.namespace"),
        ([config_map()], "0 podSets"),
        ([pod(f"p{number}") for number in range(9)], "9 podSets"),
        ([{"template": {}}], "must be an object"),
        ([{"template": job(), "podSets": [{"path": ""}]}], "is missing"),
        ([{"template": job(), "podSets": [{"path": "template.nowhere"}]}], "no field"),
        ([{"template": job(), "podSets": [{"path": "spec.template"}]}], "must start with"),
        (
            [{"template": job(pods=2), "podSets": [{"path": "template.spec.template"}]}],
            "the template means",
        ),
        ([with_path(job(), "spec.parallelism", "2")], "write a whole number"),
        ([with_path(job(), "spec.template", {})], "no pod template"),
    ],
)
def test_what_cannot_work_is_refused_with_the_field_and_the_reason(
    components: list[Any], complaint: str
) -> None:
    with pytest.raises(ApiError, match=complaint) as refused:
        created(appwrapper(*components))
    assert refused.value.code == 403


def test_a_name_that_cannot_be_a_label_is_refused() -> None:
    with pytest.raises(ApiError, match="63 characters"):
        created(with_path(appwrapper(pod()), "metadata.name", "a" * 64))


def test_eight_pod_sets_are_not_too_many() -> None:
    created(appwrapper(*[pod(f"p{number}") for number in range(8)]))


def test_declared_pod_sets_of_an_unknown_kind_are_taken_as_they_are() -> None:
    widget = {"apiVersion": "x.dev/v1", "kind": "Widget", "spec": {"pod": {"spec": {}}}}
    created(appwrapper({"template": widget, "podSets": [{"path": "template.spec.pod"}]}))


def test_a_path_of_an_unknown_kind_is_declared_once() -> None:
    widget = {"apiVersion": "x.dev/v1", "kind": "Widget", "spec": {"pod": {"spec": {}}}}
    twice = [{"path": "template.spec.pod"}, {"path": "template.spec.pod", "replicas": 2}]
    with pytest.raises(ApiError, match=r"podSets\[1\].path: .* is declared twice"):
        created(appwrapper({"template": widget, "podSets": twice}))


def test_one_replica_that_is_written_out_is_no_change() -> None:
    component = {"template": job(), "podSets": [{"path": "template.spec.template"}]}
    old = created(appwrapper(component))
    said = {**component, "podSets": [{"path": "template.spec.template", "replicas": 1}]}
    validate("UPDATE", with_path(old, "spec.components", [said]), old, USER, CONFIG)


def test_annotations_of_a_declared_pod_set_are_in_its_record() -> None:
    pod_set = {"path": "template.spec.template", "replicas": 1, "annotations": {"a": "b"}}
    assert initial_record({"template": job(), "podSets": [pod_set]})["podSets"] == [pod_set]


def test_a_user_may_wrap_only_what_he_may_create_himself_unless_that_is_not_checked() -> None:
    asked: list[tuple[Kind, str]] = []

    def may_create(user: UserInfo, kind: Kind, namespace: str) -> bool:
        asked.append((kind, namespace))
        return kind != JOB

    with pytest.raises(ApiError, match="may not create a Job"):
        validate("CREATE", appwrapper(pod(), job()), None, USER, CONFIG, may_create=may_create)
    assert asked == [(POD, "team"), (JOB, "team")]
    validate("CREATE", appwrapper(job()), None, USER, NO_REVIEW, may_create=may_create)


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("spec.components", [{"template": pod("other")}], "template: cannot"),
        ("spec.components", [], "number cannot"),
        ("spec.managedBy", "x.dev/other", "managedBy"),
        ("metadata.labels", {}, "workload.codeflare.dev/user"),
    ],
)
def test_what_stands_for_life_cannot_be_changed(path: str, value: Any, field: str) -> None:
    old = created(appwrapper(pod()))
    with pytest.raises(ApiError, match=field):
        validate("UPDATE", with_path(old, path, value), old, USER, CONFIG)


def test_declared_pod_sets_cannot_be_changed() -> None:
    component = {"template": job(), "podSets": [{"path": "template.spec.template"}]}
    old = created(appwrapper(component))
    new = with_path(old, "spec.components", [{"template": job()}])
    with pytest.raises(ApiError, match="podSets: cannot"):
        validate("UPDATE", new, old, USER, CONFIG)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.suspend", True),
        ("metadata.annotations", {"x": "y"}),
        ("spec.components", [{"template": pod(), "podSetInfos": [{"labels": {"a": "b"}}]}]),
    ],
)
def test_what_kueue_and_users_change_while_it_lives_may_be_changed(path: str, value: Any) -> None:
    old = created(appwrapper(pod()))
    new = with_path(old, path, value)
    assert validate("UPDATE", new, old, USER, CONFIG) == new
