"""Deployments, ReplicaSets and StatefulSets: pods that are kept running."""
# ruff: noqa: ARG002 - a hook is given all that some kind may want to look at

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from clusters.simulated.builtin.affinity_validation import (
    shown_selector,
    validate_label_selector,
)
from clusters.simulated.builtin.plain import validate_claim_spec
from clusters.simulated.builtin.pod_defaults import default_pod_template
from clusters.simulated.builtin.pod_validation import validate_pod_template
from clusters.simulated.field_errors import (
    IMMUTABLE,
    FieldError,
    forbidden,
    not_supported,
    required,
    value_invalid,
)
from clusters.simulated.names import NameCheck, dns_label
from clusters.simulated.strategy import ScalePaths, Strategy
from vocabulary.clock import Micros
from vocabulary.objects import Object, get_path
from vocabulary.selectors import matches


class WorkloadStrategy(Strategy):
    subresources = frozenset({"status", "scale"})
    scale_paths: ScalePaths | None = ScalePaths()
    has_generation = True
    categories = ("all",)
    spec_defaults: ClassVar[Mapping[str, Any]] = {"replicas": 1}
    new_status: ClassVar[Mapping[str, Any]] = {}
    name_in_messages: ClassVar = "deployment"
    about_wrong_selectors: ClassVar = "invalid label selector"

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        spec = obj.get("spec") or {}
        if old is not None and spec is old.get("spec"):
            return
        filled = {**spec}
        for field, value in self.spec_defaults.items():
            if filled.get(field) in (None, ""):
                filled[field] = value
        filled["template"] = default_pod_template(spec.get("template") or {})
        self.default_strategy(filled)
        obj["spec"] = filled

    def default_strategy(self, spec: dict[str, Any]) -> None:
        """Fill in how pods are replaced, for the kinds that have a say in that."""

    def prepare_for_create(self, obj: dict[str, Any], now_us: Micros) -> None:
        obj["status"] = self.new_status

    def validate(self, obj: Object) -> list[FieldError]:
        return self._validate_spec(obj["spec"])

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        spec, before = new["spec"], old["spec"]
        if spec is before:
            return []
        errors = self._validate_spec(spec)
        if spec.get("selector") != before.get("selector"):
            errors.append(value_invalid("spec.selector", spec.get("selector"), IMMUTABLE))
        return errors

    def _validate_spec(self, spec: Object) -> list[FieldError]:
        errors = [
            value_invalid(f"spec.{field}", spec[field], "must be greater than or equal to 0")
            for field in ("replicas", "minReadySeconds", "revisionHistoryLimit")
            if (spec.get(field) or 0) < 0
        ]
        selector = spec.get("selector")
        shown = shown_selector(selector or {})
        if selector is None:
            errors.append(required("spec.selector"))
        elif not shown:
            because = f"empty selector is invalid for {self.name_in_messages}"
            errors.append(value_invalid("spec.selector", shown, because))
        wrong = validate_label_selector(selector, "spec.selector")
        if wrong:
            refused = value_invalid("spec.selector", shown, self.about_wrong_selectors)
            return [*errors, *wrong, refused]
        labels = get_path(spec, "template.metadata.labels")
        if not matches(selector, labels or {}):
            errors.append(
                value_invalid(
                    "spec.template.metadata.labels",
                    labels,
                    "`selector` does not match template `labels`",
                )
            )
        errors += validate_pod_template(spec["template"], "spec.template")
        policy = get_path(spec, "template.spec.restartPolicy")
        if policy != "Always":
            errors.append(not_supported("spec.template.spec.restartPolicy", policy, ("Always",)))
        return errors


_NO_PERCENTAGE: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
    "'93%', regex used for validation is '[0-9]+%')"
)
_NO_PODS: Final = (0, "0%")


class DeploymentStrategy(WorkloadStrategy):
    short_names = ("deploy",)
    spec_defaults: ClassVar = {
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    }

    def default_strategy(self, spec: dict[str, Any]) -> None:
        strategy = {**(spec.get("strategy") or {})}
        strategy["type"] = strategy.get("type") or "RollingUpdate"
        if strategy["type"] == "RollingUpdate":
            strategy["rollingUpdate"] = {
                "maxUnavailable": "25%",
                "maxSurge": "25%",
                **(strategy.get("rollingUpdate") or {}),
            }
        spec["strategy"] = strategy

    def _validate_spec(self, spec: Object) -> list[FieldError]:
        errors = super()._validate_spec(spec) + _validate_rolling(spec["strategy"])
        deadline = spec["progressDeadlineSeconds"]
        if deadline <= spec.get("minReadySeconds", 0):
            because = "must be greater than minReadySeconds"
            errors.append(value_invalid("spec.progressDeadlineSeconds", deadline, because))
        return errors

    def desires_other(self, new: Object, old: Object) -> bool:
        """Annotations count too: a roll-back is asked for by one."""
        return super().desires_other(new, old) or new["metadata"].get("annotations") != old[
            "metadata"
        ].get("annotations")

    def prepare_for_status_update(self, new: dict[str, Any], old: Object) -> None:
        super().prepare_for_status_update(new, old)
        labels = old["metadata"].get("labels")
        if labels:
            new["metadata"]["labels"] = labels
        else:
            new["metadata"].pop("labels", None)


