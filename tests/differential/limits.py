"""Where the simulation is known to differ, and why that is accepted.

A limit names the scripts and the fields where the difference shows. A difference without a
limit fails the tests, and so does a limit without a difference: what is fixed leaves the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tests.differential.compare import Difference


@dataclass(frozen=True)
class Limit:
    """One accepted difference."""

    id: str
    what: str
    """The difference, as a sentence about the simulation."""
    why: str
    scripts: tuple[str, ...]
    steps: str = ".*"
    """The steps where it shows, as a regular expression over their labels."""
    fields: str = ".*"
    """The fields where it shows, as a regular expression over their paths."""

    def explains(self, difference: Difference) -> bool:
        return (
            difference.script in self.scripts
            and re.fullmatch(self.steps, difference.step) is not None
            and re.fullmatch(self.fields, difference.path) is not None
        )


LIMITS: Final[tuple[Limit, ...]] = (
    Limit(
        "no-rbac",
        "There are no roles: everybody may do everything, so a blocking owner reference needs no"
        " permission.",
        "What an operator may do is checked on real clusters, with its own manifests; a scenario"
        " that needs a refusal injects one.",
        ("blocking-needs-permission",),
    ),
    Limit(
        "no-disruption-budgets",
        "PodDisruptionBudgets are not served: no eviction is refused for one.",
        "Batch workloads are evicted, not protected; to refuse an eviction is a fault to inject.",
        ("eviction-budget",),
    ),
    Limit(
        "unknown-fields",
        "Fields that a built-in kind does not have are kept, and strict field validation"
        " complains of repeated ones only.",
        "It would take the schemas of all built-in kinds, on every write; what a controller sends"
        " is compared field by field in its own tests.",
        ("unknown-fields",),
    ),
    Limit(
        "definitions-at-once",
        "A CustomResourceDefinition is established in the moment in which it is created.",
        "Scenarios begin with their definitions in place; the wait for them shows nothing.",
        ("definition-life",),
        fields=r"body\.status\.(acceptedNames|conditions).*|body\.metadata\.resourceVersion",
    ),
    Limit(
        "definition-schemas",
        "Of a CustomResourceDefinition its names, scope and versions are checked, its schema only"
        " as far as it is used.",
        "A definition is somebody's released file; a real API server has accepted it before.",
        ("definition-validation",),
    ),
    Limit(
        "embedded-fields",
        "Unknown metadata of an object that is embedded in a custom resource is kept.",
        "Embedded objects are shaped when they are created for what they are.",
        ("pruning",),
        steps=r"create Widget\.tests\.assay\.dev t",
        fields=r"body\.spec\.template\.metadata\.odd",
    ),
    Limit(
        "embedded-types",
        "Metadata of an embedded object may hold values of a wrong type.",
        "Embedded objects are checked when they are created for what they are.",
        ("pruning",),
        steps=r"create Widget\.tests\.assay\.dev e .*",
    ),
    Limit(
        "causes-of-refusals",
        "A custom resource that is refused for its scale, or for a number of a wrong kind, is"
        " refused for fewer causes, or with other words.",
        "Go's validators find the same mistake several times over, in passing; that it is refused,"
        " and for which field, agrees.",
        ("schema-validation", "scale"),
        fields=r"body\.(message|details\..*)",
    ),
    Limit(
        "labels-of-long-names",
        "A Job whose name is too long for a label is refused for its own labels too.",
        "A real server copies the template's labels to the Job only after it was checked.",
        ("invalid-metadata",),
        steps="create Job.batch a+",
    ),
)


def limit_of(difference: Difference) -> Limit | None:
    """The first limit that explains a difference; None if none does."""
    for limit in LIMITS:
        if limit.explains(difference):
            return limit
    return None


def stale(differences: Iterable[Difference]) -> list[tuple[Limit, str]]:
    """The limits, with the script, that explain nothing any more."""
    shown = {
        (limit.id, difference.script)
        for difference in differences
        for limit in [limit_of(difference)]
        if limit is not None
    }
    return [
        (limit, script)
        for limit in LIMITS
        for script in limit.scripts
        if (limit.id, script) not in shown
    ]
