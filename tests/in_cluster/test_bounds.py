"""The bounds of the suite's account, as text; that an API server heeds them is tried on one."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from conformance.in_cluster.bounds import NAME, policy
from conformance.in_cluster.manifests import USERNAME
from tests.cli.conftest import Assay


def expressions(selector: str) -> list[str]:
    spec: dict[str, Any] = policy(USERNAME, selector, ())["spec"]
    return [each["expression"] for each in spec["validations"]]


@pytest.mark.parametrize(
    ("selector", "wanted"),
    [
        ("gpu", '"gpu" in oldObject.metadata.labels)'),
        ("!gpu", '!(has(oldObject.metadata.labels) && "gpu" in oldObject.metadata.labels)'),
        ("pool=a", 'oldObject.metadata.labels["pool"] in ["a"])'),
        ("pool!=a", '&& oldObject.metadata.labels["pool"] in ["a"])'),
        ("pool in (b,a)", 'oldObject.metadata.labels["pool"] in ["a", "b"])'),
        ("cores>8", 'int(oldObject.metadata.labels["cores"]) > 8)'),
        ('a="', r'oldObject.metadata.labels["a"] in ["\""])'),
    ],
)
def test_the_nodes_that_may_be_changed_are_those_that_the_selector_chooses(
    selector: str, wanted: str
) -> None:
    assert [text for text in expressions(selector) if wanted in text]


def test_the_policy_is_in_force_before_the_account_has_any_right(assay: Assay) -> None:
    documents = list(yaml.safe_load_all(assay("in-cluster", "manifests").out))
    kinds = [document["kind"] for document in documents]
    assert kinds.index("ValidatingAdmissionPolicyBinding") < kinds.index("ClusterRoleBinding")
    found = documents[kinds.index("ValidatingAdmissionPolicyBinding")]
    assert found["spec"] == {"policyName": NAME, "validationActions": ["Deny"]}