def _validate_rolling(strategy: Object) -> list[FieldError]:
    field = "spec.strategy.rollingUpdate"
    rolling: Any = strategy.get("rollingUpdate")
    if strategy["type"] == "Recreate":
        because = "may not be specified when strategy `type` is 'Recreate'"
        return [] if rolling is None else [forbidden(field, because)]
    if strategy["type"] != "RollingUpdate":
        return [_unsupported(strategy)]
    for name in ("maxSurge", "maxUnavailable"):
        if isinstance(rolling[name], str) and not re.fullmatch("[0-9]+%", rolling[name]):
            return [value_invalid(f"{field}.{name}", rolling[name], _NO_PERCENTAGE)]
        if isinstance(rolling[name], int) and rolling[name] < 0:
            because = "must be greater than or equal to 0"
            return [value_invalid(f"{field}.{name}", rolling[name], because)]
    if rolling["maxSurge"] in _NO_PODS and rolling["maxUnavailable"] in _NO_PODS:
        because = "may not be 0 when `maxSurge` is 0"
        return [value_invalid(f"{field}.maxUnavailable", rolling["maxUnavailable"], because)]
    most = rolling["maxUnavailable"]
    if isinstance(most, str) and int(most.removesuffix("%")) > 100:
        return [value_invalid(f"{field}.maxUnavailable", most, "must not be greater than 100%")]
    return []


def _unsupported(strategy: Object) -> FieldError:
    """A real server prints the strategy as Go's struct has it."""
    rolling = strategy.get("rollingUpdate")
    parts = rolling and {
        "MaxUnavailable": rolling["maxUnavailable"],
        "MaxSurge": rolling["maxSurge"],
    }
    shown = json.dumps({"Type": strategy["type"], "RollingUpdate": parts}, separators=(",", ":"))
    because = f'Unsupported value: {shown}: supported values: "Recreate", "RollingUpdate"'
    return FieldError("FieldValueNotSupported", "spec.strategy", because)


class ReplicaSetStrategy(WorkloadStrategy):
    short_names = ("rs",)
    new_status: ClassVar = {"replicas": 0}
    name_in_messages: ClassVar = "deployment"
    """So does a real server say it, whose ReplicaSets were made after its Deployments."""


_STATEFUL_SET_MUTABLE: Final = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


class StatefulSetStrategy(WorkloadStrategy):
    short_names = ("sts",)
    spec_defaults: ClassVar = {
        "replicas": 1,
        "podManagementPolicy": "OrderedReady",
        "revisionHistoryLimit": 10,
        "serviceName": "",
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    }
    new_status: ClassVar = {"replicas": 0, "availableReplicas": 0}
    name_in_messages: ClassVar = "statefulset"
    about_wrong_selectors: ClassVar = ""

    @property
    def check_name(self) -> NameCheck:
        return dns_label

    def default_strategy(self, spec: dict[str, Any]) -> None:
        given: Object = spec.get("updateStrategy") or {}
        strategy = {"rollingUpdate": {}, **given, "type": given.get("type") or "RollingUpdate"}
        if given.get("type") and given.get("rollingUpdate") is None:
            strategy.pop("rollingUpdate")
        elif strategy["type"] == "RollingUpdate":
            rolling = {"partition": 0, **(strategy["rollingUpdate"] or {})}
            strategy["rollingUpdate"] = {**rolling, "partition": rolling["partition"] or 0}
        spec["updateStrategy"] = strategy
        if spec.get("ordinals") is not None:
            spec["ordinals"] = {"start": spec["ordinals"].get("start") or 0}
        kept = self.spec_defaults["persistentVolumeClaimRetentionPolicy"]
        given = spec["persistentVolumeClaimRetentionPolicy"]
        if given.keys() != kept.keys():
            spec["persistentVolumeClaimRetentionPolicy"] = {**kept, **given}

    def _validate_spec(self, spec: Object) -> list[FieldError]:
        policy = spec["podManagementPolicy"]
        errors = super()._validate_spec(spec)
        if policy not in ("OrderedReady", "Parallel"):
            because = "must be 'OrderedReady' or 'Parallel'"
            errors.insert(0, value_invalid("spec.podManagementPolicy", policy, because))
        for position, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
            path = f"spec.volumeClaimTemplates[{position}].spec"
            errors += validate_claim_spec(claim.get("spec") or {}, path)
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        spec, before = new["spec"], old["spec"]
        if spec is before:
            return []
        errors = self._validate_spec(spec)
        if _without(spec, _STATEFUL_SET_MUTABLE) != _without(before, _STATEFUL_SET_MUTABLE):
            named = ", ".join(f"'{field}'" for field in _STATEFUL_SET_MUTABLE[:-1])
            errors.append(
                forbidden(
                    "spec",
                    f"updates to statefulset spec for fields other than {named} and "
                    f"'{_STATEFUL_SET_MUTABLE[-1]}' are forbidden",
                )
            )
        return errors


def _without(spec: Object, fields: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in spec.items() if name not in fields}
