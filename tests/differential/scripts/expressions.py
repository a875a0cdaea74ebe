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


LIBRARY: Final = (
    *(
        f"string(cidr('{outer}').containsCIDR({inner}))"
        for outer, inner in (
            ("10.0.0.0/8", "'10.1.0.0/16'"),
            ("10.0.0.0/8", "cidr('::/0')"),
            ("fe80::/10", "'fe80::/64'"),
            ("fe80::/10", "'10.0.0.0/8'"),
            ("::/0", "cidr('2001:db8::/32')"),
            ("10.0.0.0/16", "'10.0.0.0/8'"),
        )
    ),
    "string(cidr('10.0.0.0/8').containsIP(ip('10.255.255.255')))",
    "string(cidr('10.0.0.0/8').containsIP('11.0.0.0'))",
    "string(cidr('fe80::/10').containsIP('10.0.0.1'))",
    "string(cidr('10.1.2.3/8').masked())",
    "string(cidr('10.1.2.3/8'))",
    "string(cidr('10.1.2.3/8').ip())",
    "string(cidr('fe80::1/64').prefixLength())",
    *(
        f"string(ip('{address}').{test}())"
        for address, test in (
            ("0.0.0.0", "isUnspecified"),
            ("::", "isUnspecified"),
            ("127.0.0.1", "isLoopback"),
            ("128.0.0.1", "isLoopback"),
            ("224.0.0.1", "isLinkLocalMulticast"),
            ("224.0.1.1", "isLinkLocalMulticast"),
            ("ff02::1", "isLinkLocalMulticast"),
            ("ff12::1", "isLinkLocalMulticast"),
            ("ff03::1", "isLinkLocalMulticast"),
            ("169.254.0.1", "isLinkLocalUnicast"),
            ("fe80::1", "isLinkLocalUnicast"),
            ("255.255.255.255", "isGlobalUnicast"),
            ("224.0.0.1", "isGlobalUnicast"),
            ("10.0.0.1", "isGlobalUnicast"),
            ("fe80::1", "isGlobalUnicast"),
            ("::1", "isGlobalUnicast"),
            ("::", "isGlobalUnicast"),
            ("2001:db8::1", "family"),
        )
    ),
    *(
        f"string(is{what}('{text}'))"
        for what, text in (
            ("IP", "::ffff:1.2.3.4"),
            ("IP", "fe80::1%eth0"),
            ("IP", "1:2:3:4:5:6:1.2.3.4"),
            ("IP", "1:2:3:4:5:6:1.2.3"),
            ("IP", "1:2:3:4:5:6:7:8:9"),
            ("IP", "1:2:3:4:5:6:7"),
            ("IP", "::2:3:4:5:6:7:8"),
            ("IP", "1::2:3:4:5:6:7:8"),
            ("CIDR", "fe80::1%eth0/64"),
            ("CIDR", "::ffff:1.2.3.4/96"),
            ("CIDR", "10.0.0.0/33"),
            ("CIDR", "10.0.0.0/32"),
            ("CIDR", "10.0.0.0/08"),
            ("CIDR", "::/128"),
            ("CIDR", "::/129"),
            ("Semver", "1.0.0-a.01"),
            ("Semver", "1.0.0-a_b"),
            ("Semver", "1.0.0+"),
            ("Semver", "18446744073709551615.0.0"),
            ("Semver", "18446744073709551616.0.0"),
            ("Semver", "1..0"),
            ("Quantity", "1.5Ki"),
            ("Quantity", "1k5"),
        )
    ),
    "string(ip.isCanonical('2001:DB8::1'))",
    "string(semver('v1.02', true).patch() + semver('v1.02', true).minor())",
    "string(semver('1.2.3-a.1+b').minor())",
    "string(semver('1.0.0-a.2').compareTo(semver('1.0.0-a.10')))",
    "string(semver('1.0.0-2').compareTo(semver('1.0.0-a')))",
    "string(semver('1.0.0-a').compareTo(semver('1.0.0')))",
    "string(semver('1.0.0-a.b').compareTo(semver('1.0.0-a')))",
    "string([1].sum() + [1, 2].min() + [1, 2].max())",
    "string(self.empty.sum())",
    "string([1.5, 2.5].sum())",
    "string([1, 2, 1].indexOf(1) + [1, 2, 1].lastIndexOf(1) * 10 + [1].indexOf(3) * 100)",
    "string([1, 2, 2].isSorted())",
    "string([2, 1].isSorted())",
    "string(self.empty.isSorted())",
    "string([duration('1h'), duration('30m')].sum())",
    "string([1, 2, 3].slice(1, 2)[0])",
    "string([[1, 2], [3]].flatten().size())",
    "string([1, 2, 3].reverse()[0])",
    "string(lists.range(3)[2])",
    "string(sets.contains([1, 2], [2, 1, 1]))",
    "string(sets.intersects([1, 2], [3]))",
    "string(quantity('1Ki').compareTo(quantity('1024')))",
    "string(quantity('-1').isLessThan(quantity('0')))",
    "string(quantity('1.5').isInteger())",
    "string(quantity('2k').asInteger())",
    "string(bytes('hé').size())",
    "'a,b,c'.split(',', 2)[1]",
    "'aXbXc'.replace('X', '-', 1)",
    "'abcabc'.replace('', '-')",
    "string('hello'.indexOf('l', 3) + 'hello'.lastIndexOf('l') * 10)",
    "'  a '.trim() + 'A'.lowerAscii() + 'b'.upperAscii()",
    "string(self.at == timestamp('2024-02-29T12:30:45Z'))",
    "string(self.spans['a'] < duration('2h'))",
    "string(self.times[0].getFullYear())",
)
LIBRARY_WITHOUT_VALUE: Final = (
    "cidr('10.0.0.0/8').containsIP(self.text)",
    "cidr('10.0.0.0/8').containsCIDR(self.text)",
    "cidr('fe80::1%eth0/64').prefixLength() == 1",
    "cidr('::ffff:1.2.3.4/96').prefixLength() == 1",
    "cidr(self.text).prefixLength() == 1",
    "ip('1:2:3:4:5:6:1.2.3').family() == 6",
    "ip('1:2:3:4:5:6:1.2.3.400').family() == 6",
    "ip('::ffff:1.2.3.4').family() == 6",
    "ip('fe80::1%eth0').family() == 6",
    "self.empty.min() == 1",
    "self.empty.max() == 1",
    "self.empty.first().value() == 1",
    "semver('1..0').major() == 1",
    "semver('1.0.é').major() == 1",
    "semver('1.0.0-é').major() == 1",
    "ip('é').family() == 4",
    "ip('1.é').family() == 4",
    "cidr('é').prefixLength() == 1",
    "cidr('::/é').prefixLength() == 1",
    "quantity('é').isInteger()",
    "url('http://é:é/').getHost() == ''",
    "semver('18446744073709551616.0.0').major() == 1",
    "semver('1.0.0-a_b').major() == 1",
    "semver('1.0.0-').major() == 1",
    "semver('1.0.0-01').major() == 1",
    "semver('1.0.0+').major() == 1",
    "semver('1.0.0+a_b').major() == 1",
    "semver('01.0.0').major() == 1",
    "semver('1.0.x').major() == 1",
    "semver('1.0-a', true).major() == 1",
    "quantity(self.text).isInteger()",
    "quantity('1.5').asInteger() == 1",
    "url(self.text).getHost() == ''",
    "[1, 2].slice(1, 3).size() == 1",
    "format.named('none').value().validate(self.text).hasValue()",
)


