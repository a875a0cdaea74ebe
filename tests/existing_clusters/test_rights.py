"""The rights that a suite asks for are those that scenarios use: none is missing, few are idle."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import pytest

from conformance.implementations.ours import Implementation, implementation, implementations
from conformance.left_behind.clean import defined_kind
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenario_type import Scenario
from conformance.scenarios import SCENARIOS, all_crds
from conformance.worlds.existing import rights
from conformance.worlds.existing.rights import Right
from conformance.worlds.existing.rights_used import refused, used
from conformance.worlds.simulated.world import SimulatedWorld
from vocabulary.history import Write
from vocabulary.kinds import known_kinds
from vocabulary.requests import Get

IMPLEMENTATIONS = implementations("reference", ("appwrapper", "jobset"))
OTHERWISE_USED = {
    Right("apps", "deployments", "create"): "operators that are Deployments, --operator-image",
}
"""Written in runs on real clusters alone, with the occasion."""
OF_THE_HARNESS = {Right("", "nodes", "get"), Right("coordination.k8s.io", "leases", "get")}
"""Reads in runs on real clusters: a node before it is leased, and the leader."""
RESOURCES = {
    str(kind): (kind.group, kind.plural)
    for kind in (*known_kinds(), *map(defined_kind, all_crds()))
}


def event(user: str, verb: str, decision: str = "allow", **reference: str) -> dict[str, object]:
    return {
        "user": {"username": user},
        "verb": verb,
        "objectRef": reference,
        "annotations": {"authorization.k8s.io/decision": decision},
    }


def test_an_audit_log_tells_the_rights_that_one_user_has_used_and_lacked() -> None:
    log = [
        event("suite", "list", resource="jobs", apiGroup="batch"),
        event("suite", "list", resource="jobs", apiGroup="batch"),
        event("suite", "create", resource="pods", subresource="eviction"),
        event("suite", "get", "forbid", resource="secrets"),
        event("other", "delete", resource="nodes"),
        {"user": {"username": "suite"}, "verb": "get", "requestURI": "/version"},
    ]
    assert used(log, "suite") == Counter(
        {Right("batch", "jobs", "list"): 2, Right("", "pods/eviction", "create"): 1}
    )
    assert refused(log, "suite") == Counter({Right("", "secrets", "get"): 1})


@dataclass(frozen=True)
class Asked:
    """Permissions that users and faults use for writes and single reads, in the scenarios hosted
    by such a cluster."""

    writes: set[Right]
    reads: set[Right]


def _of(scenario: Scenario) -> dict[str, Implementation]:
    return {role: IMPLEMENTATIONS[role] for role in scenario.roles}


@pytest.fixture(scope="module")
def asked() -> Asked:
    hosted = [
        each
        for each in SCENARIOS.values()
        if not (each.only_simulated or each.alone) and IMPLEMENTATIONS.keys() >= set(each.roles)
    ]
    reads: set[Right] = set()
    call = SimulatedWorld.call

    def noting_reads(world: SimulatedWorld, request: Any, actor: str = "chaos") -> Any:
        if isinstance(request, Get) and actor in ("user", "chaos"):
            reads.add(Right(request.kind.group, request.kind.plural, "get"))
        return call(world, request, actor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SimulatedWorld, "call", noting_reads)
        writes = [
            entry
            for scenario in hosted
            for entry in run_one(scenario, _of(scenario), DEFAULT_SEED, is_judged=False).entries
            if isinstance(entry, Write) and entry.verb and entry.actor in ("user", "chaos")
        ]
    written = {
        Right(group, "/".join(filter(None, (plural, write.subresource))), write.verb)
        for write in writes
        for group, plural in (RESOURCES[write.kind],)
    }
    return Asked(written, reads)


@pytest.mark.slow
def test_every_write_of_users_and_faults_is_within_the_rights_that_are_asked_for(
    asked: Asked,
) -> None:
    assert asked.writes <= set(rights.required(IMPLEMENTATIONS, all_crds()))


def test_operators_get_the_kinds_of_scenarios_beside_their_roles_but_for_those_of_the_guide() -> (
    None
):
    bare = {"appwrapper": implementation("mutant:pod-groups-cannot-be-wrapped", "appwrapper")}
    beside = {right.resource for right in rights.held(bare, all_crds())}
    assert "widgets" in beside
    assert "podgroups" not in beside


def test_no_right_to_write_is_asked_for_that_no_scenario_and_no_operator_uses(
    asked: Asked,
) -> None:
    named = {
        Right(kind.group, kind.plural, verb)
        for kind, verbs in rights.written_in_runs(IMPLEMENTATIONS).items()
        for verb in verbs
    }
    assert named - asked.writes == OTHERWISE_USED.keys()


def test_what_is_read_one_by_one_is_edited_by_faults_or_made_by_the_suite_and_nothing_else(
    asked: Asked,
) -> None:
    """Created objects are read again if the response was lost: `RetryingConnection`."""
    required = {*rights.required(IMPLEMENTATIONS, all_crds()), *rights.INSTALLING, *rights.ACCOUNTS}
    held = rights.held(IMPLEMENTATIONS, all_crds())
    gets = {right for right in required if right.verb == "get"}
    made = {
        replace(right, verb="get")
        for right in {*(required - held), *rights.INSTALLING, *rights.ACCOUNTS}
        if right.verb == "create" and "/" not in right.resource
    }
    assert made <= gets
    assert asked.reads <= gets
    assert gets - held == (made | asked.reads | OF_THE_HARNESS) - held
