"""Odd values of each field of a kind, drawn from the schema of its CRD."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final, NamedTuple

from tests.odd_values import ODD, changed
from vocabulary.objects import Object

ABSENT: Final = object()
_OF_ALL_KINDS: Final = ("apiVersion", "kind", "metadata")
_INT32: Final = 2**31
_QUANTITIES: Final = (
    *(0, 1, -1, 2**63 - 1, 2**63, "0", "-1", "+1", "1.5", "100m", "1n", "1e3", "1E99", "8Ei"),
    *(".", "1Gi ", "9" * 30, "9" * 5000),
)
_TIMES: Final = (
    *("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-01-01T00:00:00.5+01:00"),
    *("2026-01-01", "soon"),
)
_TEXTS: Final = ("No Such", "no-such", "ü", "(UID: )", "9" * 5000)


class Field(NamedTuple):
    """A field of a kind; items of a list are its first one."""

    path: tuple[str | int, ...]
    schema: Mapping[str, Any]

    def __str__(self) -> str:
        """As API servers write it: `spec.podSets[0].count`."""
        return path_of(self.path)


class Case(NamedTuple):
    """One odd value of a field; ABSENT: it is left out."""

    field: Field
    value: Any

    def __str__(self) -> str:
        return f"{self.field} = {'absent' if self.value is ABSENT else repr(self.value)[:80]}"


def path_of(steps: Sequence[str | int]) -> str:
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return "".join(parts).removeprefix(".")


def cases(
    schema: Mapping[str, Any], standing: Object, count: int, seed: str, words: Sequence[str]
) -> list[Case]:
    """So many odd values of each field that an object may have, by a seed. The `words` are texts
    that a controller reads."""
    drawn = []
    for field in fields(schema):
        if at(standing, field.path[:-1]) is not ABSENT:
            rng = random.Random(f"{seed} {field}")
            values = odd_values(field.schema, at(standing, field.path), words)
            drawn += [Case(field, each) for each in rng.sample(values, min(count, len(values)))]
    return drawn


def fields(schema: Mapping[str, Any]) -> Iterator[Field]:
    """All fields of a schema, but those of every kind."""
    for name, part in schema["properties"].items():
        if name not in _OF_ALL_KINDS:
            yield from _below(Field((name,), part))


def is_refused(schema: Mapping[str, Any]) -> bool:
    """True for a field of a feature that is left out."""
    return any(each["rule"] == "false" for each in schema.get("x-kubernetes-validations") or ())


def _below(field: Field) -> Iterator[Field]:
    yield field
    for name, part in (field.schema.get("properties") or {}).items():
        yield from _below(Field((*field.path, name), part))
    if "items" in field.schema:
        yield from _below(Field((*field.path, 0), field.schema["items"]))


def at(obj: Any, path: Sequence[str | int]) -> Any:
    """The value of a field; ABSENT if there is none."""
    for step in path:
        try:
            obj = obj[step]
        except (KeyError, IndexError, TypeError):
            return ABSENT
    return obj


def put(obj: Object, case: Case) -> dict[str, Any]:
    """A copy of an object with the odd value; as it is, if it has not what the field is part of."""
    made: Any = deepcopy(dict(obj))
    *parents, last = case.field.path
    parent = at(made, parents)
    if parent is ABSENT:
        return dict(made)
    if case.value is ABSENT:
        if at(parent, (last,)) is not ABSENT:
            del parent[last]
    elif isinstance(parent, list):
        parent[last:] = [case.value, *parent[last + 1 :]]
    else:
        parent[last] = case.value
    return dict(made)


def odd_values(schema: Mapping[str, Any], standing: Any, words: Sequence[str] = ()) -> list[Any]:
    """All that are tried of a field: absent, of any type, and at and beyond its limits."""
    return [ABSENT, *ODD, *_of_its_type(schema, standing, words)]


def _of_its_type(schema: Mapping[str, Any], standing: Any, words: Sequence[str]) -> Iterator[Any]:
    type_ = schema.get("type", "")
    if type_ == "integer":
        least = schema.get("minimum", -_INT32)
        most = schema.get("maximum", _INT32 - 1)
        yield from (least, least - 1, most, most + 1, 0, 1)
    elif schema.get("x-kubernetes-int-or-string"):
        yield from _QUANTITIES
    elif schema.get("format") == "date-time":
        yield from _TIMES
    elif type_ == "string":
        longest = schema.get("maxLength", 253)
        values = schema.get("enum", (*words, *_TEXTS))
        yield from (*values, "a" * longest, "a" * (longest + 1))
    elif type_ == "array" and isinstance(standing, list) and standing:
        most = schema.get("maxItems", 8)
        yield from (standing * 2, standing * most, standing * (most + 1))
    elif "additionalProperties" in schema:
        most = schema.get("maxProperties", 8)
        yield from ({f"k{n}": "v" for n in range(count)} for count in (most, most + 1))
        yield from ({key: value} for key in ("", "k", "k" * 400) for value in ("", "v" * 400, None))
    if type_ == "object" and standing:
        yield from changed(standing)
