"""The scenarios of all installed suites. Importing this module imports them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from conformance import suite
from conformance.manifests.files import load_manifests
from conformance.norm.claim import CLAIMS
from conformance.scenario_type import ALL_SCENARIOS, LARGE_SCENARIOS, SCENARIOS, Scenario
from vocabulary.nearest import meant
from vocabulary.objects import Object

__all__ = ["ALL_SCENARIOS", "LARGE_SCENARIOS", "SCENARIOS", "all_crds"]


def require_known(scenarios: Iterable[Scenario], roles: Collection[str]) -> None:
    """Raise SuiteError for a scenario with a role or a claim that there is not."""
    for found in scenarios:
        for role in found.roles:
            if role not in roles:
                raise suite.SuiteError(
                    f"scenario {found.id}: no suite has an operator {role!r}; "
                    f"{meant(role, roles)} Its roles are those of its suite, or of roles=(…)"
                )
        for claim in found.arms:
            if claim not in CLAIMS:
                raise suite.SuiteError(
                    f"scenario {found.id}: there is no claim {claim!r}, which it is written to "
                    f"arm; {meant(claim, CLAIMS)}"
                )


suite.load()
require_known(
    ALL_SCENARIOS.values(), [name for name, each in suite.load().items() if name in each.roles]
)


def all_crds() -> tuple[Object, ...]:
    """Every custom resource definition that some scenario installs.

    A real control plane gets them before it starts: its garbage collector learns of later
    ones only after half a minute.
    """
    folders = [folder for each in suite.load().values() for folder in each.folders]
    paths = sorted(path for folder in folders for path in folder.rglob("*_crd.yaml"))
    return tuple(document for path in paths for document in load_manifests(path))
