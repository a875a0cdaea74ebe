"""The pod templates of Jobs that are resumed, as queues have changed them meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reference_controller.jobset.observation import Job
from vocabulary.objects import Object, condition_status, get_path, meta

_LISTS: Final = ("tolerations", "schedulingGates")
"""The lists in a pod template that a queue sets while a Job is suspended."""


def is_at_rest(job: Job) -> bool:
    """True if the API server lets the pod template's scheduling directives be changed."""
    has_stopped = condition_status(job.object, "Suspended") == "True"
    has_begun = get_path(job.object, "status.startTime") is not None
    return job.is_suspended and not job.is_active and (has_stopped or not has_begun)


def resumed_template(replicated_job: Object, job: Job) -> Object:
    """A merge patch of a suspended Job's pod template, to where a queue would have its pods run by
    now. A selector or toleration of an earlier admission goes; labels and annotations are added,
    since the API server has some of its own."""
    wanted = get_path(replicated_job, "template.spec.template", {})
    standing = get_path(job.object, "spec.template", {})
    patch: dict[str, Any] = {}
    metadata = {
        key: dict(meta(wanted)[key])
        for key in ("labels", "annotations")
        if not _holds(meta(standing).get(key) or {}, meta(wanted).get(key) or {})
    }
    if metadata:
        patch["metadata"] = metadata
    wanted_spec, standing_spec = wanted.get("spec") or {}, standing.get("spec") or {}
    spec: dict[str, Any] = {
        key: list(wanted_spec.get(key) or ())
        for key in _LISTS
        if list(wanted_spec.get(key) or ()) != list(standing_spec.get(key) or ())
    }
    selector: dict[str, str] = dict(wanted_spec.get("nodeSelector") or {})
    before: Mapping[str, str] = standing_spec.get("nodeSelector") or {}
    if selector != before:
        spec["nodeSelector"] = {**dict.fromkeys(before), **selector}
    if spec:
        patch["spec"] = spec
    return patch


def _holds(standing: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(standing.get(key) == value for key, value in wanted.items())
