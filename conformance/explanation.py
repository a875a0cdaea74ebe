"""A norm's argument: the designs that it rejects, and the one that it keeps, each with a history.

A suite has it in its module `argument`, as ARGUMENT; the histories are in its folder `designs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from conformance.suite import Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """One design, and a scenario that shows what becomes of it."""

    name: str
    """Of its section, and of its history."""
    title: str
    implementation: str
    """As in `--implementation`."""
    scenario: str
    claim: str
    """The claim that it violates in this scenario first of all, or keeps."""
    only_simulated: str = ""
    """Why a real control plane cannot convict it; empty: it can."""
    is_sound: bool = False
    """True if it keeps the claim."""
    text: Sequence[str]
    """Paragraphs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """The designs in the order of the argument."""

    title: str
    opening: Sequence[str]
    """Paragraphs."""
    designs: Sequence[Design]


def argument_of(suite: Suite) -> Argument | None:
    """The argument of a suite's norm; None if it has none."""
    if find_spec(f"{suite.package}.argument") is None:
        return None
    found: Argument = import_module(f"{suite.package}.argument").ARGUMENT
    return found


def histories_of(suite: Suite) -> Path:
    """The folder of the histories that an argument's page is made from."""
    (package,) = import_module(suite.package).__path__
    return Path(package) / "designs"
