"""Validation against a structural schema, compiled once into nested closures.

A closure answers the flaws of one value, relative to it, so that no path has to be built
for values that are right. As on a real server since 1.33, a flaw in a part that an update
leaves as it was is not reported: such a part is not even looked at, which makes a small
change to a large object cheap to check.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

from clusters.simulated.custom_resources.flaws import (
    ABSENT,
    NONE,
    PATH,
    Check,
    Flaw,
    below,
    invalid_value,
)
from clusters.simulated.custom_resources.keyed_lists import by_key, key_of, map_keys
from clusters.simulated.custom_resources.scalars import (
    enum_check,
    number_checks,
    string_checks,
    type_check,
)

_OBJECT_KEYWORDS: Final = frozenset(
    {
        "properties",
        "additionalProperties",
        "required",
        "minProperties",
        "maxProperties",
        "x-kubernetes-embedded-resource",
    }
)

_MAX_REMEMBERED: Final = 1_000


def compile_check(schema: Mapping[str, Any]) -> Check:
    """The checking closure of a structural schema."""
    check_type = type_check(schema)
    parts = [*_value_checks(schema), *_combinations(schema)]
    nullable = bool(schema.get("nullable"))
    if not parts and not nullable:
        return _unless_unchanged(check_type)

    def check(value: Any, stored: Any) -> Sequence[Flaw]:
        if value == stored or (value is None and nullable):
            return NONE
        flaws: Sequence[Flaw] = check_type(value, stored)
        for part in parts:
            found = part(value, stored)
            if found:
                flaws = [*flaws, *found]
        return flaws

    return _remembering(check) if _is_flat(schema) else check


def _is_flat(schema: Mapping[str, Any]) -> bool:
    """True for objects of strings and numbers, such as conditions: most of what is written."""
    properties = schema.get("properties") or {}
    return bool(properties) and all(
        part.get("type") in ("string", "integer") for part in properties.values()
    )


def _remembering(check: Check) -> Check:
    """The same check, which passes an object of strings that it has found sound before."""
    sound: set[tuple[tuple[str, Any], ...]] = set()

    def remembered(value: Any, stored: Any) -> Sequence[Flaw]:
        if not isinstance(value, dict) or not all(type(text) is str for text in value.values()):
            return check(value, stored)
        key = tuple(value.items())
        if key in sound:
            return NONE
        flaws = check(value, stored)
        if not flaws and not check(value, ABSENT):  # not only since it is stored already
            if len(sound) >= _MAX_REMEMBERED:
                sound.clear()
            sound.add(key)
        return flaws

    return remembered


def _unless_unchanged(check_type: Check) -> Check:
    """The check of a schema that names nothing but a type, which is sooner tested than compared
    with what is stored."""

    def check(value: Any, stored: Any) -> Sequence[Flaw]:
        flaws = check_type(value, stored)
        return flaws if flaws and value != stored else NONE

    return check


def _value_checks(schema: Mapping[str, Any]) -> list[Check]:
    checks: list[Check] = []
    checks += string_checks(schema)
    checks += number_checks(schema)
    if "enum" in schema:
        checks.append(enum_check(schema["enum"]))
    if schema.get("items") or "minItems" in schema or "maxItems" in schema:
        checks.append(_list_check(schema))
    if schema.get("x-kubernetes-list-type") in ("set", "map"):
        checks.append(_uniqueness_check(schema))
    if schema.keys() & _OBJECT_KEYWORDS:
        checks.append(_object_check(schema))
    return checks


def _list_check(schema: Mapping[str, Any]) -> Check:
    check_item = compile_check(schema.get("items") or {})
    fewest, most = schema.get("minItems"), schema.get("maxItems")
    keys = map_keys(schema)

    def check(value: Any, stored: Any) -> Sequence[Flaw]:
        if not isinstance(value, list | tuple):
            return NONE
        flaws: list[Flaw] = []
        if fewest is not None and len(value) < fewest:
            flaws += invalid_value(len(value), f"should have at least {fewest} items")
        if most is not None and len(value) > most:
            noun = "item" if most == 1 else "items"
            body = f"Too many: {len(value)}: must have at most {most} {noun}"
            flaws.append(Flaw("", "FieldValueTooMany", body))
        standing: Sequence[Any] = stored if keys and isinstance(stored, list) else ()
        before: Mapping[Hashable, Any] | None = None
        for position, item in enumerate(value):
            if item in standing:
                continue
            if before is None:
                before = by_key(standing, keys)
            found = check_item(item, before.get(key_of(item, keys), ABSENT))
            if found:
                flaws += below(f"[{position}]", found)
        return flaws

    return check


def _uniqueness_check(schema: Mapping[str, Any]) -> Check:
    keys = map_keys(schema)

    def check(value: Any, stored: Any) -> Sequence[Flaw]:  # noqa: ARG001
        if not isinstance(value, list) or len(value) < 2:
            return NONE
        odd = [it for it, item in enumerate(value) if keys and not isinstance(item, dict | None)]
        if odd:
            place, because = odd[0], "must be an object for an array of list-type map"
            repeated = json.dumps(value[place], ensure_ascii=False, separators=(",", ":"))
            body = f"Invalid value: {repeated}: {because}"
            return [Flaw(f"[{place}]", "FieldValueInvalid", body)]
        names = [key_of(item, keys) for item in value] if keys else value
        if keys and len(set(names)) == len(names):
            return NONE
        flaws: list[Flaw] = []
        seen: list[Any] = []
        for position, (item, name) in enumerate(zip(value, names, strict=True)):
            if seen.count(name) == 1:
                shown = item
                if keys:
                    # A null has no keys, as an empty object.
                    shown = {key: item[key] for key in keys if key in (item or {})}
                text = json.dumps(shown, sort_keys=True, separators=(",", ":"))
                flaws.append(
                    Flaw(f"[{position}]", "FieldValueDuplicate", f"Duplicate value: {text}")
                )
            seen.append(name)
        return flaws

    return check


_EMBEDDED: Final = {"apiVersion": "string", "kind": "string", "metadata": "object"}
"""The types of what every embedded resource has."""


def _object_check(schema: Mapping[str, Any]) -> Check:
    checks = {
        name: compile_check(child) for name, child in (schema.get("properties") or {}).items()
    }
    required: tuple[str, ...] = tuple(schema.get("required") or ())
    if schema.get("x-kubernetes-embedded-resource"):
        for name, type_ in _EMBEDDED.items():
            checks.setdefault(name, compile_check({"type": type_}))
        required += tuple(name for name in ("apiVersion", "kind") if name not in required)
    needed = frozenset(required)
    extra = schema.get("additionalProperties")
    check_extra = compile_check(extra) if isinstance(extra, Mapping) else None
    fewest, most = schema.get("minProperties"), schema.get("maxProperties")

    def check(value: Any, stored: Any) -> Sequence[Flaw]:
        if not isinstance(value, dict):
            return NONE
        before: Mapping[str, Any] = stored if isinstance(stored, dict) else {}
        flaws: list[Flaw] = []
        if not value.keys() >= needed:
            flaws += [
                Flaw(name, "FieldValueRequired", "Required value")
                for name in required
                if name not in value
            ]
        for name, child in value.items():
            check_child = checks.get(name, check_extra)
            old = before.get(name, ABSENT)
            if check_child is not None and child is not old:
                found = check_child(child, old)
                if found:
                    flaws += below(name, found)
        if fewest is not None and len(value) < fewest:
            flaws += invalid_value(len(value), f"should have at least {fewest} properties")
        if most is not None and len(value) > most:
            noun = "item" if most == 1 else "items"
            body = f"Too many: {len(value)}: must have at most {most} {noun}"
            flaws.append(Flaw("", "FieldValueTooMany", body))
        return flaws

    return check


def _combinations(schema: Mapping[str, Any]) -> list[Check]:
    checks: list[Check] = []
    branches = schema.get("anyOf")
    # int-or-string is written as an anyOf of two types; the type check says it all.
    if branches and not schema.get("x-kubernetes-int-or-string"):
        complaint = "must validate at least one schema (anyOf)"
        checks.append(_counting_check(branches, 1, len(branches), complaint))
    branches = schema.get("oneOf")
    if branches:
        complaint = "must validate one and only one schema (oneOf)"
        checks.append(_counting_check(branches, 1, 1, complaint))
    branches = schema.get("allOf")
    if branches:
        complaint = "must validate all the schemas (allOf)"
        checks.append(_counting_check(branches, len(branches), len(branches), complaint))
    if schema.get("not"):
        complaint = "must not validate the schema (not)"
        checks.append(_counting_check([schema["not"]], 0, 0, complaint))
    return checks


def _counting_check(
    schemas: Sequence[Mapping[str, Any]], least: int, most: int, complaint: str
) -> Check:
    """Check that the required number of schemas accept the value."""
    branches = [compile_check(branch) for branch in schemas]

    def check(value: Any, stored: Any) -> Sequence[Flaw]:  # noqa: ARG001
        failures = [found for branch in branches if (found := branch(value, ABSENT))]
        accepting = len(branches) - len(failures)
        if least <= accepting <= most:
            return NONE
        body = f'Invalid value: "": "{PATH}" {complaint}'
        if "oneOf" in complaint:
            body += f". Found {f'{accepting} valid alternatives' if accepting else 'none valid'}"
        elif "allOf" in complaint and not accepting:
            body += ". None validated"
        flaws = [Flaw("", "FieldValueInvalid", body, homeless=True)]
        if "allOf" in complaint:
            return [*flaws, *(flaw for found in failures for flaw in found)]
        return flaws if accepting else [*flaws, *failures[0]]

    return check
