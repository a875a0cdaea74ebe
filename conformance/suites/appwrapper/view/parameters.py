"""The parameters of the retry loop that are in force for an AppWrapper.

Written from the claims' table, apart from any implementation's own code: the operator's
configuration gives each value, an annotation overrides it, an annotation that is no Go
duration is as if it were not there, a negative one is zero, and GracePeriodMaximum caps all
of them except SuccessTTL, which the operator's own value caps. A default is in force only where
nothing was configured: one that was written shows nothing of the implementation's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from conformance.suites.appwrapper.parameters import PARAMETERS, RETRY_LIMIT, SUCCESS_TTL
from vocabulary.clock import HOUR, Micros
from vocabulary.durations import parse_duration

DEFAULT_MAXIMUM_US: Final = 24 * HOUR
MAX_INT32: Final = 2**31 - 1


class Origin(StrEnum):
    """Where a value comes from; the claims of the parameter table ask for each of them."""

    DEFAULT = "the default"
    CONFIGURED = "the operator's configuration"
    ANNOTATION = "an annotation"
    MALFORMED = "a malformed annotation"
    NEGATIVE = "a negative annotation"
    CAPPED = "an annotation above the maximum"
    UNCLEAR = "an annotation outside the range that the source speaks of"


class Value(NamedTuple):
    """A parameter's value: a span in µs, or a count for the retry limit."""

    value: int
    origin: Origin


class OperatorParameters:
    """The operator's configuration, and the effect of annotations on it."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._table: Mapping[str, Any] = parameters.get("faultTolerance") or {}
        self._values: dict[tuple[str, str | None], Value] = {}
        self.maximum = self._configured("gracePeriodCeiling", DEFAULT_MAXIMUM_US)

    def of(self, name: str, annotation: str | None) -> Value:
        """The value in force of a parameter, given its annotation's text (None: no annotation)."""
        value = self._values.get((name, annotation))
        if value is None:
            value = self._values[name, annotation] = self._read(name, annotation)
        return value

    def _read(self, name: str, annotation: str | None) -> Value:
        if name == RETRY_LIMIT:
            return self._limit(annotation)
        known = PARAMETERS[name]
        operator = self._configured(known.config_key, known.default)
        if name != SUCCESS_TTL and operator.value > self.maximum.value:
            operator = Value(self.maximum.value, Origin.CAPPED)
        if annotation is None:
            return operator
        try:
            wanted_us = parse_duration(annotation)
        except ValueError:
            return Value(operator.value, Origin.MALFORMED)
        if name == SUCCESS_TTL:
            if wanted_us <= 0:
                return Value(operator.value, Origin.NEGATIVE)
            if wanted_us > operator.value:
                return Value(operator.value, Origin.CAPPED)
            return Value(wanted_us, Origin.ANNOTATION)
        if wanted_us < 0:
            return Value(0, Origin.NEGATIVE)
        if wanted_us > self.maximum.value:
            return Value(self.maximum.value, Origin.CAPPED)
        return Value(wanted_us, Origin.ANNOTATION)

    def _limit(self, annotation: str | None) -> Value:
        configured = self._table.get("retryLimit")
        operator = (
            Value(PARAMETERS[RETRY_LIMIT].default, Origin.DEFAULT)
            if configured is None
            else Value(int(configured), Origin.CONFIGURED)
        )
        if annotation is None:
            return operator
        digits = annotation[1:] if annotation[:1] in ("+", "-") else annotation
        if not (digits.isascii() and digits.isdigit()):
            return Value(operator.value, Origin.MALFORMED)
        wanted = int(annotation)
        if wanted > MAX_INT32:
            return Value(operator.value, Origin.UNCLEAR)
        if wanted < 0:
            return Value(0, Origin.NEGATIVE)
        return Value(wanted, Origin.ANNOTATION)

    def _configured(self, key: str, default_us: Micros) -> Value:
        text = self._table.get(key) if key else None
        if text is None:
            return Value(default_us, Origin.DEFAULT)
        try:
            configured_us = parse_duration(text)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"parameters.faultTolerance.{key} is {text!r}; write a Go duration, such as 90s"
            ) from error
        return Value(configured_us, Origin.CONFIGURED)
