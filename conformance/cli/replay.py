"""`assay replay`: one plan again, exactly as it ran."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, cast

import typer

from conformance.cli.exit_code import ExitCode
from conformance.cli.file_kinds import PLAN, PROFILE, only
from conformance.cli.one_of import require_one_of
from conformance.cli.run_arguments import IMPLEMENTATIONS
from conformance.worlds.names import ClusterName

if TYPE_CHECKING:
    from chaos.plan import Plan
    from conformance.report.run_result import RunResult
    from conformance.scenario_type import Scenario

CLUSTERS = ("simulated", "control-plane")


def _cluster(name: str) -> str:
    return require_one_of("--cluster", name, CLUSTERS)


def replay(
    plan: Annotated[
        Path,
        typer.Argument(help="A plan: the YAML file beside a failure's page.", callback=only(PLAN)),
    ],
    *,
    implementation: Annotated[
        str,
        typer.Option(
            help=f"Another controller than the plan names: {IMPLEMENTATIONS}. Of several operators"
            " those that it does not name stay the plan's.",
            callback=only(PROFILE),
        ),
    ] = "",
    edition: Annotated[
        str, typer.Option(help="Another edition of the norm to judge by than the plan names.")
    ] = "",
    cluster: Annotated[
        str, typer.Option(help=f"Where to run: {', '.join(CLUSTERS)}.", callback=_cluster)
    ] = "simulated",
    cluster_folder: Annotated[
        Path | None,
        typer.Option(help="The control plane that `assay cluster up` started there."),
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help="Write an HTML page of the worst verdict there.")
    ] = None,
    history: Annotated[Path | None, typer.Option(help="Store the history there.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say in plain English what the plan does, and stop.")
    ] = False,
    show_all: Annotated[bool, typer.Option("--all", help="List passed claims too.")] = False,
) -> None:
    """Run one plan again. In the simulation the same plan gives the same history, and the command
    says whether it did, or what differs first; on a control plane the same faults strike. A
    story is run with its wrong and its right controller, unless another one is named.

    \b
    assay replay .assay/aw-015.yaml
    assay replay .assay/aw-015.yaml --cluster control-plane       on a real kube-apiserver and etcd
    assay replay .assay/aw-015.yaml --implementation reference    does the sound one fail too?
    assay replay .assay/aw-015.yaml --explain
    """
    from dataclasses import replace

    from chaos.plan import load_plan
    from conformance.cli.ending import echo_block, echo_checker_errors, verdict_lines
    from conformance.cli.judging import all_claims
    from conformance.cli.story import echo_story
    from conformance.report.again import replay_command
    from conformance.report.failures import by_entry, to_show
    from conformance.report.pages.failure_page import failure_page
    from conformance.report.recorded import assay_told, compared, is_another
    from conformance.report.recorded_history import difference_from_recorded
    from conformance.report.replacing import write_whole
    from conformance.report.run_result import LIMIT
    from conformance.report.suite_version import git_commit, version
    from conformance.suite import load as load_suites
    from vocabulary.history import write_history

    _require_suite(plan)
    load_suites()  # whose kinds and faults the plan may name
    loaded = load_plan(plan)
    loaded = replace(loaded, edition=edition or loaded.edition)
    if explain:
        typer.echo(loaded.describe())
        return
    place = _Place(plan, cluster, cluster_folder)
    run = _run(place, loaded, implementation)
    claims = all_claims()
    failed = by_entry(run.verdicts)
    again = replay_command(run, plan, implementation)
    told = loaded.story if cluster == "simulated" and not implementation else None
    if told is not None:
        right = _run(place, loaded, told.right)
        is_as_told = echo_story(told, loaded.implementation, run, right)
    else:
        for line in verdict_lines(claims, run.verdicts, show_all=show_all):
            typer.echo(line)
        for broken in failed:
            echo_block(broken, run, replay=again)
    has_checker_errors = echo_checker_errors(run.scenario, run.verdicts)
    if run.error:
        typer.echo(f"note: the scenario did not come to its end: {run.error}")
    refused = list(_refused(loaded, run))
    for number, text in refused:
        typer.echo(f"note: {plan}: correct or remove faults[{number}], which was refused: {text}")
    if told is None or loaded.recorded is not None:
        planned = _planned(loaded)
        typer.echo(compared(run, loaded, planned, assay_told(version(), git_commit())))
        if loaded.recorded is not None and is_another(run, loaded, planned):
            typer.echo(difference_from_recorded(plan, loaded.recorded.sha256, run))
    if history is not None:
        write_history(history, run.header, run.entries)
        typer.echo(f"history: {history}")
    if page is not None:
        shown = [(claims[verdict.claim], verdict) for verdict in to_show(run.verdicts)]
        text = failure_page(shown, run, command=again)
        write_whole(page, text)
        typer.echo(f"page: {page}")
    if told is not None:
        raise typer.Exit(ExitCode.CONFORMANT if is_as_told else ExitCode.VIOLATED)
    if failed:
        raise typer.Exit(ExitCode.VIOLATED)
    if LIMIT in run.error:
        raise typer.Exit(ExitCode.ENVIRONMENT)
    # In a run that was recorded, the refusals are as recorded.
    if run.error or has_checker_errors or (refused and loaded.recorded is None):
        raise typer.Exit(ExitCode.INCONCLUSIVE)


class _Place(NamedTuple):
    """A plan's file, and the cluster to run it on."""

    plan: Path
    cluster: str
    folder: Path | None


