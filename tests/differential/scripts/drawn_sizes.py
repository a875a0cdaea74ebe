"""Schemas that are drawn at random with and without limits, and what rules about them cost.

A generator with a seed draws them, so both sides get the same ones.
"""

from __future__ import annotations

import random
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.custom_resources import definition, version
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION

Schema = dict[str, Any]

_TEXTS: Final[tuple[Schema, ...]] = (
    *({}, {"maxLength": 7}, {"maxLength": 500}, {"enum": ["a", "bcd", "éé"]}, {"maxLength": 0}),
    *({"format": it} for it in ("date", "date-time", "duration", "uuid")),
    *(
        {"format": "byte"},
        {"format": "byte", "maxLength": 30},
        {"format": "byte", "enum": ["YQ=="]},
    ),
    {"format": "date", "maxLength": 3},
)
_KINDS: Final = ("string", "string", "integer", "number", "boolean", "any", "open")


def _schema(rng: random.Random, depth: int) -> Schema:
    kind = rng.choice(_KINDS + ("array", "map", "object", "array", "map", "object") * (depth > 0))
    if kind == "string":
        return {"type": kind, **rng.choice(_TEXTS)}
    if kind == "any":
        return {"x-kubernetes-int-or-string": True, **rng.choice(({}, {"maxLength": 9}))}
    if kind == "open":
        return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    if kind in ("integer", "number", "boolean"):
        return {"type": kind}
    limit = rng.choice((None, None, 0, 3, 40, 2000))
    if kind == "array":
        most = {} if limit is None else {"maxItems": limit}
        return {"type": kind, "items": _schema(rng, depth - 1), **most}
    if kind == "map":
        most = {} if limit is None else {"maxProperties": limit}
        return {"type": "object", "additionalProperties": _schema(rng, depth - 1), **most}
    properties = {name: _schema(rng, depth - 1) for name in ("a", "bb")[: rng.randint(1, 2)]}
    required: Schema = {"required": rng.sample(sorted(properties), 1)} if rng.randrange(2) else {}
    if properties["a"].get("type") == "integer" and rng.randrange(2):
        properties["a"]["default"] = 1
    embedded: Schema = {"x-kubernetes-embedded-resource": True} if rng.randrange(7) == 0 else {}
    return {"type": "object", "properties": properties, **required, **embedded}


def _about(rng: random.Random, path: str, schema: Schema, depth: int = 0) -> str:
    """An expression about a value of that schema, the costlier the larger it is."""
    kind, each = schema.get("type"), f"v{depth}"
    if kind == "string" and "format" not in schema:
        told = ("{0}.contains({0})", "{0}.matches('a')", "({0} + {0}).size() > 3", "{0} == 'a'")
        return rng.choice(told).format(path)
    if kind == "array":
        inner = _about(rng, each, schema["items"], depth + 1)
        return f"{path}.all({each}, {inner})" if rng.randrange(4) else f"{path} == {path}"
    if "additionalProperties" in schema:
        inner = _about(rng, f"{path}[{each}]", schema["additionalProperties"], depth + 1)
        keys = f"{path}.exists({each}, {each}.startsWith({each}))"
        return rng.choice((f"{path}.all({each}, {inner})", keys))
    if schema.get("properties"):
        name = rng.choice((*schema["properties"], *schema["properties"], "metadata.name"))
        if name in schema["properties"]:
            return _about(rng, f"{path}.{name}", schema["properties"][name], depth)
        if "x-kubernetes-embedded-resource" in schema:
            return f"{path}.metadata.name.contains('a')"
    return f"{path} == {path}"


@script("The sizes that a schema leaves open are estimated as a real server does.", ["4.16"])
def drawn_sizes(c: Dialogue) -> None:
    rng = c.random("sizes")
    path = f"{CUSTOM_RESOURCE_DEFINITION.path()}?dryRun=All"
    for _ in range(160):
        schema = _schema(rng, 3)
        rule = _about(rng, "self", schema)
        ruled = {**schema, "x-kubernetes-validations": [{"rule": rule, "message": "m"}]}
        around: Schema = rng.choice(
            (
                ruled,
                {"type": "array", "items": ruled, **rng.choice(({}, {"maxItems": 9}))},
                {"type": "object", "additionalProperties": ruled},
                {"type": "array", "maxItems": 5, "items": {"type": "array", "items": ruled}},
            )
        )
        crd = definition("shims", "Shim", version("v1", it=around))
        answer = c.consult("POST", path, crd)
        causes = answer.body.get("details", {}).get("causes") or ()
        said = sorted({it["message"].partition(" (try")[0].partition("\n")[0] for it in causes})
        c.note(f"{rule} {around}", [answer.code, *said])
