"""A number with what it counts: one in the singular."""

from __future__ import annotations


def counted(number: int, singular: str, plural: str = "") -> str:
    """`1 claim`, `2 claims`, `1,000 histories`; the plural where it is not just an s longer."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
