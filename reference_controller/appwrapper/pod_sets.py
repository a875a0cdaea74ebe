"""podSets: where in a component's template the pod templates are, and how many pods they mean.

Declared by the user, or inferred for the kinds whose shape is known. A path begins with
`template` (the component's template itself) and goes on with `.field` and `[index]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from vocabulary.objects import Object, get_path

PathStep: TypeAlias = str | int

_LISTS_OF_OBJECTS: Final = ("containers", "initContainers", "tolerations", "schedulingGates")
_AFFINITY: Final = "affinity.nodeAffinity"
_REQUIRED_AFFINITY: Final = f"{_AFFINITY}.requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED_AFFINITY: Final = f"{_AFFINITY}.preferredDuringSchedulingIgnoredDuringExecution"
_OBJECTS_OF_AFFINITY: Final = ("affinity", _AFFINITY, _REQUIRED_AFFINITY)

_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[([0-9]{1,6})\]")


class PathError(ValueError):
    """A podSet path that does not lead to a pod template; the message says where it stops."""


@dataclass(frozen=True, slots=True)
class PodSet:
    """So many pods are made from the template at this path."""

    path: str
    replicas: int
    annotations: Mapping[str, str] | None = None
    """As declared: Kueue reads some."""

    def to_data(self) -> dict[str, Any]:
        data: dict[str, Any] = {"path": self.path, "replicas": self.replicas}
        return {**data, "annotations": dict(self.annotations)} if self.annotations else data


def parse_path(path: str) -> tuple[PathStep, ...]:
    """The steps below the template that a path names; raises PathError."""
    if not path.startswith("template"):
        raise PathError(f"podSet path {path!r} must start with 'template'")
    steps: list[PathStep] = []
    position = len("template")
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            raise PathError(
                f"podSet path {path!r} cannot be read at column {position + 1}; "
                "write .field or [index]"
            )
        steps.append(step[1] if step[1] is not None else int(step[2]))
        position = step.end()
    return tuple(steps)


def pod_template_at(template: Object, path: str) -> Object:
    """The pod template at a path; raises PathError if there is none."""
    value: Any = template
    for step in parse_path(path):
        if isinstance(step, int):
            if not isinstance(value, list | tuple) or step >= len(value):
                raise PathError(f"podSet path {path!r}: there is no element [{step}]")
            value = value[step]
        elif isinstance(value, Mapping) and step in value:
            value = value[step]
        else:
            raise PathError(f"podSet path {path!r}: there is no field {step!r}")
    if not _is_pod_template(value):
        raise PathError(
            f"podSet path {path!r} leads to no pod template; that has a spec whose containers "
            "are a list of objects, and maps of labels"
        )
    pod: Object = value
    return pod


def _is_pod_template(value: Any) -> bool:
    """True if the value has the shape that is required here; the API server validates the rest."""
    if not isinstance(value, dict):
        return False
    metadata, spec = value.get("metadata") or {}, value.get("spec")
    if not isinstance(metadata, dict) or not isinstance(spec, dict):
        return False
    objects = (metadata.get("labels"), metadata.get("annotations"), spec.get("nodeSelector"))
    lists = [spec.get(field) or [] for field in _LISTS_OF_OBJECTS]
    return (
        all(isinstance(each or {}, dict) for each in objects)
        and all(map(_are_objects, lists))
        and all(_has_amounts(container) for of_kind in lists[:2] for container in of_kind)
        and (not spec.get("affinity") or _has_affinity(spec))
    )


def _has_amounts(container: Object) -> bool:
    resources = container.get("resources") or {}
    return isinstance(resources, dict) and all(
        isinstance(each, dict)
        and all(isinstance(amount, str | int | float) for amount in each.values())
        for each in (resources.get("requests") or {}, resources.get("limits") or {})
    )


def _has_affinity(spec: Object) -> bool:
    terms = get_path(spec, f"{_REQUIRED_AFFINITY}.nodeSelectorTerms") or []
    return (
        all(isinstance(get_path(spec, path) or {}, dict) for path in _OBJECTS_OF_AFFINITY)
        and _are_objects(get_path(spec, _PREFERRED_AFFINITY) or [])
        and _are_objects(terms)
        and all(isinstance(term.get("matchExpressions") or [], list) for term in terms)
    )


def _are_objects(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, dict) for each in value)


def with_pod_template(template: Object, path: str, pod: Object) -> Object:
    """A copy of the template with another pod template at the path."""
    changed: Object = _changed(template, parse_path(path), pod)
    return changed


def _changed(value: Any, steps: tuple[PathStep, ...], pod: Object) -> Any:
    if not steps:
        return pod
    head, rest = steps[0], steps[1:]
    copy: Any = list(value) if isinstance(head, int) else dict(value)
    copy[head] = _changed(copy[head], rest, pod)
    return copy


def pod_sets_of(component: Object) -> tuple[PodSet, ...]:
    """The podSets of one entry of `spec.components`: as declared, or else inferred."""
    declared = component.get("podSets")
    if declared:
        return tuple(
            PodSet(entry["path"], int(entry.get("replicas", 1)), entry.get("annotations"))
            for entry in declared
        )
    return infer(component.get("template") or {})


def infer(template: Object) -> tuple[PodSet, ...]:
    """The podSets of a known kind; none for others. ValueError if a count is not a number."""
    inference = _INFERENCES.get((template.get("apiVersion", ""), template.get("kind", "")))
    return () if inference is None else inference(template)


def is_inferable(template: Object) -> bool:
    return (template.get("apiVersion", ""), template.get("kind", "")) in _INFERENCES


def _count(obj: Any, path: str, default: int = 1) -> int:
    value = get_path(obj, path)
    if value is None:
        return default
    if type(value) is not int:
        raise ValueError(f"{path} is {value!r}; write a whole number")
    return value


def _object_at(obj: Object, path: str) -> Object:
    value = get_path(obj, path)
    if not isinstance(value or {}, Mapping):
        raise ValueError(f"{path} is {value!r}; write an object")
    return value or {}


def _objects_at(obj: Object, path: str) -> Sequence[Object]:
    value = get_path(obj, path) or ()
    if not _are_objects(value):
        raise ValueError(f"{path} is {value!r}; write a list of objects")
    return value


def _pod(_template: Object) -> tuple[PodSet, ...]:
    return (PodSet("template", 1),)


def _replicated(template: Object) -> tuple[PodSet, ...]:
    return (PodSet("template.spec.template", _count(template, "spec.replicas")),)


def _job_pods(job: Any) -> int:
    parallelism = _count(job, "spec.parallelism")
    return min(parallelism, _count(job, "spec.completions", parallelism))


def _job(template: Object) -> tuple[PodSet, ...]:
    return (PodSet("template.spec.template", _job_pods(template)),)


def _job_set(template: Object) -> tuple[PodSet, ...]:
    return tuple(
        PodSet(
            f"template.spec.replicatedJobs[{index}].template.spec.template",
            _count(entry, "replicas") * _job_pods(entry.get("template") or {}),
        )
        for index, entry in enumerate(_objects_at(template, "spec.replicatedJobs"))
    )


def _pytorch_job(template: Object) -> tuple[PodSet, ...]:
    roles = _object_at(template, "spec.pytorchReplicaSpecs")
    return tuple(
        PodSet(
            f"template.spec.pytorchReplicaSpecs.{role}.template", _count(roles[role], "replicas")
        )
        for role in ("Master", "Worker")
        if role in roles
    )


def _ray(template: Object, prefix: str) -> tuple[PodSet, ...]:
    """One head always; a worker group has replicas times hosts pods."""
    groups = enumerate(_objects_at(template, f"{prefix}.workerGroupSpecs"))
    return (
        PodSet(f"template.{prefix}.headGroupSpec.template", 1),
        *(
            PodSet(
                f"template.{prefix}.workerGroupSpecs[{index}].template",
                _count(group, "replicas") * _count(group, "numOfHosts"),
            )
            for index, group in groups
        ),
    )


_INFERENCES: Final[Mapping[tuple[str, str], Callable[[Object], tuple[PodSet, ...]]]] = {
    ("v1", "Pod"): _pod,
    ("apps/v1", "Deployment"): _replicated,
    ("apps/v1", "StatefulSet"): _replicated,
    ("batch/v1", "Job"): _job,
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): _job_set,
    ("kubeflow.org/v1", "PyTorchJob"): _pytorch_job,
    ("ray.io/v1", "RayCluster"): lambda template: _ray(template, "spec"),
    ("ray.io/v1", "RayJob"): lambda template: _ray(template, "spec.rayClusterSpec"),
}
