"""Formats of texts in the schemas of custom resources."""

from __future__ import annotations

from typing import Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.rules import create, served

FORMATS: Final = (
    *("bsonobjectid", "byte", "cidr", "date", "datetime", "date-time", "duration", "email"),
    *("hexcolor", "hostname", "ipv4", "ipv6", "k8s-long-name", "k8s-short-name", "mac"),
    *("password", "rgbcolor", "ssn", "uri", "uuid", "uuid3", "uuid4", "uuid5", "unknown"),
)
TEXTS: Final = (
    *("", "a", "-a", "A", "a.b", "a_b", "a.b-c.d", "localhost", "a" * 64, "a b", "aGk=", "aGk"),
    *("1h", "1h30m", "1 day", "22 ns", "3weeks", "h"),
    *("http://a.b/c", "/a", "mailto:x", "x@y.z", "Foo <x@y.z>", "10.0.0.1", "010.0.0.1", "1.2.3"),
    *("::1", "fe80::1%eth0", "::ffff:1.2.3.4", "10.0.0.0/8", "::/0", "1/8", "10.0.0.0/33"),
    *("00:11:22:33:44:55", "00-11-22-33-44-55", "0011.2233.4455", "001122334455", "00:11"),
    *("01234567-89ab-3def-8123-456789abcdef", "01234567-89ab-4def-8123-456789abcdef"),
    *("0123456789ab5def8123456789ABCDEF", "507f1f77bcf86cd799439011", "123-45-6789"),
    *("#fff", "fff", "#ffff", "rgb(1,2,3)", "rgb( 1 , 2 , 3 )", "rgb(256,0,0)"),
    *("2024-02-29", "2023-02-29", "2024-02-29T12:00:00Z", "2024-02-29t12:00:00.5+01:00"),
)


@script("A text is validated by its format, if that is known.", ["4.16"])
def formats_of_texts(c: Dialogue) -> None:
    properties = {
        format_.replace("-", "_"): {"type": "string", "format": format_} for format_ in FORMATS
    }
    with served(c, "Ferrule", **properties) as kind:
        for text in TEXTS:
            create(c, kind, dry_run=True, **dict.fromkeys(properties, text))


@script("An error shows a value and a pattern as they are.", ["4.16"])
def patterns_and_values(c: Dialogue) -> None:
    daily = {"type": "string", "pattern": "^@(daily|weekly)$"}
    with served(c, "Grommet", at=daily, choice={"type": "string", "enum": ["@a"]}) as kind:
        create(c, kind, dry_run=True, at="@hourly")
        create(c, kind, dry_run=True, at="@daily", choice="@b")
