"""Validation of a Job's spec, and of changes to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from clusters.simulated.builtin.affinity_validation import validate_label_selector
from clusters.simulated.builtin.job_policies import (
    validate_failure_policy,
    validate_success_policy,
)
from clusters.simulated.builtin.pod_validation import validate_pod_template
from clusters.simulated.field_errors import (
    IMMUTABLE,
    FieldError,
    not_supported,
    required,
    too_long,
    value_invalid,
)
from clusters.simulated.names import dns_label, dns_subdomain
from vocabulary.objects import Object, condition_status, get_path, without_path
from vocabulary.selectors import matches

_MAX_INDEXED: Final = 100_000
_MAX_WITH_MANY_COMPLETIONS: Final = 10_000
_COUNTS: Final = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_SCHEDULING: Final = (
    "spec.nodeSelector",
    "spec.tolerations",
    "spec.affinity.nodeAffinity",
    "metadata.annotations",
    "metadata.labels",
    "spec.schedulingGates",
)
_PATH: Final = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_FIXED: Final = (
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)


def validate_job(job: Object) -> list[FieldError]:
    """Validate a new Job."""
    spec, name = job["spec"], job["metadata"].get("name", "")
    errors = _validate_generated_labels(job) if not spec["manualSelector"] else []
    errors += _validate_spec(spec)
    completions = spec.get("completions")
    if spec["completionMode"] == "Indexed" and completions:
        hostname = f"{name}-{completions - 1}"
        if dns_label(hostname):
            errors.append(
                value_invalid(
                    "metadata.name",
                    name,
                    f"will not able to create pod with invalid DNS label: {hostname}",
                )
            )
    return errors


def validate_job_update(new: Object, old: Object) -> list[FieldError]:
    """Validate an update of a Job's spec.

    As in a real server, errors in the new spec itself are reported twice.
    """
    spec, before = new["spec"], old["spec"]
    errors = validate_job(new) + _validate_spec(spec)
    if spec.get("completions") != before.get("completions"):
        if spec["completionMode"] != "Indexed":
            errors.append(value_invalid("spec.completions", spec.get("completions"), IMMUTABLE))
        elif spec.get("completions") not in (None, spec.get("parallelism")):
            errors.append(
                value_invalid(
                    "spec.completions",
                    spec["completions"],
                    "can only be modified in tandem with spec.parallelism",
                )
            )
    if spec.get("selector") != before.get("selector"):
        errors.append(value_invalid("spec.selector", spec.get("selector"), IMMUTABLE))
    errors += _validate_template_update(old, spec["template"])
    return errors + [
        value_invalid(f"spec.{field}", spec.get(field), IMMUTABLE)
        for field in _FIXED
        if spec.get(field) != before.get(field)
    ]


def _validate_template_update(old: Object, template: Object) -> list[FieldError]:
    """Where pods are scheduled, and with what resources, may change while a Job is at rest."""
    before: Object = old["spec"]["template"]
    not_started = get_path(old, "status.startTime") is None
    at_rest = not_started or condition_status(old, "Suspended") == "True"
    if not (old["spec"].get("suspend") and at_rest and not get_path(old, "status.active", 0)):
        if template != before:
            return [value_invalid("spec.template", template, IMMUTABLE)]
        return []
    after: Object = template
    for path in _SCHEDULING:
        after, before = without_path(after, path), without_path(before, path)
    if _without_resources(after) != _without_resources(before):
        return [value_invalid("spec.template.spec", template.get("spec"), IMMUTABLE)]
    return []


def _without_resources(template: Object) -> Object:
    """The spec of a template without the resources of its containers."""
    spec = dict(template.get("spec") or {})
    if not spec.get("affinity"):
        spec.pop("affinity", None)
    for field in ("containers", "initContainers"):
        if spec.get(field):
            spec[field] = [without_path(container, "resources") for container in spec[field]]
    return spec


def _validate_generated_labels(job: Object) -> list[FieldError]:
    """Labels and a selector that contradict those that the server makes up."""
    path = "spec.template.metadata.labels"
    metadata = job["metadata"]
    labels: Mapping[str, str] = get_path(job, path, {})
    made_up = {
        "controller-uid": metadata["uid"],
        "job-name": metadata.get("name", ""),
        "batch.kubernetes.io/controller-uid": metadata["uid"],
        "batch.kubernetes.io/job-name": metadata.get("name", ""),
    }
    errors: list[FieldError] = []
    for label, wanted in made_up.items():
        if label not in labels:
            errors.append(required(f"{path}[{label}]", f"must be '{wanted}'"))
        elif labels[label] != wanted:
            errors.append(value_invalid(f"{path}[{label}]", dict(labels), f"must be '{wanted}'"))
    selector = job["spec"].get("selector")
    is_valid = not validate_label_selector(selector, "spec.selector")
    if selector is not None and is_valid and not matches(selector, made_up):
        errors.append(value_invalid("spec.selector", selector, "`selector` not auto-generated"))
    return errors


def _validate_spec(spec: Object) -> list[FieldError]:
    errors = [
        value_invalid(f"spec.{field}", spec[field], "must be greater than or equal to 0")
        for field in _COUNTS
        if (spec.get(field) or 0) < 0
    ]
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        errors.append(required("spec.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    if spec.get("managedBy") is not None:
        errors += _validate_manager(spec["managedBy"])
    errors += _validate_mode(spec)
    has_failure_policy = spec.get("podFailurePolicy") is not None
    if has_failure_policy:
        errors += validate_failure_policy(spec)
    if spec.get("successPolicy") is not None:
        errors += validate_success_policy(spec)
    policies = ("Failed",) if has_failure_policy else ("Failed", "TerminatingOrFailed")
    if spec.get("podReplacementPolicy") not in policies:
        errors.append(
            not_supported("spec.podReplacementPolicy", spec["podReplacementPolicy"], policies)
        )
    errors += validate_pod_template(spec["template"], "spec.template")
    errors += _validate_restart_policy(spec)
    selector = spec.get("selector")
    if selector is None:
        errors.append(required("spec.selector"))
    wrong = validate_label_selector(selector, "spec.selector")
    errors += wrong
    labels = get_path(spec, "template.metadata.labels")
    if not wrong and not matches(selector, labels or {}):
        errors.append(
            value_invalid(
                "spec.template.metadata.labels",
                labels,
                "`selector` does not match template `labels`",
            )
        )
    return errors


def _validate_manager(manager: str) -> list[FieldError]:
    if not manager:
        return [required("spec.managedBy")]
    if len(manager) > 63:
        return [too_long("spec.managedBy", 63)]
    domain, slash, path = manager.partition("/")
    if not slash or not domain or not path:
        return [
            value_invalid(
                "spec.managedBy", manager, 'must be a domain-prefixed path (such as "acme.io/foo")'
            )
        ]
    errors = [value_invalid("spec.managedBy", domain, text) for text in dns_subdomain(domain)]
    if not re.fullmatch(_PATH, path):
        because = f"Invalid path (regex used for validation is '{_PATH}')"
        errors.append(value_invalid("spec.managedBy", path, because))
    return errors


def _validate_mode(spec: Object) -> list[FieldError]:
    mode = spec["completionMode"]
    if mode not in ("NonIndexed", "Indexed"):
        return [not_supported("spec.completionMode", mode, ("NonIndexed", "Indexed"))]
    if mode == "NonIndexed":
        return [
            value_invalid(f"spec.{field}", spec[field], "requires indexed completion mode")
            for field in ("backoffLimitPerIndex", "maxFailedIndexes")
            if spec.get(field) is not None
        ]
    errors: list[FieldError] = []
    completions, parallelism = spec.get("completions"), spec.get("parallelism") or 0
    most_failed = spec.get("maxFailedIndexes")
    if completions is None:
        errors.append(required("spec.completions", "when completion mode is Indexed"))
        completions = 0
    if parallelism > _MAX_INDEXED:
        errors.append(
            value_invalid(
                "spec.parallelism",
                parallelism,
                f"must be less than or equal to {_MAX_INDEXED} when completion mode is Indexed",
            )
        )
    if most_failed is not None and spec.get("completions") is not None:
        if most_failed > completions:
            errors.append(
                value_invalid(
                    "spec.maxFailedIndexes",
                    most_failed,
                    "must be less than or equal to completions",
                )
            )
        if most_failed > _MAX_INDEXED:
            errors.append(
                value_invalid(
                    "spec.maxFailedIndexes",
                    most_failed,
                    f"must be less than or equal to {_MAX_INDEXED}",
                )
            )
    if completions > _MAX_INDEXED and spec.get("backoffLimitPerIndex") is not None:
        errors += _validate_many_completions(parallelism, most_failed)
    return errors


def _validate_many_completions(parallelism: int, most_failed: int | None) -> list[FieldError]:
    if most_failed is None:
        return [
            required(
                "spec.maxFailedIndexes",
                f"must be specified when completions is above {_MAX_INDEXED}",
            )
        ]
    return [
        value_invalid(
            f"spec.{field}",
            value,
            f"must be less than or equal to {_MAX_WITH_MANY_COMPLETIONS} when completions are "
            f"above {_MAX_INDEXED} and used with backoff limit per index",
        )
        for field, value in (("parallelism", parallelism), ("maxFailedIndexes", most_failed))
        if value > _MAX_WITH_MANY_COMPLETIONS
    ]


def _validate_restart_policy(spec: Object) -> list[FieldError]:
    path = "spec.template.spec.restartPolicy"
    policy = get_path(spec, "template.spec.restartPolicy", "")
    if policy in ("", "Always"):
        return [required(path, 'valid values: "OnFailure", "Never"')]
    if policy not in ("OnFailure", "Never"):
        return [not_supported(path, policy, ("OnFailure", "Never"))]
    if spec.get("podFailurePolicy") is not None and policy != "Never":
        return [
            value_invalid(
                path, policy, 'only "Never" is supported when podFailurePolicy is specified'
            )
        ]
    return []
