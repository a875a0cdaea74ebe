"""Places where schemas, rules, formats and paths end: the last that is accepted, and the first that
is not."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.exchange import TABLE, Answer
from tests.differential.script import script
from tests.differential.scripts.custom_resources import definition, version
from tests.differential.scripts.rules import one, served
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION, Kind

_WORDS: Final = (
    *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for"),
    *("function", "if", "import", "let", "loop", "package", "namespace", "return"),
    *("var", "void", "while"),
)
_SPELLED: Final = {
    **{word: f"__{word}__" for word in _WORDS},
    "a__b": "a__underscores__b",
    "a.b": "a__dot__b",
    "a-b": "a__dash__b",
    "a/b": "a__slash__b",
}
_TEXT: Final = {"type": "string"}
_NUMBER: Final = {"type": "integer"}
_REPEATED: Final = re.compile(r"Invalid value: \{.*\}: ")
_TYPE: Final = re.compile(r"selfType[0-9]+(\.[@a-z]+)*|schema\.Type[0-9]+")
_OPEN: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _said(answer: Answer) -> Any:
    """The code, and the causes of a refusal."""
    body = answer.body
    causes = (body.get("details") or {}).get("causes") or ()
    # A CRD's rules are refused with a whole page.
    # A real server walks through a Go map, in another order each time.
    told = sorted(f"{it['field']}: {_shortened(it['message'])}" for it in causes)
    told = told or body.get("message", "")
    return [answer.code, told] if answer.code >= 300 else answer.code


def _shortened(message: str) -> str:
    """The first line without the rule that it repeats, and without names of types."""
    line = _REPEATED.sub("Invalid value: ", message.partition(" (try")[0].partition("\n")[0])
    line = _TYPE.sub("<type>", line)
    return line if len(line) < 400 else f"{line[:40]}… ({len(line)} characters)"


def _defined(c: Dialogue, label: str, schema: Mapping[str, Any], **more: Any) -> None:
    """Note how a CRD of that schema is answered."""
    obj = definition("pivots", "Pivot", {**version("v1", it=dict(schema)), **more})
    path = f"{CUSTOM_RESOURCE_DEFINITION.path()}?dryRun=All"
    c.note(label, _said(c.consult("POST", path, obj)))


def _ruled(schema: Mapping[str, Any], *rules: str, **more: str) -> dict[str, Any]:
    found = [{"rule": rule, "message": "m", **more} for rule in rules]
    return {**schema, "x-kubernetes-validations": found}


def _tried(c: Dialogue, kind: Kind, label: str, **spec: Any) -> None:
    """Note how an object of that spec is answered."""
    path = f"{kind.path(c.namespace)}?dryRun=All"
    c.note(label, _said(c.consult("POST", path, one(kind, **spec))))


@script("A field that is called like a word of the language is named with underscores.", ["4.16"])
def words_of_rules(c: Dialogue) -> None:
    for field, spelled in _SPELLED.items():
        schema = {"type": "object", "properties": {field: _TEXT}}
        _defined(c, f"spelled: {field}", _ruled(schema, f"self.{spelled} != 'x'"))
    rules = [f"self.{spelled} != 'x'" for spelled in _SPELLED.values()]
    every = {"type": "object", "properties": dict.fromkeys(_SPELLED, _TEXT)}
    with served(c, "Pivot", it=_ruled(every, *rules)) as kind:
        for field in _SPELLED:
            _tried(c, kind, f"wrong: {field}", it=dict.fromkeys(_SPELLED, "y") | {field: "x"})


_FORMATS: Final = (
    *("dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "labelValue"),
    *("dns1123LabelPrefix", "dns1123SubdomainPrefix", "dns1035LabelPrefix"),
    *("uri", "uuid", "byte", "date", "datetime"),
)
_NAMES: Final = (
    *("", "-", "a", "a-", "A", "1", "1a-", "a.b", "a.b-", "a.b.", "a.-", "ab-", "a--", "a_b"),
    *(
        "a" * 63,
        "a" * 64,
        "a" * 62 + "-",
        "a" * 63 + "-",
        "a/b",
        "x.y/b",
        "/b",
        "a" * 253,
        "a" * 254,
    ),
    *("2020-01-01", "2020-01-01T00:00:00Z", "YQ==", "%", "http://a.b/c", "é"),
    "123e4567-e89b-12d3-a456-426614174000",
)


@script("The formats that rules know decide on the same names.", ["4.16"])
def formats_of_rules(c: Dialogue) -> None:
    schemas = {
        format_.lower(): _ruled(
            {"type": "string", "maxLength": 300},
            f"!format.named('{format_}').value().validate(self).hasValue()",
        )
        for format_ in _FORMATS
    }
    with served(c, "Pivot", **schemas) as kind:
        for text in _NAMES:
            _tried(c, kind, f"{text[:9]} {len(text)}", **dict.fromkeys(schemas, text))


@script("Texts at the bounds of their formats are accepted or not.", ["4.16"])
def bounds_of_formats(c: Dialogue) -> None:
    texts: dict[str, list[str]] = {
        "cidr": ["10.0.0.0/32", "10.0.0.0/+3", "::/128", "::/129", "10.0.0.0/٣", "::%a/8", "::/"],
        "hostname": [".".join(["a" * 61] * 4), ".".join(["a" * 63] * 4), "a" * 63, "a" * 64],
        "mac": [
            "00" * 8,
            "00" * 20,
            ":".join(["00"] * 8),
            ":".join(["00"] * 20),
            "0:00:00:00:00:0",
        ],
        "ipv4": ["1.2.3.4", "01.2.3.4", "::1.2.3.4", "::1", "1.2.3.4%a"],
        "ipv6": ["::1%a", "::1", "1.2.3.4"],
    }
    texts["mac"] += ["00-00-00-00-00-00", "0000.0000.0000.0000", "000.0000.0000", "00:00:00:00:00"]
    texts["hostname"] += [".".join(["a" * 63] * 3 + ["a" * n]) for n in (60, 61, 62)]
    schemas = {it: {"type": "string", "format": it} for it in texts}
    with served(c, "Pivot", **schemas) as kind:
        for format_, each in texts.items():
            for text in each:
                _tried(c, kind, f"{format_} {text[:40]} {len(text)}", **{format_: text})


_KEYED: Final = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    "items": {
        "type": "object",
        "required": ["k"],
        "properties": {"k": _TEXT, "v": _NUMBER},
    },
}
_SET: Final = {"type": "array", "x-kubernetes-list-type": "set", "items": _TEXT}
_SHORT: Final[dict[str, Any]] = {"maxLength": 1}
_VALUES: Final[tuple[tuple[str, dict[str, Any], tuple[Any, ...]], ...]] = (
    (
        "one",
        {**_TEXT, "oneOf": [_SHORT, {"maxLength": 2}, {"pattern": "^b"}]},
        ("a", "ab", "b", "bb", "bbb", "aaa"),
    ),
    ("any", {**_TEXT, "anyOf": [_SHORT, {"pattern": "^b"}]}, ("a", "ab", "bb")),
    ("all", {**_TEXT, "allOf": [_SHORT, {"pattern": "^b"}]}, ("b", "a", "bb", "ab")),
    ("none", {**_TEXT, "not": _SHORT}, ("a", "ab")),
    ("above", {**_NUMBER, "exclusiveMinimum": True}, (0, -1)),
    ("below", {**_NUMBER, "exclusiveMaximum": True}, (0, 1)),
    ("more", {**_NUMBER, "minimum": 1, "exclusiveMinimum": True}, (1, 2)),
    ("least", {**_NUMBER, "minimum": 1, "exclusiveMinimum": False}, (1, 0)),
    ("most", {**_NUMBER, "maximum": 1, "exclusiveMaximum": False}, (1, 2)),
    ("less", {**_NUMBER, "maximum": 1, "exclusiveMaximum": True}, (1, 0)),
    (
        "keyed",
        _KEYED,
        (
            [{"k": "a"}, {"k": "b"}],
            [{"k": "a", "v": 1}, {"k": "a", "v": 2}],
            [{"k": "a"}] * 3,
            ["x", "x"],
            [{"k": "a"}, None],
            [{"v": 1}, {"v": 1}],
            [None, None],
            "x",
        ),
    ),
    ("set", _SET, (["a", "b"], ["a", "a"], ["a", "a", "a", "b", "b"], [1, 1], [None, None])),
    ("number", {"type": "number"}, (1, 1.5, "1", True)),
    ("whole", _NUMBER, (1, 1.5, 1e3, 2**63, True)),
    ("either", {"x-kubernetes-int-or-string": True}, (1, "a", 1.5, None, True)),
    ("nullable", {**_TEXT, "nullable": True}, (None, "a", 1)),
)


@script("Values at the bounds of a schema are accepted or not.", ["4.16"])
def bounds_of_schemas(c: Dialogue) -> None:
    with served(c, "Pivot", **{name: schema for name, schema, _ in _VALUES}) as kind:
        for name, _, values in _VALUES:
            for value in values:
                _tried(c, kind, f"{name} {value}", **{name: value})
        path = f"{kind.path(c.namespace)}?dryRun=All"
        typed = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "a"}}
        for text in ("1.0", "1e2", "1.5e0", "10E-1", "-0"):
            for name in ("whole", "number", "either"):
                body = json.dumps({**typed, "spec": {name: "@"}}).replace('"@"', text).encode()
                answer = c.raw("POST", path, body, label=f"{name} of {text}", show=["spec", "code"])
                c.note(f"{name} is {text}", _said(answer))


@script("A rule on updates sees what stood where there is nothing now, or was nothing.", ["4.16"])
def rules_on_absent_values(c: Dialogue) -> None:
    lists = {
        "keyed": {**_KEYED, "nullable": True},
        "set": {**_SET, "nullable": True},
        "nested": {"type": "array", "items": {"type": "array", "maxItems": 9, "items": _TEXT}},
        "map": {"type": "object", "nullable": True, "additionalProperties": dict(_SET)},
        "sets": {"type": "array", "items": {**_SET, "maxItems": 9, "nullable": True}},
        "deep": {
            "type": "object",
            "properties": {
                "s": {**_SET, "nullable": True},
                "m": {"type": "object", "nullable": True, "additionalProperties": dict(_SET)},
                "k": {**_KEYED, "nullable": True},
                "l": {"type": "array", "nullable": True, "items": dict(_SET)},
            },
        },
        "part": {"type": "object", "nullable": True, "properties": {"s": dict(_SET), "t": _TEXT}},
        "inner": {
            **_KEYED,
            "items": {
                "type": "object",
                "required": ["k"],
                "properties": {"k": _TEXT, "s": dict(_SET)},
            },
        },
    }
    for each in lists.values():
        each["maxProperties" if each["type"] == "object" else "maxItems"] = 9
    schemas = {name: _ruled(it, "self == oldSelf") for name, it in lists.items()}
    values: dict[str, tuple[Any, ...]] = {
        "keyed": (
            None,
            [],
            [{"k": "a"}],
            [{"k": "a"}, {"k": "b"}],
            [{"k": "b"}, {"k": "a"}],
            [{"k": "a", "v": 1}],
            [{"k": "c"}, {"k": "a"}],
        ),
        "set": (None, [], ["a"], ["a", "b"], ["b", "a"], ["b", "c"]),
        "nested": ([], [["a"]], [["a", "b"]], [["b", "a"]], [[], []]),
        "map": (None, {}, {"a": ["x", "y"]}, {"a": ["y", "x"]}, {"b": ["x"]}, {"a": ["x"]}),
        "sets": ([], [["a", "b"]], [["b", "a"]], [["b", "a"], ["c"]], [["c"], ["a", "b"]]),
        "deep": (
            {},
            {"s": None, "m": None, "k": None, "l": None},
            {"s": ["a", "b"], "m": {"x": ["a", "b"]}, "k": [{"k": "a"}], "l": [["a", "b"]]},
            {"s": ["b", "a"], "m": {"x": ["b", "a"]}, "k": [{"k": "a"}], "l": [["b", "a"]]},
            {"s": ["b", "a"], "m": None, "k": [{"k": "a", "v": 1}], "l": [["b", "a"], []]},
            {"s": None, "m": {"x": ["b", "a"]}, "l": []},
        ),
        "part": (None, {}, {"s": ["x", "y"]}, {"s": ["y", "x"]}, {"s": ["y", "x"], "t": "t"}),
        "inner": (
            [],
            [{"k": "a", "s": ["x", "y"]}, {"k": "b"}],
            [{"k": "b"}, {"k": "a", "s": ["y", "x"]}],
            [{"k": "b", "s": ["x"]}, {"k": "a"}],
        ),
    }
    with served(c, "Pivot", **schemas) as kind:
        path = kind.path(c.namespace)
        for name, each in values.items():
            for number, old in enumerate(each):
                at = f"{path}/{name}{number}"
                c.consult("POST", path, one(kind, f"{name}{number}", **{name: old}))
                for new in each:
                    body = [{"op": "add", "path": f"/spec/{name}", "value": new}]
                    how = "application/json-patch+json"
                    answer = c.consult("PATCH", f"{at}?dryRun=All", body, content_type=how)
                    c.note(f"{name}: {old} becomes {new}", _said(answer))


_RULES: Final = (
    *("'%d'.format([uint(1)]) == ''", "'%.'.format([1]) == ''", "'%.d'.format([1]) == ''"),
    *("'%5'.format([1]) == ''", "'%'.format([1]) == ''", "'%s'.format(self.l) == ''"),
    *(
        "'%s'.format([[1, {'a': 1}]]) == ''",
        "'%s %%'.format([1, 2]) == ''",
        "'%q'.format([1]) == ''",
    ),
    *("self.t.format([1]) == ''", "'%x'.format([1.5]) == ''", "'%X'.format(['a']) == ''"),
    *("'%b'.format([true]) == ''", "'%e'.format([1]) == ''", "'%.3f'.format(['a']) == ''"),
    *("'%s'.format([]) == ''", "'%d'.format([self.t]) == ''", "'a'.format([]) == 'a'"),
    *(")self.t == 'a'", "self.t == 'a')", "self.t == 'a']", "(self.t == 'a'", "self.t, self.t"),
    *("self.l.map(e, e)] == []", "[self.t, 'a' == []", "{'a': self.t} == {}, 1"),
    *("self.l.transformList(i, v, v) == []", "self.l.transformList(i, v, i > 0, v) == []"),
    *("self.m.transformMap(k, v, v) == {}", "self.m.transformMap(k, v, k != '', v) == {}"),
    *("self.m.transformMapEntry(k, v, {v: k}) == {}", "self.m.transformMap(k, v) == {}"),
    *("1 && self.t == 'a'", "self.t && true", "true || self.n", "!self.n", "self.n ? true : false"),
    *("self.t.indexOf(1) == 0", "self.l.indexOf('a') == 0", "self.l.indexOf(1) == 0"),
    *("self.l.lastIndexOf('a') == 0", "[].indexOf(1) == 0", "[1, 'a'].indexOf('a') == 1"),
    *("b'a' < b'b'", "b'a' > bytes(self.t)", "b'a' >= bytes(self.t)", "b'a' <= bytes(self.t)"),
    *("'a' <= self.t", "'a' >= self.t", "1u <= uint(self.n)", "uint(self.n) == 1u"),
    *("self.l.sum() == 1", "self.l.min() == 'a'", "self.l.max() == 'a'", "self.l.isSorted()"),
    *("self.nl.sum() == 1", "self.nl.min() == 1", "self.nl.isSorted()", "[b'a'].isSorted()"),
    *("self.l.join() == ''", "self.l.join(',') == ''", "self.t.split(',', 2).size() == 1"),
    *(
        "self.t.replace('a', 'b', 1) == ''",
        "self.t.substring(1, 2) == ''",
        "self.t.charAt(0) == 'a'",
    ),
    *(
        "self.t + 'a' == ''",
        "bytes(self.t) + b'a' == b''",
        "self.l + self.l == []",
        "string(self.n) == ''",
    ),
    *("optional.of(self.t).orValue('a') == 'a'", "self.?t.orValue('a') == 'a'", "has(self.t)"),
    *("self.l[?0].orValue('a') == 'a'", "optional.none().hasValue()", "self.m[?'a'].hasValue()"),
    *("dyn(self.t) == 1", "type(self.t) == string", "self.t == null", "[1, 2].all(x, x > self.n)"),
    *("cel.bind(x, self.t, x == 'a')", "self.l.exists_one(e, e == 'a')", "self.m.all(k, k == 'a')"),
    *("duration(self.t) > duration('1s')", "timestamp(self.t).getFullYear() > 2000"),
    *(
        "quantity(self.t).isInteger()",
        "ip(self.t).family() == 4",
        "cidr(self.t).prefixLength() == 8",
    ),
    *("url(self.t).getHost() == ''", "semver(self.t).major() == 1", "isQuantity(self.t)"),
    *("self.t.matches('(')", "self.t.matches(self.t)", "self.t.findAll('a', 1) == []"),
)


@script("Rules at the edges of the language compile, or say why not.", ["4.16"])
def edges_of_rules(c: Dialogue) -> None:
    schema = {
        "type": "object",
        "properties": {
            "t": {"type": "string", "maxLength": 9},
            "n": _NUMBER,
            "l": {"type": "array", "maxItems": 9, "items": {"type": "string", "maxLength": 9}},
            "nl": {"type": "array", "maxItems": 9, "items": _NUMBER},
            "m": {"type": "object", "maxProperties": 9, "additionalProperties": _TEXT},
        },
    }
    for rule in _RULES:
        _defined(c, rule, _ruled(schema, rule))
    for path in (
        " ",
        ".t\n",
        "",
        ".t",
        ".x",
        "t",
        ".m.a",
        ".m['a\\'b']",
        ".m['a\\n']",
        ".m['\\q']",
    ):
        _defined(c, f"path {path!r}", _ruled(schema, "true", fieldPath=path))
    for path in (
        r".m['\a\b\f\r\t\v']",
        r".m['\\\"\'']",
        ".l[0]",
        ".l",
        ".t.u",
        ".m[a]",
        ".m['a']b",
    ):
        _defined(c, f"path {path!r}", _ruled(schema, "true", fieldPath=path))
    for reason in ("FieldValueRequired", "FieldValueForbidden", "FieldValueDuplicate", "Other", ""):
        _defined(c, f"reason {reason}", _ruled(schema, "true", reason=reason))
    for message in ("", " ", "a\nb", "a"):
        _defined(c, f"message {message!r}", _ruled(schema, "true", message=message))
    for expression in ("", " ", "1", "'a'", "self.t", "oldSelf.t", "'a' +"):
        _defined(c, f"says {expression!r}", _ruled(schema, "true", messageExpression=expression))


@script("A message that is empty, broken or too long gives way to another one.", ["4.16"])
def edges_of_messages(c: Dialogue) -> None:
    text = {"type": "string", "maxLength": 6000}
    schemas = {
        "it": _ruled(text, "self.size() < 0", messageExpression="self"),
        "no": {**text, "x-kubernetes-validations": [{"rule": "self.size() < 0"}]},
        "long": {
            **text,
            "x-kubernetes-validations": [
                {"rule": "size(self) <\n 0", "message": "m", "messageExpression": "self"}
            ],
        },
    }
    with served(c, "Pivot", **schemas) as kind:
        for told in ("a", "", " ", "a\nb", " a ", "x" * 5120, "x" * 5121, "é" * 2560, "é" * 2561):
            _tried(c, kind, f"{told[:3]!r} {len(told)}", **dict.fromkeys(schemas, told))


_TEXTS_OF_SIZES: Final[tuple[dict[str, Any], ...]] = (
    {"type": "string", "enum": ["a", "bcd"]},
    {"type": "string", "enum": []},
    {"type": "string", "maxLength": 0},
    {"type": "string", "format": "byte", "enum": ["YQ=="]},
    {"x-kubernetes-int-or-string": True},
    {"type": "array", "items": {"x-kubernetes-int-or-string": True}},
    {"type": "array", "maxItems": 0, "items": _TEXT},
    {"type": "array", "items": {"type": "array", "items": _TEXT}},
    {
        "type": "array",
        "items": {"type": "object", "required": ["a", "b"], "properties": {"a": _TEXT}},
    },
    {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["a", "b"],
            "properties": {"a": {**_TEXT, "default": "x"}, "b": _OPEN},
        },
    },
    {"type": "object", "maxProperties": 0, "additionalProperties": _TEXT},
    {"type": "object", "additionalProperties": {"type": "array", "items": _NUMBER}},
    {"type": "object", "additionalProperties": True},
    _OPEN,
    {"type": "number"},
    {"type": "boolean"},
)


@script("The cost of a rule follows from the sizes of what it is about.", ["4.16"])
def edges_of_sizes(c: Dialogue) -> None:
    for schema in _TEXTS_OF_SIZES:
        for rule in ("self == self", "string(self) == ''", "self.all(x, self.all(y, x == y))"):
            within = {"type": "array", "items": _ruled(schema, rule)}
            _defined(c, f"{rule} {schema}", within)
            _defined(c, f"{rule} in 9 {schema}", {**within, "maxItems": 9})


@script("Columns have the types, formats and paths that a schema knows.", ["4.16"])
def edges_of_columns(c: Dialogue) -> None:
    formats = ("int32", "int64", "float", "double", "byte", "date", "date-time", "password", "x")
    shown = [
        *({"type": it} for it in ("integer", "number", "string", "boolean", "date", "x", "")),
        *({"type": "string", "format": it} for it in formats),
        *({"type": "string", "priority": it} for it in (0, 1, -1)),
        *({"type": "string", "jsonPath": it} for it in ("", "a", ".", ".a[", "{.a}", ".a['b']")),
        *({"type": "string", "name": it} for it in ("", "a" * 300)),
    ]
    for each in shown:
        column = {"name": "C", "jsonPath": ".spec.it", **each}
        _defined(c, f"column {str(each)[:60]}", _TEXT, additionalPrinterColumns=[column])
    paths = (
        *(".spec.l[?(@.k=='a')].v", '.spec.l[?(@.k=="a")].v', ".spec.l[?(@.k=='a\\'b')].v"),
        *(".spec.l[?(@.v>1)].k", ".spec.l[?(@.v==1)].k", ".spec.l[?(@.v>=1.0)].k"),
        *(".spec.l[?(@.k!='a')].k", ".spec.l[?(@.b==true)].k", ".spec.l[?(@.x)].k"),
        *(".spec.l[?(@.l[*]=='a')].k", ".spec.l[?(@.k==@.k)].k", ".spec.l[?(@.v<'a')].k"),
        *(".spec.l[0:1].k", ".spec.l[-1].k", ".spec.l[*].k", ".spec.l[0,1].k", ".spec['n']"),
        *(".spec.n", ".spec.f", ".spec.s", ".spec.l[9].k", ".spec..k", ".spec.m.a\\.b"),
        *(".spec.l[?(@.n==1)].k", ".spec.l[?(@.k<'b')].k", ".spec.l[?('a'==@.k)].k"),
    )
    columns = [
        {"name": f"C{at}", "type": "string", "jsonPath": path} for at, path in enumerate(paths)
    ]
    obj = definition("pivots", "Pivot", {**version("v1"), "additionalPrinterColumns": columns})
    open_ = {"type": "object", "properties": {"spec": _OPEN}}
    obj["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": open_}
    entries = (
        {"k": "a", "v": 1, "b": True, "l": ["a"]},
        {"k": "b", "v": 2, "b": False, "l": ["a", "b"], "x": None},
        {"k": "a'b", "v": 1.0, "x": 1, "n": "1"},
    )
    specs: tuple[dict[str, Any], ...] = (
        {"l": list(entries), "n": 2**53, "f": 0.5, "s": "x", "m": {"a.b": 1}},
        {"l": [entries[0]], "n": 1.5, "f": -1, "s": ["x", {"y": 1}], "m": {}},
        {"l": [], "n": None, "f": True},
        {},
    )
    path = CUSTOM_RESOURCE_DEFINITION.path()
    c.consult("POST", path, obj)
    group = obj["spec"]["group"]
    at = f"/apis/{group}/v1/namespaces/{c.namespace}/pivots"
    c.until_served(at)
    for number, spec in enumerate(specs):
        made = {
            "apiVersion": f"{group}/v1",
            "kind": "Pivot",
            "metadata": {"name": f"p{number}"},
            "spec": spec,
        }
        answer = c.consult("POST", f"{at}?dryRun=All", made, accept=TABLE)
        cells = answer.body["rows"][0]["cells"][1:] if answer.code < 300 else answer.body
        c.note(f"cells of {number}", cells)
    c.consult("DELETE", f"{path}/{obj['metadata']['name']}")
