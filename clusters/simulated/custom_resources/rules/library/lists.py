"""Lists: what Kubernetes adds to the language's own library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from cel_expr_python import cel
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from clusters.simulated.custom_resources.rules.library.declaring import (
    BOOL,
    INT,
    STRING,
    Overload,
    function,
)

_SUMMED: Final = (INT, cel.Type.UINT, cel.Type.DOUBLE, cel.Type.DURATION)
_ORDERED: Final = (*_SUMMED, STRING, BOOL, cel.Type.BYTES, cel.Type.TIMESTAMP)
_ANY: Final = cel.Type.DYN


def functions(*, checked: bool) -> list[cel.FunctionDecl]:
    """The library `kubernetes.lists`, but for what strings have, too: see `searches`."""
    return [
        _of_lists("isSorted", _ORDERED, lambda items: list(items) == sorted(items), checked),
        _of_lists("sum", _SUMMED, _sum, checked),
        _of_lists("min", _ORDERED, partial(_extreme, min), checked),
        _of_lists("max", _ORDERED, partial(_extreme, max), checked),
    ]


def searches() -> cel.CelExtension:
    """`indexOf` and `lastIndexOf`, as further overloads of those of strings."""
    of_any = [cel.Type.List(_ANY), _ANY]
    return cel.CelExtension(
        "kubernetes.lists",
        [
            function("indexOf", Overload(INT, of_any, _index)),
            function("lastIndexOf", Overload(INT, of_any, _last_index)),
        ],
    )


def _of_lists(
    name: str, elements: Sequence[cel.Type], act: Callable[..., Any], checked: bool
) -> cel.FunctionDecl:
    """A function of the lists of these types; in an evaluation, of all."""
    return function(
        name,
        *(
            Overload(BOOL if name == "isSorted" else element, [cel.Type.List(element)], act)
            for element in (elements if checked else (_ANY,))
        ),
    )


def _sum(items: Sequence[Any]) -> Any:
    if not items:
        return 0
    total = items[0]
    for item in items[1:]:
        total += item
    return _returned(total)


def _extreme(choose: Callable[[Sequence[Any]], Any], items: Sequence[Any]) -> Any:
    if not items:
        raise ValueError(f"{choose.__name__} called on empty list")
    return _returned(choose(items))


def _returned(value: Any) -> Any:
    """The value in the form in which a function can return it."""
    if isinstance(value, timedelta):
        span = Duration()
        span.FromTimedelta(value)
        return span
    if isinstance(value, datetime):
        moment = Timestamp()
        moment.FromDatetime(value)
        return moment
    return value


def _index(items: Sequence[Any], sought: Any) -> int:
    return next((at for at, item in enumerate(items) if item == sought), -1)


def _last_index(items: Sequence[Any], sought: Any) -> int:
    return next((at for at in reversed(range(len(items))) if items[at] == sought), -1)
