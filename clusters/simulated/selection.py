"""Selection by the label and field selectors of a list or a watch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from clusters.simulated.field_selectors import field_selector
from clusters.simulated.names import label_value, qualified_name
from clusters.simulated.store import Store
from clusters.simulated.strategy import Strategy
from vocabulary.errors import ApiError
from vocabulary.integers import int64_of
from vocabulary.objects import Object, labels_of
from vocabulary.selectors import parse_selector, requirements

Selects = Callable[[Object], bool]


def selection(label_selector: str, field_selector_: str, strategy: Strategy) -> Selects | None:
    """Return a predicate for both selectors; None if they match all objects.

    Raises a 400 for a selector that is malformed or names a field that cannot be selected.
    """
    if not label_selector:
        return field_selector(field_selector_, strategy)
    try:
        labels_match = parse_selector(label_selector)
        _require_labels(label_selector)
    except ValueError as error:
        raise ApiError(400, "BadRequest", str(error)) from None
    by_field = field_selector(field_selector_, strategy)
    if by_field is None:
        return lambda obj: labels_match(labels_of(obj))
    return lambda obj: labels_match(labels_of(obj)) and by_field(obj)


@lru_cache(maxsize=1024)
def _require_labels(label_selector: str) -> None:
    """ValueError for keys and values that no label has."""
    for key, operator, values in requirements(label_selector):
        complaints = "; ".join(qualified_name(key))
        flaws = [f'<nil>: Invalid value: "{key}": {complaints}'] if complaints else []
        for index, value in enumerate(sorted(values)):
            if operator in ("Gt", "Lt") and int64_of(value) is None:
                because = "for 'Gt', 'Lt' operators, the value must be an integer"
                flaws.append(f'values[{index}]: Invalid value: "{value}": {because}')
            complaints = "; ".join(label_value(value))
            if complaints:
                flaws.append(f'values[{index}][{key}]: Invalid value: "{value}": {complaints}')
        if flaws:
            told = flaws[0] if len(flaws) == 1 else f"[{', '.join(flaws)}]"
            raise ValueError(f"unable to parse requirement: {told}")


def candidates(
    store: Store, kind: str, namespace: str, label_selector: str
) -> Iterable[dict[str, Any]]:
    """Objects among which all are that the label selector may choose.

    The labels that it demands have an index; the rarest of them narrows the search.
    """
    demanded = _demanded(label_selector)
    if not demanded:
        return store.of_kind(kind, namespace)
    rarest = min(demanded, key=lambda pair: store.count_labelled(kind, *pair))
    found = store.labelled(kind, *rarest)
    if not namespace:
        return found
    return (obj for obj in found if obj["metadata"].get("namespace") == namespace)


@lru_cache(maxsize=1024)
def _demanded(label_selector: str) -> tuple[tuple[str, str], ...]:
    """The labels with exactly one value each that a selector of plain terms demands."""
    if any(mark in label_selector for mark in "()!"):
        return ()
    pairs = []
    for term in label_selector.split(","):
        label, equals, value = term.partition("=")
        if equals:
            pairs.append((label.strip(), value.removeprefix("=").strip()))
    return tuple(pairs)
