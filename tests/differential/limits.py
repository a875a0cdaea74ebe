"""Known and accepted differences of the simulation, with reasons.

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
        "owner-references-permission",
        "A blocking owner reference needs no permission.",
        "The admission plugin that asks for it, OwnerReferencesPermissionEnforcement, is off unless"
        " a distribution switches it on.",
        ("blocking-needs-permission",),
    ),
    Limit(
        "protection-of-volumes",
        "A PersistentVolume and a VolumeAttributesClass get no finalizer of their protection.",
        "No controller of the simulation acts on them, so nothing would take it off again.",
        ("every-kind-created",),
        steps="create (PersistentVolume|VolumeAttributesClass)",
        fields=r"body\.metadata\.finalizers",
    ),
    Limit(
        "autoscalers-through-v1",
        "An update of a HorizontalPodAutoscaler through v1 takes off its behavior, and all its"
        " metrics but a target for the use of CPU.",
        "A real server keeps them in annotations of the v1 object. Clients have used v2 since"
        " Kubernetes 1.23.",
        ("versions-of-autoscalers",),
        steps="the change in v2",
        fields=r"body\.spec\.behavior",
    ),
    Limit(
        "budgets-in-preemption",
        "The scheduler chooses victims and nodes without regard to PodDisruptionBudgets.",
        "The suites use none. A real scheduler prefers what violates the fewest, and preempts"
        " against them if it must.",
        ("preempts-beside-budgets",),
        steps="Pod urgent until Ready is True|list Pod",
        fields=r"body\.(spec\.nodeName|items\.0\.metadata\.name)",
    ),
    Limit(
        "digits-of-quantities",
        "A quantity of more than 1,000 digits is refused.",
        "Sums are exact, and take seconds with numbers of millions of digits.",
        ("long-quantities",),
        steps="limit .* of [0-9]+",
    ),
    Limit(
        "deletes-on-trial",
        "A delete on trial of what would go at once returns a Status, with a finalizer as without.",
        "A real server returns the object that it would have stored on the way.",
        ("drawn-deletes",),
        steps="0: c1 .*",
    ),
    Limit(
        "whole-quantities",
        "In rules, a quantity is an integer if its value is one.",
        "For Go it is none if it was spelled with decimals, or is a large one: `1000m`, `1Ei`.",
        ("drawn-numbers",),
        steps="kept otherwise",
    ),
    Limit(
        "definitions-at-once",
        "A CRD is established immediately when it is created.",
        "Scenarios begin with their CRDs installed; waiting for them tests nothing.",
        ("definition-life",),
        fields=r"body\.status\.(acceptedNames|conditions).*|body\.metadata\.resourceVersion",
    ),
    Limit(
        "definition-schemas",
        "A CRD's names, scope and versions are validated, its schema only as far as it is used.",
        "CRDs are released files that a real API server has accepted before.",
        ("definition-validation",),
    ),
    Limit(
        "embedded-fields",
        "Unknown metadata of an object embedded in a custom resource is kept.",
        "Embedded objects are pruned when they are created themselves.",
        ("pruning",),
        steps=r"create Widget\.tests\.assay\.dev t",
        fields=r"body\.spec\.template\.metadata\.odd",
    ),
    Limit(
        "embedded-types",
        "Metadata of an embedded object may have values of a wrong type.",
        "Embedded objects are validated when they are created themselves.",
        ("pruning",),
        steps=r"create Widget\.tests\.assay\.dev e .*",
    ),
    Limit(
        "replaced-without-defaults",
        "A PUT of a Pod or a Job that leaves out what the server has filled in is refused with"
        " other words, or where a real server fills it in again.",
        "Controllers and kubectl send back what they have read.",
        ("types-of-pods", "types-of-jobs"),
        steps=r"PUT .*",
    ),
    Limit(
        "missing-parts",
        "A Job, a CRD or a Pod's container that misses a part is refused with other causes.",
        "A real server validates the empty spec, field by field; the refusal agrees.",
        ("types-of-jobs", "types-of-customresourcedefinitions"),
        steps=r".* absent",
        fields=r"body\.(message|details\..*)",
    ),
    Limit(
        "paths-of-entries",
        "Some entries of lists are named otherwise where an apply patch is refused.",
        "Whether a list is a set, a map or atomic follows from its name here, not from its type.",
        (
            "types-of-configmaps",
            "types-of-jobs",
            "types-of-limitranges",
            "types-of-roles",
            "types-of-customresourcedefinitions",
        ),
        steps=r"apply .*",
        fields=r"body\.message",
    ),
    Limit(
        "causes-of-refusals",
        "A custom resource that is rejected for its scale, or for a number of a wrong type, is"
        " rejected with fewer causes, or with other words.",
        "Go's validators report the same error several times; the rejection and its field agree.",
        ("schema-validation", "scale"),
        fields=r"body\.(message|details\..*)",
    ),
    Limit(
        "bootstrap-roles",
        "The roles that a cluster has from the start are not served as objects, and `admin`, `edit`"
        " and `view` have no rules; `aggregationRule` adds none.",
        "They would shift every revision of a history, and are for people, not for operators.",
        ("bootstrap-roles",),
        steps=r"get .*|access of a viewer",
    ),
    Limit(
        "words-of-webhook-patches",
        "A webhook's patch that is no JSON, or that does not apply, is rejected with other words.",
        "They are those of Go's libraries; code, reason and the webhook's name agree.",
        ("invalid-responses",),
        steps=r"create ConfigMap patch-(is-text|does-not-apply) .*",
        fields=r"body\.(message|details\..*)",
    ),
    Limit(
        "labels-of-long-names",
        "A Job whose name is too long for a label is also rejected for its own labels.",
        "A real server copies the template's labels to the Job only after validation.",
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
