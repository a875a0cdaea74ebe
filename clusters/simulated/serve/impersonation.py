"""Impersonation headers, and what the right to impersonate is about: the request itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import unquote

from clusters.simulated.access.authorization import forbidden, name_selected_by
from clusters.simulated.access.rules import Attributes
from clusters.simulated.access.users import User
from clusters.simulated.api_server import ApiServer
from clusters.simulated.names import path_segment
from vocabulary.errors import ApiError

_PREFIX: Final = "impersonate-"
_EXTRA: Final = "impersonate-extra-"
_VERBS: Final = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_OF_NAMESPACES: Final = ("status", "finalize")
_MALFORMED: Final = re.compile("%(?![0-9A-Fa-f]{2})")


def wanted_user(headers: Iterable[tuple[str, str]]) -> User | None:
    """The user that a request is to be executed as; None if it has no such headers.

    400 for headers that name no user.
    """
    given = [(name.lower(), value) for name, value in headers]
    given = [one for one in given if one[0].startswith(_PREFIX)]
    if not given:
        return None
    groups: list[str] = []
    extra: dict[str, list[str]] = {}
    single: dict[str, str] = {}
    for name, raw in given:
        # The base class reads headers as Latin-1.
        value = raw.encode("latin-1", "replace").decode(errors="replace")
        if name == "impersonate-group":
            groups.append(value)
        elif name.startswith(_EXTRA):
            key = name.removeprefix(_EXTRA)
            key = key if _MALFORMED.search(key) else unquote(key)
            extra.setdefault(key, []).append(value)
        else:
            single.setdefault(name, value)
    user, uid = single.get("impersonate-user", ""), single.get("impersonate-uid", "")
    if user:
        return User(user, tuple(groups), uid, dict(sorted(extra.items())))
    if not (uid or groups or extra):
        return None
    shown = f'&user.DefaultInfo{{Name:"", UID:{_quoted(uid)}, Groups:{_list(groups)}, Extra:'
    shown += _map(extra) + "}"
    raise ApiError(400, "BadRequest", f"requested {shown} without impersonating a user name")


def _list(texts: Sequence[str]) -> str:
    return f"[]string{{{', '.join(map(_quoted, texts))}}}" if texts else "[]string(nil)"


def _map(extra: Mapping[str, Sequence[str]]) -> str:
    shown = ", ".join(f"{_quoted(key)}:{_list(values)}" for key, values in sorted(extra.items()))
    return f"map[string][]string{{{shown}}}" if extra else "map[string][]string(nil)"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def impersonated(api: ApiServer, requestor: User, wanted: User, asked: Attributes) -> User:
    """The user that a request is executed as; 403 if the requestor may not act as it, or if it
    may not read the path of a document."""
    user = api.impersonation.impersonated(requestor, wanted, asked)
    if asked.path:
        decision = api.access.rbac.decide(user, asked)
        if not decision.allowed:
            raise forbidden(user, asked, decision.reason)
    return user


def attributes_of(method: str, path: str, query: Mapping[str, str]) -> Attributes:
    """The action that a request is, by its path alone: nothing needs to be served there."""
    parts = [unquote(part) for part in path.strip("/").split("/")]
    of_document = Attributes(method.lower(), path=unquote(path))
    if parts[0] not in ("api", "apis"):
        return of_document
    begin = 1 if parts[0] == "api" else 2
    if len(parts) < begin + 2:
        return of_document
    group = "" if parts[0] == "api" else parts[1]
    rest = parts[begin + 1 :]
    verb = _VERBS.get(method, "")
    if rest[0] in ("watch", "proxy") and len(rest) > 1:
        verb, rest = rest[0], rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _OF_NAMESPACES:
            rest = rest[2:]
    resource, name, subresource = (*rest, "", "")[:3]
    if verb == "get" and not name:
        watches = query.get("watch", "false").lower() not in ("false", "0")
        verb = "watch" if watches else "list"
        name = name_selected_by(query.get("fieldSelector", ""))
        name = "" if path_segment(name) else name
    elif verb == "delete" and not name:
        verb = "deletecollection"
    resource = f"{resource}/{subresource}" if subresource else resource
    return Attributes(verb, group, resource, namespace, name)
