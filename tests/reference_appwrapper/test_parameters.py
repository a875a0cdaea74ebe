"""Annotations, the operator's configuration and the cap: every edge of the table."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_controller.appwrapper import OperatorConfig
from reference_controller.appwrapper import parameters as p
from reference_controller.appwrapper.config import FaultTolerance
from reference_controller.appwrapper.rules import RIGHT
from reference_controller.runtime.options import ConfigError
from vocabulary.clock import DAY, HOUR, MINUTE, SECOND, Micros
from vocabulary.durations import format_duration

OPERATOR = FaultTolerance()
GRACES = {
    p.ADMISSION_GRACE: ("admission_grace_us", MINUTE),
    p.WARMUP_GRACE: ("warmup_grace_us", 5 * MINUTE),
    p.FAILURE_GRACE: ("failure_grace_us", MINUTE),
    p.RETRY_PAUSE: ("retry_pause_us", 90 * SECOND),
    p.DELETION_ON_FAILURE_GRACE: ("deletion_on_failure_grace_us", 0),
    p.FORCEFUL_DELETION_GRACE: ("forceful_deletion_grace_us", 10 * MINUTE),
}


@pytest.mark.parametrize("key", GRACES)
def test_each_grace_period_has_the_default_that_the_table_says(key: str) -> None:
    name, default_us = GRACES[key]
    assert getattr(RIGHT.parameters({}, OPERATOR), name) == default_us


@pytest.mark.parametrize("key", GRACES)
@pytest.mark.parametrize(
    ("text", "expected_us"),
    [
        ("7s", 7 * SECOND),
        ("1m30s", 90 * SECOND),
        ("1.5h", 90 * MINUTE),
        ("0", 0),
        ("-5s", 0),
        ("24h", 24 * HOUR),
        ("24h1ns", 24 * HOUR),
        ("100000h", 24 * HOUR),
    ],
)
def test_an_annotation_overrides_each_grace_period_between_0_and_the_cap(
    key: str, text: str, expected_us: Micros
) -> None:
    assert getattr(RIGHT.parameters({key: text}, OPERATOR), GRACES[key][0]) == expected_us


@pytest.mark.parametrize("key", GRACES)
@pytest.mark.parametrize("text", ["3d", "10", "", " 5s", "5 s", "1e3s", "9999999h", "soon"])
def test_a_malformed_grace_period_counts_as_absent(key: str, text: str) -> None:
    name, default_us = GRACES[key]
    assert getattr(RIGHT.parameters({key: text}, OPERATOR), name) == default_us


@given(span_us=st.integers(-(10**12), 10**12), cap_us=st.integers(0, 10**11))
def test_no_annotation_leads_beyond_the_cap_or_below_zero(span_us: Micros, cap_us: Micros) -> None:
    operator = replace(OPERATOR, grace_maximum_us=cap_us)
    read = RIGHT.parameters({p.FAILURE_GRACE: format_duration(span_us)}, operator)
    assert read.failure_grace_us == min(max(span_us, 0), cap_us)


@given(text=st.text(max_size=12))
def test_no_annotation_whatever_it_says_stops_the_controller(text: str) -> None:
    keys = [*GRACES, p.SUCCESS_TTL, p.RETRY_LIMIT]
    read = RIGHT.parameters(dict.fromkeys(keys, text), OPERATOR)
    for name, _ in GRACES.values():
        assert 0 <= getattr(read, name) <= OPERATOR.grace_maximum_us
    assert 0 < read.success_ttl_us <= OPERATOR.success_ttl_us
    assert -(2**31) <= read.retry_limit < 2**31


@pytest.mark.parametrize(
    ("text", "expected_us"),
    [
        (None, 7 * DAY),
        ("25h", 25 * HOUR),
        ("168h", 7 * DAY),
        ("169h", 7 * DAY),
        ("0s", 7 * DAY),
        ("-1s", 7 * DAY),
        ("3d", 7 * DAY),
        ("60s", MINUTE),
    ],
)
def test_the_success_ttl_is_bounded_by_the_operators_own_and_not_by_the_cap(
    text: str | None, expected_us: Micros
) -> None:
    annotations = {} if text is None else {p.SUCCESS_TTL: text}
    assert RIGHT.parameters(annotations, OPERATOR).success_ttl_us == expected_us


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        (None, 3),
        ("0", 0),
        ("5", 5),
        ("+5", 5),
        ("-1", -1),
        ("abc", 3),
        ("3.0", 3),
        (" 4", 3),
        ("", 3),
        ("1_0", 3),
        ("٣", 3),
        ("2147483648", -(2**31)),
        ("4294967297", 1),
        ("9223372036854775808", 3),
    ],
)
def test_the_retry_limit_is_read_as_an_int32_as_the_released_operator_does(
    text: str | None, limit: int
) -> None:
    annotations = {} if text is None else {p.RETRY_LIMIT: text}
    assert p.retry_limit_of(annotations, OPERATOR) == limit


def test_durations_in_the_config_file_may_be_strings_or_nanoseconds() -> None:
    section = {"admissionGracePeriod": "30s", "failureGracePeriod": 45_000_000_000}
    parsed = OperatorConfig.from_data({"faultTolerance": section}).fault_tolerance
    assert (parsed.admission_grace_us, parsed.failure_grace_us) == (30 * SECOND, 45 * SECOND)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ({"faultTolerance": {"retryPausePeriod": "1s"}}, "faultTolerance.retryPausePeriod"),
        ({"autopilots": {}}, "unknown key autopilots"),
        ({"faultTolerance": {"resetPause": "25h"}}, "gracePeriodCeiling"),
        ({"faultTolerance": {"admissionGracePeriod": "6m"}}, "warmupGracePeriod"),
        ({"faultTolerance": {"successTTLCeiling": 0}}, "longer than 0s"),
        ({"faultTolerance": {"resetPause": "3d"}}, "not a Go duration"),
        ({"faultTolerance": {"resetPause": "-1s"}}, "negative"),
        ({"faultTolerance": {"resetPause": 1.5}}, "Go duration"),
        ({"faultTolerance": {"retryLimit": True}}, "type int"),
        ({"faultTolerance": []}, "must be a map"),
        ({"autopilot": {"source": "prayer"}}, "labels, taints, both"),
        ({"autopilot": {"preferNoScheduleWeight": 0}}, "1 to 100"),
        ({"autopilot": {"resourceTaints": {"x/y": {}}}}, "list of taints"),
        ({"autopilot": {"resourceTaints": {"x/y": [{"value": "v"}]}}}, "key is missing"),
        ({"autopilot": {"resourceTaints": {"x/y": [{"key": "k", "effect": "No"}]}}}, "effect"),
    ],
)
def test_a_wrong_configuration_is_refused_with_the_key_and_what_to_write(
    data: dict[str, object], complaint: str
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        OperatorConfig.from_data(data)


def test_naming_one_resources_taints_replaces_its_list_and_keeps_the_others() -> None:
    taint = {"key": "k", "value": "v", "effect": "NoExecute"}
    parsed = OperatorConfig.from_data({"autopilot": {"resourceTaints": {"x/y": [taint]}}})
    assert parsed.autopilot is not None
    assert sorted(parsed.autopilot.resource_taints) == ["nvidia.com/gpu", "x/y"]


def test_autopilot_null_switches_it_off() -> None:
    assert OperatorConfig.from_data({"autopilot": None}).autopilot is None
