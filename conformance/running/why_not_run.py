"""Scenarios that a cluster cannot host, and claims that nothing can arm there."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from conformance import claims
from conformance.running.process_faults import (
    BESIDE,
    needs_more_than_installed,
    needs_process_beside,
    needs_second,
)
from conformance.scenario_type import Scenario
from conformance.scenarios import SCENARIOS

if TYPE_CHECKING:
    from conformance.worlds.existing.preflight import Undertaking


def reason_not_run(
    scenario: Scenario,
    cluster: str,
    undertaking: Undertaking | None = None,
    one_process: str = "",
) -> str:
    """Why that cluster cannot host the scenario; empty if it can.

    `undertaking` is what was found on an existing cluster, or on one of kind; `one_process` is
    why there can be one operator process at a time, see `why_one_process`.
    """
    if cluster == "simulated":
        return ""
    if scenario.only_simulated:
        return scenario.only_simulated
    if one_process and needs_second(scenario):
        return f"{BESIDE}, and {one_process}"
    if undertaking is None:
        return ""
    if scenario.needs_users:
        return "needs users of several kinds, and a kubeconfig is of one"
    if scenario.namespaces and not undertaking.operator_images.keys().isdisjoint(scenario.roles):
        return "needs several namespaces, and an operator that is deployed for a run is given one"
    if scenario.alone and cluster == "existing":
        return "stops a node or a controller of Kubernetes, on which others depend here"
    there_are = len(undertaking.nodes.usable)
    if scenario.nodes > there_are:
        return f"needs {scenario.nodes} nodes, of which {there_are} may be used"
    reaches_nodes = cluster == "kind"
    for role in scenario.roles:
        installed = undertaking.installed.get(role)
        reason = ""
        if installed is not None:
            reason = needs_more_than_installed(
                scenario, role, installed, reaches_nodes=reaches_nodes
            )
        elif role in undertaking.operator_images:
            reason = needs_process_beside(scenario.id, role, reaches_nodes=reaches_nodes)
        if reason:
            return reason
    return ""


def why_one_process(implementation: str, roles: Collection[str]) -> str:
    """Why there can be one process of an operator at a time on this machine; empty if there can be
    more. `implementation` names those of the roles.

    For clusters of any kind, but not for the simulation, which starts no processes.
    """
    from conformance.profiles.choosing import all_under_test
    from conformance.worlds.control_plane.network import why_none_can_be_made

    for each in all_under_test(implementation, roles).values():
        if each.fixed_port is not None and (why := why_none_can_be_made()):
            return (
                f"{each.name} always listens on port {each.fixed_port}, and networks of their own "
                f"cannot be had for its processes ({why}); root on Linux has them"
            )
    return ""


def why_in_turn(implementation: str, roles: Collection[str]) -> str:
    """The same as a sentence that says what comes of it; empty if nothing does."""
    why = why_one_process(implementation, roles)
    return why and (
        f"runs come one at a time, those of other commands on this machine included, and none "
        f"with two operators: {why}"
    )


def not_run(
    scenarios: Iterable[Scenario],
    cluster: str,
    undertaking: Undertaking | None = None,
    one_process: str = "",
) -> list[str]:
    """A sentence for each reason why some of these scenarios cannot be run there."""
    by_reason: dict[str, list[str]] = {}
    for found in scenarios:
        reason = reason_not_run(found, cluster, undertaking, one_process)
        if reason:
            by_reason.setdefault(reason, []).append(found.id)
    return [f"not run: {', '.join(names)}: {reason}" for reason, names in by_reason.items()]


def out_of_reach(cluster: str, undertaking: Undertaking | None = None) -> dict[str, str]:
    """The claims that no scenario can arm on a cluster, each with the reason."""
    if cluster == "simulated":
        return {}
    arming: dict[str, dict[str, str]] = {}
    for found in SCENARIOS.values():
        for claim in found.arms:
            arming.setdefault(claim, {})[found.id] = reason_not_run(found, cluster, undertaking)
    only = "the simulation" if undertaking is None else "another cluster"
    by_scenarios = {
        claim: f"Only {only} can arm it: "
        + "; ".join(f"{scenario} {reason}" for scenario, reason in reasons.items())
        for claim, reasons in arming.items()
        if all(reasons.values())
    }
    by_themselves = {
        claim.id: f"Only the simulation can arm it: it {claim.only_simulated}"
        for claim in claims.load()
        if claim.only_simulated
    }
    return dict(sorted({**by_scenarios, **by_themselves}.items()))
