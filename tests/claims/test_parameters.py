"""Claims about parameters: each value class, and each contradicted once."""

from __future__ import annotations

import pytest

from conformance.suites.appwrapper.parameters import (
    ADMISSION_GRACE,
    FAILURE_GRACE,
    RETRY_LIMIT,
    RETRY_PAUSE,
    SUCCESS_TTL,
)
from conformance.suites.appwrapper.view.parameters import OperatorParameters, Origin
from tests.claims.judging import assert_fails, assert_passes, assert_unarmed, created, entered
from tests.claims.stories import (
    exhausted,
    failing,
    idle,
    retried,
    short_of_pods,
    started,
    succeeded,
)
from vocabulary.clock import DAY, HOUR, MINUTE, SECOND, seconds

LOW_CEILING = {"faultTolerance": {"gracePeriodCeiling": "100s"}}


@pytest.mark.parametrize(
    ("annotation", "value_us", "origin"),
    [
        (None, MINUTE, Origin.DEFAULT),
        ("500ms", seconds(0.5), Origin.ANNOTATION),
        ("1m30s", 90 * SECOND, Origin.ANNOTATION),
        ("0", 0, Origin.ANNOTATION),
        ("-5s", 0, Origin.NEGATIVE),
        ("3d", MINUTE, Origin.MALFORMED),
        ("10", MINUTE, Origin.MALFORMED),
        ("", MINUTE, Origin.MALFORMED),
        (" 5s", MINUTE, Origin.MALFORMED),
        ("1e3s", MINUTE, Origin.MALFORMED),
        ("9999999h", MINUTE, Origin.MALFORMED),
        ("100000h", 24 * HOUR, Origin.CAPPED),
        ("24h", 24 * HOUR, Origin.ANNOTATION),
    ],
)
def test_a_grace_period_reads_its_annotation_as_the_table_says(
    annotation: str | None, value_us: int, origin: Origin
) -> None:
    value = OperatorParameters({}).of(FAILURE_GRACE, annotation)
    assert (value.value, value.origin) == (value_us, origin)


@pytest.mark.parametrize(
    ("annotation", "value_us", "origin"),
    [
        (None, 7 * DAY, Origin.DEFAULT),
        ("25h", 25 * HOUR, Origin.ANNOTATION),
        ("0s", 7 * DAY, Origin.NEGATIVE),
        ("-1h", 7 * DAY, Origin.NEGATIVE),
        ("200h", 7 * DAY, Origin.CAPPED),
        ("soon", 7 * DAY, Origin.MALFORMED),
    ],
)
def test_the_success_ttl_is_capped_by_the_operators_own_and_never_zero(
    annotation: str | None, value_us: int, origin: Origin
) -> None:
    value = OperatorParameters({}).of(SUCCESS_TTL, annotation)
    assert (value.value, value.origin) == (value_us, origin)


@pytest.mark.parametrize(
    ("annotation", "value", "origin"),
    [
        (None, 3, Origin.DEFAULT),
        ("0", 0, Origin.ANNOTATION),
        ("+2", 2, Origin.ANNOTATION),
        ("-1", 0, Origin.NEGATIVE),
        ("3.0", 3, Origin.MALFORMED),
        (" 3", 3, Origin.MALFORMED),
        ("abc", 3, Origin.MALFORMED),
        ("4294967297", 3, Origin.UNCLEAR),
    ],
)
def test_the_retry_limit_reads_its_annotation_as_the_table_says(
    annotation: str | None, value: int, origin: Origin
) -> None:
    found = OperatorParameters({}).of(RETRY_LIMIT, annotation)
    assert (found.value, found.origin) == (value, origin)


def test_the_operators_configuration_replaces_the_defaults() -> None:
    parameters = OperatorParameters({"faultTolerance": {"resetPause": "5s", "retryLimit": 1}})
    assert parameters.of(RETRY_PAUSE, None).value == 5 * SECOND
    assert parameters.of(RETRY_PAUSE, "x").value == 5 * SECOND
    assert parameters.of(RETRY_LIMIT, None).value == 1
    assert parameters.of(ADMISSION_GRACE, None).origin is Origin.DEFAULT


def test_what_was_written_is_no_default_whichever_value_it_has() -> None:
    written = OperatorParameters({"faultTolerance": {"resetPause": "90s", "retryLimit": 3}})
    assert written.of(RETRY_PAUSE, None) == (90 * SECOND, Origin.CONFIGURED)
    assert written.of(RETRY_LIMIT, None) == (3, Origin.CONFIGURED)


def test_claims_of_defaults_are_silent_where_the_default_was_written() -> None:
    span = {"faultTolerance": {"deletionGracePeriod": "10m"}}
    assert_unarmed("MLB-024", failing(parameters=span))


def test_a_configuration_that_is_no_duration_names_its_field() -> None:
    with pytest.raises(ValueError, match=r"faultTolerance\.resetPause is '5 s'.*Go duration"):
        OperatorParameters({"faultTolerance": {"resetPause": "5 s"}}).of(RETRY_PAUSE, None)


def test_a_broken_configuration_makes_claims_inconclusive_and_says_why() -> None:
    story = retried(parameters={"faultTolerance": {"resetPause": "soon"}})
    from conformance.norm.verdict import Outcome
    from tests.claims.judging import verdict_of

    verdict = verdict_of("AW-049", story)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.armed == 1, "a checker that failed must not be outvoted"
    assert "faultTolerance.resetPause" in verdict.because


