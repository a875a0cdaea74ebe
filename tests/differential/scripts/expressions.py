"""Expressions of rules: what is checked in them, what they cost, and their values."""

from __future__ import annotations

from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.rules import INTEGER, TEXT, create, objects, ruled, served, tried

TEXTS: Final = {"type": "array", "maxItems": 5, "items": TEXT}
WHOLE: Final[dict[str, Any]] = {
    "text": TEXT,
    "other": TEXT,
    "size": INTEGER,
    "part": {"type": "number"},
    "is": {"type": "boolean"},
    "texts": TEXTS,
    "sizes": {"type": "array", "maxItems": 5, "items": INTEGER},
    "map": {"type": "object", "maxProperties": 5, "additionalProperties": INTEGER},
    "parts": {"type": "array", "maxItems": 4, "items": objects(text=TEXT, size=INTEGER)},
    "span": {"type": "string", "format": "duration", "maxLength": 20},
    "time": {"type": "string", "format": "date-time", "maxLength": 40},
    "day": {"type": "string", "format": "date", "maxLength": 10},
    "bytes": {"type": "string", "format": "byte", "maxLength": 20},
    "any": {"x-kubernetes-int-or-string": True, "maxLength": 10},
    "absent": TEXT,
    "a-b": TEXT,
}
VALUE: Final[dict[str, Any]] = {
    "text": "abc",
    "other": "Hello",
    "size": 3,
    "part": 1.5,
    "is": True,
    "texts": ["b", "a", "a"],
    "sizes": [3, 1, 2],
    "map": {"k": 1, "l": 2},
    "parts": [{"text": "q", "size": 1}, {"text": "r", "size": 2}],
    "span": "1 hour 30min",
    "time": "2024-02-29T12:30:45Z",
    "day": "2024-03-01",
    "bytes": "aGk=",
    "any": 5,
    "a-b": "dash",
}
WRONG: Final = (
    "[1, 'a'].size() == 2",
    "[self.size, self.text].size() == 2",
    "[[1], ['a']].size() == 2",
    "[1, dyn('a')].size() == 2",
    "[null, 1].size() == 2",
    "[{'a': 1}, {'a': 'x'}].size() == 2",
    "{'a': 1, 'b': 'x'}.size() == 2",
    "{'a': 1, 2: 'x'}.size() == 2",
    "{'a': [1], 'b': ['x']}.size() == 2",
    "[duration('1s'),\n timestamp('2024-01-01T00:00:00Z')].size() == 2",
    "[1].indexOf('a') == 1",
    "self.texts.lastIndexOf(1) == 1",
    "self.text && true",
    "true && self.size == 1 && self.size",
    "self.size || (false && self.text)",
    "duration('1d') == self.span",
    "timestamp('2024-02-30T00:00:00Z') == self.time",
    "self.text.matches('(')",
    "self.texts.all(x)",
    "self.texts.all(x.y, true)",
    "has(self.text) ? true",
    "int('x') == 1",
    "uint(-1) == 1u || bool('maybe')",
    "int(1e30) == 1 && string(b'a') == 'a'",
    "double('x') == 1.0 || uint('x') == 1u",
    "[int('1'), int(1.5), int('1.5')].size() == 3",
    "'%d'.format([self.text]) == ''",
    "'%s'.format([optional.none()]) == ''",
    "'%s of %z'.format([[self.size, self.any], self.text]) == ''",
    "'%s of %s'.format([self.text]) == ''",
    "'%% of %s'.format([self.text, self.text]) == ''",
    "'%.f %'.format([self.part, self.part]) == ''",
    "'%.2f %'.format([self.part, self.part]) == ''",
    "'%b %X %o %e'.format([self.is, self.bytes, self.size, self.size]) == ''",
    "format.uuid().validate(self.text) == 1 || [1, 'a'] == []",
)
GOOD: Final = (
    "self.text.charAt(1)",
    "self.other.replace('l', 'L', 1)",
    "self.other.split('l')[2]",
    "self.other.substring(1, 3)",
    "self.texts.join('-')",
    "strings.quote(self.text)",
    "'%s is %d of %.2f'.format([self.text, self.size, self.part])",
    "string(self.size / 2)",
    "string(-self.part)",
    "string(1e21)",
    "string(int(self.part))",
    "string(self.bytes)",
    "string(self.bytes == b'hi')",
    "string(self.span)",
    "string(self.span.getMinutes())",
    "string(self.time)",
    "string(self.time.getDayOfYear())",
    "string(self.time.getHours('America/New_York'))",
    "string(self.time + self.span)",
    "string(self.day)",
    "string(self.sizes.sum() + self.sizes.max())",
    "self.texts.sort()[0]",
    "self.parts.sortBy(e, -e.size)[0].text",
    "string(self.texts.distinct().size())",
    "string([[1], [2, 3]].flatten().size())",
    "self.texts.first().value()",
    "string(sets.equivalent(self.texts, ['a', 'b']))",
    "self.?absent.orValue('none')",
    "self.?size.optMap(x, string(x * 2)).orValue('none')",
    "self.texts[?9].orValue('none')",
    "[optional.none(), optional.of(self.text)].unwrapOpt()[0]",
    "optional.unwrap([optional.of(self.text), optional.none()])[0]",
    "string([?self.?text, ?self.?absent].size())",
    "string(type(self.any) == int)",
    "string(self.any == 5)",
    "self.a__dash__b",
    "string(self.parts.filter(e, e.size > 1)[0].size)",
    "string(self.map.exists_one(k, v, v == 1))",
    "string(self.map.existsOne(k, v, v > 0))",
    "string(self.map.transformMap(k, v, v + 1)['k'])",
    "string(self.texts.transformList(i, v, i).size())",
    "self.other.findAll('[a-z]', 2)[1]",
    "url('https://u@a.b:80/c?d=e').getHost()",
    "string(quantity('1').add(quantity('500m')).asApproximateFloat())",
    "string(semver('1.2.3').isLessThan(semver('1.10.0')))",
    "string(self.size < 3.5)",
    "string([1, 2] == [1, 2])",
)
WITHOUT_VALUE: Final = (
    "self.absent == ''",
    "self.texts[7] == ''",
    "self.map['z'] == 1",
    "self.size % (self.size - 3) == 1",
    "self.size + 9223372036854775807 > 1",
    "int(self.text) == 1",
    "bool(self.text)",
    "duration(self.text) == self.span",
    "timestamp(self.text) == self.time",
    "self.?absent.value() == ''",
    "dyn(self.size) < dyn(self.text)",
    "quantity('1.5').asInteger() == 1",
)


