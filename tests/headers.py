"""Headers of histories with one operator, its facts and the world's side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from vocabulary.history import Header, OperatorUnderTest, WorldFacts

ROLE = "appwrapper"
OF_WORLD = frozenset(WorldFacts.__struct_fields__)


def header_of(
    *,
    implementation: str = "story",
    parameters: Mapping[str, Any] | None = None,
    facts: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Header:
    """A header of a simulated run; `facts` are the operator's and the world's by their names."""
    told: dict[str, Any] = {
        "scenario": "by hand",
        "seed": 1,
        "cluster": "simulated",
        "clock": "virtual",
        "began_us": 0,
        "kubernetes_version": "v1.36.0",
        "operators": {
            ROLE: OperatorUnderTest(
                suite=ROLE, implementation=implementation, parameters=dict(parameters or {})
            )
        },
        **changes,
    }
    return with_facts(Header(**told), **(facts or {}))


def with_facts(header: Header, **facts: Any) -> Header:
    """The same with other facts."""
    of_world = {name: fact for name, fact in facts.items() if name in OF_WORLD}
    of_operator = {name: fact for name, fact in facts.items() if name not in OF_WORLD}
    operator = header.first
    return msgspec.structs.replace(
        header,
        facts=msgspec.structs.replace(header.facts, **of_world),
        operators={
            ROLE: msgspec.structs.replace(
                operator, facts=msgspec.structs.replace(operator.facts, **of_operator)
            )
        },
    )


def fact_of(header: Header, name: str) -> Any:
    """A fact by its name, the world's or the operator's."""
    return getattr(header.facts if name in OF_WORLD else header.first.facts, name)


def of_implementation(header: Header, implementation: str, **changes: Any) -> Header:
    """The same of another implementation."""
    operator = msgspec.structs.replace(header.first, implementation=implementation)
    return msgspec.structs.replace(header, operators={ROLE: operator}, **changes)
