"""MLB-073: users can wrap every kind of the guide's list, with the controller's own rights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.norm import Obligation, Obligations, met, undecided, violated
from conformance.norm.words import when
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.sources import guide
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.pod_sets import Component
from vocabulary.errors import lacks_rights
from vocabulary.history import Write

RESOURCES: Final = {
    "PyTorchJob.kubeflow.org": "pytorchjobs.kubeflow.org",
    "RayJob.ray.io": "rayjobs.ray.io",
    "RayCluster.ray.io": "rayclusters.ray.io",
    "Deployment.apps": "deployments.apps",
    "StatefulSet.apps": "statefulsets.apps",
    "Pod": "pods",
    "Job.batch": "jobs.batch",
    "ServiceAccount": "serviceaccounts",
    "Service": "services",
    "Secret": "secrets",
    "ConfigMap": "configmaps",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "PodGroup.scheduling.x-k8s.io": "podgroups.scheduling.x-k8s.io",
}
"""The kinds of the list, each with its resource as roles name it."""


@claim(
    "MLB-073",
    guide("Kinds of Resources", 11),
    armed_by="component of a listed kind was to be created",
)
def listed_kinds_can_be_wrapped(aw: AppWrapperRun) -> Obligations:
    """A component of every kind that users may wrap MUST be created, without rights beyond those
    that the controller brings."""
    for component in aw.components:
        if component.kind in RESOURCES:
            yield from _is_created(aw, component)


def _is_created(aw: AppWrapperRun, component: Component) -> Obligations:
    facts = aw.history.operator.under_test.facts
    made = [t for t in aw.component_tracks if component.makes(t.kind, t.name)]
    if made:
        created = made[0].created
        if facts.profile_sha256 and facts.granted is None:
            yield undecided(created, "the history does not show which rights were granted")
        elif RESOURCES[component.kind] in (facts.granted or ()):
            yield violated(
                created,
                f"{component} of {aw} was created at {when(created)} with a right that was granted "
                f"for this run: the roles of the controller lack {RESOURCES[component.kind]}.",
            )
        else:
            yield met(created)
        return
    for attempt in aw.attempts:
        yield from _is_refused(aw, component, attempt.failed_creates)
        running = attempt.running
        if running is not None and aw.history.shows_every_version and not _stands(aw, component):
            yield violated(
                running,
                f"{when(running)}: {aw} is Running, and {component} was never created.",
                attempt.begin,
            )


def _is_refused(
    aw: AppWrapperRun, component: Component, refused: Sequence[Write]
) -> list[Obligation]:
    """A violation for the first refusal for want of rights; an injected one has other words."""
    for write in refused:
        if component.makes(write.kind, write.name) and lacks_rights(write.message):
            message = f"{component} of {aw} was refused at {when(write)}: {write.message}."
            return [violated(write, message)]
    return []


def _stands(aw: AppWrapperRun, component: Component) -> bool:
    """True if anybody made such an object: then its name was taken."""
    return any(
        component.makes(track.kind, track.name) and track.namespace == aw.track.namespace
        for track in aw.history.tracks.values()
    )
