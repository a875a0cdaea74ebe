"""Implementations of several roles as one text: an option's value, and an entry of plans."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

REFERENCE: Final = "reference"
_BY_ROLE: Final = re.compile(r"[a-z][a-z0-9-]*=[^,]+(,[a-z][a-z0-9-]*=[^,]+)*")


def named_roles(spelled: str) -> Mapping[str, str]:
    """The implementations of the roles that a text names.

    >>> named_roles("toy=mutant:lazy,kueue=reference")
    {'toy': 'mutant:lazy', 'kueue': 'reference'}
    >>> named_roles("reference")
    {}
    """
    if not _BY_ROLE.fullmatch(spelled):
        return {}
    parts = (part.partition("=") for part in spelled.split(","))
    return {role: name for role, _, name in parts}


def by_role(spelled: str, roles: Iterable[str]) -> dict[str, str]:
    """The implementation of each of these roles: one name is of all of them; a role that is not
    named among several has its reference.

    >>> by_role("toy=mutant:lazy", ("toy", "kueue"))
    {'toy': 'mutant:lazy', 'kueue': 'reference'}
    """
    named = named_roles(spelled)
    default = REFERENCE if named or not spelled else spelled
    return {role: named.get(role, default) for role in roles}


def in_one_text(names: Mapping[str, str]) -> str:
    """The shortest text from which `by_role` reads these implementations.

    >>> in_one_text({"toy": "reference", "kueue": "reference"})
    'reference'
    >>> in_one_text({"toy": "mutant:lazy", "kueue": "reference"})
    'toy=mutant:lazy'
    """
    if len(set(names.values())) == 1:
        return next(iter(names.values()))
    return ",".join(f"{role}={name}" for role, name in names.items() if name != REFERENCE)
