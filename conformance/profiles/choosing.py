"""Resolve the name of an implementation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from conformance.implementation import (
    Implementation,
    UnknownImplementationError,
    implementation,
    with_role,
)
from conformance.profiles.profile import ImplementationProfile
from conformance.profiles.profiled import Profiled
from conformance.profiles.reading import find, read_profile
from conformance.scenarios import SCENARIOS
from conformance.under_test import UnderTest
from vocabulary.implementations import by_role, named_roles

UNKNOWN_POLLING: Final = (
    "needs detection.pollsEvery: no resync is triggered there, and the profile does not say how "
    "often the operator looks by itself"
)


def under_test(name: str, role: str) -> UnderTest:
    """Return the implementation of a role by name: `reference`, `mutant:<name>`, the name of a
    shipped profile, or a profile's file. Raises UnknownImplementationError or YamlError."""
    profiled = profiled_or_none(name)
    if profiled is None:
        return implementation(name, role).on_real_clusters()
    if profiled.role != role:
        raise UnknownImplementationError(
            f"{name} describes an operator of {profiled.role}, and that of {role} is to be run; "
            f"name one of these: --implementation {role}=NAME"
        )
    return profiled


def simulated(name: str, role: str) -> Implementation:
    """The same for the simulated cluster."""
    if profiled_or_none(name) is not None:
        raise UnknownImplementationError(
            f"{name} is a program of its own, which virtual time cannot slow down; "
            "add --cluster control-plane"
        )
    return implementation(name, role)


def all_under_test(spelled: str, roles: Collection[str]) -> dict[str, UnderTest]:
    """The implementations of these roles that a text names, see `vocabulary.implementations`."""
    named = by_role(with_role(spelled, roles, under_test), roles)
    return {role: under_test(name, role) for role, name in named.items()}


def profiled_or_none(name: str) -> Profiled | None:
    """The implementation of a profile; None if the name is not one of a profile."""
    path = find(name)
    return None if path is None else Profiled(read_profile(path), path)


def profile_named(spelled: str) -> ImplementationProfile | None:
    """The profile that is named for one of the roles; None if all have implementations without
    one."""
    names = named_roles(spelled).values() or (spelled,)
    found = (profiled_or_none(name) for name in names)
    return next((each.profile for each in found if each is not None), None)


def left_out(profile: ImplementationProfile | None) -> Mapping[str, str]:
    """The scenarios that are not run, each with the reason."""
    if profile is None:
        return {}
    lacking = {scenario: lack.because for lack in profile.lacks for scenario in lack.scenarios}
    told = profile.detection
    if told.poke_every and not told.polls_every:
        untouched = (found.id for found in SCENARIOS.values() if found.untouched)
        return {**dict.fromkeys(untouched, UNKNOWN_POLLING), **lacking}
    return lacking
