"""Conversions to texts, with those of addresses and networks.

A function of the language gets further overloads only if it is declared again. In evaluations
addresses are texts, so that only the checker needs these.
"""

from __future__ import annotations

from typing import Final

from cel_expr_python import cel

from clusters.simulated.custom_resources.rules.library.declaring import (
    BOOL,
    INT,
    STRING,
    Overload,
    Types,
    function,
)

_CONVERTED: Final = (
    *(INT, cel.Type.UINT, cel.Type.DOUBLE, BOOL, STRING, cel.Type.BYTES),
    *(cel.Type.TIMESTAMP, cel.Type.DURATION),
)


def functions(types: Types) -> list[cel.FunctionDecl]:
    """The function `string`."""
    converted = (*_CONVERTED, types.ip, types.cidr)
    return [function("string", *(Overload(STRING, [it], str, is_member=False) for it in converted))]