UNCERTAIN: Final = (
    "math.greatest(1, 2) == 2",
    "'ab'.reverse() == 'ba'",
    "[[1, [2]], [3]].flatten().size() == 3",
    "int('é') == 1",
    "timestamp('é').getHours() == 1",
    "duration('é') == duration('1s')",
    "[[1, [2]]].flatten(2).size() == 2",
    "string(semver('1.0.0')) == ''",
    "semver('1.0.0', 'x').major() == 1",
    "ip('::1').prefixLength() == 1",
    "cidr('::/0').family() == 6",
    "isIP(1)",
    "url('a').getPort() == 1",
    "['a'].sum() == 'a'",
    "[true].min()",
    "[[1]].isSorted()",
    "[1].indexOf('1') == 1",
    "sets.contains([1], ['1'])",
    "base64.decode('aGk=') == b'hi'",
    "cel.bind(x, 1, x) == 1",
    "lists.range('a').size() == 1",
    "format.named('a').validate('x') == 1",
)


@script("A function exists for the types that the libraries give it, and no others.", ["4.16"])
def checks_of_functions(c: Dialogue) -> None:
    for rule in UNCERTAIN:
        tried(c, spec={**objects({"rule": rule, "message": "m"}), "properties": WHOLE})


@script("The functions of Kubernetes' libraries have the values that they have there.", ["4.16"])
def values_of_functions(c: Dialogue) -> None:
    rules = [{"rule": "false", "messageExpression": each, "message": "none"} for each in LIBRARY]
    properties = {
        "text": TEXT,
        "at": WHOLE["time"],
        "empty": WHOLE["sizes"],
        "times": {"type": "array", "maxItems": 3, "items": WHOLE["time"]},
        "spans": {"type": "object", "maxProperties": 3, "additionalProperties": WHOLE["span"]},
    }
    value = {
        "text": "a",
        "at": "2024-02-29T13:30:45+01:00",
        "empty": [],
        "times": ["2024-02-29T12:30:45Z"],
        "spans": {"a": "1h", "b": "3d"},
    }
    with served(c, "Gasket", it={**objects(*rules), "properties": properties}) as kind:
        create(c, kind, dry_run=True, it=value)
    with served(
        c, "Washer", it={**objects(*LIBRARY_WITHOUT_VALUE), "properties": properties}
    ) as kind:
        create(c, kind, dry_run=True, it=value)


