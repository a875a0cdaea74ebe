"""A script: something to do to a cluster, the sentence it shows, and the lines it covers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from tests.differential.dialogue import Dialogue
from tests.differential.lines import LINES

Steps: TypeAlias = Callable[[Dialogue], None]


@dataclass(frozen=True)
class Script:
    """One case. Its name is also its namespace and its transcript's file name."""

    name: str
    subject: str
    """The file that defines it."""
    title: str
    covers: tuple[str, ...]
    steps: Steps
    exclusive: bool = False
    """It shakes what other scripts stand on, so on a real cluster it runs alone."""
    is_fair: bool = False
    """It needs API priority and fairness, which the control plane of the others lacks."""


REGISTRY: Final[dict[str, Script]] = {}


def script(
    title: str, covers: Iterable[str], *, exclusive: bool = False, fair: bool = False
) -> Callable[[Steps], Steps]:
    """Register a function as a script under its own name, with dashes for underscores."""
    lines = tuple(covers)
    unknown = [line for line in lines if line not in LINES]
    if unknown:
        raise ValueError(
            f"{title!r} covers {unknown}, which lines.py does not list; add them there"
        )
    if not re.fullmatch(r"[A-Z0-9].*\.", title):
        raise ValueError(f"{title!r} is no full sentence; begin with a capital, end with a stop")

    def register(steps: Steps) -> Steps:
        name = steps.__name__.replace("_", "-")
        if name in REGISTRY:
            raise ValueError(f"two scripts are called {name}; rename one")
        subject = steps.__module__.rpartition(".")[2]
        REGISTRY[name] = Script(name, subject, title, lines, steps, exclusive, fair)
        return steps

    return register