@script("An expression is checked for more than the types of its parts.", ["4.16"])
def checks_of_expressions(c: Dialogue) -> None:
    for rule in WRONG:
        tried(c, spec={**objects({"rule": rule, "message": "m"}), "properties": WHOLE})


@script("Each expression has the value that Go's library gives it.", ["4.16"])
def values_of_expressions(c: Dialogue) -> None:
    rules = [{"rule": "false", "messageExpression": each, "message": "none"} for each in GOOD]
    with served(c, "Rivet", it={**objects(*rules), "properties": WHOLE}) as kind:
        create(c, kind, dry_run=True, it=VALUE)
    with served(c, "Dowel", it={**objects(*WITHOUT_VALUE), "properties": WHOLE}) as kind:
        create(c, kind, dry_run=True, it=VALUE)


@script("The costs of expressions are estimated by the sizes in the schema.", ["4.16"])
def estimated_costs(c: Dialogue) -> None:
    for text, most in (({"type": "string"}, None), ({"type": "string", "maxLength": 900}, 100)):
        limit = {} if most is None else {"maxItems": most}
        texts = {"type": "array", "items": text, **limit}
        for rule in (
            "self.text.contains(self.other)",
            "self.text.matches('^[a-z]+$')",
            "self.texts.all(x, x == self.text)",
            "self.texts.all(x, self.texts.exists_one(y, y == x))",
            "self.texts.sort() == self.texts",
            "self.texts.map(x, x + 'a').join() == ''",
            "self.text.split(',').all(x, x.replace('a', 'bb') == self.other)",
            "isURL(self.text) && quantity(self.text) == quantity(self.other)",
            "cidr(self.text).containsIP(self.other)",
            "!format.dns1123Label().validate(self.text).hasValue()",
            "sets.contains(self.texts, [self.text])",
            "self.?text.optMap(x, x + 'a').orValue('b') == self.other",
            "string(self.any).matches('[0-9]%')",
            "self == oldSelf",
            "lists.range(self.size).all(x, x > 1)",
        ):
            parts = {"text": text, "other": text, "texts": texts, "size": INTEGER}
            part = objects({"rule": rule, "message": "m"}, any=WHOLE["any"], **parts)
            tried(c, one=part)
            tried(c, some={"type": "array", "maxItems": 300, "items": part})
            tried(c, all={"type": "object", "additionalProperties": part})
    named = {"type": "string", "enum": ["a", "bcd"]}
    for message in ("string(self) + self", "'%s'.format([self])", "self + self"):
        rule_ = {"rule": "false", "message": "m", "messageExpression": message}
        tried(c, named=ruled(named, rule_), text=ruled({"type": "string"}, rule_))
