"""Where a workload does not fit, which of its pods run is no choice of the operator."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.norm.verdict import Verdict
from tests.explore.by_hand import END, verdict_on
from vocabulary.history import Counterpart

NAME = "operator/neighbours/in-one-namespace"


def verdict(status: str) -> Verdict:
    """OP-019 on a run whose end has a pod of that condition, and is another one with each seed."""
    pod: dict[str, Any] = {"status": {"conditions": [{"type": "PodScheduled", "status": status}]}}
    known = Counterpart(
        scenario=NAME,
        sha256="",
        is_stable=True,
        end={"Pod default/a": pod},
        unequal=("Pod default/a status.phase is Running; undisturbed it is Pending",),
    )
    return verdict_on("OP-019", END, scenario=NAME, counterpart=known)


@pytest.mark.parametrize(("status", "outcome"), [("True", "failed"), ("False", "inconclusive")])
def test_pods_without_a_node_make_ends_undecided(status: str, outcome: str) -> None:
    assert verdict(status).outcome == outcome
    if status == "False":
        assert "finds no node" in verdict(status).because
