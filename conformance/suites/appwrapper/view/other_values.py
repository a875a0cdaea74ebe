"""Values that a parameter would have if part of its definition were ignored.

The table of the source derives one value from an annotation, the operator's configuration, the
default and the maximum. Using only one of these is a separate bug for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from conformance.suites.appwrapper.parameters import RETRY_LIMIT, SUCCESS_TTL
from conformance.suites.appwrapper.view.parameters import MAX_INT32, OperatorParameters
from vocabulary.durations import parse_duration

_BUILT_IN: Final = OperatorParameters({})


def without_annotation(operator: OperatorParameters, name: str) -> frozenset[int]:
    """The operator's configured value, and the default."""
    return frozenset((operator.of(name, None).value, _BUILT_IN.of(name, None).value))


def without_maximum(name: str, annotations: Iterable[str | None]) -> frozenset[int]:
    """The annotated values without limits; negative ones also without their sign."""
    return frozenset(_literally(name, annotations))


def other_values(
    operator: OperatorParameters, name: str, annotations: Iterable[str | None]
) -> frozenset[int]:
    """All of them, and no value at all; the maximum for what it does not limit."""
    found = without_annotation(operator, name) | without_maximum(name, annotations) | {0}
    return found | {operator.maximum.value} if name == SUCCESS_TTL else found


def _literally(name: str, annotations: Iterable[str | None]) -> Iterator[int]:
    for text in annotations:
        if text is None:
            continue
        try:
            wanted = int(text) if name == RETRY_LIMIT else parse_duration(text)
        except ValueError:
            continue
        yield abs(wanted)
        if name == RETRY_LIMIT and wanted < 0:
            yield MAX_INT32  # never reached: as if there were no limit
