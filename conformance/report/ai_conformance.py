"""A report as evidence for the Kubernetes AI conformance checklist.

The checklist (cncf/k8s-ai-conformance, docs/AIConformance-<version>.yaml) asks a platform's
vendor for `status`, `evidence` and `notes` of each requirement. A run of this suite speaks of
`robust_controller`; of `gang_scheduling` only if a claim about gangs was judged, and there is
none yet. What a run does not show stays unanswered (an empty status, as in the template), with
a note that says why; so does a violated promise, since the item is about the platform, and the
promise was the operator's. The vendor's own metadata stay placeholders, which the checklist's
validation refuses: they are not ours to fill in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from conformance.norm.verdict import Outcome
from conformance.report.conformance_report import ConformanceReport
from conformance.report.counted import counted
from conformance.report.text import counts_line
from conformance.report.yaml_text import dump

FILE_NAME: Final = "ai-conformance.yaml"

IMPLEMENTED: Final = "Implemented"
PARTIALLY: Final = "Partially Implemented"
UNANSWERED: Final = ""

_MINOR: Final = re.compile(r"v\d+\.\d+")
_GANG: Final = (
    "The platform must allow for the installation and successful operation of at least one gang "
    "scheduling solution that ensures all-or-nothing scheduling for distributed AI workloads "
    "(e.g. Kueue, Volcano, etc.) To be conformant, the vendor must demonstrate that their platform "
    "can successfully run at least one such solution."
)
_CONTROLLER: Final = (
    "The platform must prove that at least one complex AI operator with a CRD (e.g., Ray, "
    "Kubeflow) can be installed and functions reliably. This includes verifying that the "
    "operator's pods run correctly, its webhooks are operational, and its custom resources can be "
    "reconciled."
)
_BY_WEBHOOKS: Final = ("MLB-020", "MLB-021")
"""The claims that an operator keeps by its admission webhooks."""
_PLACEHOLDERS: Final = {
    "platformName": "[Platform Name]",
    "platformVersion": "[Platform Version]",
    "vendorName": "[Vendor Name]",
    "websiteUrl": "[Website URL]",
    "documentationUrl": "[Documentation URL]",
    "productLogoUrl": "[Product Logo URL]",
    "description": "[Description]",
    "contactEmailAddress": "[Contact Email Address]",
    "k8sConformanceUrl": "[URL of the Kubernetes conformance submission]",
}


class _Answer(NamedTuple):
    status: str
    notes: str


def ai_conformance_yaml(report: ConformanceReport, evidence: Sequence[str]) -> str:
    """The two items that a run can speak of; `evidence` are paths in the report's folder."""
    minor = _MINOR.match(report.environment.kubernetes_version)
    controller = _controller(report)
    gang = _Answer(
        UNANSWERED,
        "No claim of this suite is about gangs yet: demonstrate all-or-nothing scheduling with "
        "the gang scheduler itself.",
    )
    return dump(
        {
            "metadata": {
                "kubernetesVersion": minor[0] if minor else "[Kubernetes Version]",
                **_PLACEHOLDERS,
            },
            "spec": {
                "schedulingOrchestration": [_item("gang_scheduling", _GANG, gang, ())],
                "operator": [_item("robust_controller", _CONTROLLER, controller, evidence)],
            },
        }
    )


def _item(id_: str, text: str, answer: _Answer, evidence: Sequence[str]) -> dict[str, Any]:
    return {
        "id": id_,
        "description": text,
        "level": "MUST",
        "status": answer.status,
        "evidence": list(evidence) if answer.status else [],
        "notes": answer.notes,
    }


def _controller(report: ConformanceReport) -> _Answer:
    """Answered only by a run that shows all that the item names."""
    implementation = report.implementation
    where = f"{report.environment.cluster}, Kubernetes {report.environment.kubernetes_version}"
    told = (
        f"{implementation.project} {implementation.version} under injected faults on {where}: "
        f"{counts_line(report)}. Reproduce: {report.reproduce.command}"
    )
    missing = "; ".join(_not_shown(report))
    if missing:
        return _Answer(UNANSWERED, f"{told}. What this run does not show: {missing}.")
    if report.result != "success":
        return _Answer(PARTIALLY, f"{told}. Some of it could not be judged.")
    return _Answer(IMPLEMENTED, told)


def _not_shown(report: ConformanceReport) -> Iterator[str]:
    """Of a platform, pods and webhooks of an operator, and that it functions reliably."""
    if report.environment.cluster == "simulated":
        yield "anything of a platform, since the cluster was simulated"
        return
    if report.environment.operator != "installed":
        yield (
            "an operator with pods and webhooks of its own; install one, and name its Deployment "
            "or its pods in an implementation profile"
        )
    by_id = {claim.id: claim.outcome for claim in report.claims}
    for id_ in _BY_WEBHOOKS:
        outcome = by_id.get(id_, "not judged")
        if outcome is not Outcome.PASSED:
            yield f"operational webhooks, since {id_} is {outcome}"
    failed = sum(outcome is Outcome.FAILED for outcome in by_id.values())
    if failed:
        yield f"that it functions reliably, since {counted(failed, 'claim')} failed"
