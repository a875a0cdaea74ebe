"""Objects drawn from the schema of a CRD: a user's object with one or two values changed.

Values are those at the edges: least and greatest numbers, every value of an enumeration, empty and
long texts, empty lists, fields left out, and fields that the user's object lacks. What the schema
still refuses costs a run that ends at once.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from vocabulary import canonical
from vocabulary.objects import Object, get_path
from vocabulary.patterns import PatternError, compile_pattern

Schema = Mapping[str, Any]

MOST: Final = 40
"""Objects drawn from one manifest with one change; an eighth of them with a second one."""
DEPTH: Final = 8
"""Levels of a schema below which no field is added."""
_NUMBERS: Final = (0, 1, -1, 2)
_GREATEST: Final = 1000
"""A greater number of replicas, or the like, would take a run too long."""
_TEXTS: Final = ("", "x", "Not A Name_", "ä", "x" * 300)
_NOT_DRAWN: Final = ("apiVersion", "kind", "metadata", "status")


class Drawn(NamedTuple):
    """An object, and the change that made it, such as `spec.replicas = 0`."""

    text: str
    object: Any
    is_less: bool = False
    """True for a field that is left out or a list that is empty, and nothing else: authors of
    operators forget these most often."""


def drawn_objects(manifest: Object, schema: Schema, seed: str) -> Iterator[Drawn]:
    """Objects like the manifest, the same ones for the same seed; fields near the top first."""
    rng = random.Random(seed)
    chosen = _few(_changed(manifest, schema), rng, MOST)
    yield from chosen
    for first in rng.sample(chosen, len(chosen) // 8):
        for second in _few(_changed(first.object, schema), rng, 1):
            yield Drawn(f"{first.text}, {second.text}", second.object)


def schemas_of(definitions: tuple[Object, ...]) -> dict[tuple[str, str], Schema]:
    """The schemas of CRDs, by apiVersion and kind."""
    found: dict[tuple[str, str], Schema] = {}
    for crd in definitions:
        group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
        for version in crd["spec"]["versions"]:
            schema = get_path(version, "schema.openAPIV3Schema") or {}
            found[f"{group}/{version['name']}", kind] = schema
    return found


def _few(every: Iterator[Drawn], rng: random.Random, most: int) -> list[Drawn]:
    """So many, half of them at most less than the user's object, if there are others."""
    found = list(every)
    rng.shuffle(found)
    found.sort(key=lambda each: each.text.partition(" ")[0].count(".") // 3)
    less = [each for each in found if each.is_less]
    more = [each for each in found if not each.is_less]
    less = less[: max(most // 2, most - len(more))]
    return [*less, *more[: most - len(less)]]


def _changed(manifest: Object, schema: Schema) -> Iterator[Drawn]:
    top = {
        key: below
        for key, below in (schema.get("properties") or {}).items()
        if key not in _NOT_DRAWN
    }
    yield from _variants({**schema, "properties": top}, manifest, "")


def _variants(schema: Schema, value: Any, path: str) -> Iterator[Drawn]:
    """The value with one change, each with the change in words."""
    if isinstance(value, Mapping) and schema.get("properties"):
        for name, below in schema["properties"].items():
            where = f"{path}.{name}" if path else name
            if name not in value:
                for new in _values(below, DEPTH - path.count(".")):
                    yield Drawn(f"{where} = {_shown(new)}", {**value, name: new})
                continue
            for each in _variants(below, value[name], where):
                yield each._replace(object={**value, name: each.object})
            if name not in (schema.get("required") or ()):
                kept = {key: each for key, each in value.items() if key != name}
                yield Drawn(f"{where} left out", kept, is_less=True)
    elif isinstance(value, list | tuple) and value:
        items = list(value)
        for each in _variants(schema.get("items") or {}, items[0], f"{path}[0]"):
            yield each._replace(object=[each.object, *items[1:]])
        yield Drawn(f"{path} with its first item twice", [items[0], *items])
        if not schema.get("minItems"):
            yield Drawn(f"{path} = []", [], is_less=True)
    else:
        for new in _values(schema, DEPTH - path.count(".")):
            if new != value:
                yield Drawn(f"{path} = {_shown(new)}", new)


def _values(schema: Schema, depth: int) -> list[Any]:
    """Values at the edges of what a schema allows."""
    if "enum" in schema:
        return list(schema["enum"])
    if schema.get("x-kubernetes-int-or-string"):
        return [0, "50%"]
    match schema.get("type"):
        case "boolean":
            return [True, False]
        case "integer" | "number":
            edges = [schema[key] for key in ("minimum", "maximum") if key in schema]
            least = max(schema.get("minimum", -_GREATEST), -_GREATEST)
            most = min(schema.get("maximum", _GREATEST), _GREATEST)
            return list(dict.fromkeys(n for n in (*edges, *_NUMBERS) if least <= n <= most))
        case "string":
            return [text for text in _TEXTS if _is_allowed(schema, text)]
        case "array":
            return [] if schema.get("minItems") else [[]]
        case "object" if depth > 0:
            needed = {
                name: _values(schema.get("properties", {}).get(name, {}), depth - 1)[:1]
                for name in schema.get("required") or ()
            }
            return (
                [{name: each[0] for name, each in needed.items()}] if all(needed.values()) else []
            )
    return []


def _is_allowed(schema: Schema, text: str) -> bool:
    is_short = schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", 2**31)
    if not is_short or schema.get("format") in ("date-time", "date", "byte", "uri", "ipv4", "ipv6"):
        return False
    try:
        return "pattern" not in schema or bool(compile_pattern(schema["pattern"]).search(text))
    except PatternError:
        return False


def _shown(value: Any) -> str:
    text = re.sub(r"(.)\1{40,}", r"\1…\1", canonical.encode(value).decode())
    return text if len(text) <= 60 else f"{text[:59]}…"
