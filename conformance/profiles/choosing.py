"""From the name that somebody typed to what is run."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.implementation import implementation
from conformance.profiles.profile import ImplementationProfile
from conformance.profiles.profiled import Profiled
from conformance.profiles.reading import find, read_profile
from conformance.under_test import UnderTest


def under_test(name: str) -> UnderTest:
    """What runs as a process under that name: `reference`, `mutant:<name>`, the name of a shipped
    profile, or a profile's file. UnknownImplementationError or YamlError otherwise."""
    profiled = profiled_or_none(name)
    return implementation(name).on_real_clusters() if profiled is None else profiled


def profiled_or_none(name: str) -> Profiled | None:
    """The implementation of a profile; None if the name is not one of a profile."""
    path = find(name)
    return None if path is None else Profiled(read_profile(path), path)


def profile_named(name: str) -> ImplementationProfile | None:
    """The profile that the name stands for; None for the implementations that have none."""
    found = profiled_or_none(name)
    return None if found is None else found.profile


def left_out(profile: ImplementationProfile | None) -> Mapping[str, str]:
    """The scenarios that are not run, each with the reason."""
    if profile is None:
        return {}
    return {scenario: lack.because for lack in profile.lacks for scenario in lack.scenarios}
