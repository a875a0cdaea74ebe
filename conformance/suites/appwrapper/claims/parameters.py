"""AW-070…080: every parameter follows its annotation, within what the operator allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from conformance.norm import OPTIONS, WRITERS, Obligations, shared
from conformance.suites.appwrapper.claims.deletion import forceful_deletion
from conformance.suites.appwrapper.claims.failed import deletion_on_failure
from conformance.suites.appwrapper.claims.grace_periods import failure_grace
from conformance.suites.appwrapper.claims.retry_limit import limit_obligations
from conformance.suites.appwrapper.claims.retry_pause import retry_pause
from conformance.suites.appwrapper.claims.startup import FEW, IDLE, found_late, given_up_late
from conformance.suites.appwrapper.claims.success import success_ttl
from conformance.suites.appwrapper.claims.timed import Timed, governed
from conformance.suites.appwrapper.decisions import A8, A9
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.parameters import (
    ADMISSION_GRACE,
    DELETION_ON_FAILURE_GRACE,
    FAILURE_GRACE,
    FORCEFUL_DELETION_GRACE,
    PARAMETERS,
    RETRY_LIMIT,
    RETRY_PAUSE,
    SUCCESS_TTL,
    WARMUP_GRACE,
    Parameter,
)
from conformance.suites.appwrapper.sources import configuration_details
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.other_values import (
    other_values,
    without_annotation,
    without_maximum,
)
from conformance.suites.appwrapper.view.parameters import Origin


def _admission_grace(aw: AppWrapperRun) -> Iterator[Timed]:
    yield from found_late(aw, FEW)
    yield from given_up_late(aw, FEW)


def _warmup_grace(aw: AppWrapperRun) -> Iterator[Timed]:
    yield from found_late(aw, IDLE)
    yield from given_up_late(aw, IDLE)


BEHAVIOUR: Final[Mapping[str, Callable[[AppWrapperRun], Iterable[Timed]]]] = {
    ADMISSION_GRACE: _admission_grace,
    WARMUP_GRACE: _warmup_grace,
    FAILURE_GRACE: failure_grace,
    RETRY_PAUSE: retry_pause,
    RETRY_LIMIT: limit_obligations,
    DELETION_ON_FAILURE_GRACE: deletion_on_failure,
    FORCEFUL_DELETION_GRACE: forceful_deletion,
    SUCCESS_TTL: success_ttl,
}
"""The effects of each parameter, as obligations with the value they were evaluated by."""


def _follows(name: str) -> Callable[[AppWrapperRun], Obligations]:
    """The checker of one parameter: no other value governs, wherever its own comes from."""

    def parameter_is_followed(aw: AppWrapperRun) -> Obligations:
        operator = aw.history.operator_parameters
        others = other_values(operator, name, aw.parameter_annotations(name))
        return governed(BEHAVIOUR[name](aw), others)

    return parameter_is_followed


_NEGATIVE: Final = "a negative one MUST be zero, and one above the maximum MUST be the maximum"
_NOT_AS_OTHERS: Final = {
    RETRY_LIMIT: "and a negative one MUST allow no reset",
    SUCCESS_TTL: (
        "and so MUST be one that is zero or negative; one above the operator's value MUST be "
        "that value"
    ),
}
"""The demands on annotations that are out of range, where they differ."""
_DECISIONS: Final = {DELETION_ON_FAILURE_GRACE: A9, SUCCESS_TTL: A8}


def _follows_its_annotation(number: int, parameter: Parameter) -> None:
    """A row of the table of parameters, as a claim with its checker."""
    name = parameter.annotation
    out_of_range = _NOT_AS_OTHERS.get(name, _NEGATIVE)
    declare = claim(
        f"AW-{number:03}",
        configuration_details(3),
        armed_by=f"{parameter.title} took effect",
        name=f"{name.removesuffix('Duration').lower()}-follows-its-annotation",
        text=(
            f"What {parameter.title} governs MUST NOT follow another of its values than the one in "
            f"force: {parameter.default_text.lower()} by default, else what the operator "
            "configures, else what the AppWrapper's annotation says. A malformed annotation MUST "
            f"be as if it were not there, {out_of_range}."
        ),
        decision=_DECISIONS.get(name, ()),
        needs=(WRITERS, OPTIONS),
    )
    declare(_follows(name))


for _number, _row in enumerate(PARAMETERS.values(), start=71):
    _follows_its_annotation(_number, _row)

_OWN_VALUES: Final = (Origin.ANNOTATION, Origin.NEGATIVE, Origin.CAPPED)
"""Where a value comes from when an annotation made it, and not the operator."""


@claim(
    "AW-070",
    configuration_details(1),
    armed_by="parameter took effect with a value of its own",
    needs=(WRITERS, OPTIONS),
)
def annotations_customize_each_appwrapper(aw: AppWrapperRun) -> Obligations:
    """Each parameter of the retry loop that is configured for the operator MUST be overridden, for
    one AppWrapper alone, by its annotation.
    """
    for name in _annotated(aw):
        operator = aw.history.operator_parameters
        others = without_annotation(operator, name)
        plain = operator.of(name, None).value
        own = (
            timed
            for timed in BEHAVIOUR[name](aw)
            if timed.value.origin in _OWN_VALUES and timed.value.value != plain
        )
        yield from governed(own, others)


@shared
def _annotated(aw: AppWrapperRun) -> Iterator[str]:
    """The parameters for which the AppWrapper ever had an annotation."""
    return (name for name in BEHAVIOUR if aw.is_annotated(name))


@claim(
    "AW-080",
    configuration_details(4),
    decision=A8,
    armed_by="annotation above the maximum took effect",
    needs=(WRITERS, OPTIONS),
)
def maximum_caps_annotations(aw: AppWrapperRun) -> Obligations:
    """GracePeriodMaximum MUST limit all other grace periods: none that it limits MUST follow its
    annotation instead, and SuccessTTL, which is none, MUST NOT follow the maximum.
    """
    yield from _capped(aw)


@claim(
    "AW-079",
    configuration_details(3),
    armed_by="annotation above the default maximum took effect",
    needs=(WRITERS, OPTIONS),
)
def maximum_is_a_day_by_default(aw: AppWrapperRun) -> Obligations:
    """GracePeriodMaximum MUST be 24 hours by default."""
    if aw.history.operator_parameters.maximum.origin is Origin.DEFAULT:
        yield from _capped(aw)


def _capped(aw: AppWrapperRun) -> Obligations:
    """Bounds from above that the maximum set, and from below those that it must leave alone.

    A lower bound does not show a cap. SuccessTTL is not capped: it shows in its lower bound.
    So what is capped must not come when the annotation alone would have had it, and what is
    not capped must not come when the maximum would have had it.
    """
    maximum_us = aw.history.operator_parameters.maximum.value
    for name in _annotated(aw):
        found = BEHAVIOUR[name](aw)
        if name == SUCCESS_TTL:
            free = (each for each in found if each.value.value > maximum_us)
            yield from governed((each for each in free if not each.from_above), (maximum_us,))
        else:
            capped = (each for each in found if each.value.origin is Origin.CAPPED)
            others = without_maximum(name, aw.parameter_annotations(name))
            yield from governed((each for each in capped if each.from_above), others)
