"""Comparison of a created object with the user's template.

The API server adds defaults and a controller injects labels, so an instance may have more than
its template, but nothing in the template may be missing or different.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import Any

from vocabulary.objects import Object
from vocabulary.quantities import parse_quantity

_SERVER_FIELDS = ("status", "metadata", "stringData")
"""Fields that the server owns or rewrites: a Secret's stringData is merged into its data."""
_ALTERNATIVES = "nodeSelectorTerms"
"""One of them is enough, so that one more than the user wrote loosens what he asked for."""
_UNORDERED = (_ALTERNATIVES, "matchExpressions", "matchFields", "tolerations", "schedulingGates")
"""Lists whose order means nothing: what is injected may stand anywhere in them."""


def first_difference(template: Object, created: Object) -> str:
    """The first field of the template that the created object contradicts; empty if none.

    Of the metadata only labels and annotations are compared: the rest is the server's.
    """
    for key in sorted(template):
        if key not in _SERVER_FIELDS:
            found = _difference(key, template[key], created.get(key))
            if found:
                return found
    for key in ("labels", "annotations"):
        wanted = (template.get("metadata") or {}).get(key)
        if wanted:
            found = _difference(f"metadata.{key}", wanted, (created.get("metadata") or {}).get(key))
            if found:
                return found
    return ""


def _difference(path: str, wanted: Any, seen: Any) -> str:
    if wanted is None or wanted == seen or wanted in ({}, []):
        return ""
    if isinstance(wanted, dict):
        if not isinstance(seen, dict):
            return f"{path} is {seen!r}"
        for key in sorted(wanted):
            found = _difference(f"{path}.{key}", wanted[key], seen.get(key))
            if found:
                return found
        return ""
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        if not isinstance(seen, Sequence) or len(seen) < len(wanted):
            return f"{path} is {seen!r}"
        if path.endswith(_UNORDERED):
            return _missing_entry(path, wanted, seen)
        for index, value in enumerate(wanted):
            found = _difference(f"{path}[{index}]", value, seen[index])
            if found:
                return found
        return ""
    if _same_quantity(wanted, seen):
        return ""
    return f"{path} is {seen!r} where the template says {wanted!r}"


def _missing_entry(path: str, wanted: Sequence[Any], seen: Sequence[Any]) -> str:
    """The first entry of an unordered list that nothing in the created list stands for."""
    if path.endswith(_ALTERNATIVES) and len(seen) > len(wanted):
        return f"{path} has {len(seen)} alternatives where the template has {len(wanted)}"
    stands_for: dict[int, int] = {}

    def place(index: int, tried: set[int]) -> bool:
        """Find an entry for a value, moving others to another one if need be (Kuhn)."""
        for position, each in enumerate(seen):
            if position not in tried and not _difference("", wanted[index], each):
                tried.add(position)
                if position not in stands_for or place(stands_for[position], tried):
                    stands_for[position] = index
                    return True
        return False

    for index, value in enumerate(wanted):
        if not place(index, set()):
            return f"{path} lacks {value!r}"
    return ""


def _same_quantity(wanted: Any, seen: Any) -> bool:
    """`0.5` and `500m` are one value: the API server rewrites quantities, and rounds what is finer
    than a thousandth up to that."""
    if isinstance(wanted, bool) or not isinstance(wanted, str | int | float):
        return False
    if isinstance(seen, bool) or not isinstance(seen, str | int | float):
        return False
    try:
        asked, stored = parse_quantity(wanted), parse_quantity(seen)
    except ValueError:
        return False
    return stored in (asked, Fraction(ceil(asked * 1000), 1000))
