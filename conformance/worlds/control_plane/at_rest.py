"""At rest: the objects under test of a run may stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from conformance.left_behind.clean import RUN_LABEL
from conformance.suite import KindUse
from vocabulary.errors import ApiError
from vocabulary.objects import Object
from vocabulary.requests import List, ObjectList, Request


def are_at_rest(
    uses: Iterable[KindUse],
    call: Callable[[Request], Object | ObjectList],
    namespaces: tuple[str, ...],
) -> bool:
    """True if the API server itself says so of all objects: on a crowded machine watches may be
    late by more than the quiet that a run waits for. `namespaces` are the run's, its first one
    first, which is its label's value as well."""
    try:
        for use in uses:
            for asked in _lists(use, namespaces):
                found = call(asked)
                if not isinstance(found, ObjectList) or not all(map(use.is_at_rest, found.items)):
                    return False
    except ApiError:
        return False  # it is away; whether they are at rest is not known yet
    return True


def _lists(use: KindUse, namespaces: tuple[str, ...]) -> list[List]:
    if use.kind.namespaced:
        return [List(use.kind, namespace, live=True) for namespace in namespaces]
    return [List(use.kind, label_selector=f"{RUN_LABEL}={namespaces[0]}", live=True)]
