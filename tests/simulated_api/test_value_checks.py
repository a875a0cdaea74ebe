"""Single values: what schemas of custom resources accept, and how names may be spelled."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.builtin.indexes import (
    IndexesError,
    count_indexes,
    overlapping_index,
    parse_indexes,
)
from clusters.simulated.custom_resources.flaws import ABSENT, field_errors
from clusters.simulated.custom_resources.validating import compile_check
from clusters.simulated.names import (
    data_key,
    dns_label,
    dns_subdomain,
    label_value,
    path_segment,
    qualified_name,
)

STRING = {"type": "string"}
POSITIVE = {"type": "integer", "minimum": 1}
SMALL = {"type": "integer", "maximum": 9}


def flaws(schema: dict[str, Any], value: Any, stored: Any = ABSENT) -> list[str]:
    return [flaw.type.removeprefix("FieldValue") for flaw in compile_check(schema)(value, stored)]


@pytest.mark.parametrize(
    ("format_", "good", "bad"),
    [
        ("date", ["2026-01-31"], ["2026-02-30", "20260131", "2026-1-31", "x"]),
        (
            "date-time",
            ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.5+01:00"],
            ["2026-01-31T12:00:00", "2026-01-31", "x"],
        ),
        ("uuid", ["6ba7b810-9dad-11d1-80b4-00c04fd430c8"], ["6ba7b810", "x"]),
        ("ipv4", ["10.0.0.1"], ["10.0.0", "10.0.0.256", "::1"]),
        ("ipv6", ["::1", "fe80::1:2"], ["10.0.0.1", ":::"]),
        ("byte", ["aGk="], ["", "aGk", "!"]),
        ("duration", ["1h30m", "3 days", "22 ns"], ["", "h", "1"]),
        ("uri", ["http://a.b/c", "/a"], ["a", "http://a b/"]),
        ("cidr", ["10.0.0.0/8", "::/0"], ["10.0.0.0", "10.0.0.0/33"]),
        ("hostname", ["localhost"], ["-a", "a_b", "a" * 64]),
        ("email", ["x@y.z", "Foo <x@y.z>"], ["x", "<x@y.z"]),
        ("mac", ["00:11:22:33:44:55", "0011.2233.4455"], ["00:11", "00:11:22:33:44-55"]),
        ("k8s-short-name", ["a-b"], ["A", "a.b"]),
        ("nobody-knows", ["x"], []),
    ],
)
def test_a_format_that_is_known_is_checked(format_: str, good: list[str], bad: list[str]) -> None:
    schema = {"type": "string", "format": format_}
    assert [flaws(schema, value) for value in good] == [[] for _ in good]
    assert [flaws(schema, value) for value in bad] == [["TypeInvalid"] for _ in bad]


def test_a_pattern_is_shown_as_it_is() -> None:
    found = compile_check({**STRING, "pattern": "^@daily$"})("@hourly", ABSENT)
    [error], _ = field_errors(found, "spec", rules=False)
    assert error.body.startswith('Invalid value: "@hourly": ')
    assert error.body.endswith("should match '^@daily$'")


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"minimum": 1}, [1, 2], [0, -1]),
        ({"minimum": 1, "exclusiveMinimum": True}, [2], [1, 0]),
        ({"maximum": 9}, [9, -9], [10]),
        ({"maximum": 9, "exclusiveMaximum": True}, [8], [9, 10]),
        ({"minimum": 0}, [0], [-1]),
        ({"maximum": 0}, [0], [1]),
        ({"multipleOf": 3}, [0, 3, -6], [1, 4]),
        ({"format": "int32"}, [2**31 - 1, -(2**31)], [2**31, -(2**31) - 1]),
        ({"format": "int64"}, [2**31], []),
    ],
)
def test_numbers_lie_within_their_bounds(
    schema: dict[str, Any], good: list[int], bad: list[int]
) -> None:
    schema = {"type": "integer", **schema}
    assert [flaws(schema, value) for value in good] == [[] for _ in good]
    assert [flaws(schema, value) for value in bad] == [["Invalid"] for _ in bad]


@pytest.mark.parametrize(
    ("schema", "value", "found"),
    [
        ({"type": "array", "minItems": 1, "items": STRING}, [], ["Invalid"]),
        ({"type": "array", "minItems": 1, "items": STRING}, ["a"], []),
        ({"type": "array", "maxItems": 1}, ["a"], []),
        ({"type": "array", "maxItems": 1}, ["a", "b"], ["TooMany"]),
        ({"type": "array", "items": STRING}, ["a", 1, "c"], ["TypeInvalid"]),
        ({"type": "array", "items": STRING}, {}, ["TypeInvalid"]),
        ({"type": "object", "minProperties": 1}, {}, ["Invalid"]),
        ({"type": "object", "minProperties": 1}, {"a": 1}, []),
        ({"type": "object", "maxProperties": 1}, {"a": 1}, []),
        ({"type": "object", "maxProperties": 1}, {"a": 1, "b": 2}, ["TooMany"]),
        ({"type": "object", "additionalProperties": STRING}, {"a": "x"}, []),
        ({"type": "object", "additionalProperties": STRING}, {"a": 1}, ["TypeInvalid"]),
        ({"type": "object", "required": ["a", "b"]}, {"b": 1}, ["Required"]),
        ({"type": "object", "x-kubernetes-embedded-resource": True}, {}, ["Required"] * 2),
        ({"type": "string", "minLength": 2}, "ab", []),
        ({"type": "string", "minLength": 2}, "a", ["Invalid"]),
        ({"type": "string", "maxLength": 2}, "ab", []),
        ({"type": "string", "maxLength": 2}, "abc", ["TooLong"]),
        ({"type": "string", "maxLength": 0}, "a", ["TooLong"]),
        ({"type": "string", "pattern": "^a+$"}, "aa", []),
        ({"type": "string", "pattern": "b"}, "abc", []),
        ({"type": "string", "pattern": "^a+$"}, "ab", ["Invalid"]),
        ({"type": "string", "enum": ["a", "b"]}, "b", []),
        ({"type": "string", "enum": ["a", "b"]}, "c", ["NotSupported"]),
        (STRING, None, ["TypeInvalid"]),
        ({"type": "string", "nullable": True}, None, []),
        ({"type": "boolean"}, True, []),
        ({"type": "boolean"}, 1, ["TypeInvalid"]),
        ({"type": "integer"}, True, ["TypeInvalid"]),
        ({"type": "integer"}, 1.0, []),
        ({"type": "integer"}, 1.5, ["TypeInvalid", "Invalid"]),
        ({"type": "number"}, 1, []),
        ({"type": "number"}, "1", ["TypeInvalid"]),
        ({"x-kubernetes-int-or-string": True}, 1, []),
        ({"x-kubernetes-int-or-string": True}, "50%", []),
        ({"x-kubernetes-int-or-string": True}, [], ["TypeInvalid"]),
        ({}, {"anything": [1]}, []),
    ],
)
def test_a_value_is_what_its_schema_says(
    schema: dict[str, Any], value: Any, found: list[str]
) -> None:
    assert flaws(schema, value) == found


@pytest.mark.parametrize(
    ("combination", "good", "bad"),
    [
        ({"anyOf": [POSITIVE, SMALL]}, [0, 5, 10], []),
        ({"anyOf": [{"minimum": 9}, {"maximum": 1}]}, [0, 1, 9], [5]),
        ({"oneOf": [{"minimum": 5}, {"maximum": 5}]}, [4, 6], [5]),
        ({"oneOf": [{"minimum": 9}, {"maximum": 1}]}, [0, 9], [5]),
        ({"allOf": [{"minimum": 1}, {"maximum": 9}]}, [1, 9], [0, 10]),
        ({"not": {"minimum": 5}}, [4], [5]),
    ],
)
def test_schemas_are_combined(combination: dict[str, Any], good: list[int], bad: list[int]) -> None:
    schema = {"type": "integer", **combination}
    assert [flaws(schema, value) for value in good] == [[] for _ in good]
    assert all(flaws(schema, value) for value in bad)


def test_a_set_has_each_value_once_and_a_map_each_key() -> None:
    set_ = {"type": "array", "items": STRING, "x-kubernetes-list-type": "set"}
    assert flaws(set_, ["a", "b"]) == []
    assert flaws(set_, ["a", "b", "a"]) == ["Duplicate"]
    atomic = {**set_, "x-kubernetes-list-type": "atomic"}
    assert flaws(atomic, ["a", "a"]) == []
    map_ = {
        "type": "array",
        "items": {"type": "object"},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name", "port"],
    }
    assert flaws(map_, [{"name": "a", "port": 1}, {"name": "a", "port": 2}]) == []
    assert flaws(map_, [{"name": "a", "port": 1, "x": 1}, {"name": "a", "port": 1}]) == [
        "Duplicate"
    ]


def test_what_was_stored_before_is_not_checked_again() -> None:
    assert flaws(POSITIVE, 0, stored=0) == []
    assert flaws(POSITIVE, 0, stored=1) == ["Invalid"]
    assert flaws(STRING, 1, stored=1) == []
    nested = {"type": "object", "properties": {"a": POSITIVE, "b": POSITIVE}}
    assert flaws(nested, {"a": 0, "b": 0}, stored={"a": 0, "b": 1}) == ["Invalid"]
    keyed = {
        "type": "array",
        "items": {"type": "object", "properties": {"name": STRING, "size": POSITIVE}},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
    }
    first, second = {"name": "a", "size": 0}, {"name": "b", "size": 1}
    assert flaws(keyed, [first, second], stored=[first, second]) == []
    assert flaws(keyed, [first, {**second, "size": 0}], stored=[first, second]) == ["Invalid"]


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (dns_label, ["a", "a-1", "0", "a" * 63], ["", "-a", "a-", "A", "a.b", "a_b", "a" * 64]),
        (dns_subdomain, ["a.b-c.0", "a" * 253], ["", "a..b", ".a", "a.", "A.b", "a" * 254]),
        (path_segment, ["A b:c", "..."], [".", "..", "a/b", "a%b"]),
        (
            qualified_name,
            ["a", "A_b.c", "x.y/Name", "a" * 63, "x" * 253 + "/a"],
            ["", "/a", "x.y/", "a/b/c", "X/a", "-a", "a-", "a" * 64, "x" * 254 + "/a", "a b"],
        ),
        (
            data_key,
            ["a", "A_b.c-", ".a", "a..b", "a" * 253],
            ["", ".", "..", "..a", "a/b", "a" * 254],
        ),
        (label_value, ["", "a", "A_b.c", "a" * 63], ["-a", "a-", "a/b", "a" * 64]),
    ],
)
def test_names_are_spelled_as_their_place_asks(check: Any, good: list[str], bad: list[str]) -> None:
    assert [(value, check(value)) for value in good] == [(value, ()) for value in good]
    assert [value for value in bad if not check(value)] == []


@pytest.mark.parametrize(
    ("text", "intervals", "count"),
    [
        ("", [], 0),
        ("0", [(0, 0)], 1),
        ("1,3-5,7", [(1, 1), (3, 5), (7, 7)], 5),
        ("0-9", [(0, 9)], 10),
    ],
)
def test_indexes_are_intervals_in_order(
    text: str, intervals: list[tuple[int, int]], count: int
) -> None:
    assert parse_indexes(text, 10) == intervals
    assert count_indexes(text, 10) == count


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1-2-3", "at most two parts"),
        ("3,1", "non-increasing order, previous: 3, current: 1"),
        ("1,1", "non-increasing"),
        ("1-3,3", "non-increasing"),
        ("3-3", "non-increasing"),
        ("3-1", "non-increasing"),
        ("x", "cannot convert"),
        ("1,", "cannot convert"),
        ("10", "too large"),
        ("5-10", "too large"),
    ],
)
def test_what_names_no_indexes_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(IndexesError, match=complaint):
        parse_indexes(text, 10)


@pytest.mark.parametrize(
    ("one", "other", "index"),
    [("1-3", "3-5", 3), ("3-5", "1-3", 3), ("1,5", "2-4", None), ("1-9", "4", 4), ("", "1", None)],
)
def test_two_sets_of_indexes_may_overlap(one: str, other: str, index: int | None) -> None:
    assert overlapping_index(one, other, 10) == index
