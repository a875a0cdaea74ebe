"""Resolve the name of an implementation."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from conformance.implementations.ours import (
    Implementation,
    UnknownImplementationError,
    implementation,
    with_role,
    without_reference,
)
from conformance.implementations.under_test import UnderTest
from conformance.profiles.profile import ImplementationProfile
from conformance.profiles.profiled import Profiled
from conformance.profiles.reading import by_flags_alone, find, read_profile
from conformance.scenarios import SCENARIOS
from conformance.wire.interposed import Mistaken
from conformance.wire.rules import UnknownMistakeError, mistake
from vocabulary.history import OPERATOR
from vocabulary.implementations import ON_WIRE, by_role, named_roles, versions

UNKNOWN_POLLING: Final = (
    "needs detection.pollsEvery: no resync is triggered there, and the profile does not say how "
    "often the operator looks by itself"
)


def under_test(name: str, role: str) -> UnderTest:
    """Return the implementation of a role by name: `reference`, `mutant:<name>`, the name of a
    shipped profile, or a profile's file. Raises UnknownImplementationError or YamlError."""
    if ON_WIRE in name:
        raise UnknownImplementationError(
            f"{name}: mistakes on the wire are made on the simulated cluster; leave out --cluster"
        )
    profiled = profiled_or_none(name)
    if profiled is None:
        return implementation(name, role).on_real_clusters()
    _require_role(profiled, name, role)
    profiled.require_own_folder()
    return profiled


def simulated(name: str, role: str) -> Implementation | Profiled:
    """The same for the simulated cluster: a program runs there in virtual time, if it was built
    for that. Raises ProgramMissingError if it was not, and YamlError if the simulated API server
    refuses its definitions, or does not make the reviews that its webhooks ask for.

    Of `OLD->NEW` each process starts as OLD, and again as NEW. `NAME+wire:MISTAKE` is NAME with a
    mistake in its writes."""
    plain, is_wrong, text = name.partition(ON_WIRE)
    if is_wrong:
        try:
            wrong = Mistaken(mistake(text))
        except UnknownMistakeError as error:
            raise UnknownImplementationError(f"{name}: {error}") from error
        return mistaken(simulated(plain, role), wrong)
    old, new = versions(name)
    if old:
        return _upgraded(simulated(old, role), simulated(new, role))
    profiled = profiled_or_none(name)
    if profiled is None:
        return implementation(name, role)
    if profiled.profile.process is None:
        raise UnknownImplementationError(
            f"{name} is installed in a cluster, and the simulated one has no place for it; "
            "add --cluster existing"
        )
    _require_role(profiled, name, role)
    found = replace(profiled, in_virtual_time=True)
    found.program  # noqa: B018  # its error says how to build it
    found.require_valid_definitions()
    found.require_simulated_reviews()
    if found.constant_folder is not None:
        from conformance.worlds.lockstep.own_files import has_own  # which needs an extra

        if not has_own(found.constant_folder):
            found.require_own_folder()
    return found


def mistaken(
    implementation: Implementation | Profiled, wrong: Mistaken
) -> Implementation | Profiled:
    """The implementation with a mistake in its writes."""
    suffix = f"{ON_WIRE}{wrong.mistake}"
    if isinstance(implementation, Implementation):
        return replace(implementation, name=f"{implementation.name}{suffix}", on_wire=wrong)
    return replace(implementation, suffix=suffix, on_wire=wrong)


def _upgraded(
    old: Implementation | Profiled, new: Implementation | Profiled
) -> Implementation | Profiled:
    if isinstance(new, Implementation) and isinstance(old, Implementation):
        return replace(new, upgraded_from=old)
    if isinstance(new, Profiled) and isinstance(old, Profiled):
        return replace(new, upgraded_from=old)
    raise UnknownImplementationError(
        f"{old.as_option} does not become {new.as_option} by an upgrade: only one of them is a "
        "reference; name two references, or the profiles of two versions"
    )


def all_simulated(spelled: str, roles: Collection[str]) -> dict[str, Implementation | Profiled]:
    """The implementations of these roles on the simulated cluster; a text that names those of a
    selection's roles may name others, too."""
    of_role = spelled if named_roles(spelled) else with_role(spelled, roles, simulated)
    named = by_role(of_role, roles)
    return {role: simulated(name, role) for role, name in named.items()}


def all_under_test(spelled: str, roles: Collection[str]) -> dict[str, UnderTest]:
    """The implementations of these roles that a text names, see `vocabulary.implementations`."""
    named = by_role(with_role(spelled, roles, under_test), roles)
    return {role: under_test(name, role) for role, name in named.items()}


def _require_role(profiled: Profiled, name: str, role: str) -> None:
    if role not in (profiled.role, OPERATOR):
        raise UnknownImplementationError(
            f"{name} is an operator of {profiled.role}, but the run needs one of {role}: "
            f"use a profile of {role} (assay profile list), or a run of {profiled.role}"
        )


def profiled_or_none(name: str) -> Profiled | None:
    """The implementation of a profile; None if the name is not one of a profile."""
    path = find(name)
    return None if path is None else Profiled(read_profile(path), path)


def profiles_named(spelled: str) -> tuple[ImplementationProfile, ...]:
    """The profiles among the implementations that a text names."""
    names = named_roles(spelled).values() or (spelled,)
    found = (profiled_or_none(name) for name in names)
    return tuple(each.profile for each in found if each is not None)


def unfilled(spelled: str, roles: Iterable[str]) -> tuple[str, ...]:
    """The roles that have no reference, and that the text names no implementation of."""
    named = {*named_roles(spelled), *(profile.suite for profile in profiles_named(spelled))}
    return tuple(role for role in without_reference(roles) if role not in named)


def left_out(profiles: Iterable[ImplementationProfile]) -> Mapping[str, str]:
    """The scenarios that are not run, each with the reason: the first one, if several profiles
    have one."""
    found: dict[str, str] = {}
    for profile in profiles:
        for lack in profile.lacks:
            for pattern in lack.scenarios:
                for scenario in fnmatch.filter(SCENARIOS, pattern):
                    found.setdefault(scenario, lack.because)
        if by_flags_alone(profile):
            for each in SCENARIOS.values():
                if profile.suite in each.roles and (asked := each.config_of(profile.suite)):
                    because = f"needs the operator configured otherwise: {', '.join(asked)}"
                    found.setdefault(each.id, because)
        told = profile.detection
        if told.poke_every and not told.polls_every:
            for each in SCENARIOS.values():
                if each.untouched and profile.suite in each.roles:
                    found.setdefault(each.id, UNKNOWN_POLLING)
    return found
