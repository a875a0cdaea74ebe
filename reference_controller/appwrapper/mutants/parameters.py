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


@mutant("annotations-ignored", "No annotation is read at all.", "AW-070")
class AnnotationsIgnored(Rules):
    def parameters(
        self,
        annotations: Mapping[str, str],  # noqa: ARG002
        operator: FaultTolerance,
    ) -> p.Parameters:
        return super().parameters({}, operator)


@mutant(
    "admission-annotation-ignored",
    "The annotation for AdmissionGracePeriod is not read.",
    "AW-071",
    "AW-070",
)
class AdmissionAnnotationIgnored(Rules):
    def parameters(self, annotations: Mapping[str, str], operator: FaultTolerance) -> p.Parameters:
        return super().parameters(_without(annotations, p.ADMISSION_GRACE), operator)


@mutant(
    "warmup-annotation-ignored",
    "The annotation for WarmupGracePeriod is not read.",
    "AW-072",
    "AW-070",
)
class WarmupAnnotationIgnored(Rules):
    def parameters(self, annotations: Mapping[str, str], operator: FaultTolerance) -> p.Parameters:
        return super().parameters(_without(annotations, p.WARMUP_GRACE), operator)


@mutant(
    "failure-grace-annotation-ignored",
    "The annotation for FailureGracePeriod is not read.",
    "AW-073",
    "AW-070",
)
class FailureGraceAnnotationIgnored(Rules):
    def parameters(self, annotations: Mapping[str, str], operator: FaultTolerance) -> p.Parameters:
        return super().parameters(_without(annotations, p.FAILURE_GRACE), operator)


@mutant(
    "pause-annotation-ignored",
    "The annotation for RetryPausePeriod is not read.",
    "AW-074",
    "AW-070",
)
class PauseAnnotationIgnored(Rules):
    def parameters(self, annotations: Mapping[str, str], operator: FaultTolerance) -> p.Parameters:
        return super().parameters(_without(annotations, p.RETRY_PAUSE), operator)


@mutant(
    "limit-annotation-ignored",
    "The annotation for RetryLimit is not read.",
    "AW-075",
    "AW-070",
)
class LimitAnnotationIgnored(Rules):
    def parameters(self, annotations: Mapping[str, str], operator: FaultTolerance) -> p.Parameters:
        return super().parameters(_without(annotations, p.RETRY_LIMIT), operator)


@mutant(
    "force-annotation-ignored",
    "The annotation for ForcefulDeletionGracePeriod is not read.",
    "AW-077",
    "AW-070",
)
class ForceAnnotationIgnored(Rules):
    def parameters(self, annotations: Mapping[str, str], operator: FaultTolerance) -> p.Parameters:
        return super().parameters(_without(annotations, p.FORCEFUL_DELETION_GRACE), operator)


@mutant(
    "ttl-annotation-ignored",
    "The annotation for SuccessTTL is not read.",
    "AW-078",
    "AW-070",
)
class TtlAnnotationIgnored(Rules):
    def parameters(self, annotations: Mapping[str, str], operator: FaultTolerance) -> p.Parameters:
        return super().parameters(_without(annotations, p.SUCCESS_TTL), operator)


@mutant(
    "operator-configuration-ignored",
    "The operator's own configuration is ignored; built-in defaults apply.",
    "AW-071",
    "AW-072",
)
class OperatorConfigurationIgnored(Rules):
    def parameters(
        self,
        annotations: Mapping[str, str],
        operator: FaultTolerance,  # noqa: ARG002
    ) -> p.Parameters:
        return super().parameters(annotations, FaultTolerance())


@mutant(
    "configured-limit-ignored",
    "The RetryLimit of the operator's configuration is not read; only annotations change it.",
    "AW-075",
    "AW-052",
)
class ConfiguredLimitIgnored(Rules):
    def parameters(self, annotations: Mapping[str, str], operator: FaultTolerance) -> p.Parameters:
        return super().parameters(annotations, replace(operator, retry_limit=3))


@mutant(
    "configured-startup-ignored",
    "AdmissionGracePeriod and WarmupGracePeriod of the operator's configuration are not read.",
    "AW-071",
    "AW-072",
)
class ConfiguredStartupIgnored(Rules):
    def parameters(self, annotations: Mapping[str, str], operator: FaultTolerance) -> p.Parameters:
        built_in = FaultTolerance()
        wrong = replace(
            operator,
            admission_grace_us=built_in.admission_grace_us,
            warmup_grace_us=built_in.warmup_grace_us,
        )
        return super().parameters(annotations, wrong)


@mutant(
    "cap-ignored",
    "GracePeriodMaximum limits nothing.",
    "AW-080",
    "AW-079",
)
class CapIgnored(Rules):
    def capped(self, span_us: Micros, maximum_us: Micros) -> Micros:  # noqa: ARG002
        return max(span_us, 0)


@mutant(
    "over-the-cap-is-no-wait",
    "A grace period above GracePeriodMaximum counts as none at all.",
    "AW-073",
    "AW-074",
)
class OverTheCapIsNoWait(Rules):
    def capped(self, span_us: Micros, maximum_us: Micros) -> Micros:
        return max(span_us, 0) if span_us <= maximum_us else 0


