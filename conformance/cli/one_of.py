"""An option that takes one of a few words."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.cli.problems import BadInputError


def require_one_of(option: str, word: str, words: Iterable[str]) -> str:
    """The word; BadInputError, with those that there are and the nearest, if it is none of them."""
    known = tuple(words)
    if word in known:
        return word
    from chaos.fields import closest

    raise BadInputError(f"{option} {word!r} is none of {', '.join(known)}{closest(word, known)}")
