"""Editions: readings of a norm. A run is judged by one of each suite, and its header names it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from conformance import suite
from conformance.norm.claim import Claim
from vocabulary.history import Header


class UnknownEditionError(ValueError):
    """No suite of the run has an edition of that name; the message lists those there are."""


def of_run(scenario: str, roles: Iterable[str], asked: str) -> dict[str, str]:
    """The edition of each suite that judges a run: the one asked for where the suite has it."""
    return {
        each.name: asked if asked in each.editions else each.editions[0]
        for each in suite.judged_on(scenario, roles)
        if each.editions
    }


def written(scenario: str, role: str, edition: str) -> Mapping[str, Any]:
    """The settings that a scenario's suite has written into the configuration of a role, by the
    edition asked for; none for an experiment, which is of no suite."""
    of = suite.load().get(scenario.partition("/")[0])
    if of is None:
        return {}
    found = of.by_edition.get(of_run(scenario, (), edition).get(of.name, ""), {})
    return found.get(role, {})


def told_by(header: Header) -> Mapping[str, str]:
    """By suite, the edition that a history names."""
    return {} if header.editions is msgspec.UNSET else header.editions


def edition_of(name: str, editions: Mapping[str, str]) -> str:
    """The edition of a suite in a run; empty if the suite has none."""
    default = suite.load()[name].editions[:1]
    return editions.get(name, default[0] if default else "")


def holds(claim: Claim, editions: Mapping[str, str]) -> bool:
    """True if a claim is one of the edition of its suite."""
    return not claim.editions or edition_of(claim.suite, editions) in claim.editions


def require_known(asked: str, runs: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Raise UnknownEditionError unless a suite that judges one of the runs, given by scenario and
    roles, has that edition."""
    suites = {each.name: each for run in runs for each in suite.judged_on(*run)}
    known = dict.fromkeys(edition for each in suites.values() for edition in each.editions)
    if asked in known:
        return
    names = ", ".join(sorted(name for name, each in suites.items() if each.editions or not known))
    raise UnknownEditionError(
        f"there is no edition {asked!r} of {names}; write {' or '.join(known)}"
        if known
        else f"there are no editions of {names}; leave {asked!r} out"
    )
