"""Formats of texts, which a schema names; those of credit cards and books are not validated."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address
from typing import Final

from clusters.simulated import names
from clusters.simulated.custom_resources import uris
from vocabulary.clock import Micros
from vocabulary.durations import parse_duration
from vocabulary.patterns import compile_pattern

IsFormatted = Callable[[str], bool]

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME: Final = re.compile(r"([01][0-9]|2[0-3])(:[0-5][0-9]){2}(.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})")
_HEX: Final = "[0-9a-fA-F]"
_UUID: Final = "(?i:[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{}[0-9a-f]{{3}}-?{}[0-9a-f]{{3}}-?[0-9a-f]{{12}})"
_OCTET: Final = r"\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\s*"
_ADDRESS: Final = r"[^\s@<>()\[\],;:\\\"]+@[^\s@<>()\[\],;:\\\"]+"
_HOST_CHARACTER: Final = r"[a-zA-Z0-9\p{S}\p{L}]"
_HOST: Final = compile_pattern(
    rf"^({_HOST_CHARACTER}((-?{_HOST_CHARACTER}{{0,62}})?)|"
    rf"({_HOST_CHARACTER}(([a-zA-Z0-9-\p{{S}}\p{{L}}]{{0,61}}{_HOST_CHARACTER})?)(\.)){{1,}}"
    r"([a-zA-Z\p{L}]){2,63})$"
)
_MAX_HOST_BYTES: Final = 255
_MAX_LABEL_BYTES: Final = 63
_MAC_DIGITS: Final = (12, 16, 40)
_AMOUNT: Final = re.compile(r"([0-9]+)\s*([A-Za-zµ]+)")
_UNITS: Final[tuple[tuple[tuple[str, ...], int], ...]] = (
    (("us", "µs", "micro"), 1),
    (("ms", "milli"), 10**3),
    (("s", "sec"), 10**6),
    (("m", "min"), 60 * 10**6),
    (("h", "hr", "hour"), 3_600 * 10**6),
    (("d", "day"), 86_400 * 10**6),
    (("w", "wk", "week"), 7 * 86_400 * 10**6),
    (("ns", "nano"), 0),
)
"""The names of each unit, the last of which may go on, and its microseconds."""


def named(name: str) -> IsFormatted | None:
    """The format of this name, which may have dashes; None for one that is not validated."""
    return _FORMATS.get(name.replace("-", ""))


def is_date_time(text: str) -> bool:
    day, _, time = text.upper().partition("T")
    return is_date(day) and _TIME.fullmatch(time) is not None


def is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def duration_of(text: str) -> Micros:
    """The length of a duration as Go writes it, or as words: `1h30m`, `3 days`. ValueError for
    any other text."""
    try:
        return parse_duration(text)
    except ValueError:
        found = [
            int(amount) * length
            for amount, unit in _AMOUNT.findall(text)
            for units, length in _UNITS
            if unit.lower() in units or unit.lower().startswith(units[-1])
        ]
        if not found:
            raise
        return sum(found)


def _is_duration(text: str) -> bool:
    try:
        duration_of(text)
    except ValueError:
        return False
    return True


def _without_zeros(text: str) -> str:
    """The address without leading zeros of its decimal parts, which are tolerated."""
    return re.sub(r"(?<![0-9a-fA-F:.])0+(?=[0-9]+\.)|(?<=\.)0+(?=[0-9])", "", text)


def _is_ipv4(text: str) -> bool:
    try:
        IPv4Address(_without_zeros(text))
    except AddressValueError:
        return "." in text and _is_ipv6(text)
    return True


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return "%" not in text


def _is_cidr(text: str) -> bool:
    address, _, length = text.partition("/")
    try:
        bits = ip_address(_without_zeros(address)).max_prefixlen
    except ValueError:
        return False
    return "%" not in text and length.isdecimal() and length.isascii() and int(length) <= bits


def _is_hostname(text: str) -> bool:
    return (
        _HOST.search(text) is not None
        and len(text.encode()) <= _MAX_HOST_BYTES
        and all(len(label.encode()) <= _MAX_LABEL_BYTES for label in text.split("."))
    )


def _is_mac(text: str) -> bool:
    separator = next((each for each in ":-." if each in text), "")
    parts = text.split(separator) if separator else [text]
    size = {"": len(text), ".": 4}.get(separator, 2)
    digits = "".join(parts)
    return (
        all(len(part) == size for part in parts)
        and len(digits) in _MAC_DIGITS
        and re.fullmatch(f"{_HEX}+", digits) is not None
    )


def _matching(pattern: str) -> IsFormatted:
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


def _uuid(version: str) -> IsFormatted:
    return _matching(_UUID.format(version, "[89ab]" if version in ("4", "5") else "[0-9a-f]"))


is_uuid: Final = _matching(_UUID.format("[0-9a-f]", "[0-9a-f]"))
is_base64: Final = _matching(
    r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"
)
_FORMATS: Final[Mapping[str, IsFormatted]] = {
    "bsonobjectid": _matching(f"{_HEX}{{24}}"),
    "byte": is_base64,
    "cidr": _is_cidr,
    "date": is_date,
    "datetime": is_date_time,
    "duration": _is_duration,
    "email": _matching(rf"\s*{_ADDRESS}\s*|[^<>@]*<{_ADDRESS}>\s*"),
    "hexcolor": _matching(f"#?({_HEX}{{3}}|{_HEX}{{6}})"),
    "hostname": _is_hostname,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "k8slongname": lambda text: not names.dns_subdomain(text),
    "k8sshortname": lambda text: not names.dns_label(text),
    "mac": _is_mac,
    "rgbcolor": _matching(rf"rgb\({_OCTET},{_OCTET},{_OCTET}\)"),
    "ssn": _matching("[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}"),
    "uri": lambda text: not uris.complaint(text),
    "uuid": is_uuid,
    "uuid3": _uuid("3"),
    "uuid4": _uuid("4"),
    "uuid5": _uuid("5"),
}
