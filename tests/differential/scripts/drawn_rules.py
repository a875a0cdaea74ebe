"""Expressions of rules that are drawn at random from a grammar: their costs and their values.

A generator with a seed draws them, so both sides get the same ones.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.custom_resources import definition, version
from tests.differential.scripts.rules import INTEGER, objects
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION

_GRAMMAR: Final[Mapping[str, tuple[str, ...]]] = {
    "text": (
        *("self.text", "self.other", "self.any", "'abc'", "''", "x", "x"),
        *("<text>.lowerAscii()", "<text>.trim()", "<text>.substring(1)", "<text>.charAt(0)"),
        *("<text>.replace(<text>, <text>)", "(<text> + <text>)", "(<text> + <text>)"),
        *("<texts>.join(<text>)", "<texts>.join()", "string(<int>)", "string(bytes(<text>))"),
        *("(<bool> ? <text> : <text>)", "<texts>[0]", "<lists>[1][0]", "strings.quote(<text>)"),
        *("'%s of %d'.format([<text>, <int>])", "url(<text>).getHost()"),
        *("<texts>[?0].orValue(<text>)", "optional.of(<text>).value()", "<text>.find('[a-z]')"),
        *("self.parts[0].name", "self.named['a']", "{'a': <text>}['a']", "<text>.split(',')[0]"),
        *("cel.bind(y, <text>, y + y)", "self.?absent.orValue(<text>)", "string(<bool>)"),
    ),
    "texts": (
        *("self.texts", "self.texts", "[<text>, <text>]", "[<text>]", "<lists>[0]"),
        *("<text>.split(<text>)", "<text>.split(',', 2)", "<text>.findAll('[a-z]+')"),
        *("<texts>.map(x, <text>)", "<texts>.filter(x, <bool>)", "<texts>.sort()"),
        *("<texts>.reverse()", "<texts>.slice(0, 2)", "<texts>.distinct()", "<lists>.flatten()"),
        *("(<texts> + <texts>)", "<texts>.transformList(i, x, <text>)", "<texts>.sortBy(s, s)"),
        *("<texts>.sortBy(s, s.size())", "self.parts.map(p, p.name)", "self.named.map(k, k)"),
        *("(<bool> ? <texts> : <texts>)", "<texts>.map(x, <bool>, <text>)"),
    ),
    "lists": ("[<texts>, <texts>]", "<texts>.map(x, <texts>)", "self.lists"),
    "ints": (
        *("self.sizes", "lists.range(5)", "[<int>, 2]", "<texts>.map(x, <int>)"),
        *("<ints>.sort()", "<ints>.reverse()", "self.named.map(k, <int>)", "<ints>.distinct()"),
    ),
    "int": (
        *("self.size", "1", "<text>.size()", "<texts>.size()", "<text>.indexOf(<text>)"),
        *("(<int> + <int>)", "<ints>.sum()", "<ints>.max()", "<texts>.lastIndexOf(<text>)"),
        *("ip(<text>).family()", "cidr(<text>).prefixLength()", "int(<text>)", "<ints>[0]"),
        *("quantity(<text>).asInteger()", "semver(<text>).major()", "<ints>.indexOf(<int>)"),
        *("<text>.lastIndexOf('a', 3)", "self.named.size()", "<lists>.size()"),
    ),
    "bool": (
        *("<text> == <text>", "<text> < <text>", "<text> >= <text>", "<text> != <text>"),
        *("<text>.contains(<text>)", "<text>.matches('^[a-z]+$')", "<text>.matches(<text>)"),
        *("<text>.startsWith(<text>)", "<text>.endsWith('a')", "<texts>.exists(x, <bool>)"),
        *("<texts>.all(x, <bool>)", "<texts>.exists_one(x, <bool>)", "<int> > <int>"),
        *("(<bool> && <bool>)", "(<bool> || <bool>)", "!(<bool>)", "<text> in <texts>"),
        *("<texts> == <texts>", "<ints> == <ints>", "isURL(<text>)", "isIP(<text>)"),
        *("ip(<text>) == ip(<text>)", "cidr(<text>).containsIP(<text>)", "<int> in <ints>"),
        *("cidr(<text>).containsCIDR(cidr(<text>))", "url(<text>) == url(<text>)"),
        *("quantity(<text>).isLessThan(quantity(<text>))", "isQuantity(<text>)"),
        *("semver(<text>) == semver(<text>)", "isSemver(<text>, true)", "isCIDR(<text>)"),
        *("sets.contains(<texts>, <texts>)", "sets.equivalent(<texts>, <texts>)"),
        *("sets.intersects(<ints>, <ints>)", "ip.isCanonical(<text>)", "<texts>.isSorted()"),
        *("format.dns1123Label().validate(<text>).hasValue()", "has(self.text)"),
        *("format.named(<text>).hasValue()", "ip(<text>).isLoopback()"),
        *("self.named.all(k, k == <text>)", "self.named.exists(k, v, v == k)"),
        *("self.parts.all(p, p.name == <text>)", "<ints>.all(i, i > <int>)"),
        "self.named.transformMap(k, v, v + k).exists(k, v, v == k)",
    ),
}
_PART: Final = re.compile("<([a-z]+)>")


def _grown(rng: random.Random, kind: str, depth: int) -> str:
    """An expression of a kind; at depth 0 one without parts."""
    choices = _GRAMMAR[kind]
    if depth <= 0:
        choices = tuple(it for it in choices if "<" not in it) or choices
    # A variable is there in loops alone, so that the outermost expression is one.
    return _PART.sub(lambda it: _grown(rng, it[1], depth - 1), rng.choice(choices))


_BRIEF: Final = {"type": "string", "maxLength": 20}
_SIZES: Final = {"type": "array", "maxItems": 30, "items": INTEGER}
_NAMES: Final = {"type": "array", "maxItems": 10, "items": _BRIEF}
_PROPERTIES: Final[Mapping[str, Any]] = {
    "text": {"type": "string", "maxLength": 100},
    "other": _BRIEF,
    "any": {"type": "string", "enum": ["ab", "abcd"]},
    "absent": _BRIEF,
    "size": INTEGER,
    "sizes": _SIZES,
    "texts": _NAMES,
    "lists": {"type": "array", "maxItems": 5, "items": {**_NAMES, "maxItems": 7}},
    "named": {"type": "object", "maxProperties": 8, "additionalProperties": _BRIEF},
    "parts": {
        "type": "array",
        "maxItems": 6,
        "items": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}},
    },
}
_FACTOR: Final = re.compile(r"budget by factor of (.*?x) ")


@script("The cost of any expression is estimated as a real server does.", ["4.16"])
def drawn_costs(c: Dialogue) -> None:
    rng = c.random("costs")
    path = f"{CUSTOM_RESOURCE_DEFINITION.path()}?dryRun=All"
    for _ in range(250):
        rule = f"self.texts.all(x, {_grown(rng, 'bool', rng.randint(1, 4))})"
        part = {**objects({"rule": rule, "message": "m"}), "properties": dict(_PROPERTIES)}
        schemas: dict[str, Any] = {
            f"of{digits}": {"type": "array", "maxItems": 10**digits, "items": part}
            for digits in (1, 3, 5, 7)
        }
        answer = c.consult("POST", path, definition("shims", "Shim", version("v1", **schemas)))
        causes = answer.body.get("details", {}).get("causes") or ()
        told = [
            f"{it['field'].partition('].items')[0][-3:]} {_complaint(it['message'])}"
            for it in causes
            if "x-kubernetes-validations[" in it["field"]
        ]
        c.note(rule, [answer.code, *sorted(it for it in told if "contributed" not in it)])


def _complaint(message: str) -> str:
    factor = _FACTOR.search(message)
    return factor[1] if factor else message.partition("\n")[0]
