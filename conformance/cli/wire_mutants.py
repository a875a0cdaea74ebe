"""`assay mutants --wire`: mistakes in the writes of an operator, which need no source."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.cli.generic_mutants import show_fates
from conformance.cli.problems import BadInputError
from conformance.running.run_options import RunOptions

WIRE = "wire:"


def run_wire_mutants(
    suites: Sequence[str],
    count: int | None,
    ids: Sequence[str],
    options: RunOptions,
    seed: int,
    floor: float,
    *,
    quiet: bool,
) -> None:
    """Draw `count` mistakes by the seed, or take those of these ids; make them in the scenarios
    of these suites and tell."""
    from dataclasses import replace

    from rich.console import Console

    from conformance.cli.progress import showing_progress
    from conformance.implementation import with_role
    from conformance.profiles.choosing import left_out, profiles_named, simulated
    from conformance.running.suite import roles_of, select
    from conformance.running.wire_mutants import of_role, run_wire
    from conformance.wire.rules import UnknownMistakeError

    try:
        wanted = [of_role(each) for each in ids]
    except UnknownMistakeError as error:
        raise BadInputError(str(error)) from error
    lacking = left_out(profiles_named(options.implementation))
    chosen = [found for found in select(suites) if found.id not in lacking]
    roles = roles_of(chosen)
    spelled = with_role(options.implementation, roles, simulated)
    options = replace(options, implementation=spelled)
    with showing_progress(Console(), quiet=quiet, tell_failures=False) as on_progress:
        results = run_wire(
            [found.id for found in chosen],
            roles,
            options,
            on_progress,
            wanted=wanted,
            count=count or 0,
            seed=seed,
        )
    again = f"assay mutants {' '.join(suites)} "
    if spelled != "reference":
        again += f"--implementation '{spelled}' "
    show_fates(results, WIRE.strip(":"), f"{again}{WIRE}", seed, floor, is_all=bool(ids))
