"""Expressions of rules that are drawn at random from a grammar, and the values that they have.

A generator with a seed draws them, so both sides get the same ones.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.exchange import Answer
from tests.differential.script import script
from tests.differential.scripts.custom_resources import definition, version
from tests.differential.scripts.rules import INTEGER, objects, one, served
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION

_GRAMMAR: Final[Mapping[str, tuple[str, ...]]] = {
    "text": (
        *("self.text", "self.other", "'a,b'", "'é'", "x", "self.named['a']", "self.parts[0].name"),
        *("<text>.lowerAscii()", "<text>.upperAscii()", "<text>.trim()"),
        *("<text>.substring(<nat>)", "<text>.substring(0, <nat>)", "<text>.charAt(<nat>)"),
        *("<text>.replace(<text>, <text>)", "<text>.replace('a', 'b', <nat>)", "<texts>[<nat>]"),
        *("(<text> + <text>)", "<texts>.join(<text>)", "<texts>.join()", "string(<int>)"),
        *("string(<bool>)", "string(<real>)", "string(<span>)", "string(<moment>)"),
        *("(<bool> ? <text> : <text>)", "strings.quote(<text>)", "<text>.find('[a-c]+')"),
        *("'%s of %d'.format([<text>, <int>])", "'%x %b'.format([<nat>, <nat>])"),
        *("<map>['a']", "<map>[?'b'].orValue(<text>)", "<texts>[?<nat>].orValue(<text>)"),
        *("optional.of(<text>).value()", "self.?absent.orValue(<text>)", "<texts>.min()"),
        *("string(bytes(<text>))", "<texts>.max()"),
        *("url(<url>).getHost()", "url(<url>).getPort()", "url(<url>).getScheme()"),
        *("url(<url>).getHostname()", "url(<url>).getEscapedPath()", "string(ip(<address>))"),
        *(
            "string(cidr(<network>).masked())",
            "string(cidr(<network>).ip())",
            "<texts>.first().value()",
        ),
        "<texts>.last().value()",
        "self.?text.optMap(y, y + 'z').orValue('none')",
        "format.<format>().validate(<text>).orValue(['fine'])[0]",
    ),
    "format": (
        *("dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "labelValue"),
        *("dns1123LabelPrefix", "dns1123SubdomainPrefix", "dns1035LabelPrefix", "uri", "uuid"),
        *("byte", "date", "datetime"),
    ),
    "url": ("'https://u@a.b:80/c/d?e=f&e=g&h'", "'http://[::1]:8/%41?x'", "'/only/path'", "<text>"),
    "address": ("'10.0.0.1'", "'::1'", "'fe80::1'", "'224.0.0.1'", "'127.0.0.1'", "<text>"),
    "network": ("'10.1.0.0/16'", "'10.1.2.3/24'", "'fe80::/10'", "<text>"),
    "quantity": ("'1'", "'1500m'", "'1Ki'", "'2.5'", "'-3'", "'1e3'", "<text>"),
    "version": ("'1.2.3'", "'1.10.0'", "'1.2.3-rc.1'", "'2.0.0+b'", "<text>"),
    "texts": (
        *(
            "self.texts",
            "[<text>, <text>]",
            "[<text>]",
            "<lists>.map(l, l.join('+'))",
            "<text>.split(',')",
        ),
        *("<text>.split(<text>)", "<text>.split(',', <nat>)", "<text>.findAll('[a-z]')"),
        *("<text>.findAll('[a-z]+', <nat>)", "<texts>.map(x, <text>)", "<texts>.sort()"),
        *("<texts>.filter(x, <bool>)", "<texts>.reverse()", "<texts>.slice(0, <nat>)"),
        *(
            "<texts>.distinct()",
            "self.lists.map(l, l.join('+'))",
            "(<texts> + <texts>)",
            "<map>.map(k, k).sort()",
        ),
        *("<texts>.transformList(i, x, x + string(i))", "<texts>.sortBy(s, s.size())"),
        *(
            "self.parts.map(p, p.name)",
            "<map>.transformList(k, v, k + v).sort()",
            "<texts>.map(x, <bool>, x)",
        ),
        *("[optional.of(<text>), optional.none()].unwrapOpt()", "[?self.?absent, ?self.?text]"),
        *(
            "<ints>.map(i, string(i))",
            "<map>.filter(k, k > 'a').sort()",
            "url(<url>).getQuery()['e']",
        ),
        "<texts>.transformList(i, x, i > 0, x)",
    ),
    "lists": ("[<texts>, <texts>]", "<texts>.map(x, [x, <text>])", "self.lists"),
    "map": (
        *("self.named", "{'a': <text>, 'b': <text>}", "self.named.transformMap(k, v, k + v)"),
        *("(<bool> ? <map> : {'c': <text>})", "self.named"),
        *("self.named.transformMap(k, v, k != 'a', v)", "{<text>: <text>}"),
        *(
            "self.named.transformMapEntry(k, v, {v: k})",
            "<map>.transformMapEntry(k, v, {k: v + 'x'})",
        ),
        *(
            "<texts>.transformMapEntry(i, v, {v: string(i)})",
            "{?'a': self.?absent, ?'b': self.?text}",
        ),
        "self.named.transformMapEntry(k, v, k > 'a', {k: k})",
    ),
    "ints": (
        *("self.sizes", "lists.range(<nat>)", "[<int>, <int>]", "<texts>.map(x, x.size())"),
        *("<ints>.sort()", "<ints>.reverse()", "<ints>.distinct()", "<ints>.map(i, i * 2 - 1)"),
        *("<ints>.filter(i, i > <int>)", "(<ints> + <ints>)", "<ints>.slice(<nat>, 2)"),
        "<texts>.transformMap(i, x, i).map(k, k).sort()",
    ),
    "reals": ("[<real>, <real>]", "<ints>.map(i, double(i) / 2.0)"),
    "spans": ("[<span>, <span>]",),
    "nat": ("0", "1", "2", "3", "self.size"),
    "int": (
        *("self.size", "1", "-2", "<text>.size()", "<texts>.size()", "<text>.indexOf(<text>)"),
        *("(<int> + <int>)", "(<int> - <int>)", "(<int> * <int>)", "<ints>.sum()", "<ints>.max()"),
        *(
            "<ints>.min()",
            "<texts>.lastIndexOf(<text>)",
            "<texts>.indexOf(<text>)",
            "<ints>[<nat>]",
        ),
        *("(<int> / <int>)", "(<int> % <int>)", "-(<int>)", "int(<real>)", "int(<text>)"),
        *("<text>.indexOf('a', <nat>)", "<text>.lastIndexOf('a', <nat>)", "<map>.size()"),
        *("ip(<address>).family()", "cidr(<network>).prefixLength()", "semver(<version>).major()"),
        *("semver(<version>).minor()", "semver(<version>).patch()", "bytes(<text>).size()"),
        *("quantity(<quantity>).asInteger()", "sign(quantity(<quantity>))", "<lists>.size()"),
        *("quantity(<quantity>).compareTo(quantity(<quantity>))", "<moment>.getFullYear()"),
        *("semver(<version>).compareTo(semver(<version>))", "<moment>.getMonth()", "int(<moment>)"),
        *("<moment>.getDayOfMonth()", "<moment>.getDate()", "<moment>.getDayOfWeek()"),
        *("<moment>.getHours()", "<moment>.getMinutes('+05:30')", "<moment>.getSeconds()"),
        *(
            "<span>.getHours()",
            "<span>.getMinutes()",
            "<span>.getSeconds()",
            "<span>.getMilliseconds()",
        ),
    ),
    "real": (
        *("self.part", "1.5", "-0.25", "double(<int>)", "<reals>.sum()", "<reals>.max()"),
        *("(<real> + <real>)", "(<real> * <real>)", "(<real> / <real>)", "<reals>.min()"),
        *("quantity(<quantity>).asApproximateFloat()", "(<real> - <real>)", "-(<real>)"),
        "double('2.5')",
    ),
    "span": (
        *("self.span", "duration('90s')", "duration('1h')", "(<span> + <span>)", "<spans>.sum()"),
        *("(<span> - <span>)", "<spans>.min()", "<spans>.max()", "(<moment> - <moment>)"),
    ),
    "moment": (
        *("self.time", "timestamp('2024-02-29T12:30:45Z')", "(<moment> + <span>)"),
        *("(<moment> - <span>)", "[<moment>, <moment>].min()", "[<moment>, <moment>].max()"),
    ),
    "bool": (
        *("<text> == <text>", "<text> < <text>", "<text> >= <text>", "<text> != <text>", "self.is"),
        *("<text>.contains(<text>)", "<text>.matches('^[a-z]+$')", "<text>.startsWith(<text>)"),
        *("<text>.endsWith('a')", "<texts>.exists(x, <bool>)", "<texts>.all(x, <bool>)"),
        *("<texts>.exists_one(x, <bool>)", "<int> > <int>", "<int> <= <int>", "<real> < <real>"),
        *("(<bool> && <bool>)", "(<bool> || <bool>)", "!(<bool>)", "<text> in <texts>"),
        *(
            "<texts> == <texts>",
            "<ints> == <ints>",
            "isURL(<url>)",
            "isIP(<address>)",
            "<int> in <ints>",
        ),
        *("ip(<address>) == ip(<address>)", "cidr(<network>).containsIP(<address>)"),
        *("cidr(<network>).containsCIDR(<network>)", "ip(<address>).isLoopback()"),
        *("ip(<address>).isGlobalUnicast()", "ip(<address>).isLinkLocalUnicast()"),
        *("quantity(<quantity>).isLessThan(quantity(<quantity>))", "isQuantity(<quantity>)"),
        *("quantity(<quantity>).isGreaterThan(quantity(<quantity>))", "isCIDR(<network>)"),
        *(
            "quantity(<quantity>).add(quantity(<quantity>)) == quantity(<quantity>)",
            "<text> in <map>",
        ),
        *("quantity(<quantity>).sub(<nat>) == quantity(<quantity>)", "isSemver(<version>)"),
        *("semver(<version>).isLessThan(semver(<version>))", "quantity(<quantity>).isInteger()"),
        *("semver(<version>).isGreaterThan(semver(<version>))", "isSemver(<version>, true)"),
        *("semver(<version>) == semver(<version>)", "<texts>.isSorted()", "<ints>.isSorted()"),
        *("sets.contains(<texts>, <texts>)", "sets.equivalent(<texts>, <texts>)"),
        *(
            "sets.intersects(<ints>, <ints>)",
            "<map> == <map>",
            "has(self.absent)",
            "has(self.text)",
        ),
        *("format.named(<text>).hasValue()", "format.<format>().validate(<text>).hasValue()"),
        *("<map>.all(k, k == <text>)", "<map>.exists(k, v, v == k)", "<map>.all(k, v, k < v)"),
        *("<map>.exists_one(k, k == 'a')", "<map>.existsOne(k, v, v == 'a')", "<span> > <span>"),
        *(
            "<texts>.exists_one(i, x, i > 0 && <bool>)",
            "<moment> < <moment>",
            "<moment> >= <moment>",
        ),
        *("<spans>.isSorted()", "<reals>.isSorted()", "self.any == <int>", "self.any == <text>"),
        *("type(self.any) == int", "dyn(<int>) == <real>", "<int> < <real>", "self.raw == b'hi'"),
    ),
}
_OTHER: Final[Mapping[str, tuple[str, str]]] = {
    "text": ("'zz'", "string({0})"),
    "texts": ("['zz']", "{0}.join('|')"),
    "map": ("{'zz': 'zz'}", "({0}.map(k, k).sort() + {0}.map(k, {0}[k]).sort()).join('|')"),
    "ints": ("[7777]", "'%d %d %d'.format([{0}.size(), {0}.sum(), {0}.indexOf({0}[0])])"),
    "int": ("7777", "'%d'.format([{0}])"),
    "real": ("7777.5", "'%s'.format([{0}])"),
    "span": ("duration('7777s')", "'%d'.format([{0}.getMilliseconds()])"),
    "moment": ("timestamp('1977-07-07T07:07:07Z')", "'%d'.format([int({0})])"),
    "bool": ("true", "'%s'.format([{0}])"),
}
"""For each kind of expression a value to compare it with, and how its own is shown."""
_PART: Final = re.compile("<([a-z]+)>")


def _grown(rng: random.Random, kind: str, depth: int) -> str:
    """An expression of a kind; at depth 0 one without parts."""
    choices = _GRAMMAR[kind]
    if depth <= 0:
        choices = tuple(it for it in choices if "<" not in it) or choices
    return _PART.sub(lambda it: _grown(rng, it[1], depth - 1), rng.choice(choices))


_BRIEF: Final = {"type": "string", "maxLength": 9}
_NAMES: Final = {"type": "array", "maxItems": 4, "items": _BRIEF}
_PROPERTIES: Final[Mapping[str, Any]] = {
    "text": _BRIEF,
    "other": _BRIEF,
    "absent": _BRIEF,
    "is": {"type": "boolean"},
    "size": INTEGER,
    "part": {"type": "number"},
    "sizes": {"type": "array", "maxItems": 4, "items": INTEGER},
    "texts": _NAMES,
    "lists": {"type": "array", "maxItems": 2, "items": _NAMES},
    "named": {"type": "object", "maxProperties": 4, "additionalProperties": _BRIEF},
    "parts": {"type": "array", "maxItems": 3, "items": objects(name=_BRIEF)},
    "span": {"type": "string", "format": "duration", "maxLength": 9},
    "time": {"type": "string", "format": "date-time", "maxLength": 30},
    "raw": {"type": "string", "format": "byte", "maxLength": 9},
    "any": {"x-kubernetes-int-or-string": True, "maxLength": 9},
}
del _PROPERTIES["parts"]["items"]["x-kubernetes-validations"]
_VALUES: Final[Sequence[Mapping[str, Any]]] = (
    {
        **{"text": "abc", "other": "b,a", "is": True, "size": 2, "part": 2.5, "any": 5},
        **{"sizes": [3, 1, 3], "texts": ["b", "a", "b"], "lists": [["a"], ["c", "b"]]},
        **{"named": {"a": "b", "c": "a"}, "parts": [{"name": "q"}, {"name": "a"}]},
        **{"span": "90m", "time": "2024-12-31T23:59:59.5Z", "raw": "aGk="},
    },
    {
        **{"text": " Ab-9 ", "other": "", "is": False, "size": 0, "part": -1.0, "any": "a"},
        **{"sizes": [], "texts": ["1.2.3", "10.0.0.1"], "lists": [["a", "a"]]},
        **{"named": {"b": "b", "a": "z"}, "parts": [{"name": "x"}]},
        **{"span": "-3s", "time": "2024-03-01T00:00:00+02:00", "raw": "eA=="},
    },
)


def _rules(c: Dialogue, rng: random.Random, count: int) -> Iterator[dict[str, Any]]:
    """Rules that a server takes; why others are refused is written down."""
    path = f"{CUSTOM_RESOURCE_DEFINITION.path()}?dryRun=All"
    for _ in range(count):
        kind = rng.choice(("text", *_OTHER))
        text = _grown(rng, kind, rng.randint(1, 3))
        # A variable is there in loops alone.
        bound = f"[self.other].map(x, {text})[0]" if re.search(r"\bx\b", text) else text
        other, shown = _OTHER[kind]
        told = {"rule": f"{bound} == {other}", "messageExpression": shown.replace("{0}", bound)}
        schema = {**objects(told), "properties": dict(_PROPERTIES)}
        answer = c.consult("POST", path, definition("shims", "Shim", version("v1", it=schema)))
        if answer.code == 201:
            yield told
            continue
        causes = answer.body.get("details", {}).get("causes") or ()
        said = [it["message"].partition("failed: ")[2].partition("\n")[0] for it in causes]
        c.note(text, next(filter(None, said), "too costly"))


@script("An expression of any form has the value that a real server gives it.", ["4.16"])
def drawn_values(c: Dialogue) -> None:
    rng = c.random("values")
    rules = list(_rules(c, rng, 900))
    for start in range(0, len(rules), 60):
        some = rules[start : start + 60]
        schema = {**objects(*some), "properties": dict(_PROPERTIES)}
        with served(c, f"Cam{start}", it=schema) as kind:
            for value in _VALUES:
                path = f"{kind.path(c.namespace)}?dryRun=All"
                answer = c.consult("POST", path, one(kind, it=value))
                c.note(f"{start}", list(_values(answer)))


def _values(answer: Answer) -> Iterator[str]:
    """The values that broken rules show; Go says in words of its own why one has none."""
    for cause in answer.body.get("details", {}).get("causes") or ():
        said = cause["message"].partition('"object": ')[2]
        yield "no value" if "evaluating rule" in said or not said else said
