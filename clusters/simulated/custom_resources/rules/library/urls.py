"""URLs, as texts."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote, unquote_plus

from cel_expr_python import cel

from clusters.simulated.custom_resources.rules.library.declaring import (
    BOOL,
    STRING,
    STRINGS,
    Types,
    method,
    plain,
    succeeds,
)
from clusters.simulated.custom_resources.uris import (
    BAD_ESCAPE,
    authority_and_path,
    complaint,
    scheme_and_rest,
)

_VALID_PATH: Final = re.compile(r"[A-Za-z0-9_.~!$&'()*+,;=:@\[\]/%-]*")


def functions(types: Types) -> list[cel.FunctionDecl]:
    """The library `kubernetes.urls`."""
    it = types.url
    return [
        plain("url", it, [STRING], _url),
        plain("isURL", BOOL, [STRING], succeeds(_url)),
        method("getScheme", STRING, [it], lambda text: scheme_and_rest(text)[0]),
        method("getHost", STRING, [it], _host),
        method("getHostname", STRING, [it], lambda text: _split_host(text)[0]),
        method("getPort", STRING, [it], lambda text: _split_host(text)[1]),
        method("getEscapedPath", STRING, [it], _path),
        method("getQuery", cel.Type.Map(STRING, STRINGS), [it], _query),
    ]


def _url(text: str) -> str:
    reason = complaint(text)
    if reason:
        raise ValueError(f"URL parse error during conversion from string: {reason}")
    return text


def _host(text: str) -> str:
    return unquote(authority_and_path(text)[0].rpartition("@")[2])


def _split_host(text: str) -> tuple[str, str]:
    """The host without brackets, and its port."""
    host = _host(text)
    name, _, port = host.rpartition(":") if re.search(r":[0-9]*$", host) else (host, "", "")
    return name.removeprefix("[").removesuffix("]"), port


def _path(text: str) -> str:
    if text == "*":
        return text
    path = authority_and_path(text)[1]
    return path if _VALID_PATH.fullmatch(path) else quote(unquote(path), safe="/$&+,:;=@")


def _query(text: str) -> dict[str, list[str]]:
    """The values by name; parts that cannot be read are left out."""
    found: dict[str, list[str]] = {}
    for part in text.partition("#")[0].partition("?")[2].split("&"):
        if part and ";" not in part and not BAD_ESCAPE.search(part):
            name, _, value = part.partition("=")
            found.setdefault(unquote_plus(name), []).append(unquote_plus(value))
    return found
