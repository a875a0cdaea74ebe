"""Approach 1, which the norm rejects: delete the pods of an interrupted Job, and create the rest.

The controller of pods restarts pods that are deleted, and ProcessingElements from before the crash
say what was true then. So the approach needs a label on the pods that it deletes, and a mark on the
ProcessingElements; here that is a reset of their launches.
"""

from __future__ import annotations

from reference_controller.shared.reading import Reading
from reference_controller.streams.names import BYPASS, OF_JOB, PROCESSING_ELEMENT
from reference_controller.streams.rules import Design
from vocabulary.kinds import POD
from vocabulary.objects import Object, get_path, is_terminating, labels_of, name_of, namespace_of
from vocabulary.requests import Delete, List, ObjectList, Patch


def without_pods(job: Object, design: Design) -> Reading[bool]:
    """Delete the pods of an interrupted attempt; True once none is left, and the submission may go
    on."""
    namespace, selector = namespace_of(job), f"{OF_JOB}={name_of(job)}"
    pods: ObjectList = yield List(POD, namespace, label_selector=selector, live=True)
    for pod in pods.items:
        if design.labels_pods and BYPASS not in labels_of(pod):
            yield Patch(POD, namespace, name_of(pod), {"metadata": {"labels": {BYPASS: "true"}}})
        if not is_terminating(pod):
            yield Delete(POD, namespace, name_of(pod))
    if pods.items:
        return False
    if design.marks_elements:
        elements: ObjectList = yield List(
            PROCESSING_ELEMENT, namespace, label_selector=selector, live=True
        )
        for each in elements.items:
            if get_path(each, "spec.launchCount") or get_path(each, "spec.connectivity") != "None":
                fresh = {"spec": {"launchCount": 0, "connectivity": "None"}}
                yield Patch(PROCESSING_ELEMENT, namespace, name_of(each), fresh)
    return True
