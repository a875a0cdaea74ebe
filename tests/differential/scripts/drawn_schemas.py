"""Schemas of custom resources that are drawn at random, and values that may not be of them.

A generator with a seed draws them, so both sides get the same ones.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.rules import one, served
from vocabulary.kinds import Kind
from vocabulary.objects import get_path

Schema = dict[str, Any]

_OF_TEXTS: Final[Sequence[Schema]] = (
    *({"minLength": 2}, {"maxLength": 2}, {"pattern": "^a+$"}, {"enum": ["a", "abc"]}),
    *({"format": "date-time"}, {"format": "int32"}, {"format": "ipv4"}),
)
_OF_NUMBERS: Final[Sequence[Schema]] = (
    *({"minimum": 1}, {"maximum": 2}, {"minimum": 1, "exclusiveMinimum": True}),
    *({"maximum": 2, "exclusiveMaximum": True}, {"multipleOf": 2}),
)
_OF_LISTS: Final[Sequence[Schema]] = ({"minItems": 1}, {"maxItems": 1}, {"minItems": 2})
_OF_MAPS: Final[Sequence[Schema]] = ({"minProperties": 1}, {"maxProperties": 1})
_TEXTS: Final = ("", "a", "aa", "abc", "1", "10.0.0.1", "2024-01-01T00:00:00Z", "2024-13-01")
_NUMBERS: Final = (0, 1, 2, 3, -1, 1.5, 2**31, 2**53)


def _limited(rng: random.Random, limits: Sequence[Schema]) -> Schema:
    found: Schema = {}
    for _ in range(rng.randrange(3)):
        found |= rng.choice(limits)
    if rng.randrange(5) == 0:
        how = rng.choice(("allOf", "anyOf", "oneOf"))
        found[how] = [dict(rng.choice(limits)) for _ in range(2)]
    if rng.randrange(9) == 0:
        found["not"] = dict(rng.choice(limits))
    return found


def _schema(rng: random.Random, depth: int) -> Schema:
    kind = rng.choice(
        ("string", "string", "integer", "number", "boolean", "any")
        + ("array", "array", "object", "object", "map") * (depth > 0)
    )
    nullable = {"nullable": True} if rng.randrange(4) == 0 else {}
    if kind == "string":
        return {"type": kind, **_limited(rng, _OF_TEXTS), **nullable}
    if kind in ("integer", "number"):
        return {"type": kind, **_limited(rng, _OF_NUMBERS), **nullable}
    if kind == "boolean":
        return {"type": kind, **nullable}
    if kind == "any":
        return {"x-kubernetes-int-or-string": True, **nullable}
    if kind == "array":
        items = _schema(rng, depth - 1)
        as_set = rng.randrange(3) == 0 and items.get("type") == "string"
        told = {"x-kubernetes-list-type": "set"} if as_set else {}
        items.pop("nullable", None)
        return {"type": kind, "items": items, **_limited(rng, _OF_LISTS), **told, **nullable}
    if kind == "map":
        inner = _schema(rng, depth - 1)
        limits = _limited(rng, _OF_MAPS)
        return {"type": "object", "additionalProperties": inner, **limits, **nullable}
    properties = {name: _schema(rng, depth - 1) for name in "ab"}
    if rng.randrange(3) == 0:
        properties["c"] = {"type": "string", "default": "d"}
    required = {"required": [rng.choice("abc")]} if rng.randrange(3) == 0 else {}
    kept = {"x-kubernetes-preserve-unknown-fields": True} if rng.randrange(5) == 0 else {}
    return {"type": "object", "properties": properties, **required, **kept, **nullable}


def _value(rng: random.Random, schema: Schema) -> Any:
    """A value that is of a schema's type, most of the time."""
    other = rng.randrange(14)
    if other == 0:
        return None
    if other == 1:
        others: tuple[Any, ...] = ("a", True, [], {}, ["a"], {"a": "b"})
        # A real server calls what stands in place of such a text an empty one.
        return rng.choice(others[:1] if "format" in schema else others)
    kind = schema.get("type", "any")
    if kind == "string" or (kind == "any" and rng.randrange(2)):
        return rng.choice(_TEXTS)
    if kind in ("integer", "number", "any"):
        return rng.choice(_NUMBERS[:4] if rng.randrange(3) else _NUMBERS)
    if kind == "boolean":
        return rng.choice((True, False))
    if kind == "array":
        return [_value(rng, schema["items"]) for _ in range(rng.randrange(4))]
    if "additionalProperties" in schema:
        inner = schema["additionalProperties"]
        return {name: _value(rng, inner) for name in "xyz"[: rng.randrange(4)]}
    found = {
        name: _value(rng, each) for name, each in schema["properties"].items() if rng.randrange(4)
    }
    return {**found, "odd": 1} if rng.randrange(4) == 0 else found


@script("Values are validated, pruned and defaulted by any schema.", ["4.16"])
def drawn_schemas(c: Dialogue) -> None:
    rng = c.random("schemas")
    for number in range(8):
        schemas = {f"p{place}": _schema(rng, 2) for place in range(8)}
        with served(c, f"Knob{number}", it={"type": "object", "properties": schemas}) as kind:
            for _ in range(16):
                chosen = rng.sample(sorted(schemas), 3)
                _tell(c, kind, {name: _value(rng, schemas[name]) for name in chosen})


def _tell(c: Dialogue, kind: Kind, value: Schema) -> None:
    path = f"{kind.path(c.namespace)}?dryRun=All"
    answer = c.consult("POST", path, one(kind, it=value))
    if answer.code == 201:
        c.note(f"{value}", get_path(answer.body, "spec.it"))
        return
    causes = answer.body.get("details", {}).get("causes") or ()
    told = {f"{it['field']}: {it['message']}" for it in causes}
    c.note(f"{value}", [answer.code, *sorted(told or {answer.body["message"]})])
