"""A version of a custom resource: its schema, compiled once per process.

Compiling a large schema takes longer than all else that starting a cluster does, so what
was compiled is kept, by the digest of the schema, for the next cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from clusters.simulated.custom_resources.flaws import Check
from clusters.simulated.custom_resources.shaping import Shape, compile_shape
from clusters.simulated.custom_resources.validating import compile_check
from vocabulary.canonical import digest

if TYPE_CHECKING:
    from clusters.simulated.custom_resources.rules.rules import Rules


@dataclass(frozen=True, slots=True)
class CompiledSchema:
    """How objects of one version are shaped and checked."""

    source: Mapping[str, Any]
    """The schema itself, as the definition has it."""

    shape: Shape
    check: Check
    check_status: Check
    rules: Rules | None
    """Its x-kubernetes-validations; None if it has none."""


_compiled: Final[dict[str, CompiledSchema]] = {}
_rules: Final[dict[str, Rules]] = {}


def compiled_before(schema: Any) -> CompiledSchema | None:
    """The compiled form of this very schema; None if it was not compiled yet."""
    return next((known for known in _compiled.values() if known.source is schema), None)


def compile_schema(schema: Mapping[str, Any]) -> CompiledSchema:
    """The compiled form of a version's `openAPIV3Schema`."""
    known = compiled_before(schema)
    if known is not None:
        return known
    key = digest(schema)
    if key not in _compiled:
        properties = dict(schema.get("properties") or {})
        # Metadata has its own rules; what is left is an object with apiVersion and kind.
        properties.pop("metadata", None)
        root = {**schema, "properties": properties, "x-kubernetes-embedded-resource": True}
        _compiled[key] = CompiledSchema(
            schema,
            compile_shape(root),
            compile_check(root),
            compile_check(properties.get("status") or {}),
            rules_of(schema),
        )
    return _compiled[key]


def rules_of(schema: Any) -> Rules | None:
    """The rules of a schema, compiled once per process; None if it has none."""
    if not _has_rules(schema):
        return None
    key = digest(schema)
    if key not in _rules:
        # The library takes longer to load than a cluster to start.
        from clusters.simulated.custom_resources.rules.rules import compile_rules

        _rules[key] = compile_rules(schema)
    return _rules[key]


def _has_rules(schema: Any) -> bool:
    if isinstance(schema, Mapping):
        return "x-kubernetes-validations" in schema or any(map(_has_rules, schema.values()))
    return isinstance(schema, list) and any(map(_has_rules, schema))
