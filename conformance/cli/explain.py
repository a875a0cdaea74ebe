"""`assay explain`: a norm's argument, shown by recorded runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from conformance.explanation import Argument, Design
    from conformance.report.pages.argument_page import Shown
    from conformance.report.run_result import RunResult
    from conformance.suite import Suite


def explain(
    name: Annotated[str, typer.Argument(help="A suite whose norm argues.", metavar="SUITE")],
    *,
    out: Annotated[Path, typer.Option(help="The folder for the pages and plans.")] = Path(
        ".assay-explained"
    ),
) -> None:
    """Write pages that tell a norm's argument: each design that it rejects, with a recorded run,
    the claim that it violates, and a plan that makes the run again.

    \b
    assay explain streams
    """
    from chaos.plan import Plan
    from conformance.cli.judging import all_claims
    from conformance.explanation import histories_of
    from conformance.report.again import replay_command
    from conformance.report.failures import by_entry
    from conformance.report.pages.argument_page import Shown, argument_page
    from conformance.report.pages.failure_page import failure_page
    from conformance.report.recorded import recorded_by
    from conformance.report.replacing import write_whole
    from conformance.report.suite_version import version

    suite, argument = _argument(name)
    claims = all_claims()
    folder = histories_of(suite)
    runs = [(design, _run(design, folder)) for design in argument.designs]
    out.mkdir(parents=True, exist_ok=True)
    shown: list[Shown] = []
    for design, run in runs:
        plan = out / f"{design.name}.yaml"
        spelled = design.implementation if design.implementation != "reference" else ""
        shows = [each for each in run.verdicts if each.claim == design.claim]
        made = Plan(
            run.scenario,
            seed=run.seed,
            implementation=spelled,
            recorded=recorded_by(run, version(), shows),
        )
        write_whole(plan, made.to_yaml())
        command = replay_command(run, plan)
        shown.append(Shown(design, run, command))
        broken = next(
            (
                found
                for found in by_entry(run.verdicts)
                if design.claim in {each.claim for each in found}
            ),
            [each for each in run.verdicts if each.claim == design.claim],
        )
        page = failure_page(
            [(claims[each.claim], each) for each in broken],
            run,
            command=command,
            index_href="index.html",
        )
        write_whole(out / f"{design.name}.html", page)
    index = out / "index.html"
    write_whole(index, argument_page(argument, shown, claims))
    typer.echo(f"{len(shown)} designs, each with a recorded run")
    typer.echo(f"open: {index}")


def _argument(name: str) -> tuple[Suite, Argument]:
    from conformance.cli.problems import BadInputError
    from conformance.explanation import argument_of
    from conformance.suite import load

    suites = load()
    found = {each: argument_of(suite) for each, suite in suites.items()}
    telling = sorted(each for each, argument in found.items() if argument is not None)
    argument = found.get(name)
    if argument is None:
        problem = "has no argument of a norm to explain" if name in suites else "is no suite"
        commands = ", ".join(f"assay explain {each}" for each in telling)
        raise BadInputError(f"{name!r} {problem}; run {commands}")
    return suites[name], argument


def _run(design: Design, folder: Path) -> RunResult:
    """The recorded run of a design, judged; BadInputError if it is missing, or shows otherwise."""
    from conformance.cli.judging import judge
    from conformance.cli.problems import BadInputError
    from conformance.norm.verdict import Outcome
    from conformance.report.pages.argument_page import verdict_on
    from conformance.report.stored_run import stored_run

    path = folder / f"{design.name}.jsonl.gz"
    again = "record it again: python -m tests.suites.record_designs"
    if not path.is_file():
        raise BadInputError(f"{path}: the history of {design.title!r} is missing; {again}")
    run = stored_run(folder, path.name, judge)
    found = verdict_on(run, design.claim).outcome
    wanted = Outcome.PASSED if design.is_sound else Outcome.FAILED
    if (run.scenario, run.header.implementation) != (design.scenario, design.implementation):
        raise BadInputError(
            f"{path}: is of {run.header.implementation} in {run.scenario}, not of "
            f"{design.implementation} in {design.scenario}; {again}"
        )
    if found is not wanted:
        raise BadInputError(
            f"{path}: {design.claim} is {found} in this history, expected {wanted}; {again}"
        )
    return run
