"""The controllers of ProcessingElements and of their pods.

A launch is a number in the ProcessingElement, which is written before its pod is created. A pod
that is gone is not created again: the next launch has another.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from reference_controller.runtime.controller import Key, key_of
from reference_controller.shared.own_writes import OwnWrites
from reference_controller.shared.reading import Reading, read
from reference_controller.streams.names import (
    BYPASS,
    CONTENT_ID,
    HOST_POOL,
    JOB,
    LAUNCH_COUNT,
    OF_JOB,
    OF_PE,
    PROCESSING_ELEMENT,
)
from reference_controller.streams.office import Office
from reference_controller.streams.parts import Compiled, pod_name, pod_of
from vocabulary.clock import Micros
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP, POD, Kind
from vocabulary.objects import (
    Object,
    annotations_of,
    controller_of,
    get_path,
    is_terminating,
    labels_of,
    meta,
    name_of,
    namespace_of,
    uid_of,
)
from vocabulary.requests import Create, Delete, List, ObjectList, Patch, Reconcile

if TYPE_CHECKING:
    from reference_controller.runtime.caches import Caches


class _ElementController:
    """A controller that is woken for ProcessingElements."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self._rules = office.rules
        self._writes = OwnWrites()

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        """The element itself, or that of a pod or ConfigMap, or all of a Job or HostPool."""
        del old
        namespace, labels = namespace_of(obj), labels_of(obj)
        if kind == PROCESSING_ELEMENT:
            return (key_of(obj),)
        job = name_of(obj) if kind == JOB else labels.get(OF_JOB, "")
        if OF_PE in labels:
            return (Key(namespace, f"{job}-{labels[OF_PE]}"),)
        of_job = caches[PROCESSING_ELEMENT].answer(
            List(PROCESSING_ELEMENT, namespace, f"{OF_JOB}={job}")
        )
        return [key_of(each) for each in of_job.items]

    def _found(self, key: Key) -> Reading[tuple[Object, Compiled] | None]:
        """The element and its Job, where pods of it are to be made."""
        cached = yield from read(PROCESSING_ELEMENT, *key, live=False)
        if cached is None:
            self._writes.forget(key)
            return None
        element = self._writes.later(key, cached)
        job = yield from self._office.job_of(element, live=False)
        if is_terminating(element) or job is None or not self._office.acts_for(job):
            return None
        return element, job

    def _launch(self, key: Key, element: Object) -> Reading[None]:
        """Begin the next launch."""
        count = int(element["spec"]["launchCount"]) + 1
        version = meta(element)["resourceVersion"]
        body = {"metadata": {"resourceVersion": version}, "spec": {"launchCount": count}}
        self._office.launched.add((uid_of(element), count))
        stored: Object = yield Patch(PROCESSING_ELEMENT, *key, body)
        self._writes.remember(key, stored)


class ElementController(_ElementController):
    """ProcessingElements: each is launched once it is there."""

    name: Final = "processingelement"
    watches: Final = (PROCESSING_ELEMENT, JOB)

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        del now_us
        found = yield from self._found(key)
        if found is not None and self._rules.launches(int(found[0]["spec"]["launchCount"])):
            yield from self._launch(key, found[0])
        return None


class PodController(_ElementController):
    """Pods: one for each launch, once all that it needs is there."""

    name: Final = "pod"
    watches: Final = (PROCESSING_ELEMENT, POD, CONFIG_MAP, HOST_POOL, JOB)

    def __init__(self, office: Office) -> None:
        super().__init__(office)
        self._seen: set[tuple[str, int]] = set()
        """The launches that had a pod."""

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        del now_us
        found = yield from self._found(key)
        if found is None or not found[0]["spec"]["launchCount"]:
            return None
        element, job = found
        launch = int(element["spec"]["launchCount"])
        pods = yield from self._pods(element)
        if any(BYPASS in labels_of(pod) for pod in pods):
            return None  # deleted for a recovery, which goes on once it is gone
        present = [pod for pod in pods if labels_of(pod).get(LAUNCH_COUNT) == str(launch)]
        if present:
            self._seen.add((uid_of(element), launch))
            yield from self._look_at(present[0], element)
        elif pods:
            for pod in pods:
                yield from self._delete(pod)
        else:
            yield from self._replace(key, element, job)
        return None

    def _replace(self, key: Key, element: Object, job: Compiled) -> Reading[None]:
        """Create the pod of a launch, or begin the next one where that pod is gone."""
        launch = uid_of(element), int(element["spec"]["launchCount"])
        of_old_elements = not self._rules.design().guards_pods
        if (launch in self._office.launched or of_old_elements) and launch not in self._seen:
            yield from self._create(element, job)
            return
        if not self._rules.restarts_deleted(bool(element["spec"].get("restartDeletedPod"))):
            return
        pod = yield from read(POD, namespace_of(element), pod_name(element), live=True)
        if not self._rules.is_lost(pod is None):
            return
        owner = yield from self._office.job_of(element, live=True)
        if self._rules.may_restore(owner is not None):
            yield from self._launch(key, element)

    def _create(self, element: Object, job: Compiled) -> Reading[None]:
        pools: ObjectList = yield List(
            HOST_POOL, namespace_of(element), label_selector=f"{OF_JOB}={job.name}"
        )
        wanted_pools = len(job.job["spec"].get("hostPools") or ())
        if not self._rules.has_host_pools(len(pools.items), wanted_pools):
            return
        wanted = job.config_map(int(element["spec"]["id"]))
        found = yield from read(CONFIG_MAP, namespace_of(element), wanted.name, live=False)
        content = None if found is None else annotations_of(found).get(CONTENT_ID)
        is_awaited = self._rules.design().awaits_content or found is None
        if is_awaited and not self._rules.is_current(content, element["spec"]["contentId"]):
            return
        pod = pod_of(element, found or wanted.object, job.job)
        try:
            yield Create(POD, pod.object, namespace_of(element), pod.name)
        except ApiError as error:
            if not error.is_already_exists:
                raise
        self._seen.add((uid_of(element), int(element["spec"]["launchCount"])))

    def _look_at(self, pod: Object, element: Object) -> Reading[None]:
        """Delete a pod that has failed, where another is to run; its end begins the next launch."""
        spec = element["spec"]
        if get_path(pod, "status.phase") != "Failed" or not spec.get("deleteFailedPod", True):
            return
        if self._rules.restarts_failed(spec.get("restartFailedPod")):
            yield from self._delete(pod)

    def _pods(self, element: Object) -> Reading[list[Object]]:
        labels = labels_of(element)
        selector = f"{OF_JOB}={labels[OF_JOB]},{OF_PE}={labels[OF_PE]}"
        listed: ObjectList = yield List(POD, namespace_of(element), label_selector=selector)
        uid = uid_of(element)
        return [pod for pod in listed.items if (controller_of(pod) or {}).get("uid") == uid]

    def _delete(self, pod: Object) -> Reading[None]:
        if is_terminating(pod):
            return
        try:
            yield Delete(POD, namespace_of(pod), name_of(pod), uid=uid_of(pod))
        except ApiError as error:
            if not error.is_not_found:
                raise
