"""The steps of the designs that the norm rejects, which the sound one never takes.

Approach 1 deletes the pods of an interrupted Job, and creates the rest. The controller of pods
restarts pods that are deleted, and ProcessingElements from before the crash say what was true then.
So the approach needs a label on the pods that it deletes, and a mark on the ProcessingElements;
here that is a reset of their launches. If it compiles the Job anew, it has to update the ConfigMaps
before pods are made of them.
"""

from __future__ import annotations

from reference_controller.shared.reading import Reading
from reference_controller.streams.names import (
    BYPASS,
    JOB,
    OF_JOB,
    PROCESSING_ELEMENT,
    TAKEN_OVER,
    Phase,
)
from reference_controller.streams.office import pulled_bundle
from reference_controller.streams.parts import Compiled, Part, launched
from reference_controller.streams.rules import Design
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP, NODE, POD
from vocabulary.objects import (
    Object,
    annotations_of,
    is_terminating,
    labels_of,
    meta,
    name_of,
    namespace_of,
    uid_of,
)
from vocabulary.requests import Delete, List, ObjectList, Patch, Update


class Rejected:
    """The rejected designs' steps in one process."""

    def __init__(self) -> None:
        self._aborted: set[str] = set()
        self._stale_pods: dict[str, set[str]] = {}
        """By the uid of a Job: the pods that it had as its recovery began, by their uids."""

    def has_ended(self, uid: str) -> bool:
        """True if a taken name has ended the Job's submission."""
        return uid in self._aborted

    def on_taken(
        self, design: Design, part: Part, uid: str, standing: Object, error: ApiError
    ) -> Reading[None]:
        """Go on though an object that is not the Job's has the name of its part."""
        if design.on_taken == "abort":
            self._aborted.add(uid)
            raise error
        if design.on_taken == "replace":
            version = {"resourceVersion": meta(standing)["resourceVersion"]}
            metadata = {**part.object["metadata"], **version}
            yield Update(part.kind, {**part.object, "metadata": metadata})

    def taken_over(self, job: Object, design: Design, driven: set[str]) -> Reading[Object | None]:
        """Go on with a Job that another process has begun; None until its pods are gone, where they
        have to go first."""
        if design.way == "pods" and not (yield from self._without_pods(job, design)):
            return None
        wanted = job
        if design.recompiles:
            nodes: ObjectList = yield List(NODE, live=True)
            bundle = yield from pulled_bundle(job)
            ready = launched(job, job["spec"]["id"], Phase.SUBMISSION, len(nodes.items), bundle)
            anew = {name: ready["spec"][name] for name in ("statistics", "bundleRevision")}
            wanted = {**job, "spec": {**job["spec"], **anew}}
        driven.add(uid_of(job))
        annotations = {**annotations_of(job), TAKEN_OVER: "true"}
        metadata = {**meta(wanted), "annotations": annotations}
        stored: Object = yield Update(JOB, {**wanted, "metadata": metadata})
        if design.updates is not None:
            yield from _update(Compiled(stored), design)
        return stored

    def _without_pods(self, job: Object, design: Design) -> Reading[bool]:
        """Delete the pods of an interrupted attempt; True once none is left, and the submission may
        go on."""
        namespace, selector = namespace_of(job), f"{OF_JOB}={name_of(job)}"
        pods: ObjectList = yield List(POD, namespace, label_selector=selector, live=True)
        first = self._stale_pods.setdefault(uid_of(job), {uid_of(pod) for pod in pods.items})
        # Without a label nothing else tells those that are restarted meanwhile.
        stale = [pod for pod in pods.items if design.labels_pods or uid_of(pod) in first]
        for pod in stale:
            if design.labels_pods and BYPASS not in labels_of(pod):
                labelled = {"metadata": {"labels": {BYPASS: "true"}}}
                yield Patch(POD, namespace, name_of(pod), labelled)
            if not is_terminating(pod):
                yield Delete(POD, namespace, name_of(pod))
        if stale:
            return False
        if design.marks_elements:
            elements: ObjectList = yield List(
                PROCESSING_ELEMENT, namespace, label_selector=selector, live=True
            )
            fresh = {"spec": {"launchCount": 0, "connectivity": "None"}}
            for each in elements.items:
                if any(each["spec"].get(name) != fresh["spec"][name] for name in fresh["spec"]):
                    yield Patch(PROCESSING_ELEMENT, namespace, name_of(each), fresh)
        return True


def _update(job: Compiled, design: Design) -> Reading[None]:
    """Write what a Job that is compiled anew has changed into the parts that are left of it."""
    config_maps, elements = [], []
    for pe in range(job.size):
        config_map, element = job.config_map(pe).object, job.processing_element(pe).object
        content = {"metadata": {"annotations": annotations_of(config_map)}}
        config_maps.append((CONFIG_MAP, config_map, {**content, "data": config_map["data"]}))
        named = {"spec": {"contentId": element["spec"]["contentId"]}}
        elements.append((PROCESSING_ELEMENT, element, named))
    is_sound = design.updates == "content-first"
    for kind, part, change in config_maps + elements if is_sound else elements + config_maps:
        try:
            yield Patch(kind, namespace_of(part), name_of(part), change)
        except ApiError as error:
            if not error.is_not_found:
                raise
