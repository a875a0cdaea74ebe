"""Addresses and networks of IPv4 and IPv6: each its canonical text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_interface,
    ip_network,
)
from typing import Final, TypeAlias

from cel_expr_python import cel

from clusters.simulated.custom_resources.rules.library.declaring import (
    BOOL,
    INT,
    STRING,
    Overload,
    Types,
    function,
    method,
    plain,
    succeeds,
)

Address: TypeAlias = IPv4Address | IPv6Address
_Network: TypeAlias = IPv4Network | IPv6Network

_HEX: Final = re.compile(r"[0-9A-Fa-f]*")
_BITS: Final = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_GROUPS: Final = 8
_GROUPS_OF_IPV4: Final = 2
_LINK_LOCAL_MULTICAST: Final = IPv4Network("224.0.0.0/24")
_BROADCAST: Final = IPv4Address("255.255.255.255")


def functions(types: Types) -> list[cel.FunctionDecl]:
    """The libraries `kubernetes.net.ip` and `kubernetes.net.cidr`."""
    ip, cidr = types.ip, types.cidr

    def tells(name: str, test: Callable[[Address], bool]) -> cel.FunctionDecl:
        return method(name, BOOL, [ip], lambda text: test(ip_address(text)))

    return [
        function(
            "ip",
            Overload(ip, [STRING], lambda text: str(_address(text)), is_member=False),
            Overload(ip, [cidr], lambda text: text.partition("/")[0]),
        ),
        plain("isIP", BOOL, [STRING], succeeds(_address)),
        plain("ip.isCanonical", BOOL, [STRING], lambda text: str(_address(text)) == text),
        method("family", INT, [ip], lambda text: ip_address(text).version),
        tells("isUnspecified", lambda address: address.is_unspecified),
        tells("isLoopback", lambda address: address.is_loopback),
        tells("isLinkLocalMulticast", _is_link_local_multicast),
        tells("isLinkLocalUnicast", lambda address: address.is_link_local),
        tells("isGlobalUnicast", _is_global_unicast),
        plain("cidr", cidr, [STRING], _cidr),
        plain("isCIDR", BOOL, [STRING], succeeds(_cidr)),
        function(
            "containsIP",
            *(Overload(BOOL, [cidr, other], _contains_ip) for other in _kinds(ip)),
        ),
        function(
            "containsCIDR",
            *(Overload(BOOL, [cidr, other], _contains_cidr) for other in _kinds(cidr)),
        ),
        method("prefixLength", INT, [cidr], lambda text: ip_interface(text).network.prefixlen),
        method("masked", cidr, [cidr], lambda text: str(_network(text))),
    ]


def _kinds(type_: cel.Type) -> tuple[cel.Type, ...]:
    """The parameter types that take this type or a string; in evaluations these are the same."""
    return (type_,) if type_ == STRING else (type_, STRING)


def _is_link_local_multicast(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return address in _LINK_LOCAL_MULTICAST
    multicast, flags_and_scope = address.packed[:2]
    return (multicast, flags_and_scope & 0xF) == (0xFF, 0x2)


def _is_global_unicast(address: Address) -> bool:
    return not (
        address.is_unspecified
        or address.is_loopback
        or address.is_multicast
        or address.is_link_local
        or address == _BROADCAST
    )


def _contains_ip(cidr: str, address: str) -> bool:
    try:
        return _address(address) in _network(cidr)
    except ValueError as error:
        # A real server takes the error of the conversion for the address.
        raise ValueError("no such overload") from error


def _contains_cidr(cidr: str, other: str) -> bool:
    outer, inner = _network(cidr), _network(_cidr(other))
    if isinstance(outer, IPv4Network):
        return isinstance(inner, IPv4Network) and inner.subnet_of(outer)
    return isinstance(inner, IPv6Network) and inner.subnet_of(outer)


def _network(cidr: str) -> _Network:
    return ip_network(cidr, strict=False)


def _address(text: str) -> Address:
    """The address of a text. ValueError, in a real server's words, if it is none."""
    shown = json.dumps(text, ensure_ascii=False)
    complaint = complaint_of(text)
    if complaint:
        raise ValueError(
            f"IP Address {shown} parse error during conversion from string: {complaint}"
        )
    if "%" in text:
        raise ValueError(f"IP address {shown} with zone value is not allowed")
    return _unmapped(ip_address(text), shown)


def _unmapped(address: Address, shown: str) -> Address:
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise ValueError(f"IPv4-mapped IPv6 address {shown} is not allowed")
    return address


