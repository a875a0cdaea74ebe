"""Suggestions for unknown names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from typing import Final

MOST: Final = 3
CLOSE: Final = 0.6
"""difflib's ratio from which on a name may be the one that was meant."""
CLOSE_PART: Final = 0.8
"""The same of a part of a name, which is short: short words are soon alike."""
PART_COUNTS: Final = 0.8
"""Of the likeness of a part: who means the whole has typed all of it."""
AS_CLOSE: Final = 0.1
"""How much less like than the likest another one may be, to be named beside it."""
FAR_NUMBER: Final = 5
"""Numbers that are farther apart than that are compared by their digits."""
_NUMBERED: Final = re.compile(r"([a-z]+)-(\d+)")
_LEADING_ZEROS: Final = re.compile(r"(?<!\d)0+(?=\d)")


def meant(word: str, names: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """`did you mean A or B?`; of a few names of which none is close, `there are A, B, C.`; of many,
    that none is like it.

    Neither case counts nor zeros before a number; in the place of a long name a part of it will do.
    `shown` is how a name is written for people. There must be a name.
    """
    known = list(dict.fromkeys(names))
    plain = _plain(word)
    likeness = {name: _likeness(plain, _plain(name)) for name in known}
    most = max(likeness.values())
    if most:
        least = 1 if most == 1 else most - AS_CLOSE
        near = [name for name in known if likeness[name] >= least]
        near.sort(key=lambda name: -likeness[name])
        return f"did you mean {' or '.join(map(shown, near[:MOST]))}?"
    if len(known) <= MOST:
        return f"there {'is' if len(known) == 1 else 'are'} {', '.join(map(shown, known))}."
    return "no name is similar."


def _plain(name: str) -> str:
    return _LEADING_ZEROS.sub("", re.sub(r"[^a-z0-9.]+", "-", name.lower()))


def _likeness(word: str, name: str) -> float:
    """1: the same; 0: not alike. Numbers that are near come before digits that look alike."""
    one, other = _NUMBERED.fullmatch(word), _NUMBERED.fullmatch(name)
    if one and other and one[1] == other[1]:
        apart = abs(int(one[2]) - int(other[2]))
        if apart <= FAR_NUMBER:
            return 1 - apart / 100
    whole = _ratio(word, name)
    length = word.count("-") + 1
    parts = name.split("-")
    runs = ("-".join(parts[at : at + length]) for at in range(len(parts) - length + 1))
    part = max((_ratio(word, run) for run in runs), default=0)
    return max(whole if whole >= CLOSE else 0, part * PART_COUNTS if part >= CLOSE_PART else 0)


def _ratio(word: str, other: str) -> float:
    return SequenceMatcher(None, word, other).ratio()
