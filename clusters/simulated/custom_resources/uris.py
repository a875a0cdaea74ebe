"""URLs: what is wrong with a text that should be one, and its parts."""

from __future__ import annotations

import json
import re
from typing import Final
from urllib.parse import unquote

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_CHARACTER: Final = re.compile(r"%.{0,2}|.")
_ESCAPE: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_IN_HOST: Final = re.compile(r"[A-Za-z0-9_.~!$&'()*+,;=:\[\]<>\"-]|[^\x00-\x7f]")
_ENCODED: Final = re.compile(r"[^\x00-\x7f]")
_ENCODED_IN_ZONE: Final = re.compile(r"[A-Za-z0-9_.~!$&'()*+,;=:\[\]<>\" -]")
_USER: Final = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*")
_PORT: Final = re.compile(r"(?::[0-9]*)?")
BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}")


def complaint(text: str) -> str:
    """Why this is neither an absolute URL nor an absolute path; empty if it is one."""
    reason = _reason(text)
    return f"parse {json.dumps(text, ensure_ascii=False)}: {reason}" if reason else ""


def _reason(text: str) -> str:
    if _CONTROL.search(text):
        return "net/url: invalid control character in URL"
    if not text:
        return "empty url"
    if text == "*":
        return ""
    if text.startswith(":"):
        return "missing protocol scheme"
    scheme, rest = scheme_and_rest(text.partition("?")[0])
    if not rest.startswith("/"):
        return "" if scheme else "invalid URI for request"
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        reason = _reason_of_authority(authority) or _reason_of_escapes(slash + path)
    else:
        # It is read a second time then, as what need not be absolute.
        reason = _reason_of_escapes(rest) or _reason_of_authority(authority_and_path(text)[0])
    return reason or _reason_of_escapes(text.partition("#")[2])


def _reason_of_authority(authority: str) -> str:
    user, at, host = authority.rpartition("@")
    reason = _reason_of_host(host)
    if not reason and at and not _USER.fullmatch(user):
        return "net/url: invalid userinfo"
    return reason or _reason_of_escapes(user)


def _reason_of_host(host: str) -> str:
    if host.startswith("["):
        return _reason_of_literal(host)
    name, colon, port = host.partition(":")
    return _reason_of_port(colon + port) or _reason_of_name(name, _ENCODED)


def _reason_of_literal(host: str) -> str:
    """That of an address in brackets, which may have a zone."""
    inside, bracket, port = host.removeprefix("[").rpartition("]")
    if not bracket:
        return "missing ']' in host"
    name, percent, zone = inside.partition("%25")
    reason = (
        _reason_of_port(port)
        or _reason_of_name(name, _ENCODED)
        or _reason_of_name(percent + zone, _ENCODED_IN_ZONE)
    )
    if reason:
        return reason
    # The library of rules is loaded for those that need it; most texts do not.
    from clusters.simulated.custom_resources.rules.library.addresses import complaint_of

    reason = complaint_of(unquote(inside))
    if reason:
        return f"invalid host: {reason}"
    return "" if ":" in name else "invalid IP-literal"


def _reason_of_port(port: str) -> str:
    is_fine = _PORT.fullmatch(port)
    return "" if is_fine else f"invalid port {json.dumps(port, ensure_ascii=False)} after host"


def _reason_of_name(name: str, encoded: re.Pattern[str]) -> str:
    """`encoded` are the characters that may be written with a percent sign."""
    for found in _CHARACTER.finditer(name):
        character = found[0]
        if character.startswith("%"):
            if not _ESCAPE.fullmatch(character) or not (
                character == "%25" or encoded.fullmatch(chr(int(character[1:], 16)))
            ):
                return f"invalid URL escape {json.dumps(character)}"
        elif not _IN_HOST.fullmatch(character):
            return f"invalid character {json.dumps(character)} in host name"
    return ""


def _reason_of_escapes(part: str) -> str:
    bad = BAD_ESCAPE.search(part)
    return f"invalid URL escape {json.dumps(bad[0])}" if bad else ""


def authority_and_path(text: str) -> tuple[str, str]:
    """Both as they are written; the text after a rootless scheme is none of them."""
    scheme, rest = scheme_and_rest(text.partition("#")[0].partition("?")[0])
    if not rest.startswith("/"):
        return "", ""
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        return authority, slash + path
    return "", rest


def scheme_and_rest(text: str) -> tuple[str, str]:
    scheme = _SCHEME.match(text)
    return (scheme[1].lower(), text[scheme.end() :]) if scheme else ("", text)
