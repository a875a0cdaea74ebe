"""Mutants that do nothing wrong, each with the argument why.

A file lists them by id. An id names one replacement in one function as it stands, so an entry
ends to count when that function is changed.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import yaml


class Equivalent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One mutant that is left out of the count."""

    id: str
    where: str
    """`module:function`, for who reads the file."""
    change: str
    reason: str
    """The argument why the two programs cannot be distinguished."""


def equivalents(path: Path) -> dict[str, Equivalent]:
    """By id; empty if there is no such file. msgspec.ValidationError if it is not such a list."""
    if not path.exists():
        return {}
    listed = msgspec.convert(yaml.safe_load(path.read_text()) or [], list[Equivalent])
    return {each.id: each for each in listed}
