"""Admission of a JobSet on create and update: its failure policy, and changes of its parts.

Pure, so that the simulated API server and the webhook server of a real cluster run the same code.
Rejections name the field and the reason. A field that is not implemented is refused, never
ignored (`known_fields`). `spec_admission` has the rest of the spec.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from reference_controller.jobset.job_set import (
    failure_policy,
    is_suspended,
    replicated_jobs,
)
from reference_controller.jobset.known_fields import Cause, unknown_fields
from reference_controller.jobset.names import EXCLUSIVE_TOPOLOGY, GROUP, JOB_SET
from reference_controller.jobset.rules import RIGHT, Rules
from reference_controller.jobset.rules.admission import FAILURE_REASONS
from reference_controller.jobset.spec_admission import (
    STAYS,
    changes,
    flaws,
    names_of,
    target_flaws,
    type_flaws,
    with_default,
    with_defaults,
)
from reference_controller.runtime.admission_review import Operation, UserInfo
from vocabulary.errors import ApiError
from vocabulary.objects import Object, annotations_of, get_path, name_of, without_path
from vocabulary.patterns import PatternError, compile_pattern


def mutate(
    operation: Operation, new: Object, old: Object | None, user: UserInfo, rules: Rules = RIGHT
) -> Object:
    """Return the JobSet with defaults filled in."""
    del operation, old, user
    return {**new, "spec": defaulted(new.get("spec"), rules)}


def defaulted(spec: Any, rules: Rules) -> Any:
    """The spec of a JobSet with the defaults of the API and of the rules."""
    spec = with_defaults(spec)
    policy = get_path(spec, "failurePolicy")
    if not isinstance(policy, Mapping):
        return spec
    policy = {**policy, "maxRestarts": rules.max_restarts(policy)}
    if isinstance(policy.get("rules"), list):
        policy["rules"] = [
            with_default(rule, "", {"name": rules.default_rule_name(index)})
            for index, rule in enumerate(policy["rules"])
        ]
    return {**spec, "failurePolicy": policy}


def validate(
    operation: Operation, new: Object, old: Object | None, user: UserInfo, rules: Rules = RIGHT
) -> Object:
    """Return the JobSet as it is. Raises ApiError (422) if it is rejected."""
    del user
    causes = [*_unknown_fields(new, old, rules)]
    if operation == "UPDATE":
        assert old is not None, "an UPDATE comes with the old object"
        causes += [
            *changes(new, old),
            *_policy_changes(new, old, rules),
            *_part_changes(new, old, rules),
        ]
    else:
        causes += all_flaws(new, rules)
    if causes:
        raise _denied(new, causes)
    return new


def all_flaws(job_set: Object, rules: Rules) -> Iterator[Cause]:
    """Values that cannot be, in a JobSet with its defaults."""
    wrong_types = [*type_flaws(job_set)]
    if wrong_types:
        yield from wrong_types
        return
    yield from flaws(job_set)
    yield from _policy_flaws(job_set, rules)
    yield from _pod_flaws(job_set, rules)


def _denied(job_set: Object, causes: list[Cause]) -> ApiError:
    text = in_words(causes)
    details = {
        "name": name_of(job_set),
        "group": GROUP,
        "kind": JOB_SET.kind,
        "causes": [{"field": cause.field, "message": cause.message} for cause in causes],
    }
    message = f'JobSet.{GROUP} "{name_of(job_set)}" is invalid: {text}'
    return ApiError(422, "Invalid", message, details)


def in_words(causes: Iterable[Cause]) -> str:
    return ", ".join(f"{cause.field}: {cause.message}" for cause in causes)


def _unknown_fields(new: Object, old: Object | None, rules: Rules) -> Iterator[Cause]:
    # Those that an earlier release admitted stay: nobody could suspend or finalize the JobSet.
    admitted = set() if old is None else {*unknown_fields(old)}
    for cause in unknown_fields(new):
        defines_a_reason = cause.field.endswith(".setConditionReason")
        if cause not in admitted and not (defines_a_reason and rules.reasons_are_user_defined()):
            yield cause


def _policy_flaws(job_set: Object, rules: Rules) -> Iterator[Cause]:
    names = names_of(job_set)
    for index, rule in enumerate(get_path(job_set, "spec.failurePolicy.rules") or ()):
        path = f"spec.failurePolicy.rules[{index}]"
        reasons = rule.get("onJobFailureReasons") or ()
        for reason in reasons:
            if not (rules.is_failure_reason(reason) or rules.reasons_are_user_defined()):
                yield Cause(
                    f"{path}.onJobFailureReasons",
                    f"{reason!r} is no failure reason of a Job; there are "
                    f"{', '.join(FAILURE_REASONS)}",
                )
        for pattern in rule.get("onJobFailureMessagePatterns") or ():
            yield from _expression_flaws(pattern, f"{path}.onJobFailureMessagePatterns")
        targets = rule.get("targetReplicatedJobs") or ()
        if rules.targets_must_exist():
            yield from target_flaws(targets, f"{path}.targetReplicatedJobs", names)
        if rules.reasons_are_unique():
            yield from _repeats(reasons, f"{path}.onJobFailureReasons")
        if rules.targets_are_unique():
            yield from _repeats(targets, f"{path}.targetReplicatedJobs")


def _expression_flaws(pattern: str, path: str) -> Iterator[Cause]:
    try:
        compile_pattern(pattern)
    except PatternError as error:
        yield Cause(path, f"{pattern!r} is no regular expression of RE2: {error}")


def _repeats(values: Collection[str], path: str) -> Iterator[Cause]:
    if len(set(values)) < len(values):
        yield Cause(path, "has a value twice; its values are unique")


def _pod_flaws(job_set: Object, rules: Rules) -> Iterator[Cause]:
    """Flaws for which the API server would refuse each pod, or each Job."""
    templates = [
        (f"spec.replicatedJobs[{index}].template", each.get("template") or {})
        for index, each in enumerate(replicated_jobs(job_set))
    ]
    for path, annotated in (("", job_set), *templates):
        key = annotations_of(annotated).get(EXCLUSIVE_TOPOLOGY)
        if key and not rules.is_topology(str(key)):
            at = f"{path}.metadata" if path else "metadata"
            yield Cause(
                f"{at}.annotations[{EXCLUSIVE_TOPOLOGY}]",
                f"{key!r} is no key of a label; write one that nodes have",
            )
    for path, template in templates:
        at = f"{path}.spec.template.spec.resources"
        resources = get_path(template, "spec.template.spec.resources") or {}
        for field in ("limits", "requests"):
            for name in resources.get(field) or ():
                if not rules.is_resource_of_pods(name):
                    yield Cause(
                        f"{at}.{field}[{name}]",
                        "is no resource of a pod as a whole; ask for it in its containers",
                    )


def _policy_changes(new: Object, old: Object, rules: Rules) -> Iterator[Cause]:
    if not rules.may_become(failure_policy(old), failure_policy(new)):
        yield Cause("spec.failurePolicy", STAYS)


def _part_changes(new: Object, old: Object, rules: Rules) -> Iterator[Cause]:
    # A queue sets the templates in the update that resumes the JobSet, or takes them back in the
    # one that suspends it.
    may_change = rules.open_fields(is_suspended(old), is_suspended(new))
    now, before = (
        [_without_empty(_without(each, may_change)) for each in replicated_jobs(job_set)]
        for job_set in (new, old)
    )
    if now != before:
        yield Cause(
            "spec.replicatedJobs",
            "cannot be changed; while the JobSet is suspended, its pod templates' labels, "
            "annotations, node selectors, tolerations and scheduling gates can",
        )


def _without(replicated_job: Object, paths: Collection[str]) -> Object:
    for path in paths:
        replicated_job = without_path(replicated_job, path)
    return replicated_job


def _without_empty(value: Any) -> Any:
    """A client with types of its own writes fields that were absent: `metadata: {}`."""
    if isinstance(value, Mapping):
        found = {key: _without_empty(each) for key, each in value.items()}
        return {key: each for key, each in found.items() if each not in (None, {}, [])}
    return [_without_empty(each) for each in value] if isinstance(value, list) else value
