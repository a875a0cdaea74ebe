"""Maps made of lists, for comprehensions that the library does not evaluate: see `rewriting`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from cel_expr_python import cel

from clusters.simulated.custom_resources.rules.library.declaring import method

_ENTRIES: Final = cel.Type.List(cel.Type.DYN)
_MAP: Final = cel.Type.Map(cel.Type.DYN, cel.Type.DYN)


def functions() -> list[cel.FunctionDecl]:
    return [
        method("__map__", _MAP, [_ENTRIES], _map),
        method("__merged__", _MAP, [_ENTRIES], _merged),
    ]


def _map(entries: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    return dict(entries)


def _merged(maps: Iterable[Mapping[Any, Any]]) -> dict[Any, Any]:
    merged: dict[Any, Any] = {}
    for each in maps:
        for key, value in each.items():
            if key in merged:
                shown = key if isinstance(key, str) else json.dumps(key)
                raise ValueError(f"insert failed: key {shown} already exists")
            merged[key] = value
    return merged
