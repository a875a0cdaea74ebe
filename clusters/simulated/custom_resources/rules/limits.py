"""Limits of what the rules of a schema may cost, by which definitions are refused."""

from __future__ import annotations

from typing import Final

from clusters.simulated.field_errors import FieldError, forbidden

_OF_EXPRESSION: Final = 10_000_000
_OF_SCHEMA: Final = 100_000_000
_MOST: Final = 2**64 - 1
_NAMED: Final = 4
"""Of so many expressions is said that they are the most expensive."""
_HUGE, _SMALL = 100.0, 1.5
"""Factors beyond the limit that are not shown as they are, or with more digits."""


class Budget:
    """The costs of the expressions of a schema so far."""

    def __init__(self) -> None:
        self._costs: list[tuple[int, str]] = []

    def spend(self, path: str, name: str, cost: int) -> list[FieldError]:
        """The error of an expression that costs too much."""
        cost = min(cost, _MOST)
        self._costs.append((cost, path))
        return [forbidden(path, _exceeded(name, cost, _OF_EXPRESSION))] * (cost > _OF_EXPRESSION)

    def errors(self) -> list[FieldError]:
        """Those of all expressions together."""
        total = min(sum(cost for cost, _ in self._costs), _MOST)
        if total <= _OF_SCHEMA:
            return []
        because = (
            "contributed to estimated rule cost total exceeding cost limit for entire "
            "OpenAPIv3 schema"
        )
        first = sorted(self._costs, key=lambda spent: -spent[0])[:_NAMED]
        name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        return [
            *(forbidden(path, because) for cost, path in first if cost >= _OF_SCHEMA // 100),
            forbidden("", _exceeded(name, total, _OF_SCHEMA)),
        ]


def _exceeded(name: str, cost: int, limit: int) -> str:
    factor = cost / limit
    shown = f"{factor:f}x" if factor < _SMALL else f"{factor:.1f}x"
    if factor > _HUGE:
        shown = "more than 100x"
    return (
        f"{name} exceeds budget by factor of {shown} (try simplifying the rule, or adding "
        "maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
