"""`assay in-cluster`: the suite inside of a cluster, as a Job or as a plugin of Sonobuoy."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate

import typer

from conformance.cli.run_arguments import (
    DEFAULT_NODE_SELECTOR,
    DEFAULT_OBJECT_LIMIT,
    DEFAULT_TIME_LIMIT,
    complete_selection,
)

if TYPE_CHECKING:
    from conformance.in_cluster.suite_pod import SuiteRun

app = typer.Typer(
    help="Run the suite inside of a cluster: as a Job, or as a plugin of Sonobuoy.",
    no_args_is_help=True,
)

DEFAULT_IMAGE = "assay:latest"


def _suite_run(
    selection: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SUITE|SCENARIO|CLAIM",
            help="What to run, as for assay run.",
            autocompletion=complete_selection,
        ),
    ] = None,
    *,
    image: Annotated[str, typer.Option(help="An image whose entry point is assay.")] = (
        DEFAULT_IMAGE
    ),
    implementation: Annotated[
        str,
        typer.Option(
            help="The controller under test: reference, or mutant:NAME; they are in the image."
        ),
    ] = "reference",
    node_selector: Annotated[
        str, typer.Option(help="The nodes that runs may taint and cordon.")
    ] = DEFAULT_NODE_SELECTOR,
    time_limit: Annotated[str, typer.Option(help="How long the suite may take.")] = (
        DEFAULT_TIME_LIMIT
    ),
    object_limit: Annotated[
        int,
        typer.Option(
            help="How many pods, Jobs and objects of each kind under test a run may have.", min=10
        ),
    ] = DEFAULT_OBJECT_LIMIT,
    pod_image: Annotated[
        str | None,
        typer.Option(
            help="An image with a shell for the pods of runs. Default: the suite's own. "
            "Empty: only nodes with fake kubelets are used."
        ),
    ] = None,
    operator_image: Annotated[
        str,
        typer.Option(
            help="Run the operators under test as Deployments of this image. Otherwise they are "
            "processes in the suite's own pod."
        ),
    ] = "",
) -> SuiteRun:
    """The options that both ways of running the suite share; errors are reported here, not by a
    pod."""
    from conformance import suite
    from conformance.cli.existing import limits
    from conformance.cli.problems import BadInputError
    from conformance.cli.selection import resolve, with_operators
    from conformance.in_cluster.suite_pod import SuiteRun
    from conformance.profiles.choosing import all_under_test
    from conformance.profiles.reading import find
    from conformance.running.suite import roles_of, select

    limits(time_limit, object_limit)
    if find(implementation) is not None:
        raise BadInputError(
            f"--implementation {implementation}: the image holds neither a profile's program nor "
            "what would build it; test it from outside: assay run --cluster existing "
            f"--kubeconfig FILE --implementation {implementation}"
        )
    words, left_out = with_operators(resolve(selection or ()), implementation)
    if left_out:
        typer.echo(f"assay: {left_out}", err=True)
    chosen = select(words)
    all_under_test(implementation, roles_of(chosen))
    if others := sorted({each.suite for each in chosen} & suite.of_others()):
        typer.echo(
            f"note: {', '.join(others)} does not come with Assay: {image} has to have it installed "
            "(FROM an image of Assay; RUN pip install its distribution)",
            err=True,
        )
    return SuiteRun(
        image=image,
        selection=words,
        implementation=implementation,
        node_selector=node_selector,
        time_limit=time_limit,
        object_limit=object_limit,
        pod_image=image if pod_image is None else pod_image,
        operator_image=operator_image,
    )


def _of_a_suite(command: Callable[Concatenate[SuiteRun, ...], None]) -> Callable[..., None]:
    """The command with the options of `_suite_run` before its own."""
    asked = _parameters(_suite_run)
    _, *own = _parameters(command).values()

    # Typer reads the signature; annotations would name what is not imported yet.
    @wraps(command, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
    def with_options(**given: Any) -> None:
        run = _suite_run(**{name: given.pop(name) for name in asked})
        command(run, **given)

    signature = inspect.Signature([*asked.values(), *own])
    with_options.__signature__ = signature  # type: ignore[attr-defined]
    return with_options


def _parameters(function: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function, eval_str=True, locals={"SuiteRun": object}).parameters


@app.command("manifests")
@_of_a_suite
def manifests(
    run: SuiteRun,
    *,
    claim: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Keep the report in this PersistentVolumeClaim of the namespace assay. "
            "Default: it goes with the pod, whose log has the verdicts.",
        ),
    ] = "",
) -> None:
    """Print what runs the suite in a cluster once: account, rights, and a Job, as YAML.

    \b
    assay in-cluster manifests $SUITE --image example.org/assay:1.0 | kubectl apply -f -
    kubectl --namespace assay logs --follow job/assay

    The rights are those that the suite would ask for, and no others. The Job completes if every
    claim held; otherwise its condition names the exit code of assay run.
    """
    from conformance.in_cluster.manifests import as_text, documents
    from conformance.profiles.choosing import all_under_test
    from conformance.running.suite import roles_of, select
    from conformance.scenarios import all_crds

    roles = roles_of(select(run.selection))
    found = documents(run, all_under_test(run.implementation, roles), all_crds(), claim)
    typer.echo(as_text(found), nl=False)


@app.command("sonobuoy-plugin")
@_of_a_suite
def sonobuoy_plugin(
    run: SuiteRun,
    *,
    service_account: Annotated[
        str, typer.Option(help="In the namespace of Sonobuoy. Default: Sonobuoy's own.")
    ] = "sonobuoy-serviceaccount",
) -> None:
    """Print the definition of a Sonobuoy plugin that runs the suite, as YAML.

    \b
    assay in-cluster sonobuoy-plugin $SUITE --image registry.example.org/assay:1.0 > assay.yaml
    sonobuoy run --plugin assay.yaml --wait
    sonobuoy results $(sonobuoy retrieve) --plugin assay
    """
    from conformance.in_cluster.sonobuoy_plugin import plugin

    typer.echo(plugin(run, service_account), nl=False)


@app.command("sonobuoy-run")
def sonobuoy_run(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- ARGUMENT", help="What assay run is to be given."),
    ] = None,
    *,
    results: Annotated[
        Path,
        typer.Option(
            envvar="SONOBUOY_RESULTS_DIR",
            help="The folder that Sonobuoy shares with the container.",
        ),
    ],
) -> None:
    """Run the plugin's container: assay run, then submit its results to Sonobuoy.

    Exits with the exit code of assay run; results are always submitted before.
    """
    from conformance.in_cluster.sonobuoy_results import run_and_hand_in

    raise typer.Exit(run_and_hand_in(arguments or [], results))
