"""Texts that are drawn at random, for what rules in CEL make of them.

Each script draws from a generator with a seed of its own, so both sides get the same requests.
Of an answer only what is said is written down.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.rules import one, served
from vocabulary.kinds import Kind

_TEXT: Final = {"type": "string", "maxLength": 80}


def _edited(rng: random.Random, text: str, pieces: Sequence[str]) -> str:
    """The text with up to two places changed."""
    for _ in range(rng.randrange(3)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(pieces) + text[at + rng.randrange(3) :]
    return text


def _texts(
    c: Dialogue, seed: str, bases: Sequence[str], pieces: Sequence[str], count: int
) -> list[str]:
    rng = c.random(seed)
    drawn = (_edited(rng, rng.choice(bases), pieces) for _ in range(count))
    return list(dict.fromkeys((*bases, *drawn)))


def _told(c: Dialogue, label: str, kind: Kind, spec: Mapping[str, Any]) -> None:
    """Write down what is said about the parts of a custom resource."""
    path = f"{kind.path(c.namespace)}?dryRun=All"
    answer = c.consult("POST", path, one(kind, **spec))
    causes = answer.body.get("details", {}).get("causes") or ()
    c.note(label, [answer.code, *sorted(f"{it['field']}: {it['message']}" for it in causes)])


def _each(
    c: Dialogue,
    kind: str,
    items: Sequence[Any],
    *rules: Mapping[str, str],
    label: str = "each",
    format_: str = "",
) -> None:
    """Write down the complaints of rules about each of these texts, or pairs of texts."""
    of_pairs = {"type": "object", "properties": {"a": _TEXT, "b": _TEXT}}
    text = {**_TEXT, "format": format_} if format_ else _TEXT
    schema = text if isinstance(items[0], str) else of_pairs
    told = {**schema, "x-kubernetes-validations": list(rules)}
    with served(c, kind, it={"type": "array", "maxItems": 200, "items": told}) as of:
        _told(c, label, of, {"it": list(items)})


def _shown(test: str, *values: str) -> dict[str, str]:
    """A rule that shows the values that expressions have of what passes a test."""
    format_ = " ".join(["%s"] * len(values))
    parts = f"'{format_}'.format([{', '.join(f'string({value})' for value in values)}])"
    return {"rule": "false", "messageExpression": f"{test} ? {parts} : 'none'"}


def _pairs(
    c: Dialogue, seed: str, ones: Sequence[str], others: Sequence[str], count: int
) -> list[Any]:
    rng = c.random(seed)
    return [{"a": rng.choice(ones), "b": rng.choice(others)} for _ in range(count)]


_ADDRESSES: Final = (
    *("0.0.0.0", "127.0.0.1", "224.0.0.1", "224.0.1.1", "169.254.0.1", "255.255.255.255"),
    *("10.1.2.3", "192.168.0.255", "239.1.1.1", "126.255.0.1", "169.253.1.1"),
    *("::", "::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "ff01::1", "ff12::1", "ff05::2"),
    *("2001:db8::1", "1:2:3:4:5:6:7:8", "1::8", "1:2:3:4:5:6:1.2.3.4", "::ffff:1.2.3.4"),
)
_NETWORKS: Final = (
    *("10.0.0.0/8", "10.1.2.3/16", "0.0.0.0/0", "10.1.2.3/32", "192.168.0.0/17"),
    *("::/0", "2001:db8::/32", "fe80::1/64", "2001:db8::1/128", "1:2:3:4:5:6:7:8/9"),
)
_OF_ADDRESSES: Final = (
    *(".", ":", "::", "%", "/", "0", "1", "9", "25", "256", "00", "a", "F", "g", "12345", "", "é"),
    *("1.2.3.4", "%eth0", "0:0"),
)


@script("Addresses of any form are read as Go reads them.", ["4.16"])
def drawn_addresses(c: Dialogue) -> None:
    texts = _texts(c, "addresses", _ADDRESSES, _OF_ADDRESSES, 140)
    tests = ("isUnspecified", "isLoopback", "isLinkLocalMulticast")
    told = [
        f"ip(self).{test}()" for test in (*tests, "isLinkLocalUnicast", "isGlobalUnicast", "family")
    ]
    shown = _shown("isIP(self)", "ip(self)", "ip.isCanonical(self)", *told)
    _each(c, "Cog", texts, shown, {"rule": "ip(self).family() == 7"})
    texts = _texts(c, "networks", _NETWORKS, _OF_ADDRESSES, 60) + list(_ADDRESSES)
    parts = [f"cidr(self){it}" for it in ("", ".ip()", ".masked()", ".prefixLength()")]
    _each(c, "Gear", texts, _shown("isCIDR(self)", *parts), {"rule": f"{parts[-1]} == 777"})
    more = ("10.1.0.0/15", "10.2.3.4/31", "fe80::/63", "nonsense")
    for kind, test, others in (
        ("Bolt", "containsIP", [*_ADDRESSES, "nonsense"]),
        ("Nut", "containsCIDR", [*_NETWORKS, *more]),
    ):
        pairs = _pairs(c, test, _NETWORKS, others, 70)
        _each(c, kind, pairs, {"rule": f"cidr(self.a).{test}(self.b)"})


_VERSIONS: Final = (
    *("1.2.3", "1.10.0", "0.0.0", "1.0.0-a", "1.0.0-a.1", "1.0.0-a.10", "1.0.0-2", "1.0.0-10"),
    *("1.0.0-a-b.c+d.e", "v1.2.3", "v1.2", "1", "01.2.03", "18446744073709551615.0.0"),
)
_QUANTITIES: Final = (
    *("0", "1", "-1", "+2", "1.5", "100m", "1500m", "1k", "1Ki", "2M", "1Mi", "1G", "1e3", "1E3"),
    *("1E", "1Ei", "-1.5Ki", "0.001", "1n", "1u", "999999999999999999", "1e-3", "12e2", ".5", "5."),
)


@script("Versions and quantities of any form are read, and compared.", ["4.16"])
def drawn_numbers(c: Dialogue) -> None:
    pieces = (".", "-", "+", "0", "1", "00", "a", "v", "", "_", "é", "9" * 20)
    texts = _texts(c, "versions", _VERSIONS, pieces, 130)
    parts = [f"semver(self).{it}()" for it in ("major", "minor", "patch")]
    normalized = _shown("isSemver(self, true)", *(it.replace("f)", "f, true)") for it in parts))
    rules = [{"rule": f"semver(self{it}).major() == 77"} for it in ("", ", true")]
    _each(c, "Shaft", texts, _shown("isSemver(self)", *parts), normalized, *rules)
    compared = "semver(self.a).compareTo(semver(self.b))"
    pairs = _pairs(c, "versions", _VERSIONS[:9], _VERSIONS[:9], 70)
    _each(c, "Crank", pairs, _shown("true", compared))
    marks = (".", "-", "+", "0", "1", "7", "e", "E", "k", "K", "i", "Mi", "m", "n", "u", "", " ")
    texts = _texts(c, "quantities", _QUANTITIES, marks, 140)
    integer = "isQuantity(self) && self.matches('^[+-]?[0-9]{1,9}[kMG]?$')"
    rules = [
        _shown("isQuantity(self)", "sign(quantity(self))", "quantity(self).asApproximateFloat()"),
        _shown(integer, "quantity(self).isInteger()", "quantity(self).asInteger()"),
    ]
    _each(c, "Rod", texts, *rules, {"rule": "sign(quantity(self)) == 7"})
    whole = _shown("true", "quantity(self).isInteger()")
    _each(c, "Dog", ["1000m", "1.0", "1Ei", "1.5Ki"], whole, label="kept otherwise")
    pairs = _pairs(c, "quantities", _QUANTITIES[:-1], _QUANTITIES[:-1], 90)
    pairs += [{"a": "1000m", "b": "1"}, {"a": "1k", "b": "1.00e3"}]
    parts = [f"quantity(self.a).{it}(quantity(self.b))" for it in ("compareTo", "isLessThan")]
    parts.append("quantity(self.a) == quantity(self.b)")
    parts.append("quantity(self.a).add(quantity(self.b)).sub(quantity('1')) == quantity('1')")
    parts.append("sign(quantity(self.a).sub(quantity(self.b)).add(1))")
    _each(c, "Lever", pairs, _shown("true", *parts))


_SPANS: Final = (
    *("1h30m", "2.5s", "3ms", "4us", "5µs", "600ns", "-1s", "1.5h", "0", "+3m", "1h 30m", ".5s"),
    *(
        "2 hours",
        "3 days",
        "1 week 2 days",
        "4 hr",
        "5 wk",
        "6 sec",
        "7 milli",
        "8 micros",
        "9 nano",
    ),
    *("10 minutes", "1d", "2w", "3 min", "4 D", "5 Weeks", "1 d 2 h 3 m 4 s 5 ms"),
)
_TIMES: Final = (
    *("2024-02-29T12:30:45Z", "2024-02-29T12:30:45.123456789Z", "2024-02-29t12:30:45z"),
    *("2024-12-31T23:59:59+14:00", "2023-02-29T00:00:00Z", "2024-01-01T24:00:00Z"),
    *("1970-01-01T00:00:00-05:30", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"),
)


@script("Durations and times of any form are read as a real server reads them.", ["4.16"])
def drawn_times(c: Dialogue) -> None:
    pieces = ("1", "0", ".", "h", "m", "s", "ms", "d", " ", "-", "week", "n", "µ", "", "x")
    texts = _texts(c, "spans", _SPANS, pieces, 110)
    shown = _shown("true", "self.getMilliseconds()", "self.getHours()", "self > duration('1m')")
    _each(c, "Belt", texts, _shown("true", "self"), shown, format_="duration")
    marks = ("1", "0", "9", ":", "-", "T", "Z", "+01:00", ".", ".5", "t", "", " ")
    texts = _texts(c, "times", _TIMES, marks, 110)
    parts = ("self", "self.getDayOfYear()", "self.getDayOfWeek()", "self.getMilliseconds()")
    _each(c, "Chain", texts, _shown("true", *parts), format_="date-time")
