"""AW-020, AW-100: pods get the workload's label, and keep what the user wrote."""

from __future__ import annotations

from conformance.norm import Obligations, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.templates import first_difference
from conformance.norm.words import when
from conformance.suites.appwrapper.decisions import A23
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.sources import configuration_details, detailed_description
from conformance.suites.appwrapper.view import AppWrapperRun
from vocabulary.objects import labels_of


@claim(
    "AW-020",
    detailed_description(1),
    armed_by="pod was created by the workload",
    from_any_versions=True,
)
def every_pod_is_labelled(aw: AppWrapperRun) -> Obligations:
    """Every pod that a workload creates during its execution MUST carry its label."""
    label = aw.history.profile.label
    for pod in aw.descendant_pods:
        found = labels_of(pod.first).get(label)
        if found == aw.name:
            yield met(pod.created)
        elif not aw.history.shows_every_version:
            yield undecided(pod.created, f"{pod} may have lost its label since it was created")
        else:
            yield violated(
                pod.created,
                f"{pod}, created at {when(pod.created)} by {pod.created.actor or 'somebody'} "
                f"for {aw}, has {label}={found!r}.",
            )


@claim(
    "AW-100",
    configuration_details(11),
    name="templates-are-kept-beside-what-is-injected",
    level=Level.DERIVED,
    decision=A23,
    armed_by="component was created",
)
def templates_are_kept(aw: AppWrapperRun) -> Obligations:
    """Each object that is created for a component MUST keep everything that the user wrote in
    its template, such as affinity, tolerations, labels and annotations, beside what is injected."""
    for track in aw.component_tracks:
        component = aw.component_of(track)
        if component is None:
            continue
        difference = first_difference(component.template, track.first)
        if difference:
            yield violated(
                track.created,
                f"{track} of {aw}, created at {when(track.created)}, lost what its template says: "
                f"{difference}.",
            )
        else:
            yield met(track.created)
