"""Go's decoder and converter: their errors, what they make of values, and what conforms at once."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.builtin.conforming import misfit, undecoded_of
from clusters.simulated.builtin.decoding import conversion_error, converted, decoding_error
from vocabulary.kinds import CONFIG_MAP, JOB, RESOURCE_QUOTA

MAP = "core/v1.ConfigMap"
QUOTA = "core/v1.ResourceQuota"
POD = "core/v1.PodSpec"


@pytest.mark.parametrize(
    ("obj", "message", "because"),
    [
        ({"data": {"a": "b"}}, MAP, ""),
        ({"data": None, "unknown": 1}, MAP, ""),
        (
            {"data": []},
            MAP,
            "json: cannot unmarshal array into Go struct field ConfigMap.data of type map"
            "[string]string",
        ),
        (
            {"data": {"a": 1}, "immutable": "x"},
            MAP,
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        ({"binaryData": {"a": "YQ%="}}, MAP, "illegal base64 data at input byte 2"),
        (
            {"priority": 2**31},
            POD,
            "json: cannot unmarshal number 2147483648 into Go struct field PodSpec.priority of "
            "type int32",
        ),
        (
            {"priority": 1.5},
            POD,
            "json: cannot unmarshal number 1.5 into Go struct field PodSpec.priority of type int32",
        ),
        (
            {"containers": [{"ports": [{"hostIP": True}]}]},
            POD,
            "json: cannot unmarshal bool into Go struct field "
            "ContainerPort.containers.ports.hostIP of type string",
        ),
        ({"overhead": {"cpu": "1KiKi"}}, POD, "unable to parse quantity's suffix"),
    ],
)
def test_the_decoder_names_the_first_value_of_a_wrong_type(
    obj: dict[str, Any], message: str, because: str
) -> None:
    assert decoding_error(obj, message) == because


def test_a_type_that_reads_its_own_json_ends_decoding_at_once() -> None:
    wrong = {"spec": {"hard": {"pods": "x1"}}, "status": []}
    assert "regular expression" in decoding_error(wrong, QUOTA)
    mistyped = {"status": [], "spec": {"hard": {"pods": "1"}}}
    assert "ResourceQuota.status" in decoding_error(mistyped, QUOTA)


@pytest.mark.parametrize(
    ("data", "because"),
    [
        ([1, None, 255], ""),
        ([1.5], "cannot convert float64 to uint8"),
        (["text"], "unrecognized type: uint8"),
        ({}, "cannot restore slice from map"),
        (7, "cannot restore slice from int64"),
        ("%", "error decoding from json: illegal base64 data at input byte 0"),
    ],
)
def test_the_converter_makes_bytes_of_numbers_and_of_nothing_else(data: Any, because: str) -> None:
    assert conversion_error({"binaryData": {"k": data}}, MAP) == because


def test_what_is_converted_is_of_gos_types() -> None:
    assert converted({"binaryData": {"k": [300, None, -1]}}, MAP) == {"binaryData": {"k": "LAD/"}}
    assert converted({"priority": 2**31}, POD) == {"priority": -(2**31)}
    assert converted({"priority": 1.0}, POD) == {"priority": 1}
    assert converted({"activeDeadlineSeconds": 10**30}, POD) == {"activeDeadlineSeconds": -(2**63)}


@pytest.mark.parametrize(
    ("path", "bits"), [("parallelism", 32), ("activeDeadlineSeconds", 64)], ids=["int32", "int64"]
)
def test_a_number_ends_at_its_types_bounds(path: str, bits: int) -> None:
    bound = 2 ** (bits - 1)
    told = [
        misfit({"spec": {path: value}}, JOB, None)
        for value in (-bound - 1, -bound, bound - 1, bound)
    ]
    assert [bool(each) for each in told] == [True, False, False, True]
    assert f"Go struct field JobSpec.spec.{path} of type int{bits}" in told[-1]


def test_values_that_are_null_are_dropped_or_empty() -> None:
    obj: dict[str, Any] = {
        "metadata": {"labels": {"a": None}, "finalizers": [None], "name": None},
        "binaryData": {"k": None},
    }
    assert misfit(obj, CONFIG_MAP, None) == ""
    assert obj == {
        "metadata": {"labels": {"a": ""}, "finalizers": [""]},
        "binaryData": {"k": ""},
    }
    quota: dict[str, Any] = {"spec": {"hard": {"pods": None}}}
    assert misfit(quota, RESOURCE_QUOTA, None) == ""
    assert quota["spec"]["hard"] == {"pods": "0"}


def test_conditions_have_a_type_and_a_status() -> None:
    obj: dict[str, Any] = {"status": {"conditions": [{}, {"type": "Complete", "reason": "x"}]}}
    assert misfit(obj, JOB, None) == ""
    assert obj["status"]["conditions"] == [
        {"type": "", "status": ""},
        {"type": "Complete", "status": "", "reason": "x"},
    ]


def test_what_an_update_shares_with_the_old_object_is_not_looked_at_again() -> None:
    spec = {"parallelism": "x"}
    assert misfit({"spec": spec}, JOB, {"spec": spec}) == ""
    assert "JobSpec.spec.parallelism" in misfit({"spec": dict(spec)}, JOB, {"spec": spec})


@pytest.mark.parametrize(
    ("obj", "api_version", "kind", "because"),
    [
        ({"gracePeriodSeconds": 1}, "v1", "DeleteOptions", ""),
        ({"gracePeriodSeconds": "1"}, "v1", "DeleteOptions", "gracePeriodSeconds of type int64"),
        ({"metadata": {"name": 1}}, "example.org/v1", "Thing", "metadata.name of type string"),
        ({"spec": 1}, "example.org/v1", "Thing", ""),
    ],
)
def test_of_kinds_without_a_type_only_metadata_is_decoded(
    obj: dict[str, Any], api_version: str, kind: str, because: str
) -> None:
    assert undecoded_of(obj, api_version, kind).endswith(because)
    assert bool(undecoded_of(obj, api_version, kind)) == bool(because)
