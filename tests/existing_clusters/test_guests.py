"""A foreign pod on a node to be leased ends one run, and the suite continues."""

from __future__ import annotations

import pytest

from clusters.control_plane import ControlPlane
from conformance.claims import judged_on
from conformance.implementations.ours import implementation
from conformance.norm.verdict import Outcome
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_really
from conformance.scenarios import SCENARIOS, all_crds
from conformance.worlds.existing import node_pool
from conformance.worlds.existing.access import Access
from conformance.worlds.existing.preflight import Limits, examine
from conformance.worlds.existing.session import ExistingSession
from vocabulary.clock import HOUR

from .command import USABLE
from .conftest import NODES

pytestmark = pytest.mark.control_plane
PODS = "/api/v1/namespaces/default/pods"
SCENARIO = SCENARIOS["appwrapper/retry/one-failure-is-retried"]


def test_a_run_whose_nodes_have_guests_is_inconclusive_with_the_reason_and_the_next_one_is_made(
    plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_pool, "GUEST_SECONDS", 0.0)
    reference = {"appwrapper": implementation("reference", "appwrapper").on_real_clusters()}
    undertaking = examine(
        Access(plane.kubeconfig()),
        Limits(time_us=HOUR, objects=100),
        reference,
        all_crds(),
        node_selector=USABLE,
        audit_log=plane.audit_log,
    )
    api = plane.api()
    with ExistingSession(reference, undertaking, all_crds()) as session:
        for node in NODES:
            container = {"name": "c", "image": "i"}
            spec = {"nodeName": node, "containers": [container]}
            api.post(PODS, {"metadata": {"name": f"guest-{node}"}, "spec": spec})
        refused = run_really(session, SCENARIO, DEFAULT_SEED)
        for node in NODES:
            api.delete(f"{PODS}/guest-{node}", {"gracePeriodSeconds": 0})
        made = run_really(session, SCENARIO, DEFAULT_SEED)
    assert not refused.began
    assert f"node {NODES[0]} runs default/guest-{NODES[0]}" in refused.error
    judged = judged_on(SCENARIO.id, frozenset(reference))
    assert [each.claim for each in refused.verdicts] == [each.id for each in judged if each.judge]
    # Of the definitions alone something can be said without a workload.
    idle = [each for each in refused.verdicts if each.claim in SCENARIO.arms and not each.armed]
    assert idle
    assert {verdict.outcome for verdict in idle} == {Outcome.INCONCLUSIVE}
    assert not any(verdict.outcome is Outcome.FAILED for verdict in refused.verdicts)
    assert made.began and not made.error
