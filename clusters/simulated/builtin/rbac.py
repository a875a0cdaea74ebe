"""Roles and their bindings."""
# ruff: noqa: ARG002 - a hook is given all that some kind may want to look at

from __future__ import annotations

from typing import Any, Final

from clusters.simulated.builtin.affinity_validation import validate_label_selector
from clusters.simulated.field_errors import FieldError, not_supported, required, value_invalid
from clusters.simulated.names import NameCheck, path_segment
from clusters.simulated.strategy import Strategy
from vocabulary.kinds import ROLE_BINDING
from vocabulary.objects import Object

_GROUP: Final = "rbac.authorization.k8s.io"
_SUBJECT_GROUPS: Final = {"ServiceAccount": "", "User": _GROUP, "Group": _GROUP}


class _NamedFreely(Strategy):
    @property
    def check_name(self) -> NameCheck:
        return path_segment


class RoleStrategy(_NamedFreely):
    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        obj.setdefault("rules", None)

    def validate(self, obj: Object) -> list[FieldError]:
        return [
            error
            for position, rule in enumerate(obj.get("rules") or ())
            for error in self._validate_rule(rule, f"rules[{position}]")
        ]

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        return self.validate(new)

    def _validate_rule(self, rule: Object, path: str) -> list[FieldError]:
        errors = []
        if not rule.get("verbs"):
            errors.append(required(f"{path}.verbs", "verbs must contain at least one value"))
        paths = rule.get("nonResourceURLs")
        if paths and self.kind.namespaced:
            because = "namespaced rules cannot apply to non-resource URLs"
            errors.append(value_invalid(f"{path}.nonResourceURLs", paths, because))
        if paths:
            if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
                because = "rules cannot apply to both regular resources and non-resource URLs"
                errors.append(value_invalid(f"{path}.nonResourceURLs", paths, because))
            return errors
        if not rule.get("apiGroups"):
            because = "resource rules must supply at least one api group"
            errors.append(required(f"{path}.apiGroups", because))
        if not rule.get("resources"):
            because = "resource rules must supply at least one resource"
            errors.append(required(f"{path}.resources", because))
        return errors


class ClusterRoleStrategy(RoleStrategy):
    def validate(self, obj: Object) -> list[FieldError]:
        errors = super().validate(obj)
        rule = obj.get("aggregationRule")
        if rule is None:
            return errors
        path = "aggregationRule.clusterRoleSelectors"
        selectors = rule.get("clusterRoleSelectors") or ()
        if not selectors:
            because = "at least one clusterRoleSelector required if aggregationRule is non-nil"
            errors.append(required(path, because))
        for position, selector in enumerate(selectors):
            found = validate_label_selector(selector, f"{path}[{position}]")
            if found:
                found.append(value_invalid(f"{path}[{position}]", None, "invalid label selector."))
            errors += found
        return errors


class BindingStrategy(_NamedFreely):
    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        role = obj.get("roleRef") or {}
        if not role.get("apiGroup"):
            obj["roleRef"] = {**role, "apiGroup": _GROUP}
        subjects = obj.get("subjects")
        if subjects:
            obj["subjects"] = [_with_group(subject) for subject in subjects]

    def validate(self, obj: Object) -> list[FieldError]:
        role: Object = obj["roleRef"]
        errors = []
        if role.get("apiGroup") != _GROUP:
            errors.append(not_supported("roleRef.apiGroup", role["apiGroup"], (_GROUP,)))
        kinds = ("Role", "ClusterRole") if self.kind == ROLE_BINDING else ("ClusterRole",)
        if role.get("kind") not in kinds:
            errors.append(not_supported("roleRef.kind", role.get("kind", ""), kinds))
        if not role.get("name"):
            errors.append(required("roleRef.name"))
        for position, subject in enumerate(obj.get("subjects") or ()):
            errors += self._validate_subject(subject, f"subjects[{position}]")
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        errors = self.validate(new)
        if new["roleRef"] != old["roleRef"]:
            errors.append(value_invalid("roleRef", new["roleRef"], "cannot change roleRef"))
        return errors

    def _validate_subject(self, subject: Object, path: str) -> list[FieldError]:
        kind, group = subject.get("kind", ""), subject.get("apiGroup", "")
        errors = []
        if not subject.get("name"):
            errors.append(required(f"{path}.name"))
        if kind not in _SUBJECT_GROUPS:
            errors.append(not_supported(f"{path}.kind", kind, _SUBJECT_GROUPS))
        elif group != _SUBJECT_GROUPS[kind]:
            supported = (_SUBJECT_GROUPS[kind],)
            errors.append(not_supported(f"{path}.apiGroup", group, supported))
        if kind == "ServiceAccount" and not subject.get("namespace") and not self.kind.namespaced:
            errors.append(required(f"{path}.namespace"))
        return errors


def _with_group(subject: Object) -> Object:
    group = _SUBJECT_GROUPS.get(subject.get("kind", ""))
    return {**subject, "apiGroup": group} if group and not subject.get("apiGroup") else subject
