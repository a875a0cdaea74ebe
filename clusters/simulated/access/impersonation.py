"""Impersonation: a client acts as another user, if its own rights allow it.

A server tries several modes. In the constrained ones (`impersonate:user-info` and so on) the
client also needs `impersonate-on:MODE:VERB` for the request itself; the last one is the older
`impersonate`, which covers all requests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from clusters.simulated.access.authorization import forbidden
from clusters.simulated.access.rbac import Rbac
from clusters.simulated.access.rules import ALL, Attributes
from clusters.simulated.access.users import (
    ANONYMOUS,
    AUTHENTICATED,
    MASTERS,
    NODES,
    UNAUTHENTICATED,
    User,
    node_of,
    service_account_groups,
    service_account_of,
)
from clusters.simulated.field_errors import value_invalid
from clusters.simulated.names import dns_subdomain
from vocabulary.errors import ApiError

_GROUP: Final = "authentication.k8s.io"
_LEGACY: Final = "impersonate"
_NODE_OF_TOKEN: Final = "authentication.kubernetes.io/node-name"
_MANY: Final = 4
"""The number of groups or extra values from which on the right to all of them is checked first."""
_MAX_REMEMBERED: Final = 10_000
_KEY: Final = "extra.key"
_PREFIXED: Final = 'must be a domain-prefixed path (such as "acme.io/foo")'
_PATH: Final = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"


class _Mode(NamedTuple):
    verb: str
    applies: Callable[[User, User], bool]
    """(wanted user, requestor)."""


def _is_named_only(user: User) -> bool:
    return not (user.uid or user.groups or user.extra)


def _is_own_node(wanted: User, requestor: User) -> bool:
    named = list(requestor.extra.get(_NODE_OF_TOKEN, ()))
    is_account = service_account_of(requestor.name) is not None
    return _is_a_node(wanted, requestor) and is_account and named == [node_of(wanted.name)]


def _is_a_node(wanted: User, requestor: User) -> bool:  # noqa: ARG001 - as all modes
    return _is_named_only(wanted) and bool(node_of(wanted.name))


def _is_service_account(wanted: User, requestor: User) -> bool:  # noqa: ARG001
    return _is_named_only(wanted) and service_account_of(wanted.name) is not None


def _is_other(wanted: User, requestor: User) -> bool:  # noqa: ARG001
    return not node_of(wanted.name) and service_account_of(wanted.name) is None


_MODES: Final = (
    _Mode("impersonate:associated-node", _is_own_node),
    _Mode("impersonate:arbitrary-node", _is_a_node),
    _Mode("impersonate:serviceaccount", _is_service_account),
    _Mode("impersonate:user-info", _is_other),
    _Mode(_LEGACY, lambda wanted, requestor: True),  # noqa: ARG005
)


class Impersonation:
    """Decides for one cluster who may act as whom."""

    def __init__(self, rbac: Rbac) -> None:
        self._rbac = rbac
        self._last: dict[str, _Mode] = {}
        """By requestor the mode that succeeded last: a server tries it first, and refuses with
        its words."""

    def impersonated(self, requestor: User, wanted: User, asked: Attributes) -> User:
        """The user that a request is executed as; 403 if the requestor may not act as it."""
        last = self._last.get(requestor.name)
        modes = _MODES if last is None else (last, *(mode for mode in _MODES if mode != last))
        first: ApiError | None = None
        for mode in modes:
            if not mode.applies(wanted, requestor):
                continue
            try:
                self._check(mode.verb, requestor, wanted, asked)
            except ApiError as error:
                first = first or error
                continue
            if len(self._last) >= _MAX_REMEMBERED:
                self._last.clear()
            self._last[requestor.name] = mode
            return _with_groups(wanted, is_constrained=mode.verb != _LEGACY)
        assert first is not None  # the last mode applies to everybody
        raise first

    def _check(self, verb: str, requestor: User, wanted: User, asked: Attributes) -> None:
        is_constrained = verb != _LEGACY
        if is_constrained:
            on = f"impersonate-on:{verb.partition(':')[2]}:{asked.verb}"
            self._require(requestor, replace(asked, verb=on))
        group = _GROUP if is_constrained else ""
        self._require(requestor, _right_to_name(verb, group, wanted.name))
        if wanted.uid:
            self._require(requestor, Attributes(verb, _GROUP, "uids", name=wanted.uid))
        groups = Attributes(verb, group, "groups")
        if is_constrained:
            _require_ordinary_groups(requestor, wanted.groups, groups)
        named = [replace(groups, name=name) for name in wanted.groups]
        of_all = replace(groups, name=ALL) if is_constrained else None
        self._require_all(requestor, named, of_all)
        extra = Attributes(verb, _GROUP, "userextras")
        if is_constrained:
            _require_ordinary_extra(requestor, wanted.extra, extra)
        each = [
            replace(extra, resource=f"userextras/{key}", name=value)
            for key, value in _items(wanted.extra)
        ]
        of_all = replace(of_all, group=_GROUP, resource=f"userextras/{ALL}") if of_all else None
        self._require_all(requestor, each, of_all)

    def _require_all(
        self, requestor: User, each: Sequence[Attributes], of_all: Attributes | None
    ) -> None:
        """Require each of the rights, or in one the right to all."""
        may_all = of_all is not None and self._rbac.decide(requestor, of_all).allowed
        if may_all and len(each) >= _MANY:
            return
        for asked in each:
            self._require(requestor, asked)

    def _require(self, requestor: User, asked: Attributes) -> None:
        decision = self._rbac.decide(requestor, asked)
        if not decision.allowed:
            raise forbidden(requestor, asked, decision.reason)


def _items(extra: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    for key, values in extra.items():
        for value in values:
            yield key, value


def _right_to_name(verb: str, group: str, name: str) -> Attributes:
    account = service_account_of(name)
    if account is not None:
        return Attributes(verb, group, "serviceaccounts", *account)
    node = node_of(name) if verb != _LEGACY else ""
    if verb == _MODES[0].verb:
        # A server remembers the answer for the nodes of all the account's pods.
        return Attributes(verb, group, "nodes", name=ALL)
    if node:
        return Attributes(verb, group, "nodes", name=node)
    return Attributes(verb, group, "users", name=name)


def _require_ordinary_groups(requestor: User, groups: Sequence[str], asked: Attributes) -> None:
    if "" in groups:
        because = "impersonating the empty string group is not allowed"
        raise forbidden(requestor, asked, because)
    if MASTERS in groups:
        because = f"impersonating the {MASTERS} group is not allowed"
        raise forbidden(requestor, replace(asked, name=MASTERS), because)


def _require_ordinary_extra(
    requestor: User, extra: Mapping[str, Sequence[str]], asked: Attributes
) -> None:
    for key, values in extra.items():
        because = ""
        if not key:
            because = "impersonating the empty string key in extra is not allowed"
        elif error := _misfit(key):
            because = f"impersonating an invalid key in extra is not allowed: {error}"
        elif key != key.lower():
            because = f'impersonating a non-lowercase key in extra is not allowed: "{key}"'
        elif "" in values:
            because = "impersonating the empty string value in extra is not allowed"
        if because:
            raise forbidden(requestor, asked, because)


def _misfit(key: str) -> str:
    """Why the key of an extra value is no domain-prefixed path; "" if it is one."""
    host, _, path = key.partition("/")
    if not host or not path:
        return str(value_invalid(_KEY, key, _PREFIXED))
    errors = [str(value_invalid(_KEY, host, complaint)) for complaint in dns_subdomain(host)]
    if not errors and not re.fullmatch(_PATH, path):
        because = f"Invalid path (regex used for validation is '{_PATH}')"
        return str(value_invalid(_KEY, path, because))
    return "; ".join(errors)


def _with_groups(wanted: User, *, is_constrained: bool) -> User:
    groups = wanted.groups
    account = service_account_of(wanted.name)
    if account is not None and not groups:
        groups = service_account_groups(account[0])
    elif is_constrained and node_of(wanted.name):
        groups = (NODES,)
    own = AUTHENTICATED
    if wanted.name == ANONYMOUS:
        own = UNAUTHENTICATED
    elif UNAUTHENTICATED in groups:
        own = ""
    if own and own not in groups:
        groups = (*groups, own)
    return replace(wanted, groups=groups)
