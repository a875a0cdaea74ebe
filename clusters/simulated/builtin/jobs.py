"""Jobs: defaults, the selector that the server makes up, what can be changed when."""
# ruff: noqa: ARG002 - a hook is given all that some kind may want to look at

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from clusters.simulated.builtin.job_status import validate_job_status
from clusters.simulated.builtin.job_validation import validate_job, validate_job_update
from clusters.simulated.builtin.pod_defaults import default_pod_template
from clusters.simulated.builtin.pod_validation import MAX_INT32
from clusters.simulated.builtin.wire_form import with_times, without_zeros
from clusters.simulated.field_errors import FieldError
from clusters.simulated.strategy import METADATA_FIELDS, FieldOf, Strategy
from vocabulary.clock import Micros
from vocabulary.objects import Object, get_path

_UID_LABELS: Final = ("batch.kubernetes.io/controller-uid", "controller-uid")
_NAME_LABELS: Final = ("batch.kubernetes.io/job-name", "job-name")
_LEFT_OUT: Final = ("conditions", "active", "succeeded", "failed", "completedIndexes")


class JobStrategy(Strategy):
    lists_selectable: ClassVar = False
    subresources = frozenset({"status"})
    has_generation = True
    default_policy: ClassVar = "Orphan"
    """For compatibility with its first version, batch/v1 orphans pods by default."""
    categories = ("all",)
    selectable: Mapping[str, FieldOf] = {
        **METADATA_FIELDS,
        "status.successful": lambda obj: str(get_path(obj, "status.succeeded", 0)),
    }

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        if old is not None:
            self._default_labels(obj)
        spec = obj.get("spec") or {}
        if old is not None and spec is old.get("spec"):
            return
        spec = dict(spec)
        if spec.get("completions") is None and spec.get("parallelism") is None:
            spec["completions"] = 1
        per_index = spec.get("backoffLimitPerIndex") is not None
        for field, value in (
            ("parallelism", 1),
            ("backoffLimit", MAX_INT32 if per_index else 6),
            ("completionMode", "NonIndexed"),
            ("suspend", False),
            ("podReplacementPolicy", _replacement_policy(spec)),
            ("manualSelector", False),
        ):
            if spec.get(field) is None:
                spec[field] = value
        if spec.get("podFailurePolicy") is not None:
            spec["podFailurePolicy"] = _default_failure_policy(spec["podFailurePolicy"])
        spec["template"] = default_pod_template(spec.get("template") or {})
        obj["spec"] = spec

    def prepare_for_create(self, obj: dict[str, Any], now_us: Micros) -> None:
        obj["status"] = {}
        if not obj["spec"]["manualSelector"]:
            self._make_up_selector(obj)
        self._default_labels(obj)

    def _default_labels(self, obj: dict[str, Any]) -> None:
        """A Job without labels has those of its template, once these are complete."""
        labels = get_path(obj, "spec.template.metadata.labels")
        if labels and not obj["metadata"].get("labels"):
            obj["metadata"]["labels"] = labels

    def _make_up_selector(self, obj: dict[str, Any]) -> None:
        """A selector by the Job's uid, and labels in the template that it matches."""
        spec, metadata = obj["spec"], obj["metadata"]
        made_up = dict.fromkeys(_UID_LABELS, metadata["uid"])
        made_up |= {label: metadata.get("name", "") for label in _NAME_LABELS}
        template = spec["template"]
        of_template = template.get("metadata") or {}
        labels = {**made_up, **(of_template.get("labels") or {})}
        selector = spec.get("selector") or {}
        matched = {_UID_LABELS[0]: metadata["uid"], **(selector.get("matchLabels") or {})}
        obj["spec"] = {
            **spec,
            "selector": {**selector, "matchLabels": matched},
            "template": {**template, "metadata": {**of_template, "labels": labels}},
        }

    def prepare_for_status_update(self, new: dict[str, Any], old: Object) -> None:
        super().prepare_for_status_update(new, old)
        status = without_zeros(new.get("status") or {}, _LEFT_OUT)
        if "conditions" in status:
            status["conditions"] = with_times(status["conditions"])
        new["status"] = status

    def validate(self, obj: Object) -> list[FieldError]:
        return validate_job(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        return [] if new["spec"] is old["spec"] else validate_job_update(new, old)

    def validate_status_update(self, new: Object, old: Object) -> list[FieldError]:
        return validate_job_status(new, old)


def _replacement_policy(spec: Object) -> str:
    return "TerminatingOrFailed" if spec.get("podFailurePolicy") is None else "Failed"


def _default_failure_policy(policy: Object) -> Object:
    rules = [
        {
            **rule,
            "onPodConditions": [
                {**pattern, "status": pattern.get("status") or "True"}
                for pattern in rule["onPodConditions"]
            ],
        }
        if rule.get("onPodConditions")
        else rule
        for rule in policy.get("rules") or ()
    ]
    return {**policy, "rules": rules or None}
