"""Functions that Kubernetes adds to the language, one module for each of its libraries."""

from __future__ import annotations

from cel_expr_python import cel

from clusters.simulated.custom_resources.rules.library import (
    addresses,
    conversions,
    formats,
    lists,
    maps,
    ordering,
    patterns,
    quantities,
    semantic_versions,
    urls,
)
from clusters.simulated.custom_resources.rules.library.declaring import (
    IN_EVALUATION,
    TO_CHECKER,
)


def functions(*, checked: bool) -> list[cel.FunctionDecl]:
    """The declarations of all functions, for a checker or for an evaluation."""
    types = TO_CHECKER if checked else IN_EVALUATION
    return [
        *addresses.functions(types),
        *formats.functions(types),
        *lists.functions(checked=checked),
        *patterns.functions(),
        *semantic_versions.functions(types),
        *quantities.functions(types),
        *urls.functions(types),
        *ordering.functions(types),
        *(conversions.functions(types) if checked else maps.functions()),
    ]
