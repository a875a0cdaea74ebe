"""Refusals that an operator has brought on itself: they excuse nothing that it leaves undone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.history.tracks import Moment, Track
from conformance.norm.view import ObjectRun
from vocabulary.history import Write
from vocabulary.objects import is_terminating, owner_references

_FIELD: Final = re.compile(r"(?:^|[ \[])[a-z][.\w\[\]]*: (?=[A-Z])")
_NUMBER: Final = re.compile(r"\bspec[.\w\[\]]*: Invalid value: (-?\d+)\b")


def is_own_affair(run: ObjectRun, write: Write, until: Moment) -> bool:
    """True if the operator alone has led to the refusal of a creation for a user's object, up to a
    moment.

    Either an object of that name stands which the operator created, with the owners that it gave
    it. Or all that is invalid are numbers in a spec that the user's object has nowhere: a text may
    be composed of what the user wrote, and a value that is required may be the user's to give.
    Other refusals may be the cluster's.
    """
    if write.reason == "AlreadyExists":
        return any(_stands(run, track, write, until) for track in _namesakes(run, write))
    if write.reason != "Invalid":
        return False
    fields, numbers = _FIELD.findall(write.message), _NUMBER.findall(write.message)
    known = {str(value) for value in _scalars(run.track.first.get("spec"))}
    return 0 < len(fields) == len(numbers) and known.isdisjoint(numbers)


def _namesakes(run: ObjectRun, write: Write) -> Sequence[Track]:
    return run.history.named(write.kind, write.namespace, write.name)


def _stands(run: ObjectRun, track: Track, write: Write, until: Moment) -> bool:
    """True if an object of the operator's is there to stay, as others have left it."""
    last = track.at(until.n)
    return (
        run.operator.is_by(track.created.actor)
        and track.exists_at(write.n)
        and track.exists_at(until.n)
        and not is_terminating(last)
        and owner_references(last) == owner_references(track.first)
    )


def _scalars(value: Any) -> Iterator[Any]:
    """The leaves of a value."""
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _scalars(each)
    elif isinstance(value, list):
        for each in value:
            yield from _scalars(each)
    else:
        yield value
