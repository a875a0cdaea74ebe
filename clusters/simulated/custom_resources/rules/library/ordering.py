"""Comparisons, which quantities and semantic versions share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cel_expr_python import cel

from clusters.simulated.custom_resources.rules.library import quantities, semantic_versions
from clusters.simulated.custom_resources.rules.library.declaring import (
    BOOL,
    INT,
    STRING,
    Overload,
    Types,
    function,
)


def functions(types: Types) -> list[cel.FunctionDecl]:
    """The comparisons; in evaluations, of texts."""
    compared = (types.quantity,) if types.quantity == STRING else (types.quantity, types.semver)

    def declared(name: str, returned: cel.Type, act: Callable[[str, str], Any]) -> cel.FunctionDecl:
        return function(name, *(Overload(returned, [each, each], act) for each in compared))

    return [
        declared("isGreaterThan", BOOL, lambda one, other: _compared(one, other) > 0),
        declared("isLessThan", BOOL, lambda one, other: _compared(one, other) < 0),
        declared("compareTo", INT, _compared),
    ]


def _compared(one: str, other: str) -> int:
    """Only the texts of versions have dots."""
    if "." in one:
        return semantic_versions.compared(one, other)
    return quantities.compared(one, other)
