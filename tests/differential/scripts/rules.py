"""`x-kubernetes-validations`: rules in CEL, and what is refused for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, gone
from tests.differential.script import script
from tests.differential.scripts.custom_resources import SPEC, definition, version
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION, Kind

TEXT = {"type": "string", "maxLength": 9}
INTEGER = {"type": "integer"}
WRONG = {"messageExpression": "1", "optionalOldSelf": False}
INTEGERS = {"type": "array", "maxItems": 9, "items": INTEGER}


def objects(*rules: dict[str, Any] | str, **properties: Any) -> dict[str, Any]:
    told = [{"rule": rule} if isinstance(rule, str) else rule for rule in rules]
    return {"type": "object", "properties": properties, "x-kubernetes-validations": told}


def ruled(value: dict[str, Any], *rules: dict[str, Any] | str) -> dict[str, Any]:
    told = [{"rule": rule} if isinstance(rule, str) else rule for rule in rules]
    return {**value, "x-kubernetes-validations": told}


@contextmanager
def served(c: Dialogue, kind: str, **properties: Any) -> Iterator[Kind]:
    """Have a kind served whose spec has these properties; its definition is deleted in the end."""
    plural = f"{kind.lower()}s"
    of = Kind("differential.assay.dev", "v1", kind, plural)
    c.create(
        definition(plural, kind, version("v1", **properties) | {"subresources": {"status": {}}}),
        show=["metadata.name"],
    )
    name = f"{plural}.differential.assay.dev"
    c.until(CUSTOM_RESOURCE_DEFINITION, name, condition("Established"), show=["metadata.name"])
    c.until_served(of.path(c.namespace))
    yield of
    c.delete(CUSTOM_RESOURCE_DEFINITION, name, show=["metadata.name"])
    c.until(CUSTOM_RESOURCE_DEFINITION, name, gone)


def one(kind: Kind, name: str = "a", **spec: Any) -> dict[str, Any]:
    metadata = {"name": name}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}


def create(c: Dialogue, kind: Kind, name: str = "a", *, dry_run: bool = False, **spec: Any) -> None:
    """Create one, also of a kind that is known to this script alone."""
    path = kind.path(c.namespace) + ("?dryRun=All" if dry_run else "")
    c.raw("POST", path, one(kind, name, **spec), label=f"create {spec}", show=SPEC)


def tried(c: Dialogue, **spec: dict[str, Any]) -> None:
    crd = definition("shims", "Shim", version("v1", **spec))
    c.create(crd, dry_run=True, show=["metadata.name"])


@script("A broken rule is told with its field, its message and its reason.", ["4.16"])
def rules_of_objects(c: Dialogue) -> None:
    range_ = objects(
        {"rule": "self.least <= self.most", "message": " least is more than most "},
        {"rule": "self.least > 0", "messageExpression": "self.least < 0 ? 'less' : 'none'"},
        {"rule": "self.most < 100", "reason": "FieldValueForbidden", "message": "too many"},
        least=INTEGER,
        most=INTEGER,
    )
    for name, reason in (("dup", "Duplicate"), ("need", "Required"), ("bad", "Invalid")):
        rule = {"rule": f"self != '{name}'", "reason": f"FieldValue{reason}", "message": "no"}
        range_["properties"][name] = ruled(TEXT, rule)
    with served(c, "Flange", range=range_) as kind:
        for spec in (
            {"least": 2, "most": 1},
            {"least": 0, "most": 1},
            {"least": 1, "most": 200},
            {"least": -1, "most": -2},
            {"least": 1, "most": 2, "dup": "dup"},
            {"least": 1, "most": 2, "need": "need"},
            {"least": 1, "most": 2, "bad": "bad"},
            {"least": 1},
            {"least": "one", "most": 2},
            {"least": 1, "most": 2},
        ):
            create(c, kind, dry_run=True, range=spec)


@script("A rule that names oldSelf judges updates alone, unchanged values too.", ["4.16"])
def transition_rules(c: Dialogue) -> None:
    entry = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": TEXT, "size": INTEGER},
        "x-kubernetes-validations": [{"rule": "self.size == oldSelf.size"}],
    }
    entries = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": entry,
    }
    first = {"rule": "oldSelf.hasValue() || self == 1", "optionalOldSelf": True}
    with served(
        c,
        "Pinion",
        fixed=ruled(TEXT, {"rule": "self == oldSelf", "message": "field is immutable"}),
        grows=objects("self.size > oldSelf.size", size=INTEGER),
        counts={"type": "object", "additionalProperties": ruled(INTEGER, "self >= oldSelf")},
        entries=entries,
        tags=ruled(
            {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT}, "self == oldSelf"
        ),
        first=ruled(INTEGER, first),
        other=TEXT,
    ) as kind:
        spec = {
            "fixed": "a",
            "grows": {"size": 1},
            "counts": {"x": 1},
            "entries": [{"name": "a", "size": 1}, {"name": "b", "size": 2}],
            "tags": ["x", "y"],
        }
        create(c, kind, first=2, **spec)
        create(c, kind, first=1, **spec)
        for change in (
            {"other": "x"},
            {"grows": {"size": 2}},
            {"grows": {"size": 3}, "fixed": "b"},
            {"grows": {"size": 3}, "counts": {"x": 0, "y": 0}},
            {"grows": {"size": 3}, "entries": [{"name": "c", "size": 3}, {"name": "b", "size": 3}]},
            {"grows": {"size": 4}, "entries": [{"name": "b", "size": 2}, {"name": "a", "size": 1}]},
            {"grows": {"size": 5}, "tags": ["y", "x"]},
            {"grows": {"size": 6}, "tags": ["y"]},
            {"grows": {"size": 7}, "first": 2},
            {"grows": None, "fixed": None},
        ):
            c.patch(kind, "a", {"spec": change}, show=SPEC)


@script("A rule sees the old entries of a list, whichever of them the new one has.", ["4.16"])
def transition_rules_of_lists(c: Dialogue) -> None:
    texts = {"type": "array", "maxItems": 9, "items": TEXT}
    tags = {**texts, "x-kubernetes-list-type": "set"}
    entries = {
        "type": "array",
        "maxItems": 9,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name", "port"],
        "items": {
            "type": "object",
            "required": ["name", "port"],
            "properties": {"name": TEXT, "port": INTEGER, "tags": tags},
        },
    }
    kept = "oldSelf.all(old, self.exists(new, new == old))"
    spec = {
        "texts": ["x", "y"],
        "tags": ["x", "y"],
        "entries": [{"name": "a", "port": 1, "tags": ["x", "y"]}, {"name": "a", "port": 2}],
    }
    with served(
        c,
        "Ratchet",
        texts=ruled(texts, kept),
        tags=ruled(tags, kept),
        entries=ruled(entries, kept),
    ) as kind:
        create(c, kind, **spec)
        for change in (
            {"texts": ["y", "x"]},
            {"texts": ["x", "y", "z"]},
            {"texts": ["x"]},
            {"tags": ["y", "x"]},
            {"tags": ["z", "y", "x"]},
            {"tags": ["z", "x"]},
            {"tags": []},
            {"entries": [{"name": "a", "port": 2}, spec["entries"][0]]},
            {"entries": [{"name": "a", "port": 1, "tags": ["y", "x"]}, {"name": "a", "port": 2}]},
            {"entries": [{"name": "b", "port": 1}, *spec["entries"]]},
            {"entries": [{"name": "b", "port": 1}, spec["entries"][0]]},
            {"entries": None},
        ):
            c.patch(kind, "a", {"spec": change}, dry_run=True, show=SPEC)


@script("An expression without a value for an object refuses it.", ["4.16"])
def rules_without_a_value(c: Dialogue) -> None:
    with served(
        c,
        "Gasket",
        key=objects("self.absent > 0", absent=INTEGER),
        index=ruled(INTEGERS, "self[3] > 0"),
        zero=ruled(INTEGER, {"rule": "1 / self > 0", "message": "divided"}),
        any=ruled({"x-kubernetes-int-or-string": True}, "self > 1"),
        text=ruled(TEXT, "sign(quantity(self)) == 1"),
        pattern=ruled(TEXT, "self.matches(self)"),
        number=ruled(TEXT, "int(self) > 1"),
    ) as kind:
        for spec in (
            {"key": {}},
            {"index": [1]},
            {"zero": 0},
            {"any": "x"},
            {"any": 2},
            {"text": "1k"},
            {"number": "3"},
        ):
            create(c, kind, dry_run=True, **spec)


@script("What a rule refuses is no error in a value that stands unchanged.", ["4.16"])
def ratcheted_rules(c: Dialogue) -> None:
    part = {"type": "object", "properties": {"size": INTEGER}}
    with served(c, "Washer", part=part, absent=part, other=TEXT) as kind:
        create(c, kind, part={"size": 1})
        create(c, kind, "b", absent={})
        strict = {"part": objects("self.size > 1", size=INTEGER)}
        strict["absent"] = objects("self.size > 1", size=INTEGER)
        changed = version("v1", **strict, other=TEXT) | {"subresources": {"status": {}}}
        c.patch(
            CUSTOM_RESOURCE_DEFINITION,
            "washers.differential.assay.dev",
            {"spec": {"versions": [changed]}},
            show=["metadata.name"],
        )
        bad, path = one(kind, "probe", part={"size": 1}), f"{kind.path(c.namespace)}?dryRun=All"
        c.until_true("new rules are served", lambda: c.consult("POST", path, bad).code == 422)
        c.patch(kind, "a", {"spec": {"other": "x"}}, show=SPEC)
        c.patch(kind, "a", {"spec": {"part": {"size": 0}}}, show=SPEC)
        c.patch(kind, "b", {"spec": {"other": "x"}}, show=SPEC)


@script("A status is judged with its whole object by the rules of the root.", ["4.16"])
def rules_of_statuses(c: Dialogue) -> None:
    kind = Kind("differential.assay.dev", "v1", "Spindle", "spindles")
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"size": INTEGER}},
            "status": {"type": "object", "properties": {"seen": INTEGER}},
        },
        "x-kubernetes-validations": [
            {"rule": "!has(self.status) || self.status.seen <= self.spec.size"},
            {"rule": "self.metadata.name.startsWith('a')", "message": "named otherwise"},
        ],
    }
    only = {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}}
    crd = definition("spindles", "Spindle", {**only, "schema": {"openAPIV3Schema": schema}})
    name = "spindles.differential.assay.dev"
    c.create(crd, show=["metadata.name"])
    c.until(CUSTOM_RESOURCE_DEFINITION, name, condition("Established"), show=["metadata.name"])
    c.until_served(kind.path(c.namespace))
    show = ["spec", "status"]
    create(c, kind, "b", size=1)
    create(c, kind, "a", size=2)
    c.patch(kind, "a", {"status": {"seen": 3}}, subresource="status", show=show)
    c.patch(kind, "a", {"status": {"seen": 2}}, subresource="status", show=show)
    c.patch(kind, "a", {"spec": {"size": 1}}, show=show)
    c.delete(CUSTOM_RESOURCE_DEFINITION, name, show=["metadata.name"])
    c.until(CUSTOM_RESOURCE_DEFINITION, name, gone)


@script("A CRD whose rules do not compile is refused, with each rule's mistake.", ["4.16"])
def wrong_rules(c: Dialogue) -> None:
    rule: dict[str, Any]
    for rule in (
        {"rule": "self.absent == 1"},
        {"rule": "self.size == 'x'"},
        {"rule": "self.size >"},
        {"rule": "self.size"},
        {"rule": "self.fill() || nothing"},
        {"rule": "self.namespace == 'x' && self.__namespace__ == 'x'"},
        {"rule": "self.name.find(1) == ''"},
        {"rule": "self.names.sum() == ''"},
        {"rule": "quantity(self.name) > quantity('1')"},
        {"rule": " "},
        {"rule": "true", "message": " "},
        {"rule": "true", "message": "a\nb"},
        {"rule": "true\n&& true"},
        {"rule": "true", "reason": "No"},
        {"rule": "true", "messageExpression": "1"},
        {"rule": "true", "messageExpression": "self.absent"},
        {"rule": "true", "messageExpression": " "},
        {"rule": "true", "optionalOldSelf": True},
        {"rule": "self.size >= oldSelf.size", "messageExpression": "string(oldSelf.size)"},
    ):
        texts = {"type": "array", "maxItems": 9, "items": TEXT}
        tried(c, range=objects(rule, size=INTEGER, name=TEXT, names=texts, namespace=TEXT))
    tried(c, sizes={**INTEGERS, "items": ruled(INTEGER, "self >= oldSelf")})


@script("A CRD is refused if the evaluation of its rules may take too long.", ["4.16"])
def costs_of_rules(c: Dialogue) -> None:
    unbounded = {"type": "array", "items": {"type": "string"}}
    tried(c, names=ruled(unbounded, "self.all(a, self.all(b, a == b))"))


@script("A rule may name a field, and use all of Kubernetes' functions.", ["4.16"])
def parts_of_rules(c: Dialogue) -> None:
    pointed = {"rule": "self.size > 1", "fieldPath": ".size", "reason": "FieldValueForbidden"}
    with served(
        c,
        "Sprocket",
        part=objects(pointed, size=INTEGER),
        address=ruled(TEXT, "isIP(self) && ip(self).family() == 4"),
        parsed=ruled(TEXT, "ip(self).isLoopback()"),
        network=ruled(TEXT, "cidr(self).containsIP('10.0.0.1')"),
        version=ruled(TEXT, "semver(self).isLessThan(semver('1.0.0'))"),
        sizes=ruled(INTEGERS, "self.indexOf(3) == 0"),
        label=ruled(
            TEXT,
            {
                "rule": "!format.dns1123Label().validate(self).hasValue()",
                "messageExpression": "format.dns1123Label().validate(self).value()[0]",
            },
        ),
        named=ruled(TEXT, "!format.named('uuid').value().validate(self).hasValue()"),
        mapped=ruled(INTEGERS, "self.transformMap(i, v, v > 1, i + v).all(k, v, k < v)"),
    ) as kind:
        for spec in (
            {"part": {"size": 1}},
            {"address": "::1"},
            {"address": "127.0.0.1"},
            {"parsed": "127.0.0"},
            {"parsed": "1::2::3"},
            {"network": "10.0.0.0"},
            {"network": "10.1.0.0/8"},
            {"version": "v1"},
            {"version": "1.0.0"},
            {"version": "1.0.0-a"},
            {"sizes": [1, 3]},
            {"sizes": [3]},
            {"label": "a.b"},
            {"label": "a"},
            {"named": "a"},
            {"mapped": [0, 2]},
        ):
            create(c, kind, dry_run=True, **spec)
    for rule in (
        {"rule": "true", "fieldPath": "size"},
        {"rule": "true", "fieldPath": ".none"},
        {"rule": "ip(self.name) == self.name"},
        {"rule": "format.uuid().validate(self.name) == self.size"},
        {"rule": "oldSelf.hasValue() && self.size == self.name", "optionalOldSelf": True},
    ):
        tried(c, range=objects(rule, size=INTEGER, name=TEXT))
    nested = {"x-kubernetes-validations": [{"rule": "true"}]}
    tried(c, part={**objects("true", size=INTEGER), "allOf": [nested]})
    tried(c, sizes={**INTEGERS, "items": ruled(INTEGER, {"rule": "self >= oldSelf", **WRONG})})


@script("A rule takes a URL apart, and says why a text is none.", ["4.16"])
def urls_of_rules(c: Dialogue) -> None:
    text = {"type": "string", "maxLength": 40}
    told = {
        part: ruled(
            text,
            {
                "rule": f"url(self).get{part}() == '?'",
                "messageExpression": f"url(self).get{part}()",
            },
        )
        for part in ("Scheme", "Host", "Hostname", "Port", "EscapedPath")
    }
    query = ruled(text, "url(self).getQuery()['a'][0] == '1'")
    with served(c, "Tether", query=query, **told) as kind:
        path = f"{kind.path(c.namespace)}?dryRun=All"
        for url in (
            *("", "*", ":", ":a", "a", "/", "/a?b#c", "//a/b", "///a", "a:", "a:b", "a:/b", "A:b"),
            *("1:b", "a b", "a:b c", "http://a:80/b/c", "http://u:p@a/", "http://a:", "http://a:x"),
            *("http://[::1]:80/a", "http://[::1", "http://[::1]x", "http://a b/", "http://a<b/"),
            *("http://a/b c'd", "http://a/%41%zz", "http://a/%4", "http://%41/", "http://a%zz/"),
            *("http://a\t/", "http://a?b", "http://a/?b=1:2/3", "http://é/", "/é", "ht+t.p-1://a/"),
            *("http://a#b", "http://a/#b", "/?a#%zz", "http://a b@c/", "http://a%zz@c/", "//a b"),
            *("http://a@b@c/", "http://a:b@c:d@e/", "http://a:b:80/", "http://::1/", "http://[a]/"),
            *("http://[::1%25a%20b]/", "http://[::1]a]:8/", "http://[::1]]/", "http://%c3%a9/"),
            *("http://a|%zz/", "http://a%zz|/", 'http://a">/', "http://a%25b/", "http://:80/"),
            *("http://[1.2.3.4]/", "http://[::1%25]/", "http://[]/", "http://[::ffff:1.2.3.4]/"),
            *("http://[::1%25%zz]/", "http://[::1%25%2f]/", "http://[::1%25a|]/", "http://[::|]/"),
            *("http://[%41]/", "http://[::1%20]/", "http://[é]/", "//[::1", "//a:x/", "//a%41/"),
            *("//a/%zz", "///a b", "//a b@c/", "http://[::1]%zz/", "http://a/%zz#%zz", "a:/%zz"),
            *("http://a:é/", "http:///a", "http:", "http://", "a/b:c", "/a|b", "/%7ea", "http://["),
        ):
            taken = one(kind, **dict.fromkeys(told, url))
            c.raw("POST", path, taken, label=f"take {url!r} apart", show=SPEC)
        for query in (
            *("?a", "?a=", "?a=1&b=2&a=3", "?a=%41+b", "?a=1;b", "?b&a=1", "?&&", "#?a=1"),
            *("?a=%31", "?%61=1", "?a=1&;", "?a=%zz", "?%zz=1&a=1", "?a=1#b", "?a=1=", "??a=1"),
        ):
            create(c, kind, dry_run=True, query=f"/{query}")


@script("A rule names a field by its path, with the escapes of its keys.", ["4.16"])
def paths_of_rules(c: Dialogue) -> None:
    keys = {"a'b": TEXT, "a\\b": TEXT, "a.b": TEXT, "a-b": TEXT, "": TEXT, "size": INTEGER}
    for path in (
        *(".size", "size", ".", "", ".none", ".size.x", "['size']", "[size]", ".['size']"),
        *(r"['a\'b']", r"['a\\b']", r"['a\"b']", r"['a\nb']", r"['a\qb']", "['a.b']", ".a.b"),
        *("['a-b']", ".a-b", "['']", "['size'", ".map['k']", ".map.k", ".map['k'].x", ".list[0]"),
    ):
        part = objects({"rule": "true", "fieldPath": path, "message": "m"}, **keys)
        part["properties"] |= {
            "map": {"type": "object", "additionalProperties": TEXT},
            "list": INTEGERS,
        }
        tried(c, part=part)
