"""A number with what it counts: one in the singular."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, singular: str, plural: str = "") -> str:
    """`1 claim`, `2 claims`, `1,000 histories`; the plural where it is not just an s longer."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def first_few(names: Sequence[str], most: int = 0) -> str:
    """`a, b`; of more than `most`, the first of them: `a, b and 4 more`. 0: all of them."""
    shown = names[: most or None]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")
