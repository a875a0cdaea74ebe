"""When a failure policy is another one than before."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.suites.jobset.view.policies import is_another


def policy(**fields: Any) -> dict[str, Any]:
    return {"maxRestarts": 3, "rules": [{"name": "a", "action": "FailJobSet", **fields}]}


LISTS = ("onJobFailureReasons", "onJobFailureMessagePatterns", "targetReplicatedJobs")


@pytest.mark.parametrize("field", LISTS)
def test_a_value_less_is_a_change(field: str) -> None:
    before = policy(**{field: ["x", "y"]})
    assert is_another(before, policy(**{field: ["x"]}))
    assert is_another(before, policy())


@pytest.mark.parametrize("field", LISTS)
def test_order_and_an_empty_list_are_none(field: str) -> None:
    assert not is_another(policy(**{field: ["x", "y"]}), policy(**{field: ["y", "x"]}))
    assert not is_another(policy(**{field: []}), policy())
