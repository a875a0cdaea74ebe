"""AppWrappers: a pod set for each of those that their own controller has found.

The moment of release is theirs alone: an AppWrapper says that quota is reserved until all that it
wraps is gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from reference_controller.kueue.integrations import End, PodSetInfo
from reference_controller.kueue.integrations.suspended import SuspendedKind
from reference_controller.kueue.integrations.templates import bare
from reference_controller.kueue.names import APP_WRAPPER
from vocabulary.objects import Object, condition, condition_status, get_path, meta, name_of


class AppWrapper(SuspendedKind):
    """Its pod templates stay as they are: it takes what an admission adds beside them."""

    framework: Final = "workload.codeflare.dev/appwrapper"
    kind = APP_WRAPPER
    prefix = "appwrapper"

    def is_active(self, job: Object) -> bool:
        """Its controller changes the status of the spec that it has seen, or not at all."""
        return condition_status(job, "QuotaReserved") == "True"

    def pod_sets(self, job: Object) -> tuple[Object, ...]:
        components = job["spec"]["components"]
        return tuple(
            {
                "name": f"{name_of(job)[:60]}-{position}",
                "count": each.replicas,
                "template": bare(_template_at(components[each.component], each.path)),
            }
            for position, each in enumerate(_pod_sets(job))
        )

    def end(self, job: Object) -> End | None:
        """One that has failed holds quota until nothing is left of it."""
        phase = get_path(job, "status.phase")
        if phase == "Succeeded" or (phase == "Failed" and not self.is_active(job)):
            why = condition(job, "Unhealthy") or {}
            return End(phase == "Succeeded", str(why.get("message") or phase))
        return None

    def are_pods_ready(self, job: Object) -> bool:
        return condition_status(job, "PodsReady") == "True"

    def done(self, job: Object) -> Mapping[str, int]:
        del job
        return {}

    def _started(
        self, job: Object, pod_sets: Sequence[Object], infos: Sequence[PodSetInfo]
    ) -> Object:
        del pod_sets
        by_component: dict[int, list[Object]] = {}
        for each, info in zip(_pod_sets(job), infos, strict=True):
            by_component.setdefault(each.component, []).append(_in_its_words(info))
        return _with_infos(job, by_component, suspend=False)

    def is_placed(self, job: Object) -> bool:
        return any(each.get("podSetInfos") for each in job["spec"]["components"])

    def _restored(self, job: Object, pod_sets: Sequence[Object]) -> Object | None:
        del pod_sets
        return _with_infos(job, {}, suspend=True)


class _PodSet(NamedTuple):
    component: int
    path: str
    replicas: int


def _pod_sets(job: Object) -> Iterator[_PodSet]:
    """Those that its controller has found, in their order."""
    for component, record in enumerate(get_path(job, "status.componentStatus") or ()):
        for each in record.get("podSets") or ():
            yield _PodSet(component, each["path"], int(each.get("replicas", 1)))


def _template_at(component: Object, path: str) -> Object:
    """The pod template at a path such as `template.spec.replicatedJobs[0].template`."""
    found: Any = component
    for step in re.findall(r"[^.\[\]]+", path):
        found = found[int(step)] if isinstance(found, Sequence) else found[step]
    template: Object = found
    return template


def _in_its_words(info: PodSetInfo) -> Object:
    """As in `spec.components[].podSetInfos`."""
    said: dict[str, Any] = {"labels": dict(info.labels)}
    if info.node_selector:
        said["nodeSelector"] = dict(info.node_selector)
    if info.tolerations:
        said["tolerations"] = list(info.tolerations)
    return said


def _with_infos(job: Object, infos: Mapping[int, list[Object]], *, suspend: bool) -> Object:
    """A merge patch replaces lists as a whole, so it is for this state of the AppWrapper alone."""
    components = []
    for number, each in enumerate(job["spec"]["components"]):
        component = {key: value for key, value in each.items() if key != "podSetInfos"}
        if number in infos:
            component["podSetInfos"] = infos[number]
        components.append(component)
    return {
        "metadata": {"resourceVersion": meta(job)["resourceVersion"]},
        "spec": {"suspend": suspend, "components": components},
    }
