"""AW-110, 111: no anti-affinity where none is to be injected, and one that is only preferred."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.norm import Obligations, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.appwrapper.decisions import A26
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.sources import configuration_details, overview
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.autopilot import DEFAULT_TAINTS
from vocabulary.objects import Object, get_path


@claim(
    "AW-110",
    overview(2),
    level=Level.DERIVED,
    armed_by="pod was created while anti-affinities were off",
    from_any_versions=True,
)
def nothing_is_injected_where_that_is_off(aw: AppWrapperRun) -> Obligations:
    """Where Autopilot is switched off, or its injection of anti-affinities, pods MUST NOT get a
    node affinity on the keys of its marks."""
    autopilot = aw.history.autopilot
    if autopilot.injects:
        return
    keys = {
        taint.key
        for taints in (*DEFAULT_TAINTS.values(), *autopilot.taints.values())
        for taint in taints
    }
    written = [
        expression
        for component in aw.submitted_components
        for spec in component.pod_specs
        for _, expression in _expressions(spec)
    ]
    for pod in aw.pods:
        injected = [
            expression
            for _, expression in _expressions(pod.first.get("spec") or {})
            if expression.get("key") in keys and expression not in written
        ]
        if injected:
            yield violated(
                pod.created,
                f"{pod} of {aw}, created at {when(pod.created)}, has the node affinity "
                f"{injected[0]}, although none is to be injected.",
            )
        else:
            yield met(pod.created)


@claim(
    "AW-111",
    configuration_details(5),
    level=Level.PROVISIONAL,
    decision=A26,
    armed_by="pod was created that requests a resource with marks that only discourage",
    from_any_versions=True,
)
def discouraged_nodes_are_avoided_by_preference(aw: AppWrapperRun) -> Obligations:
    """Pods that request a resource with marks of effect PreferNoSchedule MUST prefer nodes
    without these marks, with the configured weight, and MUST NOT require them."""
    autopilot = aw.history.autopilot
    if not autopilot.injects:
        return
    for pod in aw.pods:
        spec: Object = pod.first.get("spec") or {}
        found = list(_expressions(spec))
        wanted: dict[str, list[str]] = {}
        for taint in autopilot.taints_for(spec):
            if taint.effect == "PreferNoSchedule":
                wanted.setdefault(taint.key, []).append(taint.value)
        for key, values in wanted.items():
            said = {"key": key, "operator": "NotIn", "values": values}
            weights = [weight for weight, expression in found if expression == said]
            if len(weights) != 1 or weights[0] != (autopilot.weight or weights[0] or "any"):
                yield violated(
                    pod.created,
                    f"{pod} of {aw}, created at {when(pod.created)}, should prefer nodes where "
                    f"{key} is none of {', '.join(values)}, with the weight "
                    f"{autopilot.weight or 'that is the default'}; it does so with the weights "
                    f"{weights}, where 0 means that it requires them.",
                )
            else:
                yield met(pod.created)


def _expressions(spec: Object) -> Iterator[tuple[int, dict[str, Any]]]:
    """(weight, expression) of a pod's node affinity; what is required has the weight 0."""
    affinity = get_path(spec, "affinity.nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for expression in term.get("matchExpressions") or ():
            yield 0, expression
    for preferred in affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
        for expression in (preferred.get("preference") or {}).get("matchExpressions") or ():
            yield int(preferred.get("weight", 0)), expression