def test_an_annotation_that_is_ignored_is_a_violation() -> None:
    story = retried(annotations={RETRY_PAUSE: "10s"})
    for claim in ("AW-049", "AW-070", "AW-074"):
        assert_fails(claim, story, at=created(story, "Pod/a-0", 2))


def test_an_annotation_that_is_followed_is_right() -> None:
    story = retried(annotations={RETRY_PAUSE: "10s"}, pause=10)
    for claim in ("AW-049", "AW-070", "AW-074"):
        assert_passes(claim, story)


@pytest.mark.parametrize("pause", [45, 70])
def test_a_pause_that_fits_no_value_is_no_matter_of_its_parameter(pause: float) -> None:
    story = retried(pause=pause, annotations={RETRY_PAUSE: "200s"})
    assert_fails("AW-049", story, at=created(story, "Pod/a-0", 2))
    for claim in ("AW-070", "AW-074"):
        assert_unarmed(claim, story)


def test_a_period_that_counts_from_another_moment_is_no_matter_of_its_parameter() -> None:
    # It ran for 100 s: since its resources were deployed, its TTL had passed already.
    story = succeeded(ttl=30, annotations={SUCCESS_TTL: "60s"})
    request = story.history.appwrappers[0].delete_requests[0]
    assert_fails("AW-063", story, at=request.n)
    assert_unarmed("AW-078", story)


def test_a_ttl_that_is_no_longer_than_the_maximum_but_for_its_beginning_is_not_capped() -> None:
    parameters = {"faultTolerance": {"gracePeriodCeiling": "50s"}}
    story = succeeded(ttl=40, annotations={SUCCESS_TTL: "60s"}, parameters=parameters)
    assert_unarmed("AW-080", story)


def test_an_annotation_with_the_operators_own_value_shows_nothing() -> None:
    assert_unarmed("AW-070", retried(annotations={RETRY_PAUSE: "90s"}))


def test_a_malformed_annotation_that_counts_as_zero_is_a_violation() -> None:
    story = retried(annotations={RETRY_PAUSE: "9O s"}, pause=0)
    assert_fails("AW-074", story, at=created(story, "Pod/a-0", 2))


def test_a_negative_annotation_that_counts_as_absent_is_a_violation() -> None:
    story = retried(annotations={RETRY_PAUSE: "-1s"})
    assert_fails("AW-074", story, at=created(story, "Pod/a-0", 2))


def test_an_annotation_above_the_maximum_that_is_followed_is_a_violation() -> None:
    story = retried(annotations={RETRY_PAUSE: "200s"}, pause=200, parameters=LOW_CEILING)
    for claim in ("AW-074", "AW-080"):
        assert_fails(claim, story, at=created(story, "Pod/a-0", 2))


def test_an_annotation_above_the_maximum_that_is_capped_is_right() -> None:
    story = retried(annotations={RETRY_PAUSE: "200s"}, pause=100, parameters=LOW_CEILING)
    assert_passes("AW-080", story)
    assert_unarmed("AW-079", story)


def test_the_default_maximum_is_a_day() -> None:
    day = 24 * 3600
    capped = retried(annotations={RETRY_PAUSE: "48h"}, pause=day)
    assert_passes("AW-079", capped)
    story = retried(annotations={RETRY_PAUSE: "48h"}, pause=2 * day)
    assert_fails("AW-079", story, at=created(story, "Pod/a-0", 2))


def test_a_maximum_that_shortens_the_success_ttl_is_a_violation() -> None:
    parameters = {"faultTolerance": {"gracePeriodCeiling": "60s"}}
    story = succeeded(ttl=60, annotations={SUCCESS_TTL: "10m"}, parameters=parameters)
    request = story.history.appwrappers[0].delete_requests[0]
    assert_fails("AW-080", story, at=request.n)


def test_without_annotations_no_claim_about_the_maximum_is_armed() -> None:
    for claim in ("AW-070", "AW-079", "AW-080"):
        assert_unarmed(claim, retried())


def test_admission_and_warmup_periods_that_are_too_short_are_violations() -> None:
    story = short_of_pods(admission=0)
    shown = next(s for s in story.history.appwrappers[0].snapshots if s.shows("Unhealthy"))
    assert_fails("AW-071", story, at=shown.n)
    story = idle(warmup=3)
    shown = next(s for s in story.history.appwrappers[0].snapshots if s.shows("Unhealthy"))
    assert_fails("AW-072", story, at=shown.n)


def test_a_retry_limit_that_is_ignored_is_a_violation() -> None:
    story = exhausted(2)
    assert_passes("AW-075", story)
    story = started(annotations={RETRY_LIMIT: "5"})
    story.at(10).becomes("a-0", "Failed")
    story.at(10.1).shows(Unhealthy="True")
    story.at(70.1).enters("Failed")
    for claim in ("AW-052", "AW-075"):
        assert_fails(claim, story, at=entered(story, "Failed"))


def test_an_annotation_that_changes_meanwhile_allows_either_value() -> None:
    story = retried(runs_again=False)
    story.at(100).annotated(**{RETRY_PAUSE: "60s"})
    from tests.claims.stories import attempt

    attempt(story, 140)
    assert_passes("AW-047", story.at(200).ends())
