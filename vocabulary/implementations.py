"""Implementations of several roles as one text: an option's value, and an entry of plans."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

REFERENCE: Final = "reference"
UPGRADED: Final = "->"
"""Stands between the version that a run starts with and the one that replaces it."""
ON_WIRE: Final = "+wire:"
"""Stands between an implementation and the mistake in its writes."""
_BY_ROLE: Final = re.compile(r"[a-z][a-z0-9-]*=[^,]+(,[a-z][a-z0-9-]*=[^,]+)*")


class NamedTwiceError(ValueError):
    """A text names a role more than once."""


def named_roles(spelled: str) -> Mapping[str, str]:
    """The implementations of the roles that a text names. Raises NamedTwiceError.

    >>> named_roles("toy=mutant:lazy,kueue=reference")
    {'toy': 'mutant:lazy', 'kueue': 'reference'}
    >>> named_roles("reference")
    {}
    """
    if not _BY_ROLE.fullmatch(spelled):
        return {}
    found: dict[str, str] = {}
    for part in spelled.split(","):
        role, _, name = part.partition("=")
        if role in found:
            raise NamedTwiceError(f"{spelled}: {role} is named twice; leave one of them out")
        found[role] = name
    return found


def by_role(spelled: str, roles: Iterable[str]) -> dict[str, str]:
    """The implementation of each of these roles: one name is of all of them; a role that is not
    named among several has its reference.

    >>> by_role("toy=mutant:lazy", ("toy", "kueue"))
    {'toy': 'mutant:lazy', 'kueue': 'reference'}
    """
    named = named_roles(spelled)
    default = REFERENCE if named or not spelled else spelled
    return {role: named.get(role, default) for role in roles}


def versions(name: str) -> tuple[str, str]:
    """The version that an operator starts with, and the one it ends with.

    The first is empty if there is but one.

    >>> versions("mine-v1.yaml->mine-v2.yaml")
    ('mine-v1.yaml', 'mine-v2.yaml')
    >>> versions("mutant:lazy")
    ('', 'mutant:lazy')
    """
    old, _, new = name.rpartition(UPGRADED)
    return old, new


def overlaid(spelled: str, asked: str, roles: Iterable[str]) -> str:
    """The text of the first implementations, but of the roles that `asked` names with its own;
    `asked` itself if it names none, since that is of all roles.

    >>> overlaid("toy=mutant:lazy,kueue=mutant:hasty", "toy=reference", ("toy", "kueue"))
    'kueue=mutant:hasty'
    """
    named = named_roles(asked)
    return in_one_text({**by_role(spelled, roles), **named}) if named else asked


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