def _cidr(text: str) -> str:
    """The canonical text of a network, its host bits kept. ValueError if it is none."""
    before = "network address parse error during conversion from string: "
    shown = json.dumps(text, ensure_ascii=False)
    address, slash, bits = text.rpartition("/")
    complaint = _complaint_of_prefix(address, slash, bits)
    if complaint:
        raise ValueError(f"{before}{before}netip.ParsePrefix({shown}): {complaint}")
    try:
        return f"{_unmapped(ip_address(address), shown)}/{bits}"
    except ValueError as error:
        raise ValueError(f"{before}{error}") from error


def _complaint_of_prefix(address: str, slash: str, bits: str) -> str:
    if not slash:
        return "no '/'"
    complaint = complaint_of(address)
    if complaint:
        return complaint
    if "%" in address:
        return "IPv6 zones cannot be present in a prefix"
    if not _BITS.fullmatch(bits):
        return f"bad bits after slash: {json.dumps(bits, ensure_ascii=False)}"
    return "prefix length out of range" if int(bits) > ip_address(address).max_prefixlen else ""


def complaint_of(text: str) -> str:
    """Why a text is no address, in the words of Go's `netip`; empty if it is one."""
    first = re.search(r"[.:%]", text)
    shown = json.dumps(text, ensure_ascii=False)
    if first is None:
        return f"ParseAddr({shown}): unable to parse IP"
    if first[0] == "%":
        return f"ParseAddr({shown}): missing IPv6 address"
    found = _flaw_of_ipv4(text) if first[0] == "." else _flaw_of_ipv6(text)
    if found is None:
        return ""
    reason, at = found
    where = f" (at {json.dumps(at, ensure_ascii=False)})" if at else ""
    return f"ParseAddr({shown}): {reason}{where}"


_Flaw: TypeAlias = tuple[str, str] | None
"""The flaw, and the rest of the text from where it begins."""


def _flaw_of_ipv4(text: str) -> _Flaw:
    field, fields = "", 1
    for at, letter in enumerate(text):
        if letter == ".":
            if not field or at == len(text) - 1:
                return "IPv4 field must have at least one digit", text[at:]
            if fields == 4:
                return "IPv4 address too long", ""
            field, fields = "", fields + 1
        elif not ("0" <= letter <= "9"):
            return "unexpected character", text[at:]
        elif field == "0":
            return "IPv4 field has octet with leading zero", ""
        else:
            field += letter
            if int(field) > 255:
                return "IPv4 field has value >255", ""
    return None if fields == 4 else ("IPv4 address too short", "")


def _flaw_of_ipv6(text: str) -> _Flaw:
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        return "zone must be a non-empty string", ""
    is_short = rest.startswith("::")
    rest = rest.removeprefix("::")
    groups = 0
    while groups < _GROUPS and (rest or groups or not is_short):
        digits = len(_match(rest))
        if flaw := _flaw_of_group(rest, digits, groups, is_short=is_short):
            return flaw
        if rest[digits : digits + 1] == ".":
            if flaw := _flaw_of_ipv4(rest):
                return flaw
            groups, rest = groups + _GROUPS_OF_IPV4, ""
            break
        groups, rest = groups + 1, rest[digits:]
        if not rest:
            break
        if flaw := _flaw_of_separator(rest, is_short=is_short):
            return flaw
        if rest.startswith("::"):
            is_short = True
            if rest == "::":
                rest = ""
                break
        rest = rest[2:] if rest.startswith("::") else rest[1:]
    return _flaw_of_length(rest, groups, is_short=is_short)


def _match(rest: str) -> str:
    found = _HEX.match(rest)
    return found[0] if found else ""


def _flaw_of_group(rest: str, digits: int, groups: int, *, is_short: bool) -> _Flaw:
    if digits > 4:
        return "each group must have 4 or less digits", rest
    if not digits:
        return "each colon-separated field must have at least one digit", rest
    if rest[digits : digits + 1] != ".":
        return None
    if not is_short and groups != _GROUPS - _GROUPS_OF_IPV4:
        return "embedded IPv4 address must replace the final 2 fields of the address", rest
    if groups > _GROUPS - _GROUPS_OF_IPV4:
        return "too many hex fields to fit an embedded IPv4 at the end of the address", rest
    return None


def _flaw_of_separator(rest: str, *, is_short: bool) -> _Flaw:
    if not rest.startswith(":"):
        return "unexpected character, want colon", rest
    if rest == ":":
        return "colon must be followed by more characters", rest
    if rest.startswith("::") and is_short:
        return "multiple :: in address", rest[1:]
    return None


def _flaw_of_length(rest: str, groups: int, *, is_short: bool) -> _Flaw:
    if rest:
        return "trailing garbage after address", rest
    if groups < _GROUPS and not is_short:
        return "address string too short", ""
    if groups == _GROUPS and is_short:
        return "the :: must expand to at least one field of zeros", ""
    return None
