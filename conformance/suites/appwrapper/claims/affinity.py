"""AW-001, 086…089: pods are kept off nodes whose resources Autopilot has tagged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.history import Track
from conformance.norm import Obligation, Obligations, met, shared, violated
from conformance.norm.words import when
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.sources import configuration_details, overview
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.autopilot import Taint
from vocabulary.history import Write
from vocabulary.objects import Object

KEPT_OFF = ("NoSchedule", "NoExecute")
"""Effects that keep new pods off a node."""


@claim(
    "AW-001",
    overview(2),
    armed_by="pod was scheduled while a node was tagged for a resource it uses",
)
def new_pods_avoid_unhealthy_nodes(aw: AppWrapperRun) -> Obligations:
    """With Autopilot, new pods MUST NOT be scheduled onto nodes that are tagged unhealthy for
    the resources that they use."""
    yield from lands_elsewhere(aw)


@shared
def lands_elsewhere(aw: AppWrapperRun) -> Iterator[Obligation]:
    """An obligation for each pod that was created while some node was tagged for it.

    A tag that came after the creation does not count: the scheduler may not have seen it.
    """
    autopilot = aw.history.autopilot
    if not autopilot.injects or not autopilot.was_used:
        return
    for pod, taints in injected_pods(aw):
        created = pod.created.n
        tagged = {
            node.name: None
            for node in autopilot.nodes
            if autopilot.labels_at(node.name, taints, created)
        }
        bound = bound_to(pod)
        if not tagged or bound is None:
            continue
        node = str(((bound.object or {}).get("spec") or {}).get("nodeName"))
        tags = autopilot.labels_at(node, taints, bound.n)
        if node not in tagged or not tags:
            yield met(pod.created, bound)
            continue
        yield violated(
            bound,
            f"{when(bound)}: {pod} of {aw} was scheduled onto {node}, which had been tagged "
            f"{tags[0].key}={tags[0].value} since before the pod was created at "
            f"{when(pod.created)}.",
            pod.created,
        )


def bound_to(pod: Track) -> Write | None:
    """The write that put a pod on a node."""
    for version in pod.versions:
        if ((version.object or {}).get("spec") or {}).get("nodeName"):
            return version
    return None


@shared
def injected_pods(aw: AppWrapperRun) -> Iterator[tuple[Track, tuple[Taint, ...]]]:
    """The pods of the workload that use a monitored resource, with the taints that concern them."""
    for pod in aw.pods:
        taints = tuple(
            taint
            for taint in aw.history.autopilot.taints_for(pod.first.get("spec") or {})
            if taint.effect in KEPT_OFF
        )
        if taints:
            yield pod, taints


@claim(
    "AW-086",
    configuration_details(6),
    name="default-autopilot-configuration",
    armed_by="pod that requests GPUs was created under the default configuration",
    from_any_versions=True,
)
def default_configuration(aw: AppWrapperRun) -> Obligations:
    """By default, nodes labelled autopilot.ibm.com/gpuhealth ERR or EVICT MUST be avoided by
    pods that request nvidia.com/gpu."""
    if aw.history.autopilot.is_default:
        yield from has_stanza(aw)


@claim(
    "AW-087",
    configuration_details(11),
    armed_by="pod that requests a monitored resource was created",
    from_any_versions=True,
)
def affinity_is_injected_where_requested(aw: AppWrapperRun) -> Obligations:
    """Every pod that requests a non-zero amount of a monitored resource MUST get the node
    affinity."""
    if not aw.history.autopilot.injects:
        return
    for pod, taints in injected_pods(aw):
        keys = {taint.key: None for taint in taints}
        missing = [key for key in keys if not _kept_off(pod.first, key)]
        if missing:
            yield violated(
                pod.created,
                f"{pod} of {aw}, created at {when(pod.created)}, requests a monitored resource "
                f"and has no node affinity on {missing[0]}.",
            )
        else:
            yield met(pod.created)


@claim(
    "AW-088",
    configuration_details(11),
    armed_by="pod that requests no monitored resource was created",
    from_any_versions=True,
)
def affinity_is_not_injected_elsewhere(aw: AppWrapperRun) -> Obligations:
    """A pod that requests none of a monitored resource, or zero of it, MUST NOT get the node
    affinity."""
    autopilot = aw.history.autopilot
    if not autopilot.injects:
        return
    written = [spec for component in aw.submitted_components for spec in component.pod_specs]
    own_keys = {key for spec in written for key in _affinity_keys(spec)}
    for pod in aw.pods:
        spec = pod.first.get("spec") or {}
        concerned = {taint.key for taint in autopilot.taints_for(spec)}
        foreign = [
            taint.key
            for taints in autopilot.taints.values()
            for taint in taints
            if taint.key not in concerned and taint.key not in own_keys
        ]
        if not foreign:
            continue
        injected = [key for key in foreign if key in _affinity_keys(spec)]
        if injected:
            yield violated(
                pod.created,
                f"{pod} of {aw}, created at {when(pod.created)}, requests no monitored resource "
                f"and has a node affinity on {injected[0]}.",
            )
        else:
            yield met(pod.created)


@claim(
    "AW-089",
    configuration_details(12),
    armed_by="pod that requests a monitored resource was created",
    from_any_versions=True,
)
def affinity_stanza_is_exact(aw: AppWrapperRun) -> Obligations:
    """The injected affinity MUST require, in every node selector term, that the key of the
    taints is not in exactly the values that keep pods off a node."""
    yield from has_stanza(aw)


@shared
def has_stanza(aw: AppWrapperRun) -> Iterator[Obligation]:
    """An obligation for each pod that uses a monitored resource: the exact affinity."""
    if not aw.history.autopilot.injects:
        return
    injected = list(injected_pods(aw))
    specs = [aw.snapshots[0].object.get("spec")] if injected and aw.snapshots else []
    written = list(_expressions(specs))
    for pod, taints in injected:
        wanted: dict[str, list[str]] = {}
        for taint in taints:
            wanted.setdefault(taint.key, []).append(taint.value)
        wrong = next(
            (
                problem
                for key, values in wanted.items()
                if (problem := _stanza_problem(pod.first, key, values, written))
            ),
            "",
        )
        if wrong:
            yield violated(pod.created, f"{pod} of {aw}, created at {when(pod.created)}: {wrong}.")
        else:
            yield met(pod.created)


def _expressions(tree: Any) -> Iterator[Any]:
    """Every match expression that stands anywhere in what a user wrote."""
    if isinstance(tree, dict):
        yield from tree.get("matchExpressions") or ()
        for below in tree.values():
            yield from _expressions(below)
    elif isinstance(tree, (list, tuple)):
        for below in tree:
            yield from _expressions(below)


def _stanza_problem(pod: Object, key: str, values: list[str], written: Sequence[Any]) -> str:
    """Why a term of the pod lacks the stanza; the expressions that its user wrote are no stanza,
    unless one says the same."""
    terms = _terms(pod.get("spec") or {})
    if not terms:
        return f"no required node affinity on {key}"
    for index, term in enumerate(terms):
        found = [
            expression
            for expression in term.get("matchExpressions") or ()
            if expression.get("key") == key and expression.get("operator") == "NotIn"
        ]
        injected = [expression for expression in found if expression not in written]
        found = injected or [each for each in found if _says(each, values)][:1] or found[:1]
        if len(found) != 1:
            return f"node selector term {index} has {len(found)} expressions {key} NotIn"
        if not _says(found[0], values):
            return (
                f"node selector term {index} says {key} NotIn "
                f"{sorted(found[0].get('values') or [])}, expected "
                f"{sorted(set(values))}"
            )
    return ""


def _says(expression: Any, values: list[str]) -> bool:
    return sorted(expression.get("values") or []) == sorted(set(values))


def _kept_off(pod: Object, key: str) -> bool:
    terms = _terms(pod.get("spec") or {})
    return bool(terms) and all(
        any(expression.get("key") == key for expression in term.get("matchExpressions") or ())
        for term in terms
    )


def _affinity_keys(spec: Object) -> set[str]:
    return {
        str(expression.get("key"))
        for term in _terms(spec)
        for expression in term.get("matchExpressions") or ()
    }


def _terms(spec: Object) -> list[Mapping[str, Any]]:
    """The required node selector terms of a pod's spec."""
    node_affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    return list(required.get("nodeSelectorTerms") or ())
