"""An annotation, the cap or a default is not honoured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import msgspec

from reference_controller.appwrapper import parameters as p
from reference_controller.appwrapper.config import FaultTolerance
from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.rules import Rules
from vocabulary.clock import DAY, SECOND, Micros


def _without(annotations: Mapping[str, str], *keys: str) -> Mapping[str, str]:
    return {key: value for key, value in annotations.items() if key not in keys}


@mutant(Rules.parameters, "No annotation is read at all.", "AW-070")
def annotations_ignored(
    self: Rules,
    annotations: Mapping[str, str],
    operator: FaultTolerance,
) -> p.Parameters:
    return Rules.parameters(self, {}, operator)


@mutant(
    Rules.parameters, "The annotation for AdmissionGracePeriod is not read.", "AW-071", "AW-070"
)
def admission_annotation_ignored(
    self: Rules, annotations: Mapping[str, str], operator: FaultTolerance
) -> p.Parameters:
    return Rules.parameters(self, _without(annotations, p.ADMISSION_GRACE), operator)


@mutant(Rules.parameters, "The annotation for WarmupGracePeriod is not read.", "AW-072", "AW-070")
def warmup_annotation_ignored(
    self: Rules, annotations: Mapping[str, str], operator: FaultTolerance
) -> p.Parameters:
    return Rules.parameters(self, _without(annotations, p.WARMUP_GRACE), operator)


@mutant(Rules.parameters, "The annotation for FailureGracePeriod is not read.", "AW-073", "AW-070")
def failure_grace_annotation_ignored(
    self: Rules, annotations: Mapping[str, str], operator: FaultTolerance
) -> p.Parameters:
    return Rules.parameters(self, _without(annotations, p.FAILURE_GRACE), operator)


@mutant(Rules.parameters, "The annotation for RetryPausePeriod is not read.", "AW-074", "AW-070")
def pause_annotation_ignored(
    self: Rules, annotations: Mapping[str, str], operator: FaultTolerance
) -> p.Parameters:
    return Rules.parameters(self, _without(annotations, p.RETRY_PAUSE), operator)


@mutant(Rules.parameters, "The annotation for RetryLimit is not read.", "AW-075", "AW-070")
def limit_annotation_ignored(
    self: Rules, annotations: Mapping[str, str], operator: FaultTolerance
) -> p.Parameters:
    return Rules.parameters(self, _without(annotations, p.RETRY_LIMIT), operator)


@mutant(
    Rules.parameters,
    "The annotation for ForcefulDeletionGracePeriod is not read.",
    "AW-077",
    "AW-070",
)
def force_annotation_ignored(
    self: Rules, annotations: Mapping[str, str], operator: FaultTolerance
) -> p.Parameters:
    return Rules.parameters(self, _without(annotations, p.FORCEFUL_DELETION_GRACE), operator)


@mutant(Rules.parameters, "The annotation for SuccessTTL is not read.", "AW-078", "AW-070")
def ttl_annotation_ignored(
    self: Rules, annotations: Mapping[str, str], operator: FaultTolerance
) -> p.Parameters:
    return Rules.parameters(self, _without(annotations, p.SUCCESS_TTL), operator)


@mutant(
    Rules.parameters,
    "The operator's own configuration is ignored; built-in defaults apply.",
    "AW-071",
    "AW-072",
)
def operator_configuration_ignored(
    self: Rules,
    annotations: Mapping[str, str],
    operator: FaultTolerance,
) -> p.Parameters:
    return Rules.parameters(self, annotations, FaultTolerance())


@mutant(
    Rules.parameters,
    "The RetryLimit of the operator's configuration is not read; only annotations change it.",
    "AW-075",
    "AW-052",
)
def configured_limit_ignored(
    self: Rules, annotations: Mapping[str, str], operator: FaultTolerance
) -> p.Parameters:
    return Rules.parameters(self, annotations, replace(operator, retry_limit=3))


@mutant(
    Rules.parameters,
    "AdmissionGracePeriod and WarmupGracePeriod of the operator's configuration are not read.",
    "AW-071",
    "AW-072",
)
def configured_startup_ignored(
    self: Rules, annotations: Mapping[str, str], operator: FaultTolerance
) -> p.Parameters:
    built_in = FaultTolerance()
    wrong = replace(
        operator,
        admission_grace_us=built_in.admission_grace_us,
        warmup_grace_us=built_in.warmup_grace_us,
    )
    return Rules.parameters(self, annotations, wrong)


@mutant(Rules.capped, "GracePeriodMaximum limits nothing.", "AW-080", "AW-079")
def cap_ignored(self: Rules, span_us: Micros, maximum_us: Micros) -> Micros:
    return max(span_us, 0)


@mutant(
    Rules.capped,
    "A grace period above GracePeriodMaximum counts as none at all.",
    "AW-073",
    "AW-074",
)
def over_the_cap_is_no_wait(self: Rules, span_us: Micros, maximum_us: Micros) -> Micros:
    return max(span_us, 0) if span_us <= maximum_us else 0


@mutant(
    Rules.success_ttl_us,
    "GracePeriodMaximum limits the SuccessTTL as well, which is no grace period.",
    "AW-063",
    "AW-078",
    "MLB-026",
)
def cap_limits_success_ttl(self: Rules, span_us: Micros, operator: FaultTolerance) -> Micros:
    right_us = Rules.success_ttl_us(self, span_us, operator)
    return min(right_us, operator.grace_maximum_us)


@mutant(
    Rules.success_ttl_us,
    "An annotation may extend the SuccessTTL beyond the operator's own.",
    "AW-078",
)
def success_ttl_without_bound(self: Rules, span_us: Micros, operator: FaultTolerance) -> Micros:
    return span_us if span_us > 0 else operator.success_ttl_us


@mutant(
    Rules.success_ttl_us,
    "An annotation may extend the SuccessTTL up to the built-in default, whatever is configured.",
    "AW-078",
)
def success_ttl_bounded_by_the_default(
    self: Rules, span_us: Micros, operator: FaultTolerance
) -> Micros:
    longest_us = FaultTolerance().success_ttl_us
    return span_us if 0 < span_us <= longest_us else operator.success_ttl_us


@mutant(Rules.span_us, "A malformed duration counts as 0 s, not as absent.", "AW-073", "AW-074")
def malformed_means_zero(
    self: Rules, annotations: Mapping[str, str], key: str, default_us: Micros
) -> Micros:
    if key in annotations and p.span_of(annotations, key, -1) == -1:
        return 0
    return Rules.span_us(self, annotations, key, default_us)


@mutant(Rules.span_us, "A negative duration counts as absent, not as 0 s.", "AW-073", "AW-074")
def negative_means_default(
    self: Rules, annotations: Mapping[str, str], key: str, default_us: Micros
) -> Micros:
    right_us = Rules.span_us(self, annotations, key, default_us)
    return default_us if right_us < 0 else right_us


@mutant(
    Rules.span_us,
    "Of durations only a whole number with one unit is understood.",
    "AW-073",
    "AW-072",
)
def whole_units_only(
    self: Rules, annotations: Mapping[str, str], key: str, default_us: Micros
) -> Micros:
    if not re.fullmatch(r"-?[0-9]+(ms|s|m|h)|0", annotations.get(key, "0")):
        return default_us
    return Rules.span_us(self, annotations, key, default_us)


@mutant(
    Rules.span_us,
    "A duration that overflows 64 bits counts as the longest one, not as malformed.",
    "AW-031",
    "AW-012",
)
def an_overflow_is_very_long(
    self: Rules, annotations: Mapping[str, str], key: str, default_us: Micros
) -> Micros:
    if re.fullmatch(r"[0-9]{7,}h", annotations.get(key, "")):
        return Rules.span_us(self, {}, key, 2**62)
    return Rules.span_us(self, annotations, key, default_us)


@mutant(
    Rules.span_us,
    "A duration without a unit counts as seconds, not as malformed.",
    "AW-004",
    "AW-031",
)
def numbers_are_seconds(
    self: Rules, annotations: Mapping[str, str], key: str, default_us: Micros
) -> Micros:
    text = annotations.get(key, "")
    if text.isdigit():
        return int(text) * SECOND
    return Rules.span_us(self, annotations, key, default_us)


@mutant(
    Rules.span_us, "A duration in days, which Go does not know, is understood.", "AW-040", "AW-049"
)
def durations_in_days(
    self: Rules, annotations: Mapping[str, str], key: str, default_us: Micros
) -> Micros:
    text = annotations.get(key, "")
    if re.fullmatch(r"[0-9]+d", text):
        return int(text[:-1]) * DAY
    return Rules.span_us(self, annotations, key, default_us)


@mutant(
    Rules.parameters, "Blanks in an annotation are left out; with them it is malformed.", "AW-075"
)
def blanks_are_left_out(
    self: Rules, annotations: Mapping[str, str], operator: FaultTolerance
) -> p.Parameters:
    stripped = {key: text.replace(" ", "") for key, text in annotations.items()}
    return Rules.parameters(self, stripped, operator)


@mutant(
    Rules.parameters,
    "A RetryLimit with a fraction or an exponent is rounded; it is malformed.",
    "AW-052",
)
def limit_is_read_as_a_fraction(
    self: Rules, annotations: Mapping[str, str], operator: FaultTolerance
) -> p.Parameters:
    text = annotations.get(p.RETRY_LIMIT, "")
    if re.fullmatch(r"[0-9]+\.[0-9]+|[0-9]+e[0-9]+", text):
        annotations = {**annotations, p.RETRY_LIMIT: str(int(float(text)))}
    return Rules.parameters(self, annotations, operator)


@mutant(
    Rules.parameters,
    "An annotation may lower the RetryLimit, but not raise it.",
    "AW-075",
    "AW-070",
)
def limit_is_bounded_by_the_operators(
    self: Rules, annotations: Mapping[str, str], operator: FaultTolerance
) -> p.Parameters:
    right = Rules.parameters(self, annotations, operator)
    limit = min(right.retry_limit, operator.retry_limit)
    return msgspec.structs.replace(right, retry_limit=limit)
