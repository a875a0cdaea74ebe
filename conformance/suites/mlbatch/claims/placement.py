"""MLB-076: pods go where the quota was reserved for them."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.history.tracks import Track
from conformance.norm import Obligation, Obligations, met, violated
from conformance.norm.claim import Level
from conformance.norm.templates import first_difference
from conformance.norm.words import when
from conformance.suites.appwrapper.decisions import A25
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.sources import guide
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.pod_sets import Component
from conformance.suites.appwrapper.view.profile import dig
from vocabulary.objects import Object

_IN_METADATA = ("labels", "annotations")
_IN_SPEC = ("nodeSelector", "tolerations", "schedulingGates")


@claim(
    "MLB-076",
    guide("Introduction", 7),
    level=Level.PROVISIONAL,
    decision=A25,
    armed_by="pod was created of a pod set that podSetInfos speak of",
)
def pods_are_placed_as_their_quota_says(aw: AppWrapperRun) -> Obligations:
    """The pods of a pod set MUST have the labels, annotations, node selector, tolerations and
    scheduling gates that podSetInfos gave it when quota was reserved."""
    for attempt in aw.attempts:
        for track in attempt.components:
            component = aw.component_of(track)
            if component is None:
                continue
            said = [_infos(aw, snapshot.object, component) for snapshot in attempt.snapshots]
            if not any(said[0]) or any(infos != said[0] for infos in said):
                continue
            made = (track, *aw.history.descendants(track.uid))
            pods = [each for each in made if each.kind == "Pod"]
            for pod in pods:
                lacks = [first_difference(_asked(info), pod.first) for info in said[0]]
                if all(lacks):
                    yield violated(
                        pod.created,
                        f"{pod} of {aw}, created at {when(pod.created)}, is not as podSetInfos "
                        f"say: {lacks[0]}.",
                    )
                else:
                    yield met(pod.created)
            yield from _of_each(aw, component, said[0], pods)


def _of_each(
    aw: AppWrapperRun, component: Component, infos: list[Object], pods: list[Track]
) -> Iterator[Obligation]:
    """Of the pods of a component that made all of them, each pod set has its own."""
    if len(pods) < component.expected_pods:
        return
    for info, replicas in zip(infos, component.replicas, strict=False):
        placed = [pod for pod in pods if not first_difference(_asked(info), pod.first)]
        if len(placed) < replicas:
            yield violated(
                pods[-1].created,
                f"{when(pods[-1].created)}: {component} of {aw} has made all its pods, and "
                f"{len(placed)} are as podSetInfos say of a pod set of {replicas}: {info}.",
            )


def _infos(aw: AppWrapperRun, obj: Object, component: Component) -> list[Object]:
    """The podSetInfos of each pod set of one component; empty for those left out."""
    entries = dig(obj, aw.history.profile.components) or ()
    # A cluster without its admission webhook stores an AppWrapper whose components were removed.
    entry = entries[component.position] if component.position < len(entries) else {}
    infos = list(entry.get("podSetInfos") or ())
    return infos + [{}] * (len(component.replicas) - len(infos))


def _asked(info: Object) -> Object:
    """The same as a template says it."""
    return {
        "metadata": {key: info.get(key) for key in _IN_METADATA},
        "spec": {key: info.get(key) for key in _IN_SPEC},
    }
