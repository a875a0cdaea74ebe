"""Regular expressions."""

from __future__ import annotations

from cel_expr_python import cel

from clusters.simulated.custom_resources.rules.library.declaring import (
    INT,
    STRING,
    STRINGS,
    Overload,
    function,
    method,
)
from vocabulary.patterns import compile_pattern


def functions() -> list[cel.FunctionDecl]:
    """The library `kubernetes.regex`."""
    return [
        method("find", STRING, [STRING, STRING], _find),
        function(
            "findAll",
            Overload(STRINGS, [STRING, STRING], _find_all),
            Overload(STRINGS, [STRING, STRING, INT], _find_all),
        ),
    ]


def _find(text: str, pattern: str) -> str:
    found = compile_pattern(pattern).search(text)
    return found[0] if found else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    found = [match[0] for match in compile_pattern(pattern).finditer(text)]
    return found if limit < 0 else found[:limit]
