"""Requests of users without the right to them are refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, TypeAlias

from clusters.simulated.access.rbac import Rbac
from clusters.simulated.access.rules import Attributes, Right
from clusters.simulated.access.users import MASTERS, User, user_of
from clusters.simulated.watches import WatchRequest
from vocabulary import requests as rq
from vocabulary.errors import ApiError
from vocabulary.kinds import NAMESPACE, Kind

Authorized: TypeAlias = rq.Request | WatchRequest

_VERBS: Final[dict[type[Authorized], str]] = {
    rq.Get: "get",
    rq.List: "list",
    WatchRequest: "watch",
    rq.Create: "create",
    rq.Update: "update",
    rq.Patch: "patch",
    rq.Delete: "delete",
    rq.DeleteCollection: "deletecollection",
}
_BY_NAME: Final = "metadata.name="
_ESCAPED: Final = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))


class Authorizer:
    """Authorizes the requests to one cluster."""

    def __init__(self, rbac: Rbac) -> None:
        self.rbac = rbac
        self._users: dict[str, User] = {}
        self._restricted: dict[str, User | None] = {}
        """By actor the user whose rights are checked; None for members of `system:masters`."""
        self._checked: set[str] | None = None
        self.on_forbidden: Callable[[str, Attributes], None] = lambda _user, _asked: None
        """Called with the user's name and the action of each request that is refused."""
        self.counted: dict[str, Counter[Right]] = {}
        """By actor, how often each right was asked for; of actors that are not in it, nothing."""

    def register_users(self, users: Mapping[str, User]) -> None:
        """Set the users that actors are authenticated as."""
        self._users.update(users)
        self._restricted.clear()

    @contextmanager
    def acting(self, client: str | User) -> Iterator[str]:
        """The actor that a client is, for the time of a request.

        A user's tokens tell different things of it, and an impersonated one may have the name of a
        simulated controller, which keeps its own rights.
        """
        if isinstance(client, str):
            yield client
            return
        name = client.name
        before = self._users.get(name)
        self._users[name] = client
        self._restricted.pop(name, None)
        try:
            yield name
        finally:
            if before is None:
                del self._users[name]
            else:
                self._users[name] = before
            self._restricted.pop(name, None)

    def restrict_to(self, kinds: Collection[Kind]) -> None:
        """Check rights to these kinds, and those that were named before; all else is allowed."""
        named = {kind.group_kind for kind in kinds}
        self._checked = named if self._checked is None else self._checked | named

    def user(self, actor: str) -> User:
        """The user that an actor is authenticated as."""
        return user_of(actor, self._users)

    def authorize(self, request: Authorized, actor: str, verb: str = "") -> None:
        """Raise the 403 of a request that the actor has no right to.

        `verb` replaces the request's own: a patch that creates its object needs `create`, too.
        """
        try:
            user = self._restricted[actor]
        except KeyError:
            found = self.user(actor)
            user = self._restricted[actor] = None if MASTERS in found.groups else found
        if user is None:
            return
        kind = request.kind
        if (counted := self.counted.get(actor)) is not None:
            counted[kind.group, _resource(request), verb or _verb_of(request)] += 1
        if self._checked is not None and kind.group_kind not in self._checked:
            return
        verb = verb or _verb_of(request)
        if self.rbac.grants_all_of(user.name, kind.group, _resource(request), verb):
            return
        asked = attributes(request, verb)
        decision = self.rbac.decide(user, asked)
        if not decision.allowed:
            self.on_forbidden(user.name, asked)
            raise forbidden(user, asked, decision.reason)


def attributes(request: Authorized, verb: str = "") -> Attributes:
    """The action that a request is, with its own verb if none is given."""
    kind = request.kind
    subresource = getattr(request, "subresource", "")
    namespace = request.namespace
    if isinstance(request, rq.Create):
        # The name of a new object stands in its body, which comes too late for authorization.
        name = request.name if subresource else ""
    else:
        name = getattr(request, "name", "")
    if not name:
        name = name_selected_by(getattr(request, "field_selector", ""))
    if kind == NAMESPACE:
        namespace = name
    return Attributes(verb or _verb_of(request), kind.group, _resource(request), namespace, name)


def name_selected_by(field_selector: str) -> str:
    """The one name that a field selector selects; "" if it selects otherwise."""
    if not field_selector.startswith(_BY_NAME) or "," in field_selector:
        return ""
    return field_selector.removeprefix(_BY_NAME).removeprefix("=")


def _verb_of(request: Authorized) -> str:
    return _VERBS[type(request)]


def _resource(request: Authorized) -> str:
    subresource = getattr(request, "subresource", "")
    return f"{request.kind.plural}/{subresource}" if subresource else request.kind.plural


def forbidden(user: User, asked: Attributes, reason: str = "") -> ApiError:
    """The 403 of an action that a user has no right to."""
    plural, _, _ = asked.resource.partition("/")
    if asked.path:
        prefix = "forbidden"
        action = f"{asked.verb} path {_quoted(asked.path)}"
    else:
        qualified = f"{plural}.{asked.group}" if asked.group else plural
        named = f" {_quoted(asked.name)}" if asked.name else ""
        prefix = f"{qualified}{named} is forbidden"
        scope = (
            f"in the namespace {_quoted(asked.namespace)}"
            if asked.namespace
            else "at the cluster scope"
        )
        action = (
            f"{asked.verb} resource {_quoted(asked.resource)} "
            f"in API group {_quoted(asked.group)} {scope}"
        )
    message = f"User {_quoted(user.name)} cannot {action}"
    for character, entity in _ESCAPED:
        message = message.replace(character, entity)
    suffix = f": {reason}" if reason else ""
    details = {"name": asked.name, "group": asked.group, "kind": plural}
    shown = {key: value for key, value in details.items() if value}
    return ApiError(403, "Forbidden", f"{prefix}: {message}{suffix}", shown)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