def _run(place: _Place, loaded: Plan, implementation: str) -> RunResult:
    """Run a plan with its own controller, or with the one that is named; raises BadInputError."""
    from conformance.cli.problems import BadInputError
    from conformance.editions import UnknownEditionError, require_known
    from conformance.implementations.ours import UnknownImplementationError, with_role
    from conformance.profiles.choosing import simulated, under_test
    from conformance.running.run_options import RunOptions
    from conformance.running.suite import require_a_beginning
    from conformance.running.why_not_run import reason_not_run, why_one_process
    from conformance.running.workers import Task, workers
    from vocabulary.implementations import named_roles, overlaid

    plan = place.plan
    scenario = _scenario(plan, loaded)
    if loaded.edition:
        try:
            require_known(loaded.edition, [(scenario.id, scenario.roles)])
        except UnknownEditionError as error:
            raise BadInputError(f"{plan}: edition: {error}") from error
    find = simulated if place.cluster == "simulated" else under_test
    asked = loaded.implementation
    if implementation:
        # A name of one role alone is that role's.
        of_role = with_role(implementation, scenario.roles, find)
        named = implementation if named_roles(implementation) else of_role
        asked = overlaid(_planned(loaded), named, scenario.roles)
    try:
        asked = with_role(asked, scenario.roles, find)
    except UnknownImplementationError as error:
        if implementation:
            raise
        raise BadInputError(f"{plan}: implementation: {error}") from error
    options = RunOptions(
        cluster=cast(ClusterName, place.cluster),
        implementation=asked,
        edition=loaded.edition,
        cluster_folder=place.folder,
    )
    is_simulated = place.cluster == "simulated"
    one_process = "" if is_simulated else why_one_process(options.implementation, scenario.roles)
    if because := reason_not_run(scenario, place.cluster, one_process=one_process):
        raise BadInputError(f"{plan}: {scenario.id} cannot be run on {place.cluster}: {because}")
    task = Task(scenario.id, options.implementation, loaded.seed, loaded.deciding.to_data())
    with workers(options, scenario.roles, many=False) as run_all:
        (run,) = run_all([task])
    require_a_beginning([run])
    return run


def _scenario(plan: Path, loaded: Plan) -> Scenario:
    from conformance.cli.problems import BadInputError
    from conformance.scenarios import ALL_SCENARIOS

    scenario = ALL_SCENARIOS.get(loaded.scenario)
    if scenario is None:
        raise BadInputError(
            f"{plan}: scenario: there is no scenario {loaded.scenario!r}; "
            "list them with: assay claims scenarios"
        )
    return scenario


def _planned(loaded: Plan) -> str:
    """The controllers of a plan, as headers name them."""
    from conformance.scenarios import ALL_SCENARIOS
    from vocabulary.implementations import by_role, in_one_text

    return in_one_text(by_role(loaded.implementation, ALL_SCENARIOS[loaded.scenario].roles))


def _refused(plan: Plan, run: RunResult) -> Iterator[tuple[int, str]]:
    """The faults of a plan that were refused, by position, each with the reason."""
    from vocabulary.history import Fault

    reasons = [
        (entry.fault, entry.text)
        for entry in run.entries
        if isinstance(entry, Fault) and entry.action == "refused"
    ]
    for number, step in enumerate(plan.faults):
        planned = step.fault.to_data()
        for fault, text in reasons:
            if fault == planned:
                yield number, text
                break


def _require_suite(plan: Path) -> None:
    """Raise BadInputError if the suite of a plan's scenario is not known: its faults and kinds are
    not, either."""
    from conformance import suite
    from conformance.cli.problems import BadInputError
    from vocabulary.safe_yaml import load_yaml_file

    data = load_yaml_file(plan)
    scenario = str(data.get("scenario", "") if isinstance(data, dict) else "")
    name, slash, _ = scenario.partition("/")
    if slash and name not in suite.names():
        raise BadInputError(
            f"{plan}: scenario: there is no scenario {scenario!r}, since suite {name!r} is not "
            "installed; install its distribution, or name its directory: "
            f"assay --suite-path DIRECTORY replay {plan}"
        )
