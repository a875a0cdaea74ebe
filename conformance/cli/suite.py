"""`assay suite`: the suite inside of a cluster, as a Job or as a plugin of Sonobuoy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conformance.cli.run import (
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
_Selection = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SUITE|SCENARIO|CLAIM",
        help="What to run, as for assay run.",
        autocompletion=complete_selection,
    ),
]
_Image = Annotated[str, typer.Option(help="An image whose entry point is assay.")]
_Implementation = Annotated[
    str,
    typer.Option(
        help="The controller under test: reference, or mutant:NAME; they are in the image."
    ),
]
_NodeSelector = Annotated[str, typer.Option(help="The nodes that runs may taint and cordon.")]
_TimeLimit = Annotated[str, typer.Option(help="How long the suite may take.")]
_PodImage = Annotated[
    str | None,
    typer.Option(
        help="An image with a shell for the pods of runs. Default: the suite's own. "
        "Empty: only nodes with fake kubelets are used."
    ),
]
_ObjectLimit = Annotated[
    int, typer.Option(help="How many pods, Jobs and AppWrappers a run may have.", min=10)
]


@app.command("manifests")
def manifests(
    selection: _Selection = None,
    *,
    image: _Image = DEFAULT_IMAGE,
    implementation: _Implementation = "reference",
    node_selector: _NodeSelector = DEFAULT_NODE_SELECTOR,
    time_limit: _TimeLimit = DEFAULT_TIME_LIMIT,
    object_limit: _ObjectLimit = DEFAULT_OBJECT_LIMIT,
    pod_image: _PodImage = None,
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
    assay suite manifests appwrapper --image registry.example.org/assay:1.0 | kubectl apply -f -
    kubectl --namespace assay logs --follow job/assay

    The rights are those that the suite would ask for, and no others. The Job completes if every
    claim held; otherwise its condition names the exit code of assay run.
    """
    from conformance.in_cluster.manifests import as_text, documents
    from conformance.profiles.choosing import under_test
    from conformance.scenarios import all_crds

    run = _run(selection, image, implementation, node_selector, time_limit, object_limit, pod_image)
    typer.echo(as_text(documents(run, under_test(implementation), all_crds(), claim)), nl=False)


@app.command("sonobuoy-plugin")
def sonobuoy_plugin(
    selection: _Selection = None,
    *,
    image: _Image = DEFAULT_IMAGE,
    implementation: _Implementation = "reference",
    node_selector: _NodeSelector = DEFAULT_NODE_SELECTOR,
    time_limit: _TimeLimit = DEFAULT_TIME_LIMIT,
    object_limit: _ObjectLimit = DEFAULT_OBJECT_LIMIT,
    pod_image: _PodImage = None,
    service_account: Annotated[
        str, typer.Option(help="In the namespace of Sonobuoy. Default: Sonobuoy's own.")
    ] = "sonobuoy-serviceaccount",
) -> None:
    """Print the definition of a Sonobuoy plugin that runs the suite, as YAML.

    \b
    assay suite sonobuoy-plugin appwrapper --image registry.example.org/assay:1.0 > assay.yaml
    sonobuoy run --plugin assay.yaml --wait
    sonobuoy results $(sonobuoy retrieve) --plugin assay
    """
    from conformance.in_cluster.sonobuoy_plugin import plugin

    run = _run(selection, image, implementation, node_selector, time_limit, object_limit, pod_image)
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
    """What the plugin's container does: assay run, then hand its results to Sonobuoy.

    It ends with the exit code of assay run; whatever that is, results are handed in before.
    """
    from conformance.in_cluster.sonobuoy_results import run_and_hand_in

    raise typer.Exit(run_and_hand_in(arguments or [], results))


def _run(
    selection: list[str] | None,
    image: str,
    implementation: str,
    node_selector: str,
    time_limit: str,
    object_limit: int,
    pod_image: str | None,
) -> SuiteRun:
    """What is wrong with it is said here, not by a pod."""
    from conformance.cli.existing import limits
    from conformance.cli.problems import BadInputError
    from conformance.cli.selection import resolve
    from conformance.in_cluster.suite_pod import SuiteRun
    from conformance.profiles.choosing import under_test
    from conformance.profiles.reading import find

    limits(time_limit, object_limit)
    if find(implementation) is not None:
        raise BadInputError(
            f"--implementation {implementation}: the image holds neither a profile's program nor "
            "what would build it; test it from outside: assay run --cluster existing "
            f"--kubeconfig FILE --implementation {implementation}"
        )
    under_test(implementation)
    return SuiteRun(
        image=image,
        selection=resolve(selection or ()),
        implementation=implementation,
        node_selector=node_selector,
        time_limit=time_limit,
        object_limit=object_limit,
        pod_image=image if pod_image is None else pod_image,
    )
