"""AW-020: every pod of a workload carries its label."""

from __future__ import annotations

from conformance.claim import Claim, Level
from conformance.claims.sources import detailed_description
from conformance.history_view import AppWrapperRun
from conformance.temporal import Obligations, judges, met, undecided, violated
from conformance.temporal.words import when
from vocabulary.objects import labels_of

AW_020 = Claim(
    id="AW-020",
    name="every-pod-is-labelled",
    level=Level.CORE,
    profile="appwrapper",
    text="Every pod that a workload creates during its execution MUST carry its label.",
    source=detailed_description(
        "The podSets contained in the AppWrapper specification enable the AppWrapper controller "
        "to inject labels into every Pod that is created by the workload during its execution."
    ),
)


@judges(AW_020, armed_by="pod was created by the workload", from_any_versions=True)
def every_pod_is_labelled(aw: AppWrapperRun) -> Obligations:
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
