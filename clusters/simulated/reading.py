"""Reading: get, and list with selectors, page by page if asked to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clusters.simulated.list_options import ANY, EXACT, check_list_options
from clusters.simulated.pages import decode_continue, encode_continue, expired_continue
from clusters.simulated.revisions import require_past
from clusters.simulated.selection import candidates, selection
from clusters.simulated.store import Key, Store
from clusters.simulated.strategy import Strategy
from vocabulary.errors import ApiError, not_found
from vocabulary.kinds import Kind
from vocabulary.objects import Object, name_of, namespace_of
from vocabulary.requests import Get, List, ObjectList, Request


def no_such_resource() -> ApiError:
    """The 404 for a kind, a version or a subresource that is not served."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def no_such_version(kind: Kind, strategy: Strategy) -> ApiError:
    """The 404 for a version of a kind that is served in others.

    A real server says no more than that it has no such resource. For a custom kind, of which its
    project may publish examples in a later version, the message names those that are served.
    """
    if strategy.is_built_in:
        return no_such_resource()
    served = " or ".join(f"{kind.group}/{version}" for version in strategy.versions)
    message = (
        f"the server could not find the requested resource: it serves no {kind.kind} of "
        f"{kind.api_version}; write apiVersion: {served}"
    )
    return ApiError(404, "NotFound", message, {})


def method_not_allowed() -> ApiError:
    """The 405 for a verb that a resource does not support."""
    return ApiError(
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
        {},
    )


def no_such_subresource(strategy: Strategy, kind: Kind, name: str) -> ApiError:
    """The 404 for a subresource that a kind has not; custom resources blame the object."""
    return no_such_resource() if strategy.is_built_in else not_found(kind, name)


def in_version(obj: Object, kind: Kind, strategy: Strategy) -> Object:
    """The object as a client of that version of its kind sees it."""
    if obj["apiVersion"] == kind.api_version:
        return obj
    return strategy.to_version(obj, kind.api_version)


class Reader:
    """Answers the requests that change nothing."""

    def __init__(self, store: Store, strategies: Mapping[str, Strategy]) -> None:
        self._store = store
        self._strategies = strategies

    def strategy(self, kind: Kind) -> Strategy:
        """The strategy that serves the kind in its version; 404 if none does."""
        strategy = self._strategies.get(kind.group_kind)
        if strategy is None:
            raise no_such_resource()
        if kind.version not in strategy.versions:
            raise no_such_version(kind, strategy)
        return strategy

    def addressed(self, request: Request) -> Strategy:
        """The strategy that serves a request's kind; 404 also for a namespace of a kind that has
        none."""
        strategy = self.strategy(request.kind)
        if not strategy.kind.namespaced and request.namespace:
            raise no_such_resource()
        return strategy

    def get(self, request: Get) -> Object:
        """The object; 404 if there is none, or no such kind."""
        strategy = self.addressed(request)
        obj = self._store.get((request.kind.group_kind, request.namespace, request.name))
        if obj is None:
            raise not_found(request.kind, request.name)
        return in_version(obj, request.kind, strategy)

    def list(self, request: List) -> ObjectList:
        """The objects that the selectors choose, by namespace and name."""
        strategy = self.addressed(request)
        if request.resource_version or request.resource_version_match:
            check_list_options(request)
        if request.continue_:
            return self._next_page(request, strategy)
        if request.resource_version:
            require_past(int(request.resource_version), self._store.revision)
        is_exact = request.resource_version_match == EXACT
        if request.limit > 0 and request.resource_version and not request.resource_version_match:
            # As long as pages came from the store alone, they were of exactly that revision.
            is_exact = request.resource_version != ANY
        if is_exact:
            return self._rest(request, strategy, int(request.resource_version), ("", ""))
        selects = None
        if request.label_selector or request.field_selector:
            selects = selection(request.label_selector, request.field_selector, strategy)
        kind = request.kind.group_kind
        items = candidates(self._store, kind, request.namespace, request.label_selector)
        chosen = sorted(filter(selects, items) if selects else items, key=_place)
        return self._page(request, strategy, chosen, self._store.revision)

    def _next_page(self, request: List, strategy: Strategy) -> ObjectList:
        revision, *last = decode_continue(request.continue_)
        if revision < 0:
            revision = self._store.revision
        if revision < self._store.compacted or revision > self._store.revision:
            raise expired_continue(request.continue_)
        return self._rest(request, strategy, revision, (last[0], last[1]))

    def _rest(
        self, request: List, strategy: Strategy, revision: int, last: tuple[str, str]
    ) -> ObjectList:
        """The objects at a revision, after the last one already returned."""
        then = self._store.of_kind_at(request.kind.group_kind, request.namespace, revision)
        selects = selection(request.label_selector, request.field_selector, strategy)
        rest = [
            obj
            for obj in sorted(then.values(), key=_place)
            if _place(obj) > last and (selects is None or selects(obj))
        ]
        return self._page(request, strategy, rest, revision)

    def _page(
        self, request: List, strategy: Strategy, items: Sequence[Object], revision: int
    ) -> ObjectList:
        # A list of any revision comes out of the watch cache, which has no pages.
        limit = 0 if request.resource_version == ANY else request.limit
        shown = items[:limit] if limit > 0 else items
        if strategy.has_other_versions:
            shown = [in_version(obj, request.kind, strategy) for obj in shown]
        if len(shown) == len(items):
            return ObjectList(tuple(shown), str(revision))
        last = Key(request.kind.group_kind, *_place(shown[-1]))
        # With a selector a real server does not know how many it has not looked at yet.
        selective = request.label_selector or request.field_selector
        return ObjectList(
            tuple(shown),
            str(revision),
            encode_continue(revision, last),
            None if selective else len(items) - len(shown),
        )


def _place(obj: Object) -> tuple[str, str]:
    return namespace_of(obj), name_of(obj)
