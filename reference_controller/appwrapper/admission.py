"""Admission of an AppWrapper on create and update: defaulting and validation.

Pure, so that the simulated API server and the webhook server of a real cluster run the same code.
Defaulting happens on creation only; rejections name the field and the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from reference_controller.appwrapper.config import OperatorConfig
from reference_controller.appwrapper.names import APPWRAPPER
from reference_controller.appwrapper.pod_sets import (
    infer,
    is_inferable,
    pod_sets_of,
    pod_template_at,
)
from reference_controller.appwrapper.rules import RIGHT, Rules
from reference_controller.runtime.admission_review import MayCreate, Operation, UserInfo
from vocabulary.errors import ApiError
from vocabulary.kinds import kind_of
from vocabulary.objects import Object, get_path, labels_of, meta, name_of, namespace_of

MAX_NAME_LENGTH: Final = 63
"""Its name is the value of a label on every pod."""


@dataclass(frozen=True, slots=True)
class _Cause:
    field: str
    message: str


def mutate(
    operation: Operation,
    new: Object,
    old: Object | None,
    user: UserInfo,
    config: OperatorConfig,
    *,
    rules: Rules = RIGHT,
) -> Object:
    """Return the AppWrapper with the labels that a creation adds."""
    del old
    if operation != "CREATE":
        return new
    labels = rules.queue_label(labels_of(new), config.default_queue_name)
    labels = rules.user_labels(labels, user.username, user.uid)
    return {**new, "metadata": {**meta(new), "labels": labels}}


def validate(
    operation: Operation,
    new: Object,
    old: Object | None,
    user: UserInfo,
    config: OperatorConfig,
    *,
    rules: Rules = RIGHT,
    may_create: MayCreate | None = None,
) -> Object:
    """Return the AppWrapper as it is. Raises ApiError (403) if it is rejected.

    `may_create` is called for each component if `config.user_rbac_admission_check` is set;
    without it, users' permissions on components are not checked.
    """
    if operation == "CREATE":
        check = may_create if config.user_rbac_admission_check else None
        causes = [*_flaws(new, rules), *_forbidden(new, user, check)]
    else:
        assert old is not None, "an UPDATE comes with the old object"
        causes = _changed_for_good(new, old, rules)
    if causes:
        raise _denied(new, causes)
    return new


def _denied(aw: Object, causes: list[_Cause]) -> ApiError:
    text = ", ".join(f"{cause.field}: {cause.message}" for cause in causes)
    details = {
        "name": name_of(aw),
        "group": APPWRAPPER.group,
        "kind": APPWRAPPER.kind,
        "causes": [{"field": cause.field, "message": cause.message} for cause in causes],
    }
    message = f'AppWrapper.{APPWRAPPER.group} "{name_of(aw)}" is invalid: {text}'
    return ApiError(403, "Forbidden", message, details)


def _flaws(aw: Object, rules: Rules) -> list[_Cause]:
    """Validate an AppWrapper to be created."""
    causes: list[_Cause] = []
    if len(name_of(aw)) > MAX_NAME_LENGTH:
        message = f"must be at most {MAX_NAME_LENGTH} characters, since pods carry it as a label"
        causes.append(_Cause("metadata.name", message))
    total = 0
    for index, component in enumerate(get_path(aw, "spec.components") or ()):
        path = f"spec.components[{index}]"
        found = _component_flaws(aw, component, path)
        causes += found
        if not found:
            total += len(pod_sets_of(component))
    if not causes and not 1 <= total <= rules.max_pod_sets():
        message = f"has {total} podSets in total; write 1 to {rules.max_pod_sets()}"
        causes.append(_Cause("spec.components", message))
    return causes


def _component_flaws(aw: Object, component: Object, path: str) -> list[_Cause]:
    template = component.get("template")
    if not isinstance(template, Mapping) or not template.get("kind"):
        return [_Cause(f"{path}.template", "must be an object with apiVersion and kind")]
    kind = kind_of(template)
    if kind.group_kind == APPWRAPPER.group_kind:
        return [_Cause(f"{path}.template.kind", "an AppWrapper cannot be nested in another")]
    namespace = namespace_of(template)
    if namespace not in ("", namespace_of(aw)):
        message = f"is {namespace!r}; leave it out, or write the AppWrapper's own"
        return [_Cause(f"{path}.template.metadata.namespace", message)]
    return _pod_set_flaws(component, template, path)


def _pod_set_flaws(component: Object, template: Object, path: str) -> list[_Cause]:
    causes: list[_Cause] = []
    declared = component.get("podSets") or ()
    for index, pod_set in enumerate(declared):
        at = f"{path}.podSets[{index}]"
        if not pod_set.get("path"):
            causes.append(_Cause(f"{at}.path", "is missing; say where the pod template is"))
            continue
        if any(each.get("path") == pod_set["path"] for each in declared[:index]):
            causes.append(_Cause(f"{at}.path", f"{pod_set['path']!r} is declared twice"))
        if int(pod_set.get("replicas", 1)) < 0:
            causes.append(_Cause(f"{at}.replicas", "must not be negative"))
        try:
            pod_template_at(template, pod_set["path"])
        except ValueError as error:
            causes.append(_Cause(f"{at}.path", str(error)))
    if causes:
        return causes
    try:
        inferred = infer(template)
    except ValueError as error:
        return [_Cause(f"{path}.template", str(error))]
    if declared and is_inferable(template):
        said = sorted((entry["path"], int(entry.get("replicas", 1))) for entry in declared)
        meant = sorted((pod_set.path, pod_set.replicas) for pod_set in inferred)
        if said != meant:
            message = f"are {said}, but the template means {meant}; leave them out"
            return [_Cause(f"{path}.podSets", message)]
    return _template_flaws(template, component, path)


def _template_flaws(template: Object, component: Object, path: str) -> list[_Cause]:
    causes = []
    for pod_set in pod_sets_of(component):
        try:
            pod_template_at(template, pod_set.path)
        except ValueError as error:
            causes.append(_Cause(f"{path}.template", str(error)))
    return causes


def _forbidden(aw: Object, user: UserInfo, may_create: MayCreate | None) -> list[_Cause]:
    if may_create is None:
        return []
    causes = []
    namespace = namespace_of(aw)
    for index, component in enumerate(get_path(aw, "spec.components") or ()):
        kind = kind_of(component.get("template") or {})
        if not may_create(user, kind, namespace):
            message = f"user {user.username!r} may not create a {kind.kind} in {namespace!r}"
            causes.append(_Cause(f"spec.components[{index}].template", message))
    return causes


def _changed_for_good(new: Object, old: Object, rules: Rules) -> list[_Cause]:
    """Changes of immutable fields by an update."""
    causes = []
    components = get_path(new, "spec.components") or ()
    standing = get_path(old, "spec.components") or ()
    if len(components) != len(standing):
        causes.append(_Cause("spec.components", "their number cannot be changed"))
    for index, (component, before) in enumerate(zip(components, standing, strict=False)):
        causes.extend(
            _Cause(f"spec.components[{index}].{field}", "cannot be changed")
            for field in rules.lasting_fields()
            if _as_meant(component.get(field)) != _as_meant(before.get(field))
        )
    if get_path(new, "spec.managedBy") != get_path(old, "spec.managedBy"):
        causes.append(_Cause("spec.managedBy", "cannot be changed"))
    causes.extend(
        _Cause(f"metadata.labels[{label}]", "cannot be changed")
        for label in rules.lasting_labels()
        if labels_of(new).get(label) != labels_of(old).get(label)
    )
    return causes


def _as_meant(field: Any) -> Any:
    """A field of a component with its default written out: a podSet without replicas has one."""
    if not isinstance(field, list):
        return field
    return [{"replicas": 1, **entry} for entry in field]