@mutant(
    "cap-limits-success-ttl",
    "GracePeriodMaximum limits the SuccessTTL as well, which is no grace period.",
    "AW-063",
    "AW-078",
)
class CapLimitsSuccessTtl(Rules):
    def success_ttl_us(self, span_us: Micros, operator: FaultTolerance) -> Micros:
        right_us = super().success_ttl_us(span_us, operator)
        return min(right_us, operator.grace_maximum_us)


@mutant(
    "success-ttl-without-bound",
    "An annotation may extend the SuccessTTL beyond the operator's own.",
    "AW-078",
)
class SuccessTtlWithoutBound(Rules):
    def success_ttl_us(self, span_us: Micros, operator: FaultTolerance) -> Micros:
        return span_us if span_us > 0 else operator.success_ttl_us


@mutant(
    "success-ttl-bounded-by-the-default",
    "An annotation may extend the SuccessTTL up to the built-in default, whatever is configured.",
    "AW-078",
)
class SuccessTtlBoundedByTheDefault(Rules):
    def success_ttl_us(self, span_us: Micros, operator: FaultTolerance) -> Micros:
        longest_us = FaultTolerance().success_ttl_us
        return span_us if 0 < span_us <= longest_us else operator.success_ttl_us


@mutant(
    "malformed-means-zero",
    "A malformed duration counts as 0 s, not as absent.",
    "AW-073",
    "AW-074",
)
class MalformedMeansZero(Rules):
    def span_us(self, annotations: Mapping[str, str], key: str, default_us: Micros) -> Micros:
        if key in annotations and p.span_of(annotations, key, -1) == -1:
            return 0
        return super().span_us(annotations, key, default_us)


@mutant(
    "negative-means-default",
    "A negative duration counts as absent, not as 0 s.",
    "AW-073",
    "AW-074",
)
class NegativeMeansDefault(Rules):
    def span_us(self, annotations: Mapping[str, str], key: str, default_us: Micros) -> Micros:
        right_us = super().span_us(annotations, key, default_us)
        return default_us if right_us < 0 else right_us


@mutant(
    "whole-units-only",
    "Of durations only a whole number with one unit is understood.",
    "AW-073",
    "AW-072",
)
class WholeUnitsOnly(Rules):
    def span_us(self, annotations: Mapping[str, str], key: str, default_us: Micros) -> Micros:
        if not re.fullmatch(r"-?[0-9]+(ms|s|m|h)|0", annotations.get(key, "0")):
            return default_us
        return super().span_us(annotations, key, default_us)


@mutant(
    "an-overflow-is-very-long",
    "A duration that overflows 64 bits counts as the longest one, not as malformed.",
    "AW-031",
    "AW-012",
)
class AnOverflowIsVeryLong(Rules):
    def span_us(self, annotations: Mapping[str, str], key: str, default_us: Micros) -> Micros:
        if re.fullmatch(r"[0-9]{7,}h", annotations.get(key, "")):
            return super().span_us({}, key, 2**62)
        return super().span_us(annotations, key, default_us)


@mutant(
    "numbers-are-seconds",
    "A duration without a unit counts as seconds, not as malformed.",
    "AW-004",
    "AW-031",
)
class NumbersAreSeconds(Rules):
    def span_us(self, annotations: Mapping[str, str], key: str, default_us: Micros) -> Micros:
        text = annotations.get(key, "")
        if text.isdigit():
            return int(text) * SECOND
        return super().span_us(annotations, key, default_us)


@mutant(
    "durations-in-days",
    "A duration in days, which Go does not know, is understood.",
    "AW-040",
    "AW-049",
)
class DurationsInDays(Rules):
    def span_us(self, annotations: Mapping[str, str], key: str, default_us: Micros) -> Micros:
        text = annotations.get(key, "")
        if re.fullmatch(r"[0-9]+d", text):
            return int(text[:-1]) * DAY
        return super().span_us(annotations, key, default_us)


@mutant(
    "blanks-are-left-out",
    "Blanks in an annotation are left out; with them it is malformed.",
    "AW-075",
)
class BlanksAreLeftOut(Rules):
    def parameters(self, annotations: Mapping[str, str], operator: FaultTolerance) -> p.Parameters:
        stripped = {key: text.replace(" ", "") for key, text in annotations.items()}
        return super().parameters(stripped, operator)


@mutant(
    "limit-is-read-as-a-fraction",
    "A RetryLimit with a fraction or an exponent is rounded; it is malformed.",
    "AW-052",
)
class LimitIsReadAsAFraction(Rules):
    def parameters(self, annotations: Mapping[str, str], operator: FaultTolerance) -> p.Parameters:
        text = annotations.get(p.RETRY_LIMIT, "")
        if re.fullmatch(r"[0-9]+\.[0-9]+|[0-9]+e[0-9]+", text):
            annotations = {**annotations, p.RETRY_LIMIT: str(int(float(text)))}
        return super().parameters(annotations, operator)


@mutant(
    "limit-is-bounded-by-the-operators",
    "An annotation may lower the RetryLimit, but not raise it.",
    "AW-075",
    "AW-070",
)
class LimitIsBoundedByTheOperators(Rules):
    def parameters(self, annotations: Mapping[str, str], operator: FaultTolerance) -> p.Parameters:
        right = super().parameters(annotations, operator)
        limit = min(right.retry_limit, operator.retry_limit)
        return msgspec.structs.replace(right, retry_limit=limit)
