"""The output of `assay profile check` for a valid profile: the next step, and a summary of the
implementation; in full only on request."""

from __future__ import annotations

import shlex
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from conformance.profiles.profile import ImplementationProfile
from conformance.profiles.profiled import Profiled
from conformance.profiles.program import ProgramMissingError, program_of
from conformance.report.counted import counted


def summary(profile: ImplementationProfile, path: Path, name: str) -> Iterator[str]:
    """How it is run, and how much it excepts; `name` is what the user called it by."""
    about = profile.implementation
    yield f"{profile.name}: a profile of {about.project} {about.version}, nothing wrong with it"
    installed = Profiled(profile, path).installed
    if installed is not None:
        yield f"  installed in a cluster: {installed}"
    else:
        try:
            yield f"  program: {program_of(profile, path)}"
        except ProgramMissingError as missing:
            yield f"  program: {missing}"
    if (served := _served(profile)) is not None:
        yield f"  {served}"
    cluster = "control-plane" if installed is None else "existing --kubeconfig FILE"
    shown = shlex.quote(name)
    yield f"  run it: assay run {profile.suite} --cluster {cluster} --implementation {shown}"
    if profile.lacks or profile.known_differences:
        yield f"  {_excepted(profile)}"
        yield f"  in detail: assay profile check {shown} --verbose"


def deviations(profile: ImplementationProfile) -> Iterator[str]:
    """Each feature that it lacks and each known difference, with the reason."""
    for lack in profile.lacks:
        named = ", ".join((*lack.claims, *lack.scenarios)) or "no claim"
        verb = "is run without" if lack.switched_off else "lacks"
        yield _wrapped(f"{verb} {lack.feature} ({named}): {lack.because}")
    for known in profile.known_differences:
        differs = f"known to differ in {', '.join(known.claims)}: {known.because}"
        yield _wrapped(f"{differs} {known.link or ''}".rstrip())


def _served(profile: ImplementationProfile) -> str | None:
    """Its webhooks in short; None if it serves none."""
    if profile.process is None or (told := profile.process.webhooks) is None:
        return None
    where = "a port of each run's own" if isinstance(told.port, str) else f"port {told.port}"
    secret = told.certificates.secret_name
    made = f"makes their certificate in Secret {secret}" if secret else "is given a certificate"
    return f"serves its webhooks on {where}, and {made}"


def _wrapped(text: str) -> str:
    """Within the terminal; links stay whole."""
    return textwrap.fill(
        text,
        shutil.get_terminal_size().columns,
        initial_indent="  ",
        subsequent_indent="      ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _excepted(profile: ImplementationProfile) -> str:
    without = len(profile.lacks)
    unjudged = _different(claim for lack in profile.lacks for claim in lack.claims)
    unrun = _different(scenario for lack in profile.lacks for scenario in lack.scenarios)
    differs = _different(claim for known in profile.known_differences for claim in known.claims)
    return (
        f"without {counted(without, 'feature')} ({counted(unjudged, 'claim')} not judged, "
        f"{counted(unrun, 'scenario')} not run); "
        f"known to differ in {counted(differs, 'claim')}, which are judged all the same"
    )


def _different(names: Iterable[str]) -> int:
    return len(set(names))