@script("Each function has a cost of its own, by what is known of its operands.", ["4.16"])
def costs_of_functions(c: Dialogue) -> None:
    text = {"type": "string", "maxLength": 9000}
    texts = {"type": "array", "items": text, "maxItems": 90}
    sizes = {"type": "array", "items": INTEGER, "maxItems": 900}
    properties = {"text": text, "other": text, "texts": texts, "sizes": sizes, "size": INTEGER}
    properties |= {"short": TEXT, "any": WHOLE["any"], "bytes": WHOLE["bytes"]}
    properties |= {"maps": {"type": "array", "maxItems": 90, "items": WHOLE["map"]}}
    for rule in (
        "self.texts.all(x, x.replace('abcd', 'a') == self.other)",
        "self.texts.all(x, x.replace('a', 'abcd') == self.other)",
        "self.texts.all(x, x.replace(self.short, 'a').contains(self.other))",
        "self.texts.all(x, x.replace('abc', self.short).contains(self.other))",
        "self.texts.all(x, x.replace('abc', 'ab').contains(self.other))",
        "self.texts.all(x, x.replace('', 'ab').contains(self.other))",
        "self.texts.all(x, x.substring(1).contains(self.other))",
        "self.texts.all(x, x.lowerAscii().contains(self.other))",
        "self.texts.all(x, x.split(self.short).size() > 1)",
        "self.texts.all(x, x.indexOf(self.other) > 1)",
        "self.texts.all(x, bytes(x).size() > 1)",
        "self.texts.all(x, string(bytes(x)).contains(self.other))",
        "self.texts.all(x, bytes(self.text) == bytes(x + x))",
        "self.texts.all(x, url(x) == url(self.text))",
        "self.texts.all(x, isURL(x) && isIP(x) && isCIDR(x) && isSemver(x) && isQuantity(x))",
        "self.texts.all(x, self.texts.all(y, ip(x) == ip(y)))",
        "self.texts.all(x, self.texts.all(y, cidr(x).containsCIDR(y)))",
        "self.texts.all(x, self.texts.all(y, cidr(x).containsCIDR(cidr(y))))",
        "self.texts.all(x, self.texts.all(y, cidr(x).masked() == cidr(y)))",
        "self.texts.all(x, self.texts.all(y, format.named(x) == format.named(y)))",
        "self.texts.all(x, format.named(x).hasValue())",
        "self.texts.all(x, self.texts.all(y, format.dns1123Label() == format.uuid()))",
        "self.texts.all(x, '%s and %d'.format([x, self.size]).contains(self.other))",
        "self.texts.all(x, strings.quote(x).contains(self.other))",
        "self.texts.all(x, x.findAll('[a-z]').size() > 1 && x.find('a') == 'a')",
        "self.texts.all(x, self.texts.reverse().exists(y, y.contains(self.other)))",
        "self.texts.all(x, self.texts.slice(1, 2).exists(y, y.contains(self.other)))",
        "[1, 2].slice(2, 1).exists(y, self.texts.all(x, x.contains(self.other)))",
        "self.texts.all(x, self.texts.distinct().exists(y, y.contains(self.other)))",
        "self.texts.all(x, [self.texts, self.texts].flatten().exists(y, y.contains(self.other)))",
        "self.sizes.all(x, self.sizes.sort().exists(y, self.sizes.sum() > y))",
        "self.sizes.all(x, self.sizes.sortBy(y, -y).exists(z, self.sizes.max() > z))",
        "self.texts.all(x, self.texts.sortBy(y, y.size()).exists(z, z.contains(self.other)))",
        "self.sizes.all(x, lists.range(1000).exists(y, self.sizes.indexOf(y) > 1))",
        "self.texts.all(x, self.texts.indexOf(x) > 1 && self.texts.lastIndexOf(x) > 1)",
        "self.texts.all(x, sets.equivalent(self.texts, [x, self.text]))",
        "self.texts.all(x, sets.intersects(self.texts, self.texts))",
        "self.texts.all(x, [x, self.text].exists(y, y.contains(self.other)))",
        "self.texts.all(x, {'a': x, 'b': self.text}.exists(k, k.contains(self.other)))",
        "self.texts.all(x, {'a': x}.all(k, v, v.contains(self.other)))",
        "self.texts.map(x, x + x).exists(y, y.contains(self.other))",
        "self.texts.filter(x, x == 'a').all(y, y.contains(self.other))",
        "self.texts.transformList(i, v, v + v).exists(y, y.contains(self.other))",
        "self.maps.all(m, m.all(k, m[k] > 1 && self.texts.exists(t, t.contains(k))))",
        "self.maps.all(m, m.transformMap(k, v, k).all(k, v, v.contains(self.text)))",
        "self.texts.exists_one(x, dyn(x) == self.any || dyn(self.text) == x)",
        "self.texts.all(x, (self.size > 1 ? x : self.text + x).contains(self.other))",
        "self.texts.all(x, cel.bind(y, x + x, y.contains(self.other)))",
        "self.texts.all(x, optional.of(x).orValue('a').contains(self.other))",
        "self.texts.all(x, self.?text.hasValue() && self.texts[?0].orValue(x) == self.text)",
        "self.texts.all(x, x in self.texts && self.size in self.sizes)",
        "self.texts.all(x, self.texts == self.texts && self.maps == self.maps)",
        "self.texts.all(x, x < self.text && x != self.text && x.startsWith(self.other))",
        "self.texts.all(x, x.matches(self.short) && timestamp(x) < timestamp(self.text))",
        "self.texts.all(x, string(self.sizes.sum()) == x && int(x) == self.size)",
        "self.texts.all(x, quantity(x).add(quantity(self.text)).isGreaterThan(quantity(x)))",
        "self.texts.all(x, semver(x).isLessThan(semver(self.text)) && semver(x).major() == 1)",
        "self.texts.all(x, self.texts.join(x).contains(self.other) && self.texts.join() == x)",
        "self.sizes.all(x, math.greatest(self.sizes) > x && math.bitAnd(x, 1) == 1)",
    ):
        part = {**objects({"rule": rule, "message": "m"}), "properties": properties}
        tried(c, one=part)
        tried(c, some={"type": "array", "maxItems": 1000, "items": part})
