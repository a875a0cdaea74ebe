"""`assay mutants --wire`: mistakes in the writes of an operator, which need no source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

from conformance.cli.generic_mutants import show_fates
from conformance.cli.problems import BadInputError
from vocabulary.implementations import REFERENCE

if TYPE_CHECKING:
    from conformance.running.mutant_trials import MutantFate
    from conformance.running.run_options import OnProgress, RunOptions
    from conformance.wire.drawn import OfRole

WIRE: Final = "wire:"
_ANY: Final = "operator"


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments of one command."""

    suites: list[str]
    count: int | None
    ids: list[str]
    seed: int
    floor: float
    workload: Path | None
    sample: int


def run_wire_mutants(asked: Asked, options: RunOptions, *, quiet: bool) -> None:
    """Draw mistakes by the seed, or take those of the ids, make them in the runs of these suites,
    and tell."""
    from rich.console import Console

    from conformance.cli.progress import showing_progress
    from conformance.running.wire_mutants import of_role
    from conformance.wire.rules import UnknownMistakeError

    if (asked.workload is not None) != (asked.suites == [_ANY]):
        raise BadInputError(
            "--workload and the suite operator, alone, go together: assay mutants operator --wire "
            "60 --implementation mine.yaml --workload sample.yaml"
        )
    try:
        wanted = [of_role(each) for each in asked.ids]
    except UnknownMistakeError as error:
        raise BadInputError(str(error)) from error
    run = _run if asked.workload is None else _explore
    with showing_progress(Console(), quiet=quiet, tell_failures=False) as on_progress:
        results = run(asked, options, on_progress, wanted)
    words = ["assay", "mutants", *asked.suites]
    if options.implementation != REFERENCE:
        words += ["--implementation", options.implementation]
    if asked.workload is not None:
        words += ["--workload", str(asked.workload), "--sample", str(asked.sample)]
    command = " ".join(map(quote, words))
    show_fates(results, "wire", command, asked.seed, asked.floor, is_all=bool(wanted))


def _run(
    asked: Asked, options: RunOptions, on_progress: OnProgress, wanted: list[OfRole]
) -> list[MutantFate]:
    from conformance.implementations.ours import with_role
    from conformance.profiles.choosing import left_out, profiles_named, simulated
    from conformance.running.suite import roles_of, select
    from conformance.running.wire_mutants import run_wire
    from conformance.suite import load
    from vocabulary.nearest import meant

    for name in asked.suites:
        if name not in load():
            raise BadInputError(f"there is no suite {name!r}; {meant(name, load())}")
    lacking = left_out(profiles_named(options.implementation))
    chosen = [found for found in select(asked.suites) if found.id not in lacking]
    roles = roles_of(chosen)
    for each in wanted:
        if each.role not in roles:
            raise BadInputError(
                f"no scenario of {', '.join(asked.suites)} has an operator {each.role!r}; there "
                f"is {', '.join(roles)}"
            )
    spelled = with_role(options.implementation, roles, simulated)
    return run_wire(
        [found.id for found in chosen],
        roles,
        replace(options, implementation=spelled),
        on_progress,
        wanted=wanted,
        count=asked.count or 0,
        seed=asked.seed,
    )


def _explore(
    asked: Asked, options: RunOptions, on_progress: OnProgress, wanted: list[OfRole]
) -> list[MutantFate]:
    from conformance.explore.wire_mutants import NotExploredError, explore_wire
    from conformance.explore.workload import in_one_namespace, read_workload
    from conformance.profiles.choosing import simulated

    assert asked.workload is not None
    simulated(options.implementation, _ANY)  # whose error says what is missing
    named = f"{_ANY}={options.implementation}"
    manifests, _ = in_one_namespace(read_workload(asked.workload))
    try:
        return explore_wire(
            replace(options, implementation=named, manifests=manifests),
            on_progress,
            sample=asked.sample,
            wanted=wanted,
            count=asked.count or 0,
            seed=asked.seed,
        )
    except NotExploredError as error:
        raise BadInputError(f"the undisturbed run, without mistakes, ends so: {error}") from error
